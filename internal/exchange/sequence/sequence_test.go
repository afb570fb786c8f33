package sequence_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange/sequence"
)

const small = `LOCUS       pSmall                    40 bp    DNA     circular SYN 01-JAN-2026
DEFINITION  SAMPLE.
FEATURES             Location/Qualifiers
     source          1..40
                     /organism="synthetic DNA construct"
     promoter        complement(3..8)
     CDS             join(10..15,
                     20..30)
                     /gene="bla"
                     /label="a name in
                     two lines"
                     /translation="MV"
     misc_feature    J00194.1:100..202
     primer_bind     <39..99
     variation       7
ORIGIN
        1 acgtacgtac gtacgtacgt ACGTACGTAC gtacgtacgt
//
LOCUS       second                    10 bp    DNA     linear
`

func TestParse_ReadsTheFeaturesOfAGenBankFile(t *testing.T) {
	t.Parallel()
	m, err := sequence.Parse(strings.NewReader("\n" + small))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m.Name, " ", m.Length, m.Unit, m.Circular, len(m.Letters), m.Letters[:12]); got !=
		"pSmall 40bptrue 40acgtacgtacgt" {
		t.Error(got)
	}
	want := "[{promoter promoter [{3 8}] true} {CDS a name in two lines [{10 15} {20 30}] false} " +
		"{variation variation [{7 7}] false}]"
	if got := fmt.Sprint(m.Features); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParse_ReadsFASTA(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		">one of two\nACGT ACGT\nNN\n>two\nA": "one of two 10 bp acgtacgtnn",
		">protein\nMVSKGEEL*":                 "protein 8 aa mvskgeel",
	} {
		m, err := sequence.Parse(strings.NewReader(text))
		if got := fmt.Sprint(m.Name, " ", m.Length, " ", m.Unit, " ", m.Letters); err != nil || got != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestParse_SaysWhyAFileIsNotShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "has no sequence",
		">empty\n":                      "has no sequence",
		"hello":                         "neither GenBank nor FASTA",
		"LOCUS x 0 bp DNA":              "how long",
		"LOCUS x 99999999999999 bp DNA": "how long",
		">x\n" + strings.Repeat("acgt\n", sequence.MaxBytes/5+1): "too large",
	} {
		if _, err := sequence.Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	f.Add(">x\nACGT")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := sequence.Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		if m.Length < 1 || m.Letters != "" && len(m.Letters) != m.Length {
			t.Errorf("length %d, %d letters", m.Length, len(m.Letters))
		}
		for _, feature := range m.Features {
			for _, s := range feature.Spans {
				if s.From < 1 || s.To < s.From || s.To > m.Length {
					t.Errorf("%+v is outside of 1 to %d", s, m.Length)
				}
			}
			if feature.Label == "" || len(feature.Spans) == 0 {
				t.Errorf("%+v", feature)
			}
		}
	})
}
