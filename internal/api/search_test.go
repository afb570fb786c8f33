package api_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// catalogue is a scene with more materials to look for.
type catalogue struct {
	*scene
	ids map[string]int64 // by title
}

func newCatalogue(t testing.TB, db *store.DB) *catalogue {
	t.Helper()
	s := &catalogue{newScene(t, db, exchange.AccessMembers), map[string]int64{}}
	s.ids["HT-29"] = s.material
	stranger := s.people["stranger"]
	for _, m := range []obj{
		{"category": "CELL_LINE", "title": "HeLa", "organisms": []string{"Homo sapiens"},
			"publication_title": "The HeLa genome",
			"additional_metadata": obj{"cell_line_name": "HeLa", "rrid": "RRID:CVCL_0030",
				"disease": "Cervical adenocarcinoma"}},
		{"category": "CELL_LINE", "title": "HeLa S3", "organisms": []string{"Homo sapiens"},
			"additional_metadata": obj{"rrid": "RRID:CVCL_0058"}},
		{"category": "CELL_LINE", "title": "3T3-L1", "organisms": []string{"Mus musculus"}, "needs_mta": true},
		{"category": "PLASMID", "title": "pcDNA3 TNFα", "organisms": []string{"Homo sapiens", "Mus musculus"},
			"additional_info": "Expresses <b>TNF-alpha</b> & more in HeLa cells."},
		{"category": "DATASET", "title": "Up-regulated genes of colon cancer cells", "organisms": []string{},
			"imported": true, "import_source": "GEO"},
		{"category": "OTHER", "title": "Élan vital of Ørsted", "organization_id": stranger.Lab},
	} {
		by := s.member
		if m["organization_id"] == nil {
			m["organization_id"] = s.id
		} else {
			by = stranger
		}
		s.ids[m["title"].(string)] = by.want(201, "POST", "/materials", m).id()
	}
	return s
}

// titles are those of a list of hits, in its order.
func titles(a answer) []string {
	list := []string{}
	for _, hit := range a.Body["results"].([]any) {
		list = append(list, hit.(map[string]any)["title"].(string))
	}
	return list
}

func search(words string) string { return "/search/materials?search=" + url.QueryEscape(words) }

func TestSearch_FindsNamesInEverySpelling(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		all := slices.Sorted(maps.Keys(s.ids))
		for words, want := range map[string][]string{
			"HT29": {"HT-29"}, "ht-29": {"HT-29"}, "HT 29": {"HT-29"}, "“ht 29”": {"HT-29"}, `"ht 29`: {"HT-29"},
			"ht‑29":          {"HT-29"},
			"RRID:CVCL_0320": {"HT-29"}, "cvcl_0320": {"HT-29"}, "https://www.cellosaurus.org/CVCL_0320": {"HT-29"},
			"https://scicrunch.org/resolver/RRID:CVCL_0320": {"HT-29"}, "RRID: CVCL_0030": {"HeLa"},
			"hela": {"HeLa", "HeLa S3", "pcDNA3 TNFα"}, "HeLa S3": {"HeLa S3"}, "hel": {"HeLa", "HeLa S3"},
			"hela -s3":      {"HeLa", "pcDNA3 TNFα"},
			"cervical hela": {"HeLa"}, "TNF-alpha": {"pcDNA3 TNFα"}, "tnf α": {"pcDNA3 TNFα"},
			"upregulated":     {"Up-regulated genes of colon cancer cells"},
			"gene of cancers": {"Up-regulated genes of colon cancer cells"},
			`"colon cancer"`:  {"Up-regulated genes of colon cancer cells"}, `"cancer colon"`: {},
			"elan orsted": {"Élan vital of Ørsted"}, "": all, "   \x00": all, "nothing of that kind": {},
		} {
			got := titles(s.people["anonymous"].want(200, "GET", search(words), nil))
			if len(want) > 1 && words == "" || strings.HasPrefix(words, " ") {
				slices.Sort(got)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q found %q, want %q", words, got, want)
			}
		}
	})
}

