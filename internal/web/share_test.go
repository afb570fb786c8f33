package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"

	"github.com/PuerkitoBio/goquery"
)

// form sends a form.
func (v *visitor) form(path string, form url.Values) answer {
	v.Helper()
	var pairs []string
	for name, values := range form {
		for _, value := range values {
			pairs = append(pairs, name, value)
		}
	}
	return v.post(path, pairs...)
}

// formOf is what the form of an answer would send.
func (a answer) formOf(selector string) url.Values {
	form := url.Values{}
	a.doc.Find(selector).Find("[name]").Each(func(_ int, s *goquery.Selection) {
		name, kind := s.AttrOr("name", ""), s.AttrOr("type", "")
		switch {
		case s.Is("button") || kind == "file":
		case s.Is("textarea"):
			form.Add(name, s.Text())
		case s.Is("select"):
			o := s.Find("[selected]")
			if o.Length() == 0 {
				o = s.Find("option").First()
			}
			form.Add(name, o.AttrOr("value", o.Text()))
		case kind == "checkbox" || kind == "radio":
			if _, on := s.Attr("checked"); on {
				form.Add(name, s.AttrOr("value", "on"))
			}
		default:
			form.Add(name, s.AttrOr("value", ""))
		}
	})
	return form
}

// typed is a form with a value in every field of a category, as somebody would type it.
func typed(form url.Values, c category.Category) {
	form.Set("title", "A <b>whole</b> "+c.Code)
	form.Set("organisms", "Homo sapiens; Mus musculus")
	form.Set("additional_info", "first\r\nsecond")
	form.Set("reference", "LN2-"+c.Code)
	for _, f := range c.Fields {
		name, value := "additional_metadata."+f.Key, f.Example
		switch {
		case f.Type == category.List && len(f.Options) > 0:
			form[name] = []string{"", f.Options[0].Value, "another one"}
			continue
		case len(f.Options) > 0:
			value = f.Options[0].Value
		case f.Type == category.Boolean:
			value = "true"
		case f.Type == category.Date:
			value = "2026-02-18"
		case value == "":
			value = "something"
		}
		form.Set(name, value)
	}
}

// inAPI is what a client of the API would send for what typed types.
func inAPI(t *testing.T, form url.Values, c category.Category) material.Patch {
	t.Helper()
	values := map[string]any{}
	for _, f := range c.Fields {
		text := form["additional_metadata."+f.Key]
		last := text[len(text)-1]
		switch {
		case f.Type == category.List && len(f.Options) > 0:
			values[f.Key] = text[1:]
		case f.Type == category.List:
			values[f.Key] = []string{last}
		case f.Type == category.Boolean:
			values[f.Key] = true
		case f.Type == category.Number || f.Type == category.Integer:
			values[f.Key] = json.Number(last)
		default:
			values[f.Key] = last
		}
	}
	raw, err := json.Marshal(map[string]any{"category": c.Code, "title": form.Get("title"),
		"organisms":       []string{"Homo sapiens", "Mus musculus"},
		"additional_info": "first\nsecond", "additional_metadata": values,
		"organization_id": form.Get("organization_id"), "needs_mta": form.Get("needs_mta") == "true"})
	if err != nil {
		t.Fatal(err)
	}
	var p material.Patch
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMaterialForm_OfEachCategoryEmptyAndFull(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	for _, c := range category.All() {
		a := v.get("/share/new?category=" + c.Code).want(http.StatusOK)
		for _, f := range c.Fields {
			if !a.has(`[name="additional_metadata.` + f.Key + `"]`) {
				t.Errorf("%s asks for no %s", c.Code, f.Key)
			}
		}
		if !strings.Contains(a.text("h1"), "List a") {
			t.Error(a.text("h1"))
		}
	}
}

func TestMaterialForm_CreatesWhatTheAPIWould(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("mario")
		for _, c := range category.All() {
			form := v.get("/share/new?category=" + c.Code).formOf("#edit")
			typed(form, c)
			form.Set("different", "true") // their examples are of the sample data
			a := v.form("/share/new", form)
			if a.status != http.StatusSeeOther {
				w.Fatalf("%s: %d %s", c.Code, a.status, a.text("#edit .errors"))
			}
			got := w.material(form.Get("title")).Material
			if !strings.HasPrefix(a.location, fmt.Sprintf("/catalog/%d", got.ID)) {
				w.Errorf("%s leads to %s", c.Code, a.location)
			}
			made, _, err := w.app.Materials.CreateMaterial(w.Context(), v.actor, inAPI(t, form, c))
			w.must(err)
			for _, change := range material.Changes(made.Material, got) {
				if change.Field != "id" && change.Field != "reference" {
					w.Errorf("%s: %s is %q, by the API %q", c.Code, change.Field, change.New, change.Old)
				}
			}
			full := v.get(fmt.Sprintf("/catalog/%d/edit", got.ID)).want(http.StatusOK)
			if again := v.form(fmt.Sprintf("/catalog/%d/edit", got.ID),
				full.formOf("#edit")); again.status != http.StatusSeeOther {
				w.Fatalf("%s: %d %s", c.Code, again.status, again.text("#edit .errors"))
			}
			now, err := w.app.Materials.Material(w.Context(), exchange.Actor{}, got.ID)
			if w.must(err); !now.UpdatedAt.Equal(got.UpdatedAt) {
				w.Errorf("%s: the form that nobody touched changed %v", c.Code, material.Changes(got, now.Material))
			}
		}
	})
}

