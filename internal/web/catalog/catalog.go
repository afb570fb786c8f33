package catalog

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

var catalogPages = []ui.Route{
	ui.Get("/catalog", (*pageRequest).catalog).Expensive(),
	ui.Get("/catalog/suggest", (*pageRequest).suggest).Expensive(),
	ui.Get("/find", (*pageRequest).find).Expensive(),
	ui.Get("/find/suggest", (*pageRequest).suggestAll).Expensive(),
	ui.Post("/catalog/save", (*pageRequest).saveSearch),
	ui.GetID("/catalog/{id}", (*pageRequest).material),
	ui.GetID("/catalog/{id}/map", (*pageRequest).sequenceMap),
	ui.GetID("/catalog/{id}/transfer", (*pageRequest).transferFacts).Private(),
	ui.PostID("/catalog/{id}/transfer", (*pageRequest).stateFacts),
	ui.GetID("/catalog/{id}/lineage", (*pageRequest).lineage).Private(),
	ui.PostID("/catalog/{id}/lineage", (*pageRequest).stateLineage),
	ui.PostID("/catalog/{id}/archive", (*pageRequest).archive),
	ui.PostID("/catalog/{id}/offer", (*pageRequest).offerAgain),
	ui.Get("/robots.txt", (*pageRequest).robots),
	ui.Get("/sitemap.xml", (*pageRequest).sitemaps),
	ui.GetID("/sitemap/{id}", (*pageRequest).sitemap).Expensive(),
}

// Limits of what a search shows.
const (
	showMaterials = ""
	showLabs      = "labs"
	showPeople    = "people"
)

// asked is a search as described by its query parameters.
type searchParams struct {
	values url.Values // without empty values
	text   string
	show   string
	order  string
	search exchange.Search
}

// asking reads the search from the query parameters.
func (v *pageRequest) asking() (searchParams, error) {
	a := searchParams{values: url.Values{}}
	for name, values := range v.URL.Query() {
		for _, value := range values {
			if value = strings.TrimSpace(value); value != "" {
				a.values.Add(name, value)
			}
		}
	}
	var f exchange.FieldErrors
	a.text, a.show = strings.Join(a.values["q"], " "), a.values.Get("show")
	title := map[string]string{showMaterials: "title", showLabs: "name", showPeople: "last_name"}[a.show]
	if title == "" {
		f.Add("show", "must be labs or people")
	}
	a.search.Query = fulltext.Parse(a.text)
	a.order, a.search.Sort = f.SearchOrder(a.values, title)
	if a.show == showMaterials {
		a.search.Facets, a.search.Filters = true, f.SearchFilters(a.values, material.Facets)
	}
	f.SearchSize("q", a.text, a.search.Filters)
	a.page(&f)
	return a, f.Err()
}