func TestSearch_ShowsWhatMatched(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		a := s.member.want(200, "GET", search("hela"), nil)
		hit := a.Body["results"].([]any)[2].(map[string]any)
		if got := fmt.Sprint(hit["highlights"]); got != "map[additional_info:[map[match:false text:Expresses "+
			"<b>TNF-alpha</b> & more in ] map[match:true text:HeLa] map[match:false text: cells.]]]" {
			t.Errorf("got %s", got)
		}
		first := a.Body["results"].([]any)[0].(map[string]any)
		if got := fmt.Sprint(first["highlights"]); !strings.HasPrefix(got,
			"map[additional_metadata.cell_line_name:[map[match:true text:HeLa]] title:[map[match:true text:HeLa]]]") {
			t.Errorf("got %s", got)
		}
		// The material itself is as in a list.
		delete(first, "highlights")
		for _, m := range s.member.want(200, "GET", "/materials?limit=200", nil).List {
			if m.(map[string]any)["id"] == first["id"] && fmt.Sprint(m) != fmt.Sprint(first) {
				t.Errorf("found %v, listed %v", first, m)
			}
		}
		nothing := s.member.want(200, "GET", search(""), nil)
		if got := fmt.Sprint(nothing.Body["results"].([]any)[0].(map[string]any)["highlights"]); got != "map[]" {
			t.Errorf("who looks for nothing is shown %s", got)
		}
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"description": "Barriers of the colon"})
		lab := s.people["anonymous"].want(200, "GET", "/search/organizations?search=barrier",
			nil).Body["results"].([]any)[0].(map[string]any)
		if got := fmt.Sprint(lab["highlights"]); got != "map[description:[map[match:true text:Barriers] "+
			"map[match:false text: of the colon]]]" {
			t.Errorf("got %s", got)
		}
	})
}

// TestFacet_IgnoresItsOwnFilter, and respects all others.
// TestSearches_AreCountedAsListsAre: one with more hits than are counted says so, unless the call asks for all.
func TestSearches_AreCountedAsListsAre(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		db.Sampling.ExactUpTo, db.Sampling.Sampled, db.Sampling.ExactIn, db.Sampling.CountLimit = 3, 3, 0, 5
		for query, want := range map[string]obj{
			"":                    {"count": 5.0, "count_is": "at_least"},
			"category=CELL_LINE":  {"count": 4.0, "count_is": "exact"},
			"count=exact":         {"count": 7.0, "count_is": "exact"},
			"count=exact&limit=1": {"count": 7.0, "count_is": "exact"},
		} {
			a := s.people["anonymous"].want(200, "GET", "/search/materials?"+query, nil)
			if a.Body["count"] != want["count"] || a.Body["count_is"] != want["count_is"] {
				t.Errorf("%q: %v, %v, want %v", query, a.Body["count"], a.Body["count_is"], want)
			}
		}
		s.people["anonymous"].refused(400, "INVALID_INPUT", "GET", "/search/materials?count=all", nil)
	})
}

func TestFacet_IgnoresItsOwnFilter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		found := func(query string) answer {
			return s.people["anonymous"].want(200, "GET", "/search/materials?"+query, nil)
		}
		for query, want := range map[string]struct {
			count  float64
			facets obj
		}{
			"": {7, obj{"category": "map[CELL_LINE:4 DATASET:1 OTHER:1 PLASMID:1]",
				"needs_mta": "map[false:5 true:2]"}},
			"category=CELL_LINE": {4, obj{"category": "map[CELL_LINE:4 DATASET:1 OTHER:1 PLASMID:1]",
				"organisms": "map[Homo sapiens:3 Mus musculus:1]", "needs_mta": "map[false:2 true:2]"}},
			"category=CELL_LINE&category=PLASMID": {5, obj{"organisms": "map[Homo sapiens:4 Mus musculus:2]"}},
			"category=CELL_LINE&organisms=Mus+musculus": {1,
				obj{"category": "map[CELL_LINE:1 PLASMID:1]", "organisms": "map[Homo sapiens:3 Mus musculus:1]"}},
			"category=PDX": {0,
				obj{"category": "map[CELL_LINE:4 DATASET:1 OTHER:1 PDX:0 PLASMID:1]", "needs_mta": "<nil>"}},
			"search=hela&needs_mta=false": {3,
				obj{"category": "map[CELL_LINE:2 PLASMID:1]", "needs_mta": "map[false:3]"}},
			fmt.Sprint("organization=", s.id): {6,
				obj{"organization": fmt.Sprintf("map[%d:6 %d:1]", s.id, s.people["stranger"].Lab)}},
		} {
			a := found(query)
			if a.Body["count"] != want.count || float64(len(titles(a))) != want.count ||
				len(a.Body["approximate"].([]any)) > 0 {
				t.Errorf("%s: %v found, %d shown, want %v", query, a.Body["count"], len(titles(a)), want.count)
			}
			for name, values := range want.facets {
				if got := fmt.Sprint(a.at("facets." + name)); got != values {
					t.Errorf("%s: %s is %s, want %s", query, name, got, values)
				}
			}
		}
		labels := found("").Body["facet_labels"].(map[string]any)
		if got := fmt.Sprint(labels["organization"]); got != fmt.Sprintf("map[%d:Epithelial Biology %d:stranger "+
			"Test lab]", s.id, s.people["stranger"].Lab) {
			t.Errorf("organizations are called %s", got)
		}
		if got := fmt.Sprint(labels["category"]); got != "map[CELL_LINE:Cell line DATASET:Dataset OTHER:Other "+
			"material PLASMID:Plasmid]" {
			t.Errorf("categories are called %s", got)
		}
		if got := fmt.Sprint(found("facets=false").Body["facets"]); got != "map[]" {
			t.Errorf("facets that nobody wants: %s", got)
		}
	})
}

