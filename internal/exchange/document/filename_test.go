package document_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"aliquot/internal/exchange/document"

	"golang.org/x/text/unicode/norm"
)

func TestFilename_IsCleaned(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"mta.pdf":                      "mta.pdf",
		" \tmta.pdf\n":                 "mta.pdf",
		"Vertra\u0308g.pdf":            "Verträg.pdf", // a and the two dots become one letter
		"pUC19 (v2) <a:b>?*|\".gb":     "pUC19 (v2) <a:b>?*|\".gb",
		"質粒.gb":                        "質粒.gb",
		".hidden":                      ".hidden",
		"...":                          "...",
		strings.Repeat("a", 255):       strings.Repeat("a", 255),
		"می\u200cخواهم.pdf":            "می\u200cخواهم.pdf", // Persian needs the zero-width non-joiner
		"\u00a0no-break space\u00a0":   "no-break space",
		strings.Repeat("a", 255) + " ": strings.Repeat("a", 255),
	} {
		if got, err := document.Filename(name); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", name, got, err, want)
		}
	}
}

func TestFilename_IsRefused(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"":                               "empty",
		" \n":                            "empty",
		".":                              `"."`,
		" .. ":                           `".."`,
		"a/b":                            "slash",
		`C:\mta.pdf`:                     "slash",
		"../../etc/passwd":               "slash",
		"a\x00b":                         "control",
		"a\nb":                           "control",
		"a\x7fb":                         "control",
		"a\u0085b":                       "control",
		"a\u2028b":                       "control",
		"a\u202efdp.exe":                 "control",
		"a\u2066b":                       "control",
		"a\xffb":                         "UTF-8",
		strings.Repeat("a", 256):         "255 bytes; it has 256",
		strings.Repeat("ä", 128):         "255 bytes; it has 256",
		strings.Repeat("\u0958", 43):     "255 bytes; it has 258", // NFC makes two characters of it
		"a" + strings.Repeat("/", 1000):  "255 bytes",
		strings.Repeat("\u202e", 1) + "": "control",
	} {
		if got, err := document.Filename(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %q, %v, want a refusal that says %q", name, got, err, says)
		}
	}
}

func FuzzFilename(f *testing.F) {
	for _, seed := range []string{"mta.pdf", " ..", "a\u0308", " \u0301a", "a/b", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := document.Filename(s)
		if err != nil {
			return
		}
		if name == "" || name == "." || name == ".." || len(name) > 255 || !utf8.ValidString(name) ||
			!norm.NFC.IsNormalString(name) || strings.ContainsAny(name, "/\\\x00\r\n\u202e") {
			t.Errorf("%q became %q", s, name)
		}
		if again, err := document.Filename(name); err != nil || again != name {
			t.Errorf("%q became %q and then %q, %v", s, name, again, err)
		}
	})
}
