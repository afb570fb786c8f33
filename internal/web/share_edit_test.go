package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
)

func TestMaterialForm_DraftEndsWhenItIsSaved(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	form := v.get("/share/new?category=PLASMID").formOf("#edit")
	typed(form, must(category.Get("PLASMID")))
	form.Set("do", "draft")
	v.form("/share/new", form).want(http.StatusSeeOther)
	a := v.get("/share/new?category=PLASMID").want(http.StatusOK)
	if a.input("title") != form.Get("title") || !strings.Contains(a.text("main"), "This is your draft") {
		t.Error(a.input("title"))
	}
	if !v.get("/share").has(`a[href="/share/new?category=PLASMID"]`) {
		t.Error("the draft is not offered")
	}
	form = a.formOf("#edit")
	v.form("/share/new", form).want(http.StatusSeeOther)
	if a := v.get("/share/new?category=PLASMID"); a.input("title") != "" {
		t.Error("the draft is still there")
	}
	m := w.material(form.Get("title"))
	path := fmt.Sprintf("/catalog/%d/edit", m.ID)
	form = v.get(path).formOf("#edit")
	form.Set("title", "Drafted")
	form.Set("do", "draft")
	v.form(path, form).want(http.StatusSeeOther)
	if a := v.get(path); a.input("title") != "Drafted" {
		t.Error(a.input("title"))
	}
	v.post("/share/fresh", "draft", fmt.Sprintf("material %d", m.ID)).want(http.StatusSeeOther)
	if a := v.get(path); a.input("title") != m.Title {
		t.Error(a.input("title"))
	}
}

func TestMaterialForm_NewShippingRequirementHasItsErrorsAtTheField(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	form := v.get("/share/new?category=PLASMID").formOf("#edit")
	typed(form, must(category.Get("PLASMID")))
	form.Set("shipping_requirements_id", "new")
	form.Set("shipping.restrictions", strings.Repeat("x", 200_000))
	a := v.form("/share/new", form).want(http.StatusUnprocessableEntity)
	if !a.has(`#errors a[href="#f-shipping.restrictions"]`) || !strings.Contains(a.text(".err"), "Restrictions ") {
		t.Errorf("%s", a.text("#errors"))
	}
}

func TestMaterialForm_ChangeOfCategoryKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	form := v.get("/share/new?category=CELL_LINE").formOf("#edit")
	typed(form, must(category.Get("CELL_LINE")))
	form.Set("category", "PLASMID")
	form.Set("do", "category")
	a := v.form("/share/new", form).want(http.StatusOK)
	if a.input("title") != form.Get("title") || !a.has(`[name="additional_metadata.plasmid_name"]`) ||
		a.input("additional_metadata.growth_medium") == "" {
		t.Error(a.text("h1"), a.input("title"))
	}
}

func TestMaterialForm_ConflictShowsBothVersions(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		m := w.material("HT-29")
		path := fmt.Sprintf("/catalog/%d/edit", m.ID)
		mario, olivia := w.as("mario"), w.as("olivia")
		mine, theirs := mario.get(path).formOf("#edit"), olivia.get(path).formOf("#edit")
		theirs.Set("title", "HT-29, theirs")
		theirs.Set("citation", "Theirs")
		olivia.form(path, theirs).want(http.StatusSeeOther)
		mine.Set("title", "HT-29, mine <b>")
		mine.Set("additional_metadata.ethnicity", "Mine")
		a := mario.form(path, mine).want(http.StatusConflict)
		if a.input("title") != "HT-29, mine <b>" || a.input("additional_metadata.ethnicity") != "Mine" ||
			a.input("citation") != "Theirs" {
			w.Errorf("the form has %q %q %q", a.input("title"), a.input("additional_metadata.ethnicity"),
				a.input("citation"))
		}
		if text := a.text("#errors"); !strings.Contains(text, "Olivia Owner") ||
			!strings.Contains(text, "HT-29, theirs") || !a.has(`[name="theirs"][value="title"]`) {
			w.Error(text)
		}
		if now := w.material("HT-29, theirs"); now.ID != m.ID {
			w.Error("what was saved is gone")
		}
		again := a.formOf("#edit")
		again.Set("theirs", "title")
		mario.form(path, again).want(http.StatusSeeOther)
		now := w.material("HT-29, theirs")
		if *now.Citation != "Theirs" || !strings.Contains(string(now.Metadata), `"ethnicity":"Mine"`) {
			w.Errorf("%s %s", *now.Citation, now.Metadata)
		}
	})
}

func TestMaterialHistory_ShowsChangesAndRestores(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		m := w.material("HT-29")
		v := w.as("mario")
		edit, history := fmt.Sprintf("/catalog/%d/edit", m.ID), fmt.Sprintf("/catalog/%d/history", m.ID)
		form := v.get(edit).formOf("#edit")
		form.Set("title", "Spoilt <script>")
		form.Set("additional_metadata.disease", "")
		form["not_known"] = []string{"disease"}
		v.form(edit, form).want(http.StatusSeeOther)
		a := v.get(history).want(http.StatusOK)
		if text := a.text("main li:first-child"); !strings.Contains(text, "Spoilt <script>") ||
			!strings.Contains(text, "HT-29") || !strings.Contains(text, "Mario Manager") {
			w.Error(text)
		}
		restore := a.doc.Find("form[action$=restore]").First()
		version, base := restore.Find("[name=version]").AttrOr("value", ""),
			restore.Find("[name=base]").AttrOr("value", "")
		v.post(fmt.Sprintf("/catalog/%d/restore", m.ID), "version", version, "base", "older").want(http.StatusConflict)
		v.post(fmt.Sprintf("/catalog/%d/restore", m.ID), "version", version, "base", base).want(http.StatusSeeOther)
		now := w.material("HT-29")
		for _, change := range material.Changes(m.Material, now.Material) {
			w.Errorf("%s is %q, was %q", change.Field, change.New, change.Old)
		}
	})
}

