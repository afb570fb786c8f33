package web

import (
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

var inboxPages = []page{
	get("/requests", (*pageRequest).inbox).private().expensive(),
	get("/requests/list.csv", (*pageRequest).inboxCSV).private().expensive(),
	get("/requests/labels", (*pageRequest).manyLabels).private(),
	post("/requests/bulk", (*pageRequest).inboxBulk),
}

// inboxPage is the list of the visitor's requests, and of those of their labs.
type inboxPage struct {
	Page
	Tabs  []inboxTab
	Tab   inboxTab
	Query url.Values // what narrows it, as in the address
	app.InboxChoices
	Rows     []inboxRow
	Total    int64
	Filtered bool
	Material string // the title of the one that it is narrowed to
	Next     string // the address of the next page
	First    string // of the first, where this is another one
	Clear    string // without anything that narrows it
	CSV      string // all of it as a table
	Bulk     bulkForm
}

// Sorts are the orders of an inbox by their names in the address.
func (p *inboxPage) Sorts() []inboxChoice {
	return []inboxChoice{{"waiting", "Waiting longest"}, {"due", "Due first"}, {"new", "Newest"}}
}

// Statuses are what an inbox can be narrowed to, in the words of people.
func (p *inboxPage) Statuses() []inboxChoice {
	return []inboxChoice{{string(exchange.Open), "New"}, {string(exchange.Approved), "Accepted"},
		{string(exchange.InFulfillment), "Being prepared"},
		{string(exchange.Fulfilled), "Sent"}, {string(exchange.Verified), "Received"},
		{string(exchange.Rejected), "Declined"},
		{string(exchange.Cancelled), "Cancelled"}, {string(exchange.Invalid), "Withdrawn"}}
}

// inboxChoice is a value in the address with its words.
type inboxChoice struct{ Value, Words string }

// inboxTab is a kind of requests.
type inboxTab struct {
	Value, Words string
	whose        *exchange.InboxState // nil: all
	Count        int64
	Hot, Open    bool
	Address      string
}

// inboxRow is one request in the list.
type inboxRow struct {
	app.InboxItem
	Status  StatusView
	Track   []StageView
	Stage   string
	Waiting string // how long
	With    string // who is on the other side
	Of      string // and of what
	Checked bool
	Remind  bool // the visitor may remind whose turn it is
	Problem string
}

func inboxTabs() []inboxTab {
	return []inboxTab{
		{Value: "me", Words: "Waiting on me", whose: new(exchange.OnMe), Hot: true},
		{Value: "labs", Words: "Waiting on my labs", whose: new(exchange.OnMyLabs)},
		{Value: "others", Words: "Waiting on others", whose: new(exchange.OnOthers)},
		{Value: "done", Words: "Done", whose: new(exchange.OnNobody)},
		{Value: "all", Words: "All"},
	}
}

// Many is how many there are, as far as they were counted.
func (t inboxTab) Many() string { return manyRequests(t.Count) }

// Found is how many are in the list, in words.
func (p *inboxPage) Found() string { return countRequests(p.Total) }

// countRequests is how many requests there are, as far as they were counted.
func countRequests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return manyRequests(n) + " requests"
}

func manyRequests(n int64) string {
	if n >= exchange.MaxCounted {
		return count(exchange.MaxCounted) + "+"
	}
	return count(n)
}

func (v *pageRequest) inbox() (response, error) {
	p, err := v.inboxPage(v.URL.Query())
	if err != nil {
		return response{}, err
	}
	return show("inbox", p)
}

// inboxRows is how many rows a page of a list has.
const inboxRows = 25