// walk reads all pages of a search by next, and then all of them back by previous. It returns the keys of
// the hits on the way there.
func (p *testPerson) walk(path string) (there []string) {
	p.w.t.Helper()
	pages := map[bool][]string{}
	at, last, count := path, "", 0.0
	for forth := true; at != ""; {
		a := p.want(200, "GET", at, nil)
		var keys []string
		for _, hit := range a.Body["results"].([]any) {
			keys = append(keys, fmt.Sprint(hit.(map[string]any)["id"]))
		}
		if pages[forth] = append(pages[forth], strings.Join(keys, " ")); forth {
			there, last = append(there, keys...), at
		}
		if count = a.Body["count"].(float64); int(count) < len(keys) {
			p.w.t.Errorf("%s: %v found, and %d on one page", at, count, len(keys))
		}
		next, _ := a.Body["next"].(string)
		before, _ := a.Body["previous"].(string)
		if forth && next == "" {
			forth, next = false, ""
		}
		if at = next; !forth {
			at = before
		}
		if len(pages[forth]) > 1000 {
			p.w.t.Fatalf("%s has no end", path)
		}
	}
	back := append(slices.Clone(pages[false]), pages[true][len(pages[true])-1])
	if slices.Reverse(back[:len(back)-1]); !slices.Equal(back, pages[true]) {
		p.w.t.Errorf("%s, %s: forth %q, back %q", path, last, pages[true], back)
	}
	if int(count) != len(there) {
		p.w.t.Errorf("%s: %d on all pages, of %v", path, len(there), count)
	}
	return there
}

func TestSearch_PagingLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		for i := range 40 {
			m := s.member.want(201, "POST", "/materials",
				obj{"category": "CELL_LINE", "title": fmt.Sprint("Cells ", i%7), "organization_id": s.id}).id()
			if i%9 == 0 {
				s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", m), nil)
			}
		}
		for path, orders := range map[string][]string{
			"/search/materials?":             {"relevance", "-created_at", "-updated_at", "title"},
			"/search/materials?search=cells": {"relevance", "-created_at", "-updated_at", "title"},
			"/search/organizations?":         {"relevance", "-created_at", "-updated_at", "name"},
			"/search/users?search=test":      {"relevance", "-created_at", "-updated_at", "last_name"},
		} {
			whole := s.owner.walk(path + "&limit=200")
			if len(whole) < 5 {
				t.Errorf("%s finds %d only", path, len(whole))
			}
			slices.Sort(whole)
			if len(slices.Compact(slices.Clone(whole))) != len(whole) {
				t.Errorf("%s finds something twice", path)
			}
			for _, order := range orders {
				for _, limit := range []string{"1", "7", "20"} {
					got := s.owner.walk(path + "&ordering=" + order + "&limit=" + limit)
					if slices.Sort(got); !slices.Equal(got, whole) {
						t.Errorf("%s by %s in pages of %s: %d found, of %d", path, order, limit, len(got), len(whole))
					}
				}
			}
		}
		hits := s.owner.want(200, "GET", "/search/materials?search=cells&limit=200", nil).Body["results"].([]any)
		archived := func(hit any) int {
			if hit.(map[string]any)["is_archived"] == true {
				return 1
			}
			return 0
		}
		if !slices.IsSortedFunc(hits, func(a, b any) int { return archived(a) - archived(b) }) ||
			archived(hits[len(hits)-1]) == 0 {
			t.Error("archived materials do not come last")
		}
	})
}