// address returns the search's address with some parameters changed: name, value, name, value; "" removes all values
// of a name. It starts at the first hit, unless a page is named.
func (a searchParams) address(pairs ...string) string {
	values := url.Values{}
	for name, list := range a.values {
		if name != "after" && name != "page" {
			values[name] = list
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		values.Del(pairs[i])
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return ui.CatalogAddress(values)
}

type catalogPage struct {
	ui.Page
	Q       string
	Show    string
	Partial bool // a fragment for htmx, which needs the title
	Tabs    []tab
	Orders  []choice
	Groups  []facetGroup
	Chips   []chip
	Clear   string // the search without filters
	Hidden  []hidden
	Count   string // as "42 materials"
	Found   int64
	Span    string // which of them the page shows, as a range
	Hits    []hit
	Labs    []labHit
	People  []personHit
	Meant   string
	MeantAt string
	Next    string
	First   string
	Pages   []pageLink
	Sizes   []choice
	Feed    string
	Near    []hit // hits without the filters, if nothing was found
}

type tab struct {
	Label, Address string
	Here           bool
}

type choice struct {
	Value, Label string
	Chosen       bool
}

// hidden is a hidden field of a form.
type hidden struct{ Name, Value string }

// orderLabels are the labels of the sort orders.
var orderLabels = map[string]string{"relevance": "Relevance", "-created_at": "Newest listing",
	"-updated_at": "Recently updated"}

// catalog is the search page.
func (v *pageRequest) catalog() (ui.Response, error) {
	a, err := v.asking()
	if err != nil {
		return ui.Response{}, err
	}
	p := &catalogPage{Page: ui.Page{Section: "catalog", NoSearch: true}, Q: a.text, Show: a.show,
		Partial: v.Header.Get("HX-Request-Type") == "partial"}
	for _, t := range []tab{{"Materials", showMaterials, false}, {"Labs", showLabs, false},
		{"People", showPeople, false}} {
		values := url.Values{}
		if a.text != "" {
			values.Set("q", a.text)
		}
		if t.Address != "" {
			values.Set("show", t.Address)
		}
		p.Tabs = append(p.Tabs, tab{t.Label, ui.CatalogAddress(values), t.Address == a.show})
	}
	title := map[string]string{showMaterials: "title", showLabs: "name", showPeople: "last_name"}[a.show]
	for _, order := range exchange.SearchOrders(title) {
		label := orderLabels[order]
		if label == "" {
			label = "A to Z"
		}
		p.Orders = append(p.Orders, choice{order, label, order == a.order})
	}
	switch a.show {
	case showLabs:
		err = v.findLabs(a, p)
	case showPeople:
		err = v.findPeople(a, p)
	default:
		err = v.findMaterials(a, p)
	}
	if err != nil {
		return ui.Response{}, err
	}
	p.Title = p.Count
	if a.text != "" {
		p.Title = shorten(a.text, 60) + ", " + p.Count
		if !a.filtered() && a.search.Page.After == nil && a.search.Page.Offset == 0 {
			p.Description = p.Count + " match " + shorten(a.text, 60) + "."
		}
	} else if len(a.values) == 0 {
		p.Description = "Search and request research materials: cell lines, plasmids, model organisms, tumour " +
			"models, datasets and protocols."
	}
	return ui.Show("catalog", p)
}

func (a searchParams) filtered() bool { return len(a.search.Filters) > 0 }

func (v *pageRequest) findMaterials(a searchParams, p *catalogPage) error {
	found, err := v.App.Materials.Catalog(v.Context(), v.Who.Actor, a.search)
	if err != nil {
		return err
	}
	counted(p, a, found.SearchResult, "material")
	for _, m := range found.Items {
		now := v.App.DB.Read().Now
		h := hitOf(m, found, a.search.Query, now)
		h.ToBasket = v.SignedIn() && !m.Archived && !m.Embargoed(now) && !v.Who.MemberOf(m.OrganizationID)
		p.Hits = append(p.Hits, h)
	}
	p.Groups = groupsOf(found.Results, a)
	p.Chips = chipsOf(found.Labels, a)
	p.Clear = a.address(append(without(a), exchange.OrderingOf, "")...)
	for _, name := range append([]string{"q"}, facetNames()...) {
		for _, value := range a.values[name] {
			p.Hidden = append(p.Hidden, hidden{name, value})
		}
	}
	feed := url.Values{}
	if a.text != "" {
		feed.Set("search", a.text)
	}
	for name, values := range a.search.Filters {
		feed[name] = values
	}
	p.Feed = strings.TrimSuffix("/v1/search/materials/feed?"+feed.Encode(), "?")
	if found.Meant != "" {
		p.Meant, p.MeantAt = found.Meant, a.address("q", found.Meant)
	}
	if found.Count.N == 0 && a.filtered() {
		return v.helpNothingFound(a, p)
	}
	return nil
}

// helpNothingFound adds what the search would find without one of its filters, and without any.
func (v *pageRequest) helpNothingFound(a searchParams, p *catalogPage) error {
	counts, near, err := v.App.Materials.Without(v.Context(), v.Who.Actor, a.search)
	if err != nil {
		return err
	}
	for i, c := range p.Chips {
		if n, known := counts[c.Facet]; known {
			p.Chips[i].Gain = ui.Count(n)
		}
	}
	for _, m := range near.Items {
		p.Near = append(p.Near, hitOf(m, near, a.search.Query, v.App.DB.Read().Now))
	}
	return nil
}

type labHit struct {
	lab.Organization
	Name    []fulltext.Piece
	Text    []fulltext.Piece
	Members int
}

func (v *pageRequest) findLabs(a searchParams, p *catalogPage) error {
	a.search.Sharing, a.search.Viewer = true, v.Who.Viewer()
	found, err := v.App.Materials.SearchOrganizations(v.Context(), a.search)
	if err != nil {
		return err
	}
	counted(p, a, found.SearchResult, "lab")
	for _, o := range found.Items {
		p.Labs = append(p.Labs, labHit{o.Organization, marked(a.search.Query, o.Organization.Name),
			marked(a.search.Query, o.Description), len(o.Members)})
	}
	return nil
}

type personHit struct {
	ID         uuid.UUID
	Name       []fulltext.Piece
	RegistryID string
	Labs       []lab.Organization
}

func (v *pageRequest) findPeople(a searchParams, p *catalogPage) error {
	found, err := v.App.Materials.SearchUsers(v.Context(), a.search)
	if err != nil {
		return err
	}
	counted(p, a, found.SearchResult, "person")
	var labs []int64
	for _, u := range found.Items {
		for _, o := range u.Organizations {
			labs = append(labs, o.ID)
		}
	}
	if labs, err = v.App.Materials.SharingLabs(v.Context(), v.Who.Actor, labs); err != nil {
		return err
	}
	for _, u := range found.Items {
		hidden := func(o lab.Organization) bool { return !slices.Contains(labs, o.ID) }
		p.People = append(p.People, personHit{u.ID, marked(a.search.Query, u.Name()), u.RegistryID,
			slices.DeleteFunc(u.Organizations, hidden)})
	}
	return nil
}

// snippetLength is the approximate length of the text shown with a hit, in letters.
const snippetLength = 200

// marked returns a text, or the best matching part of a long one, with its matches.
func marked(q fulltext.Query, text string) []fulltext.Piece {
	if pieces := q.Highlight(text, snippetLength); pieces != nil {
		return pieces
	}
	if text == "" {
		return nil
	}
	return []fulltext.Piece{{Text: shorten(text, snippetLength)}}
}

// shorten cuts a text to at most that many characters.
func shorten(s string, most int) string {
	if letters := []rune(s); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return s
}

func (a searchParams) has(name, value string) bool {
	for _, v := range a.search.Filters[name] {
		if v == value {
			return true
		}
	}
	return false
}

func materialAt(id int64) string { return "/catalog/" + strconv.FormatInt(id, 10) }
