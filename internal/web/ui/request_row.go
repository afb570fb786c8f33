package ui

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
)

// RequestRow is one request in the list.
type RequestRow struct {
	transfer.InboxItem
	Status  StatusView
	Track   []StageView
	Stage   string
	Waiting string // for how long
	With    string // who is on the other side
	Of      string // and of which institution or lab
	Checked bool
	Remind  bool // the visitor may remind the side whose turn it is
	Problem string
}

// CountRequests formats a number of requests, as far as they were counted.
func CountRequests(n int64) string {
	if n == 1 {
		return "1 request"
	}
	return ManyRequests(n) + " requests"
}

// ManyRequests formats a number of requests without the noun.
func ManyRequests(n int64) string {
	if n >= request.MaxCounted {
		return Count(request.MaxCounted) + "+"
	}
	return Count(n)
}

// RequestRows is the number of rows on a page of a list.
const RequestRows = 25

// RequestOrder reads the sort order and the cursor from the query. By default, waiting requests are sorted by the
// longest wait, ended ones by the latest end, and all by the newest.
func RequestOrder(query url.Values, whose *request.InboxState) exchange.Page {
	p := exchange.Page{Limit: RequestRows,
		Order: exchange.Order{Field: request.ByWaiting, Ascending: whose == nil || *whose != request.OnNobody}}
	switch sort := query.Get("sort"); {
	case sort == "due":
		p.Order.Field = request.ByDue
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
	case request.ByWaiting.Name:
		p.After.Value = time.UnixMicro(place).UTC()
	case request.ByDue.Name:
		p.After.Value = place
	}
	return p
}

// maxOpenShown is how many open requests of a material a page lists.
const maxOpenShown = 20

// OpenRequests returns the open requests of a material that the visitor may see, at most maxOpenShown.
func (v *PageRequest) OpenRequests(material int64) ([]RequestRow, error) {
	open := true
	list, err := v.App.Requests.Requests(v.Context(), v.Who.Actor, exchange.Page{Limit: maxOpenShown},
		request.Filter{Material: &material, Active: &open})
	if err != nil {
		return nil, err
	}
	items, err := v.App.Requests.InboxItems(v.Context(), v.Who.Actor, list.Items)
	rows := make([]RequestRow, len(items))
	for i, item := range items {
		rows[i] = v.RequestRow(item)
	}
	return rows, err
}

// RequestRow returns a request as the list shows it to the visitor.
func (v *PageRequest) RequestRow(item transfer.InboxItem) RequestRow {
	now := v.App.DB.Read().Now
	r := RequestRow{InboxItem: item, Status: StatusOf(item.Detail, v.Who.Actor), With: item.Asker.Name(),
		Of: item.Lab}
	r.Track = TrackOf(item.Detail, r.Status)
	if s := r.Status.Stage; s != NoStage && s != StageDone {
		r.Stage = stageName(item.Detail, s)
	}
	if item.Roles.Requester {
		r.With, r.Of = item.Lab, item.Assignee.Name()
	}
	if item.Turn != nil {
		if r.Waiting = Span(now.Sub(item.WaitingSince)); r.Waiting == "" {
			r.Waiting = "now"
		}
		_, _, err := item.RemindNow(item.Roles, v.Who.ID, item.Terms, now)
		r.Remind = err == nil && item.Whose != request.OnMe
	}
	return r
}