func TestMaterialForm_KeepsWrongValuesAsTyped(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	for _, c := range category.All() {
		form := v.get("/share/new?category=" + c.Code).formOf("#edit")
		typed(form, c)
		form.Set("title", "")
		form.Set("url", "not <an> address")
		form.Set("embargo_date", "soon")
		form.Set("needs_irb", "true")
		for _, f := range c.Fields {
			if strings.HasSuffix(f.Key, "_name") || f.Type == category.Identifier || f.Type == category.Number ||
				f.Type == category.Date {
				form.Set("additional_metadata."+f.Key, "wrong\u0007 <i>")
			}
		}
		a := v.form("/share/new", form).want(http.StatusUnprocessableEntity)
		if !a.has("#errors a[href='#f-url']") || a.doc.Find("main i:contains('>')").Length() > 0 ||
			strings.Contains(a.body, "<an>") {
			t.Errorf("%s: %s", c.Code, a.text("#errors"))
		}
		back := a.formOf("#edit")
		for name, values := range form {
			want, got := strings.Join(values, "|"), strings.Join(back[name], "|")
			want = strings.ReplaceAll(strings.ReplaceAll(want, "\r\n", "\n"), "\u0007", "\ufffd")
			got = strings.ReplaceAll(got, "\u0007", "\ufffd")
			if want = strings.Trim(strings.TrimPrefix(want, "false|"),
				"|"); strings.Trim(strings.TrimPrefix(got, "false|"), "|") != want && name != "do" {
				t.Errorf("%s: %s is %q, was typed as %q", c.Code, name, got, want)
			}
		}
		for href := range hrefs(a, "#errors a") {
			if !a.has(`[id="` + strings.TrimPrefix(href, "#") + `"]`) {
				t.Errorf("%s: %s leads nowhere", c.Code, href)
			}
		}
	}
}

func hrefs(a answer, selector string) map[string]bool {
	list := map[string]bool{}
	a.doc.Find(selector).Each(func(_ int, s *goquery.Selection) { list[s.AttrOr("href", "")] = true })
	return list
}

func TestMaterialForm_AsksForImportantFieldsUnlessUnknown(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	form := v.get("/share/new?category=CELL_LINE").formOf("#edit")
	form.Set("additional_metadata.cell_line_name", "Neo-1")
	a := v.form("/share/new", form).want(http.StatusUnprocessableEntity)
	if !a.has("#errors a[href='#f-additional_metadata.disease']") || a.has("#errors a[href='#f-title']") {
		t.Error(a.text("#errors"))
	}
	form["not_known"] = []string{"disease", "cell_type"}
	form.Set("additional_metadata.biosafety_level", "BSL-1")
	v.form("/share/new", form).want(http.StatusSeeOther)
	if m := w.material("Neo-1"); !strings.Contains(string(m.Metadata), `"disease":"not known"`) {
		t.Errorf("%s", m.Metadata)
	}
	// What was listed without by the API can be changed without.
	bare, _, err := w.app.Materials.CreateMaterial(t.Context(), v.actor,
		material.Patch{Category: exchange.Some("CELL_LINE"), Title: exchange.Some("Bare"),
			Organization: exchange.Some(exchange.Ref(w.material("Neo-1").OrganizationID)),
			Metadata:     exchange.Some(json.RawMessage(`{"own":{"x":[1,"<b>"]}}`))})
	w.must(err)
	path := fmt.Sprintf("/catalog/%d/edit", bare.ID)
	page := v.get(path)
	form = page.formOf("#edit")
	form.Set("title", "Bare bones")
	v.form(path, form).want(http.StatusSeeOther)
	if now := w.material("Bare bones"); string(now.Metadata) != string(bare.Metadata) ||
		!strings.Contains(page.text("main"), `{"x":[1,"<b>"]}`) {
		t.Errorf("%s became %s", bare.Metadata, now.Metadata)
	}
}

