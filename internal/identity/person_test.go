package identity

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestName_IsSplitAtItsCommaOrBeforeItsLastWord(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"Josiah Carberry":           {"Josiah", "Carberry"},
		"Josiah Stinkney Carberry":  {"Josiah Stinkney", "Carberry"},
		"Carberry, Josiah Stinkney": {"Josiah Stinkney", "Carberry"},
		"Ludwig van Beethoven":      {"Ludwig", "van Beethoven"},
		"Johanna von der Heide":     {"Johanna", "von der Heide"},
		"da Vinci":                  {"da", "Vinci"},
		"Plato":                     {"Plato", ""},
		"":                          {"", ""},
		"李 明":                       {"李", "明"},
	} {
		if given, family := splitName(name); given != want[0] || family != want[1] {
			t.Errorf("splitName(%q) = %q, %q, want %q", name, given, family, want)
		}
	}
}

func TestCleanText_IsOneBoundedLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := clean(raw, 20)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 20 || strings.ContainsFunc(got, unicode.IsControl) ||
			strings.TrimSpace(got) != got || strings.Contains(got, "  ") {
			t.Fatalf("clean(%q) = %q", raw, got)
		}
		if again := clean(got, 20); again != got {
			t.Fatalf("clean(%q) = %q", got, again)
		}
	})
}
