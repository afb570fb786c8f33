package letter_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/letter/lettertest"
	"aliquot/internal/agreement/pdfa"
)

func TestPDF_IsTheSameBytesForTheSameLetter(t *testing.T) {
	t.Parallel()
	l, i := lettertest.Long(t)
	first, err := l.PDF(i)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if again, err := l.PDF(i); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("other bytes: %v", err)
		}
	}
	l.Version++
	if other, err := l.PDF(i); err != nil || bytes.Equal(first, other) {
		t.Errorf("another version has the same bytes: %v", err)
	}
}

func TestPDF_RefusesLettersThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	i := form(t)
	for name, bad := range map[string]rune{"Arabic \u0645": '\u0645', "turned \u202e": '\u202e', "bell \a": '\a',
		"private \ue000": '\ue000', "unassigned \U0003ffff": '\U0003ffff'} {
		l := letter.New("A-1", "2026-06-15", i, 1, 2, []letter.Request{{ID: 1, Material: name}}, nil)
		_, err := l.PDF(i)
		missing, ok := errors.AsType[*pdfa.MissingLettersError](err)
		if !ok || len(missing.Letters) != 1 || missing.Letters[0] != bad || !strings.Contains(err.Error(), "Latin letters") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPDF_IsWrittenOrRefusedWhateverTheTextsAre(t *testing.T) {
	t.Parallel()
	i := form(t)
	rapid.Check(t, func(t *rapid.T) {
		l := letter.New(rapid.StringOfN(rapid.Rune(), 0, 99, -1).Draw(t, "number"), "2026-06-15", i, 1, 2,
			[]letter.Request{{ID: 1, Material: rapid.String().Draw(t, "material"), Quantity: rapid.String().Draw(t, "quantity")}},
			map[string]string{"provider_name": strings.Repeat(rapid.String().Draw(t, "name"), rapid.IntRange(1, 300).Draw(t, "times"))})
		b, err := l.PDF(i)
		if _, missing := errors.AsType[*pdfa.MissingLettersError](err); err != nil && !missing {
			t.Fatal(err)
		}
		if err == nil && (!bytes.HasPrefix(b, []byte("%PDF-1.7\n")) || !bytes.HasSuffix(b, []byte("%%EOF\n"))) {
			t.Fatalf("%d bytes that are no PDF", len(b))
		}
	})
}

func TestPDF_RefusesADateThatIsNone(t *testing.T) {
	t.Parallel()
	i := form(t)
	if _, err := letter.New("A-1", "soon", i, 1, 2, nil, nil).PDF(i); err == nil {
		t.Error("it is accepted")
	}
}

func BenchmarkPDF(b *testing.B) {
	l, i := lettertest.Long(b)
	for b.Loop() {
		if _, err := l.PDF(i); err != nil {
			b.Fatal(err)
		}
	}
}
