package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/importer/sourcetest"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
)

// work does the jobs of the world until the test ends, but those that come by themselves.
func (w *world) work() {
	w.Helper()
	cfg := job.Config{DB: w.db}
	for _, h := range w.app.Handlers() {
		cfg.Handlers = append(cfg.Handlers, h.Every(0))
	}
	w.Cleanup(jobtest.Start(w.T, cfg))
}

// done waits for the job that an answer leads to and gives its page.
func (a answer) done() answer {
	a.Helper()
	if a.want(http.StatusSeeOther); !strings.HasPrefix(a.location, "/share/jobs/") {
		a.Fatalf("it leads to %s", a.location)
	}
	var id int64
	_, err := fmt.Sscanf(a.location, "/share/jobs/%d", &id)
	a.must(err)
	jobtest.Wait(a.T, a.db, id, exchange.JobDone)
	return a.get(a.location).want(http.StatusOK)
}

func TestImportPage_OneIdentifierHasAPreview(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.app.Importer = sourcetest.Start(t).Importer(t)
		v := w.as("gabriel")
		a := v.post("/share/import", "identifiers", " gse3001 ", "do", "lookup").want(http.StatusOK)
		if !strings.Contains(a.text("main"), "Edit before listing") {
			w.Fatal(a.text("main"))
		}
		title := a.text("section p b")
		edit := a.doc.Find(`a[href^="/share/new?import="]`).AttrOr("href", "")
		form := v.get(edit).want(http.StatusOK).formOf("#edit")
		if form.Get("title") != title || form.Get("import_source") != "GEO" || form.Get("imported") != "true" {
			w.Fatalf("%q %v", title, form)
		}
		form.Set("title", "Edited before")
		form["not_known"] = []string{"organism_ids"}
		if a := v.form("/share/new", form); a.status != http.StatusSeeOther {
			w.Fatal(a.text("#edit .errors"))
		}
		m := w.material("Edited before")
		if !m.Imported || m.ImportIdentifier == nil || *m.ImportIdentifier != "GSE3001" {
			w.Errorf("%+v", m)
		}
		// It is never listed twice: neither by the form nor by the import.
		form.Set("title", "Once more")
		form.Set("different", "true")
		if a := v.form("/share/new", form).want(http.StatusSeeOther); a.location != fmt.Sprintf("/catalog/%d", m.ID) {
			w.Error(a.location)
		}
		if a := v.post("/share/import", "identifiers", "GSE3001", "do",
			"lookup").want(http.StatusOK); !a.has(fmt.Sprintf(`main a[href="/catalog/%d"]`, m.ID)) ||
			a.has(`button[value="import"]`) {
			w.Error(a.text("main"))
		}
		a = v.post("/share/import", "identifiers", "GSE3001", "grant", "new", "grant_title", "Data", "grant_number",
			"X-9", "do", "import").want(http.StatusSeeOther)
		if a.location != fmt.Sprintf("/catalog/%d", m.ID) {
			w.Error(a.location)
		}
	})
}

func TestImportPage_ManyIdentifiersAreAJob(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.app.Importer = sourcetest.Start(t).Importer(t)
		w.work()
		v := w.as("gabriel")
		names := "GSE3001\nGSE3002, gse99999999\ndx.doi.org/10.17504/protocols.io.bbmuik6w"
		a := v.post("/share/import", "identifiers", names, "grant", "new", "grant_title", "Data", "grant_number", "X-9",
			"do", "lookup").done()
		if !strings.Contains(a.text("main"), "Ready") || !strings.Contains(a.text("main"), "Not imported") {
			w.Fatal(a.text("main"))
		}
		form := a.formOf("main form[action='/share/import']")
		form.Set("do", "import")
		if a = v.form("/share/import", form).done(); !strings.Contains(a.text("main"), "2 listed") {
			w.Fatal(a.text("main"))
		}
		job := strings.TrimSuffix(strings.TrimPrefix(a.text(".crumbs [aria-current]"), "Job "), " ")
		w.as("josiah").get("/share/jobs/" + job).want(http.StatusForbidden)
	})
}

func TestImportPage_LooksUpWithoutAGrant(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.app.Importer = sourcetest.Start(t).Importer(t)
		w.work()
		v := w.as("gabriel")
		a := v.post("/share/import", "identifiers", "GSE3001\nGSE3002", "grant", "", "do", "lookup").done()
		if !strings.Contains(a.text("main"), "2 ready") {
			w.Fatal(a.text("main"))
		}
		// To import them takes a grant, which the page of the result asks for.
		form := a.formOf("main form[action='/share/import']")
		form.Set("do", "import")
		form.Set("grant", "")
		if a = v.form("/share/import", form).want(http.StatusUnprocessableEntity); !a.has("#f-grant-e") {
			w.Error(a.text("main"))
		}
		form.Set("grant", "new")
		form.Set("grant_title", "Data")
		form.Set("grant_number", "X-9")
		if a = v.form("/share/import", form).done(); !strings.Contains(a.text("main"), "2 listed") {
			w.Error(a.text("main"))
		}
	})
}

func TestImportPage_ReturnsWhatIsNotAnIdentifier(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.app.Importer = sourcetest.Start(t).Importer(t)
	v := w.as("gabriel")
	for _, text := range []string{"", "HeLa <b>", "GSE1,\nnothing at all"} {
		a := v.post("/share/import", "identifiers", text, "grant", "", "do",
			"lookup").want(http.StatusUnprocessableEntity)
		if a.input("identifiers") != text || !a.has("#errors") {
			t.Errorf("%q: %q %s", text, a.input("identifiers"), a.text("main"))
		}
	}
}

func TestMaterialForm_LookUpFillsThePublication(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.app.Importer = sourcetest.Start(t).Importer(t)
	v := w.as("mario")
	form := v.get("/share/new?category=OTHER").formOf("#edit")
	form.Set("do", "lookup")
	v.form("/share/new", form).want(http.StatusOK)
	form.Set("pubmed_id", "none")
	if a := v.form("/share/new", form).want(http.StatusOK); !a.has("#f-pubmed_id-e") || a.input("pubmed_id") != "none" {
		t.Error(a.text("#publication"))
	}
	form.Set("pubmed_id", "PMID: 2122")
	a := v.form("/share/new", form).want(http.StatusOK)
	if a.input("publication_title") != "Publication 2122." || !strings.Contains(a.input("citation"), "Doe J") ||
		a.input("pubmed_id") != "2122" {
		t.Error(a.text("#publication"))
	}
}