func TestMaterialForm_RefusesWhoMayNotCreateOrChange(t *testing.T) {
	t.Parallel()
	w := alone(t)
	m := w.material("HT-29")
	edit := fmt.Sprintf("/catalog/%d/edit", m.ID)
	for _, path := range []string{"/share", "/share/new?category=PDX", "/share/import", "/share/spreadsheet", edit,
		fmt.Sprintf("/catalog/%d/history", m.ID)} {
		if a := w.as("").get(path); a.status != http.StatusSeeOther || !strings.HasPrefix(a.location, "/signin") {
			t.Errorf("%s: %d %s", path, a.status, a.location)
		}
	}
	stranger := w.as("josiah")
	stranger.get(edit).want(http.StatusForbidden)
	stranger.post(edit, "title", "Mine").want(http.StatusForbidden)
	stranger.get(fmt.Sprintf("/catalog/%d/history", m.ID)).want(http.StatusForbidden)
	stranger.post(fmt.Sprintf("/catalog/%d/restore", m.ID), "version", "1").want(http.StatusForbidden)
	stranger.get("/catalog/999999/edit").want(http.StatusNotFound)
	form := stranger.get("/share/new?category=OTHER").formOf("#edit")
	form.Set("title", "Smuggled")
	form.Set("organization_id", fmt.Sprint(m.OrganizationID))
	stranger.form("/share/new", form)
	if part, err := w.app.Labs.MaterialsOf(t.Context(), w.as("mario").actor, m.OrganizationID,
		exchange.Page{Limit: 500}); err != nil ||
		slices.ContainsFunc(part.Items, func(m material.Shown) bool { return m.Title == "Smuggled" }) {
		t.Error("a stranger listed for a lab", err)
	}
	if a := w.as("ada").get(edit); a.status != http.StatusOK {
		t.Errorf("an admin gets %d", a.status)
	}
}

func TestMaterialForm_WarnsOfADuplicate(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("mario")
		m := w.material("HT-29")
		form := v.get("/share/new?category=CELL_LINE&lab=" + fmt.Sprint(m.OrganizationID)).formOf("#edit")
		typed(form, must(category.Get("CELL_LINE")))
		form.Set("title", "HT29")
		form.Set("additional_metadata.rrid", "")
		form.Set("do", "preview")
		link := fmt.Sprintf(`#preview a[href="/catalog/%d"]`, m.ID)
		if a := v.form("/share/new", form).want(http.StatusOK); !a.has(link) {
			w.Error(a.text("#preview"))
		}
		form.Set("title", "Another name")
		form.Set("additional_metadata.rrid", "cvcl_0320")
		if a := v.form("/share/new", form).want(http.StatusOK); !a.has(link) {
			w.Error(a.text("#preview"))
		}
		form.Set("do", "save")
		a := v.form("/share/new", form).want(http.StatusUnprocessableEntity)
		if !a.has(`#errors [name="different"]`) {
			w.Error(a.text("#edit"))
		}
		form.Set("different", "true")
		v.form("/share/new", form).want(http.StatusSeeOther)
		w.material("Another name")
	})
}

func must[T any](v T, _ bool) T { return v }

func TestMaterialForm_ShowsWarningsAfterSaving(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	form := v.get("/share/new?category=OTHER").formOf("#edit")
	typed(form, must(category.Get("OTHER")))
	form.Set("additional_metadata.rrid", "RRID:NOBODY_12")
	form.Set("different", "true")
	a := v.form("/share/new", form).follow().want(http.StatusOK)
	if !strings.Contains(a.text("main"), "Is this right?") || !strings.Contains(a.text(".toast"), "may be a mistake") {
		t.Error(a.text(".toast"), a.text("main"))
	}
}

func TestMaterialForm_AnotherLikeItBeginsWithTheSharedFields(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	m := w.material("HT-29")
	a := v.get(fmt.Sprintf("/share/new?category=CELL_LINE&from=%d", m.ID)).want(http.StatusOK)
	if a.input("additional_metadata.disease") == "" || a.input("reference") != "" || a.input("base") != "" {
		t.Error(a.formOf("#edit"))
	}
	w.as("josiah").get(fmt.Sprintf("/share/new?category=CELL_LINE&from=%d", m.ID)).want(http.StatusForbidden)
	like := fmt.Sprintf(`a[href="/share/new?category=CELL_LINE&from=%d&lab=%d"]`, m.ID, m.OrganizationID)
	if path := fmt.Sprintf("/catalog/%d", m.ID); !v.get(path).has(like) || w.as("josiah").get(path).has(like) {
		t.Error("the page of a material does not lead to the form for one like it, or does for everybody")
	}
}

