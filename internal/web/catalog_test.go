package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store/sqldb"

	"github.com/PuerkitoBio/goquery"
)

func TestSearchPage_ShowsWhatARequestNeeds(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		a := w.as("").get("/catalog?q=HeLa").want(http.StatusOK)
		if !strings.Contains(a.text("#n-results"), "1 material") || a.text(".hit h2") != "HeLa" ||
			a.text(".hit h2 mark") != "HeLa" {
			t.Errorf("%s: %s", a.text("#n-results"), a.text(".hit"))
		}
		if needs := a.text(".hit .needs"); needs != "MTANo IRBNo abstractYou pay shipping" {
			t.Errorf("needs: %s", needs)
		}
		if a.text("title") != "HeLa, 1 material – Aliquot" || a.text(".hit i") != "Homo sapiens" {
			t.Errorf("%s %s", a.text("title"), a.text(".hit i"))
		}
		if a.doc.Find("h1").Length() != 1 {
			t.Error("not one h1")
		}
	})
}

func TestSearchPage_FiltersAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("")
		a := v.get("/catalog?q=&category=PLASMID&needs_mta=false&ordering=title").want(http.StatusOK)
		if !a.has(`[name=category][value=PLASMID][checked]`) || a.has(`[name=category][value=CELL_LINE][checked]`) {
			t.Error("the boxes do not say what is chosen")
		}
		if !a.has(`[name=category][value=CELL_LINE]`) {
			t.Error("the filter of the category hides the others")
		}
		if got := a.text("select[name=ordering] [selected]"); got != "A to Z" {
			t.Errorf("in order %q", got)
		}
		if chips := a.foundLinks("a.chip"); len(chips) != 2 || chips[0] != "/catalog?needs_mta=false&ordering=title" {
			t.Errorf("%v", chips)
		}
		all := a.text("#n-results")
		less := v.get("/catalog?category=PLASMID&is_archived=true").want(http.StatusOK)
		if less.text("#n-results") == all || !strings.Contains(less.text("main"), "Nothing matches these 2 filters") {
			t.Errorf("%s: %s", less.text("#n-results"), less.text("main"))
		}
		if gains := less.text(".chip .count"); gains != "020" && gains != "200" && !strings.Contains(gains, "20") {
			t.Errorf("without one of them there would be %s", gains)
		}
		if less.doc.Find("#h-near ~ ul li").Length() == 0 {
			t.Error("nothing near")
		}
	})
}

func TestSearchPage_SuggestsASpelling(t *testing.T) {
	t.Parallel()
	a := alone(t).as("").get("/catalog?q=zebrafich").want(http.StatusOK)
	if got := a.foundLinks("#results .note a"); len(got) != 1 || got[0] != "/catalog?q=zebrafish" {
		t.Errorf("%v: %s", got, a.text("main"))
	}
}

func TestSearchPage_LinksTheNextPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("")
		seen := map[string]bool{}
		at := "/catalog?ordering=title"
		for range 20 {
			a := v.get(at).want(http.StatusOK)
			for _, href := range a.foundLinks(".hit h2 a") {
				if seen[href] {
					t.Errorf("%s stands twice", href)
				}
				seen[href] = true
			}
			next := a.foundLinks("a[rel=next]")
			if len(next) == 0 {
				break
			}
			at = next[0]
		}
		if len(seen) != 152 {
			t.Errorf("%d of 152 materials", len(seen))
		}
	})
}

func TestSearchPage_RefusesUnknownParameters(t *testing.T) {
	t.Parallel()
	v := alone(t).as("")
	for path, want := range map[string]int{
		"/catalog?category=NONSENSE": 400, "/catalog?organization=x": 400, "/catalog?needs_mta=maybe": 400,
		"/catalog?ordering=price": 400, "/catalog?show=all": 400,
		"/catalog?unknown=1": 200, "/catalog?after=%3F%3F": 200, "/catalog?category=": 200, "/catalog?q=%00%ff": 200,
	} {
		if a := v.get(path); a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
	}
}

func TestSearchPage_SendsOnlyTheResultsToHtmx(t *testing.T) {
	t.Parallel()
	w := alone(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org/catalog?q=HeLa", http.NoBody)
	r.Header.Set("HX-Request", "true")
	r.Header.Set("HX-Request-Type", "partial")
	r.Header.Set("HX-Target", "div#results")
	a := w.as("").send(r).want(http.StatusOK)
	if a.has("header.bar") || !a.has("#results #filters") || !a.has("#n-results[role=status]") ||
		a.text("title") == "" {
		t.Error(a.body)
	}
}

func TestSearchPage_FindsLabsAndPeople(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("")
	if a := v.get("/catalog?show=labs&q=cell").want(http.StatusOK); a.text("#results li b") != "Sample Cell Bank" ||
		!strings.HasPrefix(a.text("#results li mark"), "Cell") {
		t.Error(a.text("#results"))
	}
	a := v.get("/catalog?show=people&q=mario").want(http.StatusOK)
	if a.text("#results li b") != "Mario Manager" || strings.Contains(a.body, "@example.org") {
		t.Error(a.text("#results"))
	}
}

func TestSuggestions_CompleteWhatIsTyped(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		a := w.as("").get("/catalog/suggest?q=hel").want(http.StatusOK)
		var list []struct{ Text, Kind, Address string }
		w.must(json.Unmarshal([]byte(a.body), &list))
		if len(list) == 0 || list[0].Text != "HeLa" || list[0].Address != "/catalog/"+
			strconv.FormatInt(w.material("HeLa").ID, 10) {
			t.Errorf("%v", list)
		}
	})
}