// inboxAsked is which tab an address asks for, by its place among them, and what else narrows the inbox. What the
// address says that is none of ours filters nothing.
func inboxAsked(query url.Values, tabs []inboxTab) (open int, f exchange.InboxFilter, err error) {
	open = max(0, slices.IndexFunc(tabs, func(t inboxTab) bool { return t.Value == query.Get("turn") }))
	f = exchange.InboxFilter{Whose: tabs[open].whose, Organization: inboxNumber(query.Get("lab")),
		Material: inboxNumber(query.Get("material"))}
	if s := exchange.Status(query.Get("status")); slices.Contains(exchange.Statuses, s) {
		f.Status = &s
	}
	if id, err := uuid.Parse(query.Get("who")); err == nil {
		f.AssignedTo = &id
	}
	if text := strings.TrimSpace(query.Get("search")); text != "" {
		f.Search = new(exchange.SearchText(text))
		err = searchSize("search", text)
	}
	return open, f, err
}

// inboxWho narrows an inbox to whom requests are assigned to, where there are too many people for a list and the
// address has what somebody typed: to nobody where that means nobody.
func (v *pageRequest) inboxWho(choices app.InboxChoices, query url.Values, f *exchange.InboxFilter) (FieldErrors,
	error) {
	typed := strings.TrimSpace(query.Get("who"))
	if typed == "" || f.AssignedTo != nil || !choices.More {
		return nil, nil //nolint:nilnil // nothing is wrong
	}
	id, err := v.person(typed, v.who.Organizations...)
	f.AssignedTo = &id
	if fields, wrong := faults(err); wrong {
		return FieldErrors{"who": asSentences(fields["person"])}, nil
	}
	return nil, err
}

// inboxPage reads the inbox that an address asks for.
func (v *pageRequest) inboxPage(query url.Values) (*inboxPage, error) {
	p := &inboxPage{Page: Page{Title: "Requests", Section: "requests"}, Query: query, Tabs: inboxTabs()}
	open, f, err := inboxAsked(query, p.Tabs)
	if err != nil {
		return nil, err
	}
	if p.InboxChoices, err = v.app.InboxChoices(v.Context(), v.who.Actor); err != nil {
		return nil, err
	}
	if p.Errors, err = v.inboxWho(p.InboxChoices, query, &f); err != nil {
		return nil, err
	}
	in, err := v.app.Inbox(v.Context(), v.who.Actor, inboxOrder(query, p.Tabs[open].whose), f)
	if err != nil {
		return nil, err
	}
	for i := range p.Tabs {
		t := &p.Tabs[i]
		t.Count, t.Open, t.Address = in.Counts.Of(t.whose), i == open, v.inboxAddress(query, "turn", t.Value)
	}
	p.Tab, p.Total = p.Tabs[open], in.Total
	p.Filtered = f.Organization != nil || f.Material != nil || f.Status != nil || f.AssignedTo != nil || f.Search != nil
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
		p.Rows = append(p.Rows, v.inboxRow(item))
		if f.Material != nil {
			p.Material = item.Material
		}
	}
	if n := in.Counts[exchange.OnMe]; n > 0 && !p.Filtered {
		p.Title = "Requests, " + manyRequests(n) + " waiting on you"
	}
	p.Bulk = bulkForm{Back: "/requests?" + query.Encode(),
		Until: v.app.DB.Read().Now.In(v.who.Zone).AddDate(0, 0, 7).Format(time.DateOnly)}
	return p, nil
}

// inboxHead names the columns of the inbox as a table.
var inboxHead = []string{"request", "address", "material", "quantity", "lab", "requester", "looked after by", "status",
	"stage", "turn", "waiting since", "due", "requested"}

