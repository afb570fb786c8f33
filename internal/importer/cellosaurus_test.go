package importer

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	"aliquot/internal/exchange/material"
)

// cellLines reads a file to its end, or to its first error.
func cellLines(text []byte) (list []material.CellLine, err error) {
	for l, err := range CellLines(bytes.NewReader(text)) {
		if err != nil {
			return list, err
		}
		list = append(list, l)
	}
	return list, nil
}

func TestCellLines_SayWhatTheFileSays(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/cellosaurus.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := cellLines(text)
	if err != nil || len(list) != 6 {
		t.Fatalf("%d cell lines, %v", len(list), err)
	}
	want := material.CellLine{Accession: "CVCL_0030", Name: "HeLa", Numbers: []string{"ATCC CCL-2", "DSMZ ACC-57"},
		Organisms: []string{"Homo sapiens"}, Taxa: []string{"NCBITaxon:9606"},
		Diseases: []string{"Human papillomavirus-related endocervical adenocarcinoma"}, Site: "Uterus, cervix",
		Sex: "Female", Age: "30Y6M", Category: "Cancer cell line"}
	if !reflect.DeepEqual(list[0], want) {
		t.Errorf("%+v", list[0])
	}
	if got := list[1].Problem; !strings.HasPrefix(got, "Contaminated. Shown to be a HeLa derivative") {
		t.Errorf("problem %q", got)
	}
	if got := list[2].Diseases; !reflect.DeepEqual(got, []string{"Hepatoblastoma"}) {
		t.Errorf("diseases %q: the same one of two ontologies", got)
	}
	hybrid := list[3]
	if len(hybrid.Organisms) != 2 || hybrid.CellType != "B-cell" || hybrid.Former[0] != "CVCL_ZZ99" {
		t.Errorf("%+v", hybrid)
	}
}

func TestCellLines_NameTheRowThatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"another file":      {"name,category\nHeLa,CELL_LINE\n", "not cellosaurus.txt"},
		"nothing":           {"", "not cellosaurus.txt"},
		"cut":               {"ID   HeLa\nAC   CVCL_0030\n", "row 3: the file ends within the entry of row 1"},
		"no accession":      {"ID   HeLa\n//\n", "row 2: the entry of row 1 has no accession"},
		"invalid accession": {"ID   HeLa\nAC   CVCL_30\n//\n", "row 2: a Cellosaurus accession is"},
		"invalid organism":  {"ID   HeLa\nAC   CVCL_0030\nOX   NCBI_TaxID=x; ! X\n//\n", "row 3: an NCBI Taxonomy ID is"},
		"no end":            {"ID   HeLa\nAC   CVCL_0030\nID   HEp-2\n", "row 3: an entry begins before the one of row 1"},
		"too long":          {"ID   " + strings.Repeat("x", maxCellLineRow) + "\n", "row 1: it has more than 1048576 bytes"},
	} {
		if _, err := cellLines([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzCellLines checks that what is read can be stored and looked up.
func FuzzCellLines(f *testing.F) {
	text, err := os.ReadFile("testdata/cellosaurus.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("ID   \xff\nAC   CVCL_0030\nDR   ATCC; \nAG   99999999Y\n//\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, _ := cellLines(text)
		for _, l := range list {
			if l.Accession == "" || len(l.Keys()) == 0 || l.Material().Category != "CELL_LINE" {
				t.Errorf("%+v", l)
			}
		}
	})
}
