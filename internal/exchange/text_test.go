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
