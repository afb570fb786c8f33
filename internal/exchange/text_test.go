package exchange_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

func TestSortKey_IgnoresCaseAndMarksAndIsBounded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "HT-29": "ht-29", "Zoë O'Hara": "zoe o'hara", "ÅNGSTRÖM": "angstrom",
		"A\u030angstro\u0308m": "angstrom", "Straße": "strasse",
		"Łódź": "lodz", "Ørsted": "orsted", "Æquorea œdema": "aequorea oedema", "İstanbul ılık": "istanbul ilik",
		"ﬁbroblast": "fibroblast",
		"Σίσυφος":   "σισυφοσ", "µ²": "μ2", "株 🧬": "株 🧬",
	} {
		if got := exchange.SortKey(text); got != want {
			t.Errorf("SortKey(%q) = %q, want %q", text, got, want)
		}
	}
	for _, long := range []string{strings.Repeat("é", 500), strings.Repeat("\ufdfa", 500), strings.Repeat("🧬", 500)} {
		if got := exchange.SortKey(long); utf8.RuneCountInString(got) != 255 {
			t.Errorf("the key of %.12q... has %d characters", long, utf8.RuneCountInString(got))
		}
	}
}

func TestText_HasNothingThatHidesWhatItSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{ // as a line, as several lines
		"\u05e9\u05dc\u05d5\u05dd \u200eHeLa\u200f": {true, true}, "a\nb": {false, true}, "a\u2028b": {false, true},
		"a\u202eb": {false, false}, "a\u2066b\u2069": {false, false}, "a\x00": {false, false}, "a\u200bb": {true, true},
	} {
		var line, long exchange.FieldErrors
		var stored string
		line.Line("text", exchange.Some(text), exchange.LineLength, &stored)
		long.Long("text", exchange.Some(text), &stored)
		if got := [2]bool{line == nil, long == nil}; got != want {
			t.Errorf("%q is accepted as a line and as several: %v, want %v", text, got, want)
		}
	}
	if got := exchange.Tidy("\ufeff \u200bHeLa\u2060\n"); got != "HeLa" {
		t.Errorf("%q", got)
	}
}

func TestOneAlphabet_RefusesWordsOfLatinAndCyrillicLetters(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Университет Tartu": true, "TGFβ Lab": true, "Иванов-Smith": true, "Zoë O'Hara": true, "": true, "Łódź": true,
		"\u0410liquot": false, "The Univer\u0455ity": false, "Сarberry": false,
	} {
		var f exchange.FieldErrors
		f.OneAlphabet("name", name)
		if (f == nil) != want {
			t.Errorf("%q: %v", name, f)
		}
	}
}
