package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestSpreadsheetPage_PreviewsThenCreates(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.work()
		v := w.as("mario")
		lab := fmt.Sprint(w.material("HT-29").OrganizationID)
		rows := "Name,Ref,Box,Needs an MTA,Description\nSheet one,S-1,A1,yes,One of three\n" +
			"Sheet <two>,S-2,A2,maybe,not known\nSheet three,S-3,A3,no,not known\n"
		a := v.upload("/share/spreadsheet", "file", "freezer.csv", rows, "lab", lab, "category",
			"OTHER").want(http.StatusOK)
		if !strings.Contains(a.text("#columns"), "Not recognised") ||
			!strings.Contains(a.text("main"), "freezer.csv") {
			w.Fatal(a.text("main"))
		}
		form := a.formOf("form[action='/share/spreadsheet/columns']")
		form.Set("mode", "dry-run")
		v.form("/share/spreadsheet/columns", form).want(http.StatusUnprocessableEntity)
		form.Set("column.2", "additional_metadata.storage")
		a = v.form("/share/spreadsheet/columns", form).done()
		if text := a.text("main"); !strings.Contains(text, "2 new") || !strings.Contains(text, "1 row with errors") ||
			!strings.Contains(text, "Needs an MTA") {
			w.Fatal(text)
		}
		report := v.get(a.doc.Find("a[href$=report]").AttrOr("href", "")).want(http.StatusOK)
		if !strings.Contains(report.body, "would be created") ||
			!strings.Contains(report.header.Get("Content-Disposition"), "attachment") {
			w.Error(report.body)
		}
		job := strings.TrimSuffix(a.doc.Find("form[action$=store]").AttrOr("action", ""), "/store")
		w.as("olivia").get(job).want(http.StatusForbidden)
		a = v.post(job+"/store", "mode", "valid-rows-only").done()
		if text := a.text("main"); !strings.Contains(text, "2 listed") {
			w.Fatal(text)
		}
		if m := w.material("Sheet three"); m.Category != "OTHER" ||
			!strings.Contains(string(m.Metadata), `"storage":"A3"`) {
			w.Errorf("%+v", m)
		}
		// What was said of columns is remembered.
		a = v.upload("/share/spreadsheet", "file", "more.csv", rows, "lab", lab, "category",
			"OTHER").want(http.StatusOK)
		if !strings.Contains(a.text("#columns"), "as your lab chose before") ||
			strings.Contains(a.text("#columns"), "Not recognised") {
			w.Error(a.text("#columns"))
		}
		if !strings.Contains(v.get("/share/spreadsheet").text("main"), "done") {
			w.Error("the job is not offered")
		}
	})
}

func TestSpreadsheetPage_UnreadableFileIsRefused(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	lab := fmt.Sprint(w.material("HT-29").OrganizationID)
	v.post("/share/spreadsheet", "lab", lab).want(http.StatusUnprocessableEntity)
	v.upload("/share/spreadsheet", "file", "a.csv", "", "lab", lab).want(http.StatusUnprocessableEntity)
	v.upload("/share/spreadsheet", "file", "a.xls", "\xd0\xcf\x11\xe0old", "lab",
		lab).want(http.StatusUnprocessableEntity)
	if a := v.upload("/share/spreadsheet", "file", "a.csv", strings.Repeat("x", 2<<20), "lab",
		lab).want(http.StatusUnprocessableEntity); !a.has("#f-file-e") {
		t.Error(a.text("main"))
	}
	v.post("/share/spreadsheet/columns", "token", "forged").want(http.StatusNotFound)
	a := v.upload("/share/spreadsheet", "file", "a.csv", "Title\nX\n", "lab", lab).want(http.StatusOK)
	w.as("olivia").form("/share/spreadsheet/columns",
		a.formOf("form[action='/share/spreadsheet/columns']")).want(http.StatusNotFound)
	w.as("josiah").upload("/share/spreadsheet", "file", "a.csv", "Title\nX\n", "lab", lab)
}

func TestSpreadsheetPage_TemplatesAndExportsAreSpreadsheets(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	lab := w.material("HT-29").OrganizationID
	for path, want := range map[string]string{
		"/share/spreadsheet/template?category=PLASMID&format=csv":        "Backbone",
		"/share/spreadsheet/template?category=PDX&format=xlsx":           "PK",
		fmt.Sprintf("/share/spreadsheet/export?lab=%d&format=csv", lab):  "HT-29",
		fmt.Sprintf("/share/spreadsheet/export?lab=%d&format=xlsx", lab): "PK",
	} {
		if a := v.get(path).want(http.StatusOK); !strings.Contains(a.body, want) ||
			!strings.Contains(a.header.Get("Content-Disposition"), "attachment") {
			t.Errorf("%s: %.80q", path, a.body)
		}
	}
	v.get("/share/spreadsheet/template?category=NONE").want(http.StatusNotFound)
	w.as("josiah").get(fmt.Sprintf("/share/spreadsheet/export?lab=%d", lab)).want(http.StatusForbidden)
}

