package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"aliquot/internal/importer"
	"aliquot/internal/importer/sourcetest"
)

// loadCellLines loads the excerpt of the Cellosaurus.
func (w *world) loadCellLines() {
	w.Helper()
	file, err := os.Open("../importer/testdata/cellosaurus.txt")
	w.must(err)
	_, err = w.app.Materials.LoadCellLines(w.Context(), importer.CellLines(file), func(int) {})
	w.must(err)
	w.must(file.Close())
}

// byNumber asks for the form of what a number names.
func (v *visitor) byNumber(number string) answer {
	v.Helper()
	return v.get("/share/number?" + url.Values{"number": {number}}.Encode())
}

func TestShareNumber_FillsInACellLine(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.loadCellLines()
		w.loadCellLines() // again, in place of the first
		v := w.as("newlab")
		if !v.get("/share").want(http.StatusOK).has(`form[action="/share/number"] input[name="number"]`) {
			w.Fatal("no field for a number")
		}
		for _, number := range []string{"RRID:CVCL_0030", "cvcl_0030", "ATCC CCL-2", "ccl2"} {
			a := v.byNumber(number).want(http.StatusOK)
			for field, want := range map[string]string{"cell_line_name": "HeLa", "rrid": "RRID:CVCL_0030",
				"disease": "Human papillomavirus-related endocervical adenocarcinoma", "tissue": "Uterus, cervix",
				"organism_ids": "NCBITaxon:9606", "sex": "female", "age": "30 years 6 months", "line_type": "cancer",
				"biosafety_level": ""} {
				if got := strings.TrimSpace(a.input("additional_metadata." + field)); got != want {
					w.Errorf("%s: %s is %q, want %q", number, field, got, want)
				}
			}
			if a.input("organisms") != "Homo sapiens" || !strings.Contains(a.text(".note.good"), "Cellosaurus, CVCL_0030") {
				w.Errorf("%s: %q, %s", number, a.input("organisms"), a.text(".note"))
			}
		}
		if a := v.byNumber("CVCL_1906"); !strings.Contains(a.text(".note.turn"), "Shown to be a HeLa derivative") {
			w.Error(a.text(".note"))
		}
		form := v.byNumber("CVCL_ZZ99").want(http.StatusOK).formOf("#edit") // a former accession
		form.Set("additional_metadata.biosafety_level", "BSL-1")
		form["not_known"] = []string{"disease"}
		if a := v.form("/share/new", form); a.status != http.StatusSeeOther {
			w.Fatal(a.text("#edit .errors"))
		}
		if m := w.material("#16-15"); len(m.Organisms) != 2 {
			w.Errorf("%+v", m.Material)
		}
	})
}

func TestShareNumber_KeepsWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("newlab")
	for _, c := range []struct{ number, field, kept, note string }{
		{"CVCL_AAAA", "additional_metadata.rrid", "RRID:CVCL_AAAA", "The Cellosaurus is not loaded"},
		{"RRID:BDSC_99999", "additional_metadata.rrid", "RRID:BDSC_99999", "is in no catalogue of this server"},
		{"Addgene 9999999", "additional_metadata.addgene_id", "9999999", "is in no catalogue of this server"},
	} {
		a := v.byNumber(c.number).want(http.StatusOK)
		if a.input(c.field) != c.kept || !strings.Contains(a.text(".note.turn"), c.note) {
			w.Errorf("%s: %q, %s", c.number, a.input(c.field), a.text(".note"))
		}
	}
	w.loadCellLines()
	if a := v.byNumber("CVCL_AAAA"); !strings.Contains(a.text(".note.turn"), "is not in the Cellosaurus as it was") {
		w.Error(a.text(".note"))
	}
	// A number that does not say what it names leads to the choice of a category, which keeps it.
	a := v.byNumber("Box 7").want(http.StatusUnprocessableEntity)
	if a.input("number") != "Box 7" || !strings.Contains(a.text("#f-number-e"), "is in no catalogue") {
		w.Fatal(a.text("main"))
	}
	link := a.doc.Find(`a[href*="category=PLASMID"]`).AttrOr("href", "")
	if a = v.get(link).want(http.StatusOK); a.input("additional_info") != "Catalogue number: Box 7" {
		w.Errorf("%s: %q", link, a.input("additional_info"))
	}
	if a = v.byNumber("ACC-999").want(http.StatusUnprocessableEntity); !strings.Contains(a.text("#f-number-e"),
		"several cell lines: Made up 1 (RRID:CVCL_ZZ01), Made up 2 (RRID:CVCL_ZZ02)") {
		w.Error(a.text("main"))
	}
	v.byNumber("").want(http.StatusUnprocessableEntity)
	v.byNumber(strings.Repeat("9", 300)).want(http.StatusUnprocessableEntity)
}

func TestShareNumber_IsFilledInFromOtherListingsWithoutTheirStock(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("newlab")
	a := v.byNumber("RRID:CVCL_0320").want(http.StatusOK) // HT-29, which a lab of the demo lists
	if a.input("additional_metadata.cell_line_name") != "HT-29" ||
		!strings.Contains(a.text(".note.good"), "a listing of Sample Cell Bank") {
		w.Fatal(a.text("main"))
	}
	listed := w.material("HT-29").Form()
	for _, field := range []string{"passage_number", "mycoplasma_result", "growth_medium"} {
		if got := a.input("additional_metadata." + field); got != "" {
			w.Errorf("%s is %q, as listed: %q", field, got, listed.Get("additional_metadata."+field))
		}
	}
}

func TestShareNumber_AsksTheSourceOfAnAccession(t *testing.T) {
	t.Parallel()
	w := alone(t)
	source := sourcetest.Start(t)
	w.app.Importer = source.Importer(t)
	v := w.as("newlab")
	a := v.byNumber("gse3001").want(http.StatusOK)
	if a.input("import_source") != "GEO" || a.input("title") == "" {
		w.Error(a.text("main"))
	}
	// One that the source does not have keeps the number, in the form of a dataset.
	a = v.byNumber("GSE999999999").want(http.StatusOK)
	if a.input("additional_metadata.accession_code") != "GSE999999999" || !a.has(".note.turn") {
		w.Error(a.text("main"))
	}
}

func TestShareOrganisms_AreSuggestedByAnyOfTheirNames(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("newlab")
	if a := v.get("/share/new?category=CELL_LINE"); !a.has(`[data-suggest="/share/organisms"] input[name="organisms"]`) {
		w.Error(a.text("main"))
	}
	a := v.get("/share/organisms?q=mouse").want(http.StatusOK)
	var list []struct{ Text, Kind, Value string }
	w.must(json.Unmarshal([]byte(a.body), &list))
	if len(list) != 8 || list[0].Value != "Mus musculus" || list[0].Kind != "house mouse" {
		w.Errorf("%+v", list)
	}
}
