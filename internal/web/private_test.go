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

// TestRefusals_ThatAPageShowsAreCounted holds that a refusal is an event of the audit where a page shows it in its own
// way, too.
func TestRefusals_ThatAPageShowsAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		id := w.patient()
		w.published(id)
		path := fmt.Sprintf("/catalog/%d/edit", id)
		w.as("nadia").post(path, "title", "Another").want(http.StatusForbidden)
		if a := w.as("ada").get("/admin/audit?refused=1").text("tbody"); !strings.Contains(a, "Nadia") ||
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

func TestPages_NeedMembershipEvenWhereTheAPIIsOpen(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		m := w.material("HeLa")
		lab, err := w.app.Labs.Organization(w.Context(), m.OrganizationID)
		w.must(err)
		opened := newWorld(t, w.db, open)
		item, place := fmt.Sprintf("/catalog/%d", m.ID), fmt.Sprintf("/labs/%d", lab.ID)
		member := w.as("mario").actor.ID.String()
		for _, name := range []string{"", "josiah", "stranger"} {
			v := opened.as(name)
			for path, hidden := range map[string]string{
				item:              "a[href$='/edit'], form[action$='/archive']",
				place:             "a[href$='/settings'], a[href*='/edit'], a[href^='/share']",
				place + "/people": "form[action$='/remove'], form[action$='/owner'], form[action$='/invitations']",
			} {
				if a := v.get(path).want(http.StatusOK); a.doc.Find("main").Find(hidden).Length() > 0 {
					t.Errorf("%q is offered changes on %s", name, path)
				}
			}
			refused := http.StatusForbidden
			if name == "" {
				refused = http.StatusSeeOther // to the sign-in
			}
			v.get(item + "/edit").want(refused)
			v.get(place + "/settings").want(refused)
			for path, form := range map[string][]string{
				item + "/edit": {"title", "Mine"}, item + "/archive": nil,
				place + "/settings": {"name", "Mine"}, place + "/people/remove": {"member", member},
				place + "/people/owner": {"member", member, "sure", "1"},
			} {
				if a := v.post(path, form...); a.status != refused || refused == http.StatusSeeOther &&
					!strings.HasPrefix(a.location, "/signin") {
					t.Errorf("%q may post to %s: %d %s", name, path, a.status, a.location)
				}
			}
		}
		opened.as("olivia").get(place + "/settings").want(http.StatusOK)
		now, err := w.app.Labs.Organization(w.Context(), lab.ID)
		if err != nil || now.Name != lab.Name || now.Owner != lab.Owner || len(now.Members) != len(lab.Members) {
			t.Errorf("the lab changed: %+v, %v", now, err)
		}
	})
}
