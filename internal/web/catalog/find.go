package catalog

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// Whom an action of findActions is for.
const (
	forAll = iota
	forUsers
	forAdmins
)

// findActions are the pages that can be found by what one does there; words are others for the same.
var findActions = []struct {
	whom                 int
	text, words, address string
}{
	{forUsers, "List a material", "share add new material listing", "/share"},
	{forUsers, "Import by accession", "geo sra protocols.io doi", "/share/import"},
	{forUsers, "List many by a spreadsheet", "csv xlsx ods upload bulk", "/share/spreadsheet"},
	{forUsers, "Your tasks", "requests inbox waiting on me todo", "/requests?turn=me"},
	{forUsers, "Requests", "inbox", "/requests"},
	{forUsers, "Inquiries", "questions ask answer lab", "/inquiry"},
	{forUsers, "Print labels of requests", "parcel shipping", "/requests/labels"},
	{forUsers, "Notifications", "alerts news", "/notifications"},
	{forUsers, "Your labs", "members people invite", "/labs"},
	{forUsers, "Create a lab", "new lab found", "/labs/new"},
	{forUsers, "Drafts", "unfinished", "/drafts"},
	{forUsers, "Saved searches", "watch alerts", "/account/searches"},
	{forUsers, "Addresses", "shipping delivery", "/account/addresses"},
	{forUsers, "Settings", "profile name e-mail account", "/account"},
	{forUsers, "Mail and notification settings", "digest", "/account/notifications"},
	{forUsers, "Appearance", "dark light theme keyboard", "/account/appearance"},
	{forUsers, "API tokens", "program access", "/account/tokens"},
	{forAdmins, "Administration", "admin users jobs audit", "/admin"},
	{forAll, "Search all materials", "catalog browse", "/catalog"},
	{forAll, "Help", "how keyboard shortcuts", "/help"},
	{forAll, "API documentation", "openapi program", "/docs"},
}

// findGroup is what is found of one kind.
type findGroup struct {
	Name  string
	Lines []ui.Suggestion
	All   string // the address of everything of the kind that is found; "" if the lines are all
}

// findAll finds actions, requests, materials, labs and people by a text, most of each kind at most: only what the
// visitor may see.
func (v *pageRequest) findAll(text string, most int) ([]findGroup, error) {
	var groups []findGroup
	add := func(name, all string, lines []ui.Suggestion) {
		if len(lines) > 0 {
			groups = append(groups, findGroup{name, lines[:min(len(lines), most)], all})
		}
	}
	add("Actions", "", v.actionsFor(text))
	if strings.TrimSpace(text) == "" {
		return groups, nil
	}
	if v.SignedIn() {
		lines, err := v.requestsFor(text, most)
		if err != nil {
			return nil, err
		}
		add("Requests", "/requests?"+url.Values{"turn": {"all"}, "search": {text}}.Encode(), lines)
	}
	materials, err := v.App.Materials.Suggest(v.Context(), v.Who.Actor, text, most)
	if err != nil {
		return nil, err
	}
	add("Materials and labs", ui.CatalogAddress(url.Values{"q": {text}}), suggestionsOf(materials))
	people, err := v.App.Materials.SearchUsers(v.Context(), exchange.Search{Query: fulltext.Parse(text),
		Viewer: v.Who.ID, Page: exchange.SearchPage{Limit: most}})
	if err != nil {
		return nil, err
	}
	var lines []ui.Suggestion
	for _, u := range people.Items {
		lines = append(lines, ui.Suggestion{Text: u.Name(), Kind: "Person",
			Address: ui.CatalogAddress(url.Values{"q": {u.Name()}, "show": {showPeople}})})
	}
	add("People", ui.CatalogAddress(url.Values{"q": {text}, "show": {showPeople}}), lines)
	return groups, nil
}

// actionsFor returns the actions of which each word of a text begins a word; all of them for no text.
func (v *pageRequest) actionsFor(text string) (lines []ui.Suggestion) {
	words := strings.Fields(strings.ToLower(text))
	for _, a := range findActions {
		if a.whom == forUsers && !v.SignedIn() || a.whom == forAdmins && !v.Who.Admin {
			continue
		}
		all := " " + strings.ToLower(a.text) + " " + a.words
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, " "+word) }) {
			lines = append(lines, ui.Suggestion{Text: a.text, Kind: "Action", Address: a.address})
		}
	}
	return lines
}

// requestsFor returns the visitor's requests and those of their labs that a text finds. A number is that of a request.
func (v *pageRequest) requestsFor(text string, most int) (lines []ui.Suggestion, err error) {
	if id, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(text), "#"), 10, 64); err == nil && id > 0 {
		number := strconv.FormatInt(id, 10)
		return []ui.Suggestion{{Text: "Request " + number, Kind: "Request", Address: "/requests/" + number}}, nil
	}
	page := ui.RequestOrder(url.Values{}, nil)
	page.Limit = most
	in, err := v.App.Requests.Inbox(v.Context(), v.Who.Actor, page,
		request.InboxFilter{Search: new(exchange.SearchText(text))})
	for _, item := range in.Items {
		row := v.RequestRow(item)
		number := strconv.FormatInt(item.ID, 10)
		lines = append(lines, ui.Suggestion{Text: item.Material + ", " + row.With, Kind: "Request " + number,
			Address: "/requests/" + number})
	}
	return lines, err
}

// How many of each kind the page shows, and the list while somebody types.
const (
	foundOnPage = 10
	foundInList = 4
)

type findPage struct {
	ui.Page
	Q      string
	Groups []findGroup
}

// find shows everything that a text finds, or the actions if there is none.
func (v *pageRequest) find() (ui.Response, error) {
	p := &findPage{Page: ui.Page{Title: "Find anything", NoSearch: true}, Q: strings.TrimSpace(v.FormValue("q"))}
	if p.Q != "" {
		p.Title = shorten(p.Q, 60) + ", find anything"
	}
	most := foundOnPage
	if p.Q == "" {
		most = len(findActions)
	}
	err := ui.SearchSize("q", p.Q)
	if err == nil {
		p.Groups, err = v.findAll(p.Q, most)
	}
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("find", p)
}

// suggestAll answers the script of the field that finds everything.
func (v *pageRequest) suggestAll() (ui.Response, error) {
	text := v.FormValue("q")
	if err := ui.SearchSize("q", text); err != nil {
		return ui.Response{}, err
	}
	groups, err := v.findAll(text, foundInList)
	if err != nil {
		return ui.Response{}, err
	}
	var list []ui.Suggestion
	for _, g := range groups {
		list = append(list, g.Lines...)
	}
	return ui.Suggest(list)
}