func TestMaterialForm_CreatesDocumentsShippingAndGrants(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("gabriel")
	g, err := w.app.Grants.CreateGrant(t.Context(), v.actor,
		person.GrantPatch{Title: exchange.Some("Shared tools"), FunderID: exchange.Some("X-1")})
	w.must(err)
	form := v.get("/share/new?category=PLASMID").formOf("#edit")
	typed(form, must(category.Get("PLASMID")))
	form.Set("shipping_requirements_id", "new")
	form.Set("shipping.needs_payment", "true")
	form.Set("shipping.restrictions", "on dry ice")
	form.Add("grant", fmt.Sprint(g.ID))
	form.Set("url", "nonsense")
	var pairs []string
	for name, values := range form {
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	// What is wrong elsewhere loses no file.
	a := v.upload("/share/new", "mta_file", "our-mta.pdf", pdf,
		pairs...).want(http.StatusUnprocessableEntity)
	again := a.formOf("#edit")
	if again.Get("mta_attachment_id") == "" ||
		!strings.Contains(a.text("#f-mta_attachment_id [selected]"), "our-mta.pdf") {
		t.Fatal(a.text("#requirements"))
	}
	again.Set("url", "https://example.org")
	pairs = nil
	for name, values := range again {
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	v.upload("/share/new", "map_file", "map.gb", "LOCUS       X 10 bp DNA circular\nORIGIN\n        1 acgtacgtac\n//\n",
		pairs...).want(http.StatusSeeOther)
	m := w.material(form.Get("title"))
	if m.MTAAttachmentID == nil || !m.NeedsMTA || m.ShippingID == nil || !slices.Equal(m.Grants, []int64{g.ID}) {
		t.Errorf("%+v", m)
	}
	if s, err := w.app.Documents.Shipping(t.Context(), *m.ShippingID); err != nil || !s.NeedsPayment ||
		s.Restrictions != "on dry ice" {
		t.Errorf("%+v %v", s, err)
	}
	edit := v.get(fmt.Sprintf("/catalog/%d/edit", m.ID))
	if !strings.Contains(edit.text("#release"), "map.gb") {
		t.Error(edit.text("#release"))
	}
	form = edit.formOf("#edit")
	form.Set("grant", "")
	v.form(fmt.Sprintf("/catalog/%d/edit", m.ID), form).want(http.StatusSeeOther)
	if m = w.material(m.Title); len(m.Grants) > 0 {
		t.Error("the grant still names it")
	}
	// A file that is refused is told beside its field.
	if a := v.upload("/share/new", "mta_file", "mta.txt", "Agreement", "title", "Still here", "category",
		"OTHER").want(http.StatusUnprocessableEntity); !strings.Contains(a.text("#f-mta_file-e"),
		"MTA template: “mta.txt” is not a PDF, PNG or Word file.") {
		t.Error(a.text("#edit .errors"))
	}
	form.Set("title", "Still here")
	pairs = []string{"title", "Still here"}
	if a := v.upload("/share/new", "mta_file", "a.exe", "MZ",
		append(pairs, "category", "OTHER")...).want(http.StatusUnprocessableEntity); !a.has("#f-mta_file-e") ||
		a.input("title") != "Still here" {
		t.Error(a.text("#edit .errors"))
	}
}

func TestMaterialForm_EditsTheLabsOwnFields(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		m := w.material("HT-29")
		path := fmt.Sprintf("/catalog/%d/edit", m.ID)
		v := w.as("mario")
		own := func() string {
			text, err := json.Marshal(w.material("HT-29").CustomValues())
			w.must(err)
			return string(text)
		}
		before := own()
		form := v.get(path).formOf("#edit")
		form["own_key"][len(form["own_key"])-1], form["own_value"][len(form["own_value"])-1] = "freezer box", "B7"
		form.Set("do", "own")
		a := v.form(path, form).want(http.StatusOK)
		form = a.formOf("#edit")
		if n := len(form["own_key"]); n < 2 || form["own_key"][n-2] != "freezer box" || form["own_key"][n-1] != "" ||
			own() != before {
			t.Fatalf("%q", form["own_key"])
		}
		v.form(path, form).want(http.StatusSeeOther)
		if got := own(); !strings.Contains(got, `"freezer box":"B7"`) {
			t.Errorf("added: %s", got)
		}
		form = v.get(path).formOf("#edit")
		i := slices.Index(form["own_key"], "freezer box")
		form["own_value"][i] = "B8"
		theirs := v.get(path).formOf("#edit")
		theirs.Set("citation", "Theirs")
		w.as("olivia").form(path, theirs).want(http.StatusSeeOther)
		v.form(path, v.form(path, form).want(http.StatusConflict).formOf("#edit")).want(http.StatusSeeOther)
		if got := own(); !strings.Contains(got, `"freezer box":"B8"`) {
			t.Errorf("changed, after a conflict: %s", got)
		}
		form = v.get(path).formOf("#edit")
		form["own_key"][len(form["own_key"])-1] = "sex"
		form["own_value"][len(form["own_value"])-1] = "F"
		if a := v.form(path, form).want(http.StatusUnprocessableEntity); !strings.Contains(a.text("#errors"),
			"which is already a field above") || !a.has("#f-own") {
			t.Errorf("a field that there is: %s", a.text("#errors"))
		}
		form = v.get(path).formOf("#edit")
		form["own_value"][slices.Index(form["own_key"], "freezer box")] = ""
		v.form(path, form).want(http.StatusSeeOther)
		if got := own(); got != before {
			t.Errorf("removed: %s, want %s", got, before)
		}
	})
}