func TestMaterialForm_PartsAreSentAlone(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	for target, path := range map[string]string{"preview": "/share/new"} {
		form := v.get("/share/new?category=OTHER").formOf("#edit")
		form.Set("title", "Seen <i>live</i>")
		form.Set("do", target)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+path,
			strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("HX-Request", "true")
		r.Header.Set("HX-Request-Type", "partial")
		r.Header.Set("HX-Target", "div#"+target)
		a := v.send(r).want(http.StatusOK)
		if strings.Contains(a.body, "<html") || !strings.Contains(a.body, "Seen &lt;i&gt;live") {
			t.Errorf("%s: %s", target, a.body)
		}
	}
}

func TestMaterialForm_SectionsShowTheirProgress(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	page := v.get("/share/new?category=CELL_LINE").want(http.StatusOK)
	form := page.formOf("#edit")
	live := func() answer {
		form.Set("do", "preview")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org/share/new",
			strings.NewReader(form.Encode()))
		for name, value := range map[string]string{"Content-Type": "application/x-www-form-urlencoded",
			"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "div#preview"} {
			r.Header.Set(name, value)
		}
		return v.send(r).want(http.StatusOK)
	}
	if empty := live(); empty.text("#parts") != page.text("#parts") ||
		empty.text("#parts-missing") != page.text("#parts-missing") || empty.has("#parts a.bad") {
		t.Errorf("nobody typed yet: %s, the page says %s", empty.text("#parts"), page.text("#parts"))
	}
	typed(form, must(category.Get("CELL_LINE")))
	form.Set("embargo_date", "soon")
	a := live()
	if !a.has("#parts[hx-swap-oob]") || !strings.Contains(a.text(`#to-release`), "1 field to correct") ||
		!a.has("#to-release.bad") || a.text("#parts-missing") != "Ready to publish" {
		t.Errorf("%s; %s", a.text("#parts"), a.text("#parts-missing"))
	}
	if page.has("[hx-swap-oob]") {
		t.Error("the page itself replaces something")
	}
}

func TestListing_KeepsTheLabOnWhosePageItBegan(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		second, err := w.app.Labs.CreateOrganization(w.Context(), w.as("mario").actor,
			lab.OrganizationPatch{Name: exchange.Some("Second lab"), Members: exchange.Some([]exchange.UserRef{})})
		w.must(err)
		v, page := w.as("mario"), fmt.Sprintf("/labs/%d", second.ID)
		v.get(fmt.Sprintf("/share?lab=%d", w.material("HeLa").OrganizationID)).want(http.StatusOK) // where the last one was
		for _, link := range []string{"List a material", "Import"} {
			href := ""
			v.get(page).doc.Find("main a").Each(func(_ int, a *goquery.Selection) {
				if strings.TrimSpace(a.Text()) == link {
					href = a.AttrOr("href", "")
				}
			})
			if a := v.get(href).want(http.StatusOK); a.doc.Find("[name='lab'] option[selected]").Text() != "Second lab" {
				t.Errorf("%s leads to %s for %q", link, href, a.doc.Find("[name='lab'] option[selected]").Text())
			}
		}
		form := v.get(fmt.Sprintf("/share/new?category=OTHER&lab=%d", second.ID)).formOf("#edit")
		if form.Get("organization_id") != fmt.Sprint(second.ID) {
			t.Errorf("the form is for lab %s", form.Get("organization_id"))
		}
		form.Set("do", "draft")
		v.form("/share/new", form).want(http.StatusSeeOther)
		v.post("/drafts/delete", "draft", v.get("/share").input("draft")).want(http.StatusSeeOther)
		if v.get("/share").has("#h-drafts") {
			t.Error("the draft is still there")
		}
	})
}

func TestListingForm_ShowsRequiredFieldsAndFoldsTheRestUnlessSomethingIsToCorrect(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	a := v.get("/share/new?category=CELL_LINE").want(http.StatusOK)
	shown := a.doc.Find("#edit .field").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return s.Closest("details").Length() == 0
	})
	if shown.Length() != 4 || a.has("#edit details[open]") {
		t.Errorf("%d fields are shown, want the four required ones: %s", shown.Length(), shown.Text())
	}
	form := a.formOf("#edit")
	form.Set("embargo_date", "soon")
	form.Set("own_value", "B7")
	a = v.form("/share/new", form).want(http.StatusUnprocessableEntity)
	for _, href := range a.foundLinks("#errors a") {
		field := a.doc.Find(`[id="` + strings.TrimPrefix(href, "#") + `"]`)
		if field.Length() != 1 || field.Closest("details:not([open])").Length() > 0 {
			t.Errorf("%s is missing, or folded", href)
		}
	}
	if a.has("details[open] #publication") {
		t.Error("a section without an error is open")
	}
}