// inboxCSV is the inbox that an address asks for as a table, with the rows of all its pages.
func (v *pageRequest) inboxCSV() (response, error) {
	query := v.URL.Query()
	query.Del("after")
	_, f, err := inboxAsked(query, inboxTabs())
	if err != nil {
		return response{}, err
	}
	choices, err := v.app.InboxChoices(v.Context(), v.who.Actor)
	if err == nil {
		_, err = v.inboxWho(choices, query, &f)
	}
	if err != nil {
		return response{}, err
	}
	day := func(t time.Time) string { return t.In(v.who.Zone).Format(time.DateOnly) }
	return v.sendSheet("requests.csv", func(out io.Writer) error {
		return v.app.InboxSheet(v.Context(), v.who.Actor, inboxOrder(query, f.Whose), f, inboxHead,
			func(item app.InboxItem) []string {
				r := v.inboxRow(item)
				waiting, due := "", ""
				if item.Turn != nil {
					waiting = day(item.WaitingSince)
					if item.Turn.Due != nil {
						due = day(*item.Turn.Due)
					}
				}
				return []string{itoa(item.ID), v.app.PublicURL + requestPath(item.ID), item.Material, item.Quantity,
					item.Lab, item.Asker.Name(), item.Assignee.Name(),
					r.Status.Words, r.Stage, whoseWords[item.Whose], waiting, due, day(item.CreatedAt)}
			}, out)
	})
}

// whoseWords say in a table whose turn it is.
var whoseWords = map[exchange.InboxState]string{exchange.OnMe: "yours", exchange.OnMyLabs: "your lab",
	exchange.OnOthers: "others", exchange.OnNobody: "nobody, it ended"}

// inboxAddress is that of an inbox with one value changed; another one than a page begins at the first page.
func (v *pageRequest) inboxAddress(query url.Values, name, value string) string {
	q := url.Values{}
	for _, key := range []string{"turn", "lab", "material", "status", "who", "search", "sort"} {
		if query.Get(key) != "" {
			q.Set(key, query.Get(key))
		}
	}
	q.Set(name, value)
	return "/requests?" + q.Encode()
}

// inboxOrder reads the order and the place in an inbox. What waits is read from the longest waiting on, what is done
// from the last on, all of it from the newest on.
func inboxOrder(query url.Values, whose *exchange.InboxState) exchange.Page {
	p := exchange.Page{Limit: inboxRows,
		Order: exchange.Order{Field: exchange.ByWaiting, Ascending: whose == nil || *whose != exchange.OnNobody}}
	switch sort := query.Get("sort"); {
	case sort == "due":
		p.Order.Field = exchange.ByDue
	case sort == "new", sort == "" && whose == nil:
		p.Order = exchange.Order{}
	}
	value, id, _ := strings.Cut(query.Get("after"), ".")
	place, err := strconv.ParseInt(value, 10, 64)
	last, errID := strconv.ParseInt(id, 10, 64)
	if err != nil || errID != nil {
		return p
	}
	p.After = &exchange.Position{ID: last}
	switch p.Order.Name {
	case exchange.ByWaiting.Name:
		p.After.Value = time.UnixMicro(place).UTC()
	case exchange.ByDue.Name:
		p.After.Value = place
	}
	return p
}

// placeText is a place in an inbox as it stands in an address.
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

// inboxNumber is a positive number, nil where a text is none.
func inboxNumber(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return nil
	}
	return &n
}

func (v *pageRequest) inboxRow(item app.InboxItem) inboxRow {
	now := v.app.DB.Read().Now
	r := inboxRow{InboxItem: item, Status: status(item.RequestDetail, v.who.Actor), With: item.Asker.Name(),
		Of: item.Lab}
	r.Track = track(item.RequestDetail, r.Status)
	if s := r.Status.Stage; s != NoStage && s != StageDone {
		r.Stage = stageName(item.RequestDetail, s)
	}
	if item.Roles.Requester {
		r.With, r.Of = item.Lab, item.Assignee.Name()
	}
	if item.Turn != nil {
		if r.Waiting = span(now.Sub(item.WaitingSince)); r.Waiting == "" {
			r.Waiting = "now"
		}
		_, _, err := item.RemindNow(item.Roles, v.who.ID, item.Terms, now)
		r.Remind = err == nil && item.Whose != exchange.OnMe
	}
	return r
}
