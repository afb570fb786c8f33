package document

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxFilename is the longest name, in bytes, that common file systems accept.
const maxFilename = 255

// Filename returns the stored form of an uploaded file's name: Unicode NFC without surrounding white space. Its errors
// continue a sentence that begins with the name of a field.
//
// Names are refused that are empty, ".", "..", longer than 255 bytes or not UTF-8, and names with a slash, a backslash,
// a control character, a line or paragraph separator, or a character that changes the writing direction (it can show
// "exe.pdf" for a name that ends in ".exe"). Characters that only Windows reserves (< > : " | ? *) are accepted:
// browsers replace them there.
func Filename(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", errors.New("must be UTF-8 text")
	}
	name := strings.TrimSpace(norm.NFC.String(s))
	switch {
	case name == "":
		return "", errors.New("must not be empty")
	case name == "." || name == "..":
		return "", fmt.Errorf("must not be %q", name)
	case len(name) > maxFilename:
		return "", fmt.Errorf("must be at most %d bytes; it has %d", maxFilename, len(name))
	case strings.ContainsAny(name, `/\`):
		return "", errors.New("must not contain a slash or backslash")
	case strings.ContainsFunc(name, invisible):
		return "", errors.New("must not contain control characters")
	}
	return name, nil
}

func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

const filenamePattern = `^[^\x00-\x1f\x7f-\x9f/\\\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]*$`