func TestSearchPage_SavesTheSearchWithAlerts(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		if a := w.as("").post("/catalog/save", "q", "HeLa"); a.status != http.StatusSeeOther ||
			!strings.HasPrefix(a.location, "/signin") {
			t.Errorf("%d %s", a.status, a.location)
		}
		v := w.as("josiah")
		a := v.post("/catalog/save", "q", "tumour", "category", "PDX").want(http.StatusSeeOther)
		if a.location != "/catalog?category=PDX&q=tumour" || !strings.Contains(a.follow().text(".toast"), "tumour") {
			t.Errorf("%s", a.location)
		}
		list := v.get("/account/searches").want(http.StatusOK)
		if links := list.foundLinks("[data-open]"); len(links) != 1 || links[0] != "/catalog?category=PDX&q=tumour" ||
			!strings.Contains(list.text("main"), "alerts on") {
			t.Errorf("%v %s", links, list.text("main"))
		}
	})
}

func TestSearchPage_RunsAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("")
		v.get("/catalog")
		one := w.statementsOf(func() { v.get("/catalog?q=HeLa") })
		many := w.statementsOf(func() { v.get("/catalog?q=human") })
		if many > one || many > 12 {
			t.Errorf("%d statements for many, %d for one", many, one)
		}
	})
}

// hostile is what must never become a part of a page.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>`

func TestSearchPage_EscapesHostileText(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("olivia")
	metadata, err := json.Marshal(map[string]any{"cell_line_name": hostile, "disease": hostile, "cell_type": hostile,
		"growth_medium": hostile, "str_profile": hostile, "supplier": "javascript:alert(3)"})
	w.must(err)
	m, _, err := w.app.Materials.CreateMaterial(t.Context(), v.actor, material.Patch{
		Category: exchange.Some("CELL_LINE"), Title: exchange.Some("Hostile " + hostile),
		Organization: exchange.Some(exchange.Ref(v.actor.Owns[0])),
		Metadata:     exchange.Some(json.RawMessage(metadata)), Citation: exchange.NullOf(hostile),
		AdditionalInfo: exchange.NullOf(hostile),
		Organisms:      exchange.NullOf(exchange.Names{hostile}), PublicationTitle: exchange.NullOf(hostile),
	})
	w.must(err)
	for _, path := range []string{"/catalog?q=hostile", "/catalog?q=" + url.QueryEscape(hostile),
		"/catalog?organisms=" + url.QueryEscape(hostile),
		"/catalog/" + strconv.FormatInt(m.ID, 10), "/"} {
		a := v.get(path).want(http.StatusOK)
		if a.has("img") || a.doc.Find("script:not([src]):not([type='application/ld+json'])").Length() > 0 ||
			a.has(`[href^="javascript:"]`) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestFacets_AreExactOrMarkedAsRough(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		whole := w.as("").get("/catalog").want(http.StatusOK)
		if n := whole.doc.Find(".facet .n .vh").Length(); n != 0 || !whole.has(".facet .n") {
			t.Errorf("%d counts of the demo are marked as rough", n)
		}
		w.db.Sampling = sqldb.Sampling{ExactUpTo: 5, Sampled: 5, CountLimit: 5}
		rough := w.as("").get("/catalog").want(http.StatusOK)
		rough.doc.Find(".facet .n").Each(func(_ int, n *goquery.Selection) {
			if !strings.HasPrefix(n.Find(".vh").Text(), "about") {
				t.Errorf("the estimate %q is not marked", n.Text())
			}
		})
		if !rough.has(".facet .n .vh") {
			t.Errorf("no estimate is marked: %s", rough.text("#results"))
		}
	})
}

func TestCatalogPages_HaveNumbersAndASize(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("")
		titles := func(a answer) []string {
			return a.doc.Find("#results [data-row] h2").Map(func(_ int, s *goquery.Selection) string { return s.Text() })
		}
		first := v.get("/catalog?ordering=title").want(http.StatusOK)
		if n := len(titles(first)); n != 20 {
			w.Fatalf("%d on the first page", n)
		}
		second := v.get(first.doc.Find(`nav[aria-label="Pages"] a:contains("2")`).AttrOr("href", "")).want(http.StatusOK)
		next := v.get(first.doc.Find(`nav[aria-label="Pages"] a[rel="next"]`).AttrOr("href", "")).want(http.StatusOK)
		if !slices.Equal(titles(second), titles(next)) || slices.Equal(titles(second), titles(first)) {
			w.Errorf("page 2 has %v, the next one %v", titles(second), titles(next))
		}
		for _, a := range []answer{second, next} {
			if here := a.text(`nav[aria-label="Pages"] [aria-current="page"]`); here != "Page 2" {
				w.Errorf("it says %q", here)
			}
		}
		many := v.get("/catalog?ordering=title&size=50").want(http.StatusOK)
		if got := titles(many); len(got) != 50 || !slices.Equal(got[20:40], titles(second)) {
			w.Errorf("%d on a page of 50", len(got))
		}
		last := many.doc.Find(`nav[aria-label="Pages"] a:not([rel])`).Last()
		if a := v.get(last.AttrOr("href", "")).want(http.StatusOK); !strings.Contains(last.AttrOr("href", ""), "size=50") ||
			a.has(`a[rel="next"]`) {
			w.Errorf("%s is not the last page", last.AttrOr("href", ""))
		}
		for _, wrong := range []string{"page=0", "page=x", "page=501", "size=7", "size=1000"} {
			v.get("/catalog?" + wrong).want(http.StatusBadRequest)
		}
	})
}
