package material

import (
	"testing"
)

func TestParseNumber_KnowsWhatANumberNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ category, canonical string }{
		"RRID:CVCL_0030":                    {"CELL_LINE", "CVCL_0030"},
		" cvcl_0030 ":                       {"CELL_LINE", "CVCL_0030"},
		"Addgene plasmid # 12260":           {"PLASMID", "12260"},
		"RRID:IMSR_JAX:000664":              {"MODEL_ORGANISM", "IMSR_JAX:000664"},
		"RRID:BDSC_5":                       {"MODEL_ORGANISM", "RRID:BDSC_5"},
		"RRID:AB_262044":                    {"", "RRID:AB_262044"},
		"GSE2122":                           {"DATASET", "GSE2122"},
		"https://doi.org/10.1038/nature123": {"", "10.1038/nature123"},
		"PMID: 13052828":                    {"", "13052828"},
		"ATCC CCL-2":                        {"", "ATCC CCL-2"},
		"000664":                            {"", "000664"}, // of JAX, Addgene or PubMed
		"":                                  {"", ""},
	} {
		if n := ParseNumber(text); n.Category != want.category || n.Canonical() != want.canonical {
			t.Errorf("%q: %q %q, want %q", text, n.Category, n.Canonical(), want)
		}
	}
}

func TestNumberKey_IgnoresHowANumberIsWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"CCL-2": "CCL2", "ccl 2": "CCL2", "ATCC® CCL-2™": "ATCCCCL2", "CCL-2.1": "CCL2.1",
		"https://www.atcc.org/products/ccl-2/": "CCL2", "HeLa": "", "": "",
	} {
		if got := NumberKey(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestCellLine_SaysNothingThatTheCellosaurusDoesNot(t *testing.T) {
	t.Parallel()
	for age, want := range map[string]string{"30Y6M": "30 years 6 months", "1Y": "1 year", "93Y": "90 or over",
		"FW12": "FW12", "Age unspecified": "", "": ""} {
		if got := (CellLine{Age: age}).age(); got != want {
			t.Errorf("age %q: %q, want %q", age, got, want)
		}
	}
	m := CellLine{Accession: "CVCL_0030", Name: "HeLa"}.Material()
	if got := len(m.values()); got != 2 {
		t.Errorf("%s", m.Metadata)
	}
}
