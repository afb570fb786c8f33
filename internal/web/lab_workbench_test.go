package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"

	"github.com/PuerkitoBio/goquery"
)

// titles are those of the materials that a lab's page lists.
func (a answer) titles() []string {
	return a.doc.Find("#f-id tbody th b").Map(func(_ int, s *goquery.Selection) string { return s.Text() })
}

// change sends the form around the boxes of a lab's materials.
func (v *visitor) change(lab, do string, ids []int64, pairs ...string) answer {
	v.Helper()
	pairs = append([]string{"do", do, "back", lab + "?sort=title"}, pairs...)
	for _, id := range ids {
		pairs = append(pairs, "id", fmt.Sprint(id))
	}
	return v.post(lab+"/materials", pairs...)
}

// free are materials of the demo without open requests, of the lab that Olivia owns.
func (w *world) free(n int) (ids []int64) {
	w.Helper()
	lab := w.as("olivia").actor.Owns[0]
	list, err := w.app.Materials.Materials(w.Context(), w.as("olivia").actor, exchange.Page{Limit: 200},
		material.Filter{Organization: &lab, Archived: new(false)})
	w.must(err)
	for _, m := range list.Items {
		if active, err := w.db.Read().Materials.ActiveRequests(w.Context(), m.ID); err == nil && active == 0 && len(ids) < n {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func TestWorkbench_ChangesManyAndReportsWhatWasRefused(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, v := w.labOf("olivia"), w.as("olivia")
		ids := w.free(3)
		read := func(id int64) material.Shown {
			m, err := w.app.Materials.Material(w.Context(), v.actor, id)
			w.must(err)
			return m
		}
		mario := w.as("mario").actor.ID
		v.change(lab, "contact", ids, "contact", mario.String()).want(http.StatusSeeOther)
		v.change(lab, "mta", ids, "mta", "none").want(http.StatusSeeOther)
		v.change(lab, "shipping", ids, "shipping", "none").want(http.StatusSeeOther)
		for _, id := range ids {
			if m := read(id); m.ContactID != mario || m.NeedsMTA || m.MTAAttachmentID != nil || m.ShippingID != nil {
				w.Errorf("%+v", m.Material)
			}
		}
		shipping := v.get(lab).doc.Find("#f-shipping option").Last().AttrOr("value", "")
		v.change(lab, "shipping", ids[:1], "shipping", shipping).want(http.StatusSeeOther)
		if m := read(ids[0]); fmt.Sprint(*m.ShippingID) != shipping {
			w.Errorf("%+v", m.Material)
		}
		// Of those that are archived together, one has an open request: it stays and is named, with the reason.
		busy := w.material("HeLa")
		a := v.change(lab, "archive", append([]int64{busy.ID}, ids...)).want(http.StatusUnprocessableEntity)
		if report := a.text("#errors"); !strings.Contains(report, "1 material could not be changed, 3 will be archived") ||
			!strings.Contains(report, "HeLa: Requests for this material are open") {
			w.Error(report)
		}
		if checked := a.doc.Find(`#f-id tbody input[checked]`).AttrOr("value", ""); checked != fmt.Sprint(busy.ID) {
			w.Errorf("%s is still selected", checked)
		}
		// People who may not change the lab's materials have no boxes, and no effect.
		stranger := w.as("newlab")
		if stranger.get(lab).has("#bulk") || stranger.change(lab, "archive", ids).status != http.StatusForbidden {
			w.Error("a stranger works on the lab's materials")
		}
	})
}

func TestWorkbench_ArchivingIsUndoneTogether(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, v := w.labOf("olivia"), w.as("olivia")
	ids := w.free(3)
	toast := v.change(lab, "archive", ids).follow().want(http.StatusOK).doc.Find(".toast form")
	undo := []string{}
	for _, more := range toast.Find(`[name="id"]`).EachIter() {
		undo = append(undo, "id", more.AttrOr("value", ""))
	}
	if len(undo) != 4 {
		w.Fatalf("the button undoes %d more", len(undo)/2)
	}
	a := v.post(toast.AttrOr("action", ""), undo...).want(http.StatusSeeOther)
	if a.location != lab {
		w.Errorf("it leads to %s", a.location)
	}
	w.work()
	for _, id := range ids {
		if m, err := w.app.Materials.Material(w.Context(), v.actor, id); err != nil || m.Archived {
			w.Errorf("%d is archived: %v", id, err)
		}
	}
}

func TestWorkbench_MovesAndNamesWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := alone(t)
	lab, v := w.labOf("olivia"), w.as("olivia")
	v.post("/labs/new", "name", "Second lab", "decide_days", "7", "countersign_days", "14", "ship_days",
		"14").want(http.StatusSeeOther)
	v = w.as("olivia")
	to := v.get(lab).doc.Find("#f-to option:contains('Second lab')").AttrOr("value", "")
	ids := w.free(2)
	v.change(lab, "move", ids, "to", to).want(http.StatusSeeOther)
	for _, id := range ids {
		m, err := w.app.Materials.Material(w.Context(), v.actor, id)
		if err != nil || fmt.Sprint(m.OrganizationID) != to || m.ContactID != v.actor.ID || m.ShippingID != nil {
			w.Errorf("%+v %v", m.Material, err)
		}
	}
	for _, wrong := range [][]string{{"move"}, {"move", "to", "x"}, {"contact", "contact", "nobody at all"}, {"mta", "mta", "x"},
		{"shipping", "shipping", ""}, {"destroy"}} {
		a := v.change(lab, wrong[0], ids, wrong[1:]...).want(http.StatusUnprocessableEntity)
		if !a.has("#errors") {
			w.Errorf("%v: %s", wrong, a.text("main"))
		}
	}
	if a := v.change(lab, "archive", nil).want(http.StatusUnprocessableEntity); !strings.Contains(a.text("#errors"),
		"Select at least one material.") {
		w.Error(a.text("#errors"))
	}
}

func TestLabMaterials_AreSortedPageByPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, v := w.labOf("olivia"), w.as("olivia")
		id := v.actor.Owns[0]
		for i := range 60 {
			_, _, err := w.app.Materials.CreateMaterial(w.Context(), v.actor, material.Patch{Category: exchange.Some("OTHER"),
				Title: exchange.Some(fmt.Sprintf("Stock %02d", i*37%60)), Organization: exchange.Some(exchange.Ref(id))})
			w.must(err)
		}
		var all []string
		for next := lab + "?sort=title"; next != ""; {
			a := v.get(next).want(http.StatusOK)
			all = append(all, a.titles()...)
			next = a.doc.Find(`a[rel="next"]`).AttrOr("href", "")
		}
		if !slices.IsSortedFunc(all, func(a, b string) int {
			return strings.Compare(exchange.SortKey(a), exchange.SortKey(b))
		}) || len(all) < 61 {
			w.Errorf("%d: %v", len(all), all)
		}
		if one := v.get(lab + "?sort=title&size=200").want(http.StatusOK).titles(); !slices.Equal(one, all) {
			w.Errorf("a page of 200 has %d", len(one))
		}
		down := v.get(lab + "?sort=title-down&size=200").titles()
		slices.Reverse(down)
		if !slices.Equal(down, all) {
			w.Errorf("down: %v", down)
		}
		if a := v.get(lab + "?sort=title&after=1&at=x&size=7").want(http.StatusOK); len(a.titles()) > 50 {
			w.Error(a.titles())
		}
	})
}
