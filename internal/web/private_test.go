package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web"
)

// open has the pages of a world follow the rules of access=open.
func open(cfg *web.Config) {
	settings := cfg.App.Config
	settings.Access = exchange.AccessOpen
	cfg.App = app.New(settings)
}

// patient lists a xenograft with private fields, and gives its id.
func (w *world) patient() int64 {
	w.Helper()
	m, _, err := w.app.Materials.CreateMaterial(w.Context(), w.as("olivia").actor,
		material.Patch{Category: exchange.Some("PDX"), Title: exchange.Some("Colon xenograft"),
			Organization: exchange.Some(exchange.Ref(w.material("HeLa").OrganizationID)),
			EmbargoDate:  exchange.NullOf(exchange.Date("2999-12-31")), Metadata: exchange.Some(json.RawMessage(
				`{"submitter_patient_id": "quokkanaut", "submitter_tumor_id": "quokkanaut-T1", "submitter_pdx_id": "MODEL-7", "freezer": "quokkafreezer"}`))})
	w.must(err)
	return m.ID
}

// published ends the embargo of a material.
func (w *world) published(id int64) {
	w.Helper()
	_, err := w.app.Materials.UpdateMaterial(w.Context(), w.as("olivia").actor, id,
		material.Patch{EmbargoDate: exchange.Cleared[exchange.Date]()}, nil)
	w.must(err)
}

func TestMaterialPage_MarksWhatIsNotForEverybody(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		id := w.patient()
		path := fmt.Sprintf("/catalog/%d", id)
		a := w.as("mario").get(path).want(http.StatusOK)
		if !strings.Contains(a.text(".note.turn"), "only members") ||
			!strings.Contains(a.text(".head .tag"), "Embargo to 31 Dec 2999") {
			t.Errorf("the embargo: %s", a.text("main"))
		}
		if n := a.doc.Find("dt:contains('Patient ID') .tag:contains(Private)").Length(); n != 1 {
			t.Errorf("%d marks at a private field", n)
		}
		if !strings.Contains(a.text("main"), "Fields marked private are visible only to members of ") ||
			a.has("dt:contains('Model ID') .tag") {
			t.Errorf("%s", a.text("main"))
		}
		w.must(w.app.Materials.ArchiveMaterial(w.Context(), w.as("mario").actor, id, nil))
		if a := w.as("mario").get(path); !strings.Contains(a.text(".note.turn"), "only members") {
			t.Errorf("archived under embargo: %s", a.text("main"))
		}
		if a := w.as("mario").get(fmt.Sprintf("/catalog/%d", w.material("HeLa").ID)); strings.Contains(a.text("main"),
			"rivate field") || a.has("dt .tag") {
			t.Errorf("a mark where nothing is private: %s", a.text("main"))
		}
	})
}

// TestListingForm_OfOutsidersLeavesPrivateFieldsOut holds that, where anyone may write, the form neither shows nor asks
// for what its visitor may not see or set, and that saving leaves it as it is.
func TestListingForm_OfOutsidersLeavesPrivateFieldsOut(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		outside := newWorld(t, w.db, open)
		id := outside.patient()
		outside.published(id)
		path := fmt.Sprintf("/catalog/%d/edit", id)
		nadia, mario := outside.as("nadia"), outside.as("mario")
		a := nadia.get(path).want(http.StatusOK)
		for _, name := range []string{"submitter_patient_id", "submitter_tumor_id"} {
			if field := fmt.Sprintf(`[name="additional_metadata.%s"]`, name); a.has(field) ||
				!mario.get(path).has(field) {
				t.Errorf("%s: an outsider has it %v, a member %v", name, a.has(field), mario.get(path).has(field))
			}
		}
		if strings.Contains(a.body, "quokka") || !strings.Contains(a.text("#own"), "stay unchanged") {
			t.Errorf("%s", a.text("#own"))
		}
		form := a.formOf("#edit")
		form.Set("title", "Colon xenograft, renamed")
		form.Set("additional_metadata.submitter_pdx_id", "MODEL-8")
		nadia.form(path, form).want(http.StatusSeeOther)
		m, whole, err := outside.app.Materials.MaterialToEdit(outside.Context(), mario.actor, id)
		if text := string(m.Metadata); err != nil || !whole || m.Title != "Colon xenograft, renamed" ||
			!strings.Contains(text, "MODEL-8") ||
			!strings.Contains(text, `"quokkanaut"`) || !strings.Contains(text, "quokkanaut-T1") ||
			!strings.Contains(text, "quokkafreezer") {
			t.Errorf("after it was saved: %s %s %v", m.Title, m.Metadata, err)
		}
	})
}

// TestRefusals_ThatAPageShowsAreCounted holds that a refusal is an event of the audit where a page shows it in its own
// way, too.
func TestRefusals_ThatAPageShowsAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		outside := newWorld(t, w.db, open)
		id := outside.patient()
		outside.published(id)
		path := fmt.Sprintf("/catalog/%d/edit", id)
		nadia := outside.as("nadia")
		form := nadia.get(path).formOf("#edit")
		form.Set("additional_metadata.submitter_patient_id", "another")
		nadia.form(path, form).want(http.StatusUnprocessableEntity)
		if a := outside.as("ada").get("/admin/audit?refused=1").text("tbody"); !strings.Contains(a, "Nadia") ||
			!strings.Contains(a, "/edit") {
			t.Errorf("a form that comes again: %s", a)
		}

		request := w.at("PDX model BL0269-F402")
		upload := uploading(w, request+"/documents/irb", paper)
		upload.Header.Set("Accept", "text/plain")
		w.as("nadia").send(upload).want(http.StatusForbidden)
		w.as("josiah").post("/requests/bulk", "do", "decline", "reason", "No.", "id",
			strings.TrimPrefix(request, "/requests/"), "back", "/requests").want(http.StatusUnprocessableEntity)
		a := w.as("ada").get("/admin/audit?refused=1").text("tbody")
		for _, want := range []string{"/documents/irb", "/requests/bulk"} {
			if !strings.Contains(a, want) {
				t.Errorf("%s is not on record: %s", want, a)
			}
		}
	})
}