func TestSpreadsheetPage_CorrectsAValueInAllRows(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.work()
		v := w.as("mario")
		lab := fmt.Sprint(w.material("HT-29").OrganizationID)
		rows := "Name,Ref,Category,Needs an MTA,Embargo,Disease,Cell type,Biosafety level\n"
		for i := range 5 {
			rows += fmt.Sprintf("Mended %d,M-%d,cells,%s,soon,not known,not known,1\n", i, i, []string{"maybe", "yes"}[i%2])
		}
		a := v.upload("/share/spreadsheet", "file", "freezer.csv", rows, "lab", lab).want(http.StatusOK)
		form := a.formOf("form[action='/share/spreadsheet/columns']")
		form.Set("mode", "dry-run")
		a = v.form("/share/spreadsheet/columns", form).done()
		tried := strings.TrimSuffix(a.doc.Find("#values").AttrOr("action", ""), "/values")
		form = a.formOf("#values")
		if got := strings.Join(form["header"], " ") + ": " +
			strings.Join(form["value"], " "); got != "Category Embargo Needs an MTA: cells soon maybe" {
			w.Fatal(got)
		}
		if got := a.text("#values tbody .num"); got != "553" {
			w.Errorf("they are in %s rows", got)
		}
		if !a.has("#values tr:first-of-type option[value=CELL_LINE]") ||
			!a.has("#values tr:nth-of-type(3) option[value=false]") ||
			!a.has("#values tr:nth-of-type(2) input[name=with]") {
			w.Error(a.text("#values"))
		}
		if a := v.form(tried+"/values", form).follow(); !strings.Contains(a.text(".toast"), "at least one") {
			w.Error(a.text(".toast"))
		}
		form["with"] = []string{"CELL_LINE", "later", "false"}
		a = v.form(tried+"/values", form).done()
		if got := strings.Join(a.formOf("#values")["value"], " "); got != "later" ||
			!strings.Contains(a.text("main"), "“soon” is read as “later”") {
			w.Fatalf("%s: %s", got, a.text("main"))
		}
		again := strings.TrimSuffix(a.doc.Find("#values").AttrOr("action", ""), "/values")
		form = a.formOf("#values")
		form.Set("with", "2021-01-31")
		a = v.form(again+"/values", form).done()
		if text := a.text("main"); !strings.Contains(text, "5 new") || a.has("#values") ||
			!strings.Contains(text, "“soon” is read as “2021-01-31”") {
			w.Fatal(text)
		}
		right := strings.TrimSuffix(a.doc.Find("form[action$=store]").AttrOr("action", ""), "/store")
		v.post(right+"/store", "mode", "all-or-nothing").done()
		if m := w.material("Mended 4"); m.Category != "CELL_LINE" || m.NeedsMTA ||
			fmt.Sprint(*m.EmbargoDate) != "2021-01-31" {
			w.Errorf("%+v", m)
		}
		w.as("olivia").post(right+"/values", "header", "Category", "value", "x", "with", "y").want(http.StatusForbidden)
	})
}

// TestSpreadsheetPage_RequiresWhatTheFormRequires holds that a spreadsheet is no way around the form.
func TestSpreadsheetPage_RequiresWhatTheFormRequires(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.work()
		v := w.as("mario")
		rows := "Name,Ref,Disease,Cell type,Biosafety level\nComplete,R-1,not known,Epithelial,BSL-1\n" +
			"No disease,R-2,,Epithelial,BSL-1\nOther spelling,R-3,not known,Epithelial,Level 2\n" +
			"No level,R-4,not known,Epithelial,\n"
		lab := fmt.Sprint(w.material("HT-29").OrganizationID)
		a := v.upload("/share/spreadsheet", "file", "lines.csv", "Name,Ref\nA,R-9\n", "lab", lab, "category",
			"CELL_LINE").want(http.StatusOK)
		if text := a.text("main"); !strings.Contains(text, "Disease, Cell type, Biosafety level") {
			t.Error("the page does not name the columns that are missing: " + text)
		}
		a = v.upload("/share/spreadsheet", "file", "lines.csv", rows, "lab", lab, "category",
			"CELL_LINE").want(http.StatusOK)
		form := a.formOf("form[action='/share/spreadsheet/columns']")
		form.Set("mode", "valid-rows-only")
		a = v.form("/share/spreadsheet/columns", form).done()
		text := a.text("main")
		for _, want := range []string{"2 listed", "2 rows with errors", `enter "not known"`, "is required: one of"} {
			if !strings.Contains(text, want) {
				t.Errorf("without %q: %s", want, text)
			}
		}
		if m := w.material("Other spelling"); !strings.Contains(string(m.Metadata), `"BSL-2"`) {
			t.Errorf("the vocabulary of the form is not that of spreadsheets: %s", m.Metadata)
		}
		if m := w.material("Complete"); !strings.Contains(string(m.Metadata), `"disease":"not known"`) {
			t.Errorf("%s", m.Metadata)
		}
	})
}
