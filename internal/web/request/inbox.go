package request

import (
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

var inboxPages = []ui.Route{
	ui.Get("/requests", (*pageRequest).inbox).Private().Expensive(),
	ui.Get("/requests/list.csv", (*pageRequest).inboxCSV).Private().Expensive(),
	ui.Get("/requests/labels", (*pageRequest).manyLabels).Private(),
	ui.Post("/requests/bulk", (*pageRequest).inboxBulk),
	ui.Post("/requests/views", (*pageRequest).saveView),
	ui.Post("/requests/views/delete", (*pageRequest).deleteView),
}

// inboxPage lists the visitor's requests, and those of their labs.
type inboxPage struct {
	ui.Page
	Tabs  []inboxTab
	Tab   inboxTab
	Query url.Values // the filters, as query parameters
	transfer.InboxChoices
	Rows     []ui.RequestRow
	Total    exchange.Count
	Filtered bool
	View     string // the name of the view to keep, as typed
	ToAnswer int64  // number of inquiries that wait for the visitor's labs
	Next     string // the address of the next page
	First    string // the address of the first page, on all others
	Clear    string // the address without filters
	CSV      string // the address of the whole list as a table
	Bulk     bulkForm
}

// Sorts returns the sort orders by their query values.
func (p *inboxPage) Sorts() []inboxChoice {
	return []inboxChoice{{"waiting", "Longest waiting"}, {"due", "Due first"}, {"new", "Newest"}}
}

// Statuses returns the statuses to filter by, with their labels.
func (p *inboxPage) Statuses() []inboxChoice {
	var list []inboxChoice
	for _, s := range []request.Status{request.Open, request.Approved, request.InFulfillment, request.Fulfilled,
		request.Verified, request.Rejected, request.Cancelled, request.Invalid} {
		list = append(list, inboxChoice{string(s), request.StatusName(s)})
	}
	return list
}

// choice is a query value with its label.
type inboxChoice struct{ Value, Words string }

// inboxTab is a tab of the inbox.
type inboxTab struct {
	Value, Words string
	whose        *request.InboxState // nil: all
	Count        int64
	Hot, Open    bool
	Address      string
}

func inboxTabs() []inboxTab {
	return []inboxTab{
		{Value: "me", Words: "Waiting on me", whose: new(request.OnMe), Hot: true},
		{Value: "labs", Words: "Waiting on my labs", whose: new(request.OnMyLabs)},
		{Value: "others", Words: "Waiting on others", whose: new(request.OnOthers)},
		{Value: "done", Words: "Done", whose: new(request.OnNobody)},
		{Value: "all", Words: "All"},
	}
}

// Many returns the number of requests, as far as they were counted.
func (t inboxTab) Many() string { return ui.ManyRequests(t.Count) }

// Found returns the number of requests in the list, in words.
func (p *inboxPage) Found() string { return ui.CountRequests(p.Total.N) }

// inbox shows the tab that the address names. If it names none and nothing waits on the visitor, it shows the first tab
// that has requests, so that someone who waits on others finds what they wait for.
func (v *pageRequest) inbox() (ui.Response, error) {
	query := v.URL.Query()
	p, err := v.inboxPage(query)
	if err != nil {
		return ui.Response{}, err
	}
	has := func(t inboxTab) bool { return t.whose != nil && t.Count > 0 }
	if first := slices.IndexFunc(p.Tabs, has); !query.Has("turn") && !p.Filtered && first > 0 {
		query.Set("turn", p.Tabs[first].Value)
		if p, err = v.inboxPage(query); err != nil {
			return ui.Response{}, err
		}
	}
	return ui.Show("inbox", p)
}

// inboxAsked returns the index of the tab that the query parameters choose, and the other filters. Unknown values
// filter nothing.
func inboxAsked(query url.Values, tabs []inboxTab) (open int, f request.InboxFilter, err error) {
	open = max(0, slices.IndexFunc(tabs, func(t inboxTab) bool { return t.Value == query.Get("turn") }))
	f = request.InboxFilter{Whose: tabs[open].whose, Organization: ui.ParseID(query.Get("lab")),
		Material: ui.ParseID(query.Get("material")), Group: ui.ParseID(query.Get("group"))}
	if s := request.Status(query.Get("status")); slices.Contains(request.Statuses, s) {
		f.Status = &s
	}
	if id, err := uuid.Parse(query.Get("who")); err == nil {
		f.AssignedTo = &id
	}
	if text := strings.TrimSpace(query.Get("search")); text != "" {
		f.Search = new(exchange.SearchText(text))
		err = ui.SearchSize("search", text)
	}
	return open, f, err
}

// inboxWho filters an inbox by assignee if there are too many people for a list and the query has a typed name;
// a name that matches nobody finds nothing.
func (v *pageRequest) inboxWho(choices transfer.InboxChoices, query url.Values, f *request.InboxFilter) (ui.FieldErrors,
	error) {
	typed := strings.TrimSpace(query.Get("who"))
	if typed == "" || f.AssignedTo != nil || !choices.More {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	id, err := v.Person(typed, v.Who.Organizations...)
	f.AssignedTo = &id
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		return ui.FieldErrors{"who": ui.AsSentences(fields["person"])}, nil
	}
	return nil, err
}

// inboxPage reads the inbox that the query parameters describe.
func (v *pageRequest) inboxPage(query url.Values) (*inboxPage, error) {
	p := &inboxPage{Page: ui.Page{Title: "Requests", Section: "requests"}, Query: query, Tabs: inboxTabs()}
	open, f, err := inboxAsked(query, p.Tabs)
	if err != nil {
		return nil, err
	}
	if p.InboxChoices, err = v.App.Requests.InboxChoices(v.Context(), v.Who.Actor); err != nil {
		return nil, err
	}
	if p.Errors, err = v.inboxWho(p.InboxChoices, query, &f); err != nil {
		return nil, err
	}
	in, err := v.App.Requests.Inbox(v.Context(), v.Who.Actor, ui.RequestOrder(query, p.Tabs[open].whose), f)
	if err != nil {
		return nil, err
	}
	for i := range p.Tabs {
		t := &p.Tabs[i]
		t.Count, t.Open, t.Address = in.Counts.Of(t.whose), i == open, v.inboxAddress(query, "turn", t.Value)
	}
	if p.ToAnswer, err = v.App.Inquiries.ToAnswer(v.Context(), v.Who.Actor); err != nil {
		return nil, err
	}
	p.Tab, p.Total = p.Tabs[open], in.Total
	p.Filtered = f.Organization != nil || f.Material != nil || f.Group != nil || f.Status != nil ||
		f.AssignedTo != nil || f.Search != nil
	p.Clear = "/requests?turn=" + p.Tab.Value
	_, narrowed, _ := strings.Cut(v.inboxAddress(query, "turn", p.Tab.Value), "?")
	p.CSV = "/requests/list.csv?" + narrowed
	if in.Next != nil {
		p.Next = v.inboxAddress(query, "after", placeText(*in.Next))
	}
	if query.Get("after") != "" {
		p.First = v.inboxAddress(query, "turn", p.Tab.Value)
	}
	for _, item := range in.Items {
		p.Rows = append(p.Rows, v.RequestRow(item))
	}
	isAsked := func(m exchange.Named) bool { return m.ID == *f.Material }
	if f.Material != nil && !slices.ContainsFunc(p.Materials, isAsked) {
		p.Materials = append(p.Materials, exchange.Named{ID: *f.Material, Name: "One material"})
		if len(in.Items) > 0 {
			p.Materials[len(p.Materials)-1].Name = in.Items[0].Material
		}
	}
	if n := in.Counts[request.OnMe]; n > 0 && !p.Filtered {
		p.Title = "Requests, " + ui.ManyRequests(n) + " waiting on you"
	}
	p.Bulk = bulkForm{Back: "/requests?" + query.Encode(),
		Until: v.App.DB.Read().Now.In(v.Who.Zone).AddDate(0, 0, 7).Format(time.DateOnly)}
	return p, nil
}

// inboxHead are the column names of the inbox as a table.
var inboxHead = []string{"request", "address", "material", "quantity", "lab", "requester", "assigned to", "status",
	"stage", "turn", "waiting since", "due", "requested"}

// inboxCSV sends the inbox that the query parameters describe as a table, with the rows of all its pages.
func (v *pageRequest) inboxCSV() (ui.Response, error) {
	query := v.URL.Query()
	query.Del("after")
	_, f, err := inboxAsked(query, inboxTabs())
	if err != nil {
		return ui.Response{}, err
	}
	choices, err := v.App.Requests.InboxChoices(v.Context(), v.Who.Actor)
	if err == nil {
		_, err = v.inboxWho(choices, query, &f)
	}
	if err != nil {
		return ui.Response{}, err
	}
	day := func(t time.Time) string { return t.In(v.Who.Zone).Format(time.DateOnly) }
	return v.SendSheet("requests.csv", func(out io.Writer) error {
		return v.App.Requests.InboxSheet(v.Context(), v.Who.Actor, ui.RequestOrder(query, f.Whose), f, inboxHead,
			func(item transfer.InboxItem) []string {
				r := v.RequestRow(item)
				waiting, due := "", ""
				if item.Turn != nil {
					waiting = day(item.WaitingSince)
					if item.Turn.Due != nil {
						due = day(*item.Turn.Due)
					}
				}
				return []string{number(item.ID), v.App.PublicURL + requestPath(item.ID), item.Material, item.Quantity,
					item.Lab, item.Asker.Name(), item.Assignee.Name(),
					r.Status.Words, r.Stage, whoseWords[item.Whose], waiting, due, day(item.CreatedAt)}
			}, out)
	})
}

// whoseWords are the names of the sides in the table.
var whoseWords = map[request.InboxState]string{request.OnMe: "yours", request.OnMyLabs: "your lab",
	request.OnOthers: "others", request.OnNobody: "closed"}

// inboxAddress returns the address of an inbox with one value changed; unless that is the page, from the first page.
func (v *pageRequest) inboxAddress(query url.Values, name, value string) string {
	q := inboxQuery(query)
	q.Set(name, value)
	return "/requests?" + q.Encode()
}

// inboxQuery returns what a query says about an inbox but for its page.
func inboxQuery(query url.Values) url.Values {
	q := url.Values{}
	for _, key := range []string{"turn", "lab", "material", "group", "status", "who", "search", "sort"} {
		if query.Get(key) != "" {
			q.Set(key, query.Get(key))
		}
	}
	return q
}

// placeText encodes a cursor of the inbox for an address.
func placeText(p exchange.Position) string {
	value := int64(0)
	switch at := p.Value.(type) {
	case time.Time:
		value = at.UnixMicro()
	case int64:
		value = at
	}
	return strconv.FormatInt(value, 10) + "." + strconv.FormatInt(p.ID, 10)
}
