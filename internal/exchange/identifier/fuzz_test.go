package identifier_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"aliquot/internal/exchange/identifier"
)

// fuzz checks for any text that Parse does not panic, and that what it accepts has a canonical form that is a fixed
// point, valid UTF-8 and at most 255 characters, and that it is among the kinds of KindsOf unless there is a warning.
func fuzz(f *testing.F, kind identifier.Kind) {
	s := table[kind]
	for in := range s.good {
		f.Add(in)
	}
	for in := range s.odd {
		f.Add(in)
	}
	for _, in := range s.bad {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		canonical, warning, err := identifier.Parse(kind, in)
		if err != nil {
			if canonical != "" {
				t.Errorf("%q is refused and still gives %q", in, canonical)
			}
			return
		}
		if canonical == "" || len(canonical) > 255 || !utf8.ValidString(canonical) {
			t.Errorf("%q gives %q", in, canonical)
		}
		if warning == "" && !slices.Contains(identifier.KindsOf(in), kind) {
			t.Errorf("%q might be one of %q, but is %q", in, identifier.KindsOf(in), canonical)
		}
		again, warningAgain, err := identifier.Parse(kind, canonical)
		if again != canonical || warningAgain != warning || err != nil {
			t.Errorf("%q gives %q, which gives %q, %q, %v", in, canonical, again, warningAgain, err)
		}
		kind.Address(canonical)
	})
}

func FuzzAccession(f *testing.F)    { fuzz(f, "accession") }
func FuzzAddgene(f *testing.F)      { fuzz(f, "addgene") }
func FuzzBioProject(f *testing.F)   { fuzz(f, "bioproject") }
func FuzzBioSample(f *testing.F)    { fuzz(f, "biosample") }
func FuzzCellosaurus(f *testing.F)  { fuzz(f, "cellosaurus") }
func FuzzCountry(f *testing.F)      { fuzz(f, "country") }
func FuzzDbGaP(f *testing.F)        { fuzz(f, "dbgap") }
func FuzzDOI(f *testing.F)          { fuzz(f, "doi") }
func FuzzEGA(f *testing.F)          { fuzz(f, "ega") }
func FuzzGEO(f *testing.F)          { fuzz(f, "geo") }
func FuzzIMSR(f *testing.F)         { fuzz(f, "imsr") }
func FuzzMGI(f *testing.F)          { fuzz(f, "mgi") }
func FuzzMMRRC(f *testing.F)        { fuzz(f, "mmrrc") }
func FuzzOBO(f *testing.F)          { fuzz(f, "obo") }
func FuzzORCID(f *testing.F)        { fuzz(f, "orcid") }
func FuzzPMID(f *testing.F)         { fuzz(f, "pmid") }
func FuzzProtocolsDOI(f *testing.F) { fuzz(f, "protocols-doi") }
func FuzzROR(f *testing.F)          { fuzz(f, "ror") }
func FuzzRRID(f *testing.F)         { fuzz(f, "rrid") }
func FuzzSPDX(f *testing.F)         { fuzz(f, "spdx") }
func FuzzSRA(f *testing.F)          { fuzz(f, "sra") }
func FuzzTaxonomy(f *testing.F)     { fuzz(f, "taxonomy") }