func TestSearch_InvalidPageIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		next, _ := s.member.want(200, "GET", "/search/materials?search=hela&limit=1&category=CELL_LINE",
			nil).Body["next"].(string)
		at, err := url.Parse(next)
		if err != nil || at.Query().Get("cursor") == "" {
			t.Fatalf("next is %q: %v", next, err)
		}
		cursor := url.QueryEscape(at.Query().Get("cursor"))
		s.member.want(200, "GET", "/v1/search/materials/?category=CELL_LINE&limit=2&facets=false&search=hela&cursor="+
			cursor, nil)
		for path, fields := range map[string]string{
			"/search/materials?search=hela&cursor=" + cursor:                                     "cursor",
			"/search/materials?search=hel&category=CELL_LINE&cursor=" + cursor:                   "cursor",
			"/search/materials?search=hela&category=CELL_LINE&ordering=title&cursor=" + cursor:   "cursor",
			"/search/materials?search=hela&category=CELL_LINE&category=PLASMID&cursor=" + cursor: "cursor",
			"/search/organizations?search=hela&cursor=" + cursor:                                 "cursor",
			"/search/materials?search=hela&category=CELL_LINE&offset=1&cursor=" + cursor:         "offset",
			"/search/materials?search=hela&category=CELL_LINE&cursor=" + cursor + "x":            "cursor",
			"/search/materials?cursor=":                                                          "cursor",
			"/search/materials?cursor=WyIiLDEsbnVsbF0":                                           "cursor",
			"/search/materials?offset=10001":                                                     "offset",
			"/search/materials?offset=-1":                                                        "offset",
			"/search/materials?offset=x":                                                         "offset",
			"/search/materials?limit=201&ordering=created_at&facets=maybe":                       "facets limit ordering",
			"/search/organizations?ordering=title&limit=0":                                       "limit ordering",
			"/search/suggest?search=h&limit=21":                                                  "limit",
			"/search/materials?" + strings.Repeat("organisms=x&organisms=y&", 40) +
				"needs_mta=maybe&organization=mine&category=STONE": "category needs_mta organization",
			"/search/materials?organisms=%00&tissue=%FF": "organisms tissue",
			"/search/materials/feed?category=STONE":      "category",
		} {
			a := s.member.refused(400, "INVALID_INPUT", "GET", path, nil)
			if got := strings.Join(slices.Sorted(maps.Keys(a.Body["fields"].(map[string]any))), " "); got != fields {
				t.Errorf("%s: %s, want %s: %s", path, got, fields, a.Raw)
			}
		}
		var many strings.Builder
		for i := range 101 {
			fmt.Fprintf(&many, "&organisms=%d", i)
		}
		s.member.refused(400, "INVALID_INPUT", "GET", "/search/materials?"+many.String(), nil)
		a := s.member.refused(400, "INVALID_INPUT", "GET", "/search/materials?ordering=best&offset=20000", nil)
		if text := fmt.Sprint(a.Body["fields"]); !strings.Contains(text,
			"relevance, -created_at, -updated_at, title") || !strings.Contains(text, "10000") ||
			!strings.Contains(text, "next") {
			t.Errorf("got %s", text)
		}
		s.member.want(200, "GET", "/search/materials?offset=10000", nil)
	})
}

