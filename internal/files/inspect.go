package files

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
)

// The type of a file can also show beyond its beginning: a disk image has its signature 32 KiB in, an archive its
// directory at its end, an old office document its macros anywhere. A program that opens the file under another name
// looks there.

// maxListed is how many bytes of an archive's directory are read.
const maxListed = 4 << 20

// Inspect refuses with UnsupportedMedia what Sniff cannot see at the beginning of a file: disk images, office documents
// with macros, Java and Android programs, whatever precedes them.
func Inspect(file io.ReaderAt, size int64) error {
	for _, look := range []func(io.ReaderAt, int64) (string, error){diskImage, archive, compound} {
		what, err := look(file, size)
		if err != nil {
			return err
		}
		if what != "" {
			return refuse(what)
		}
	}
	return nil
}

// readAt reads n bytes from offset place, fewer at the end of the file.
func readAt(file io.ReaderAt, size, place, n int64) ([]byte, error) {
	if place < 0 || place >= size {
		return nil, nil
	}
	b := make([]byte, min(n, size-place))
	_, err := file.ReadAt(b, place)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b, err
}

// diskImage finds the descriptors of ISO 9660 and UDF, and the footers of fixed disks.
func diskImage(file io.ReaderAt, size int64) (string, error) {
	for sector := int64(16); sector < 20; sector++ {
		for _, bytesOf := range []int64{2048, 2352} { // as data, and raw as on a CD
			mark, err := readAt(file, size, sector*bytesOf, 24+6)
			if err != nil {
				return "", err
			}
			for _, start := range []int{0, 16, 24} {
				if len(mark) < start+6 {
					continue
				}
				switch string(mark[start+1 : start+6]) {
				case "CD001", "BEA01", "NSR02", "NSR03":
					return "a disk image", nil
				}
			}
		}
	}
	footer, err := readAt(file, size, size-512, 512)
	if bytes.HasPrefix(footer, []byte("conectix")) || bytes.HasPrefix(footer, []byte("koly")) {
		return "a disk image", err
	}
	return "", err
}

// Parts of archives that identify programs and macros, in lower case.
var (
	macroParts = regexp.MustCompile(`(^|/)vbaproject(signature.*)?\.bin$|(^|/)vbadata\.xml$|(^|/)macrosheets/` +
		`|(^|/)activex/.*\.bin$`)
	programPart = map[string]string{"meta-inf/manifest.mf": "a Java program",
		"androidmanifest.xml": "an Android program",
		"classes.dex":         "an Android program", "appxmanifest.xml": "a Windows program"}
	openDocument = regexp.MustCompile(`^application/vnd\.oasis\.opendocument\.`)
	basicPart    = regexp.MustCompile(`^(basic|scripts)/.+`)
)

// archive checks the parts of a ZIP, which programs find from its end.
func archive(file io.ReaderAt, size int64) (string, error) {
	listed := &limitedReaderAt{file: file, left: maxListed}
	z, err := zip.NewReader(listed, size)
	if listed.left < 0 {
		return "an archive of too many parts to look through", nil
	}
	if listed.err != nil {
		return "", listed.err
	}
	if z == nil || err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		head, err := readAt(file, size, 0, 4)
		if string(head) == "PK\x03\x04" {
			return "a broken archive", err
		}
		return "", err
	}
	listed.left = maxListed // from here on, the limit on unpacked content types
	document := false
	for _, part := range z.File {
		name := strings.ToLower(strings.ReplaceAll(part.Name, `\`, "/"))
		what := programPart[name]
		switch {
		case macroParts.MatchString(name), document && basicPart.MatchString(name):
			what = withMacros
		case name == "mimetype":
			document = document || openDocument.MatchString(beginning(part, listed))
		case name == "[content_types].xml" &&
			strings.Contains(strings.ToLower(beginning(part, listed)), "macroenabled"):
			what = withMacros
		case path.Ext(name) == ".class":
			what = "a Java program"
		}
		if what != "" {
			return what, nil
		}
		if listed.left < 0 {
			return "an archive of too many parts to look through", nil
		}
	}
	return "", nil
}

const withMacros = "an office document with macros"

// maxDescribed is how many bytes are read of a part that names the content types of an office document.
const maxDescribed = 1 << 20

// beginning unpacks the beginning of a part of an archive. What it reads counts against the limit.
func beginning(part *zip.File, listed *limitedReaderAt) string {
	if listed.left -= 64 << 10; listed.left < 0 {
		return ""
	}
	r, err := part.Open()
	if err != nil {
		return ""
	}
	defer func() { _ = r.Close() }()
	b, _ := io.ReadAll(io.LimitReader(r, maxDescribed)) // what cannot be unpacked, no program can read
	return string(b)
}

// limitedReaderAt reads a limited number of bytes.
type limitedReaderAt struct {
	file io.ReaderAt
	left int64 // below 0: the limit was exceeded
	err  error // an error of the file itself
}

// ReadAt implements io.ReaderAt.
func (b *limitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, zip.ErrFormat
	}
	n, err := b.file.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// compoundMark is the signature of old office documents, and of the files of some microscopes.
const compoundMark = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// macroStorage is the name of the storage that holds macros in them.
var macroStorage = utf16LE("_VBA_PROJECT")

// utf16LE returns a text as UTF-16, little endian.
func utf16LE(text string) []byte {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r), 0)
	}
	return b
}

// compound looks for macros in an old office document.
func compound(file io.ReaderAt, size int64) (string, error) {
	head, err := readAt(file, size, 0, int64(len(compoundMark)))
	if err != nil || string(head) != compoundMark {
		return "", err
	}
	const step = 64 << 10
	for place := int64(0); place < size; place += step {
		piece, err := readAt(file, size, place, step+int64(len(macroStorage)))
		if err != nil {
			return "", err
		}
		if bytes.Contains(piece, macroStorage) {
			return withMacros, nil
		}
	}
	return "", nil
}
