package request

import (
	"cmp"
	"slices"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// timelines are the kinds of events on each tab, by the value in the query; "" is everything.
var timelines = map[string][]request.EventKind{
	"":         nil,
	"messages": {request.Messaged, request.IssueOpened, request.IssueClosed},
	"documents": {request.DocumentAdded, request.DocumentWithdrawn, request.DocumentAccepted,
		request.DocumentReturned,
		request.AbstractChanged, request.AddressChanged, request.PaymentChanged},
	"decisions": {request.Made, request.StatusChanged, request.Assigned, request.Closed, request.Reopened},
}

// Tab is one of the links above the timeline.
type Tab struct {
	Name, Link string
	Here       bool
}

// Tabs returns the tabs of the timeline.
func (p *requestPage) Tabs() []Tab {
	list := []Tab{{"All", p.timeline("", ""), p.Show == ""}}
	for _, t := range []struct{ word, name string }{{"messages", "Messages"}, {"documents", "Documents"},
		{"decisions", "Decisions"}} {
		list = append(list, Tab{t.name, p.timeline(t.word, ""), p.Show == t.word})
	}
	return list
}

// eventLine is one event as the timeline shows it.
type eventLine struct {
	request.Event
	ui.Look
	Who    string
	Did    string // "" for a message
	Full   string // who, on paper
	Plain  string // what they did, on paper; "" for a message
	Quote  string
	File   document.Attachment
	There  bool
	Anchor string
	// the other request of the group on which a message was written; nil: this one
	Elsewhere *request.Detail
}

// Path returns the address of the event's document, relative to that of its request.
func (e eventLine) Path() string { return "/documents/" + number(e.Detail.Attachment) }

func number(n int64) string { return strconv.FormatInt(n, 10) }

// eventLines returns the events as the timeline shows them.
func (p *requestPage) eventLines(events []request.Event) []eventLine {
	var reader request.Side
	switch {
	case p.Requester:
		reader = request.RequesterSide
	case p.Lab:
		reader = request.LabSide
	}
	list := make([]eventLine, len(events))
	for i, e := range events {
		l := eventLine{Event: e, Who: p.Name(e.Actor), Did: request.DescribeAction(e, reader, ""), Anchor: "event-" +
			number(e.ID)}
		l.Look = ui.LookOf(e).Timeline
		l.Full, l.Plain = p.FullName(e.Actor), request.DescribeAction(e, "", "")
		if e.RequestID != p.R.ID {
			l.Elsewhere = p.sentWith(e.RequestID)
		}
		d := e.Detail
		switch e.Kind {
		case request.Messaged:
			l.Did, l.Plain, l.Quote = "", "", d.Text
		case request.Assigned:
			if d.AssignedTo != nil {
				l.Did += " to " + p.Mid(*d.AssignedTo)
				l.Plain += " to " + p.FullName(*d.AssignedTo)
			}
		case request.StatusChanged:
			if d.Issue == 0 { // otherwise it is shown separately, as the reported problem
				l.Quote = d.Reason
			}
			if d.Override != "" {
				l.Quote = d.Override
				l.Did += ", without " + owedNeeds(d.Missing)
				l.Plain += ", without " + owedNeeds(d.Missing)
			}
		case request.DocumentAdded, request.DocumentAccepted, request.DocumentReturned:
			l.File, l.There = p.R.Files[d.Attachment]
			l.Quote = d.Reason
		case request.IssueClosed:
			if l.Quote = d.Text; d.Reason != "" {
				l.Quote = d.Text + "\n\nAnswer: " + d.Reason
			}
		default:
			l.Quote = d.Text + d.Reason
		}
		if d.Erased {
			for _, did := range []*string{&l.Did, &l.Plain} {
				*did = cmp.Or(*did, "wrote a message") + ", of which the text was erased"
			}
		}
		list[i] = l
	}
	return list
}

// sentWith returns a request of the group, nil if the viewer does not see it.
func (p *requestPage) sentWith(id int64) *request.Detail {
	i := slices.IndexFunc(p.R.Together, func(q request.Detail) bool { return q.ID == id })
	if i < 0 {
		return nil
	}
	return &p.R.Together[i]
}

func owedNeeds(needs []request.Need) string {
	list := make([]string, len(needs))
	for i, n := range needs {
		list[i] = request.DescribeTask(string(n))
	}
	return ui.Listed(list)
}

// issueLine is a problem with the shipment.
type issueLine struct {
	request.Issue
	Who      string
	Full     string // who, on paper
	MayClose bool
}

func (p *requestPage) issueLines(viewer exchange.Actor) []issueLine {
	list := make([]issueLine, len(p.R.Issues.Items))
	for i, issue := range p.R.Issues.Items {
		list[i] = issueLine{issue, p.Name(issue.OpenedBy), p.FullName(issue.OpenedBy),
			p.R.MayClose(viewer, issue, p.R.Now)}
	}
	return list
}