// TestSearch_HidesEmbargoedMaterialEverywhere: only members see the material before its day.
func TestSearch_HidesEmbargoedMaterialEverywhere(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		s.member.want(201, "POST", "/materials",
			obj{"category": "MODEL_ORGANISM", "title": "Zyzzyva weevilwort", "organization_id": s.id,
				"organisms":    []string{"Arabidopsis thaliana"},
				"embargo_date": time.Now().AddDate(0, 0, 2).UTC().Format(time.DateOnly)})
		for name, want := range map[string]bool{"anonymous": false, "stranger": false, "former": false, "member": true,
			"owner": true} {
			p := s.people[name]
			told := map[string]bool{}
			for what, path := range map[string]string{
				"hits": "/search/materials?search=weevilwort", "prefix": "/search/materials?search=zyz",
				"all":    "/search/materials?limit=200",
				"facets": "/search/materials?limit=1", "did you mean": "/search/materials?search=weevilwrot",
				"suggestions":           "/search/suggest?search=zyz",
				"a word of suggestions": "/search/suggest?search=weev",
				"by facet":              "/search/materials?category=MODEL_ORGANISM",
			} {
				raw := string(p.want(200, "GET", path, nil).Raw)
				told[what] = strings.Contains(strings.ToLower(raw), "weevilwort") ||
					strings.Contains(raw, `"Arabidopsis thaliana"`)
			}
			for what, hears := range told {
				if hears != want {
					t.Errorf("%s is notified of it by %s: %v, want %v", name, what, hears, want)
				}
			}
			if count := p.want(200, "GET", "/search/materials?search=zyzzyva",
				nil).Body["count"]; count != map[bool]float64{true: 1}[want] {
				t.Errorf("%s counts %v", name, count)
			}
			if feed := string(p.want(200, "GET", "/search/materials/feed", nil).Raw); strings.Contains(feed,
				"Zyzzyva") || !strings.Contains(feed, "HeLa S3") {
				t.Errorf("the feed of %s: %s", name, feed)
			}
		}
	})
}

func TestSearch_SuggestsASpellingWhenNothingIsFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		for words, want := range map[string]any{"regulatde": "regulated", "hela": nil, "": nil, "xyzzyxyz": nil,
			"regulatde -hela": "regulated -hela"} {
			a := s.people["anonymous"].want(200, "GET", search(words), nil)
			if a.Body["did_you_mean"] != want {
				t.Errorf("%q: did you mean %v, want %v", words, a.Body["did_you_mean"], want)
			}
		}
	})
}

func TestSuggestions_CompleteWhatIsTyped(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		texts := func(path string) (list []string) {
			for _, one := range s.people["anonymous"].want(200, "GET", path, nil).Body["results"].([]any) {
				list = append(list, fmt.Sprint(one.(map[string]any)["text"]))
			}
			return list
		}
		for typed, want := range map[string]string{"hel": "HeLa", "HELA S": "HeLa S3", "ht2": "HT-29", "ht-": "HT-29",
			"orst": "Élan vital of Ørsted"} {
			if got := texts("/search/suggest?search=" + url.QueryEscape(typed)); len(got) == 0 || got[0] != want {
				t.Errorf("%q: %q, want %s first", typed, got, want)
			}
		}
		if got := texts("/search/suggest?limit=1&search=hel"); len(got) != 1 {
			t.Errorf("one is wanted, %q come", got)
		}
		if got := texts("/search/suggest"); len(got) > 8 {
			t.Errorf("%d come", len(got))
		}
	})
}

// TestUserSearch_FindsNamesAndNeverMailAddresses.
func TestUserSearch_FindsNamesAndNeverMailAddresses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.requester().want(200, "PATCH", s.user(""), obj{"email": "quagga@zebra.example", "first_name": "Łucja"})
		for words, want := range map[string]int{"lucja": 1, "id-requester": 1, "quagga": 0, "quagga@zebra.example": 0,
			"zebra": 0} {
			a := s.people["anonymous"].want(200, "GET", "/search/users?search="+words, nil)
			if found := a.Body["results"].([]any); len(found) != want || strings.Contains(string(a.Raw), "quagga") &&
				words != "quagga" && !strings.HasPrefix(words, "quagga") {
				t.Errorf("%q finds %s", words, a.Raw)
			}
		}
		own := s.requester().want(200, "GET", "/search/users?search=lucja", nil)
		public := s.owner.want(200, "GET", s.user(""), nil)
		if got := own.Body["results"].([]any)[0]; fmt.Sprint(got) != fmt.Sprint(public.Body) {
			t.Errorf("found %v, others read %v", got, public.Body)
		}
	})
}
