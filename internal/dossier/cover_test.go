package dossier_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"aliquot/internal/dossier"

	"pgregory.net/rapid"
)

func TestCover_TransliteratesLettersThatThePageCannotPrint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Zoë Łukasiewicz, Αθήνα, Иванов":  "Zoë Łukasiewicz, Αθήνα, Иванов",
		"陈静 asked for HeLa [ATCC]":        "[Chen Jing] asked for HeLa [ATCC]",
		"by 陈静":                           "by [Chen Jing]",
		"משה כהן":                         "[mSHh KHhn]",
		"محمد علي sent it":                "[mHmd `ly] sent it",
		"अनिल wrote":                      "[anil] wrote",
		"field\tof two\nlines":            "field of two\nlines",
		"well done \U0001F44D\U0001F3FD!": "well done [U+1F44D U+1F3FD]!",
		"joined: \u200Dx\uFE0F":           "joined: x",
		"e\u0301te\u0301":                 "été",
		"":                                "",
	} {
		if got, foreign := dossier.Printable(text); got != want || foreign != (strings.Count(got, "[") > strings.Count(text, "[")) {
			t.Errorf("%q: %q, %v, want %q", text, got, foreign, want)
		}
	}
}

func TestCover_PrintsEveryTextWithLettersThatItHas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		shown, _ := dossier.Printable(text)
		if again, foreign := dossier.Printable(shown); foreign || again != shown || !utf8.ValidString(shown) {
			t.Errorf("%q: %q, then %q", text, shown, again)
		}
	})
}
