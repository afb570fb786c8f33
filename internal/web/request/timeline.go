package request

import (
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// timelines are the kinds of events on each tab, by the value in the query; "" is everything.
var timelines = map[string][]exchange.EventKind{
	"":         nil,
	"messages": {exchange.Messaged, exchange.IssueOpened, exchange.IssueClosed},
	"documents": {exchange.DocumentAdded, exchange.DocumentWithdrawn, exchange.DocumentAccepted,
		exchange.DocumentReturned,
		exchange.AbstractChanged, exchange.AddressChanged, exchange.PaymentChanged},
	"decisions": {exchange.RequestMade, exchange.StatusChanged, exchange.Assigned, exchange.Closed, exchange.Reopened},
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
	exchange.Event
	ui.Look
	Who    string
	Did    string // "" for a message
	Quote  string
	File   exchange.Attachment
	There  bool
	Anchor string
}

// Path returns the address of the event's document, relative to that of its request.
func (e eventLine) Path() string { return "/documents/" + number(e.Detail.Attachment) }

func number(n int64) string { return strconv.FormatInt(n, 10) }

// eventLines returns the events as the timeline shows them.
func (p *requestPage) eventLines(events []exchange.Event) []eventLine {
	var reader exchange.Side
	switch {
	case p.Requester:
		reader = exchange.RequesterSide
	case p.Lab:
		reader = exchange.LabSide
	}
	list := make([]eventLine, len(events))
	for i, e := range events {
		l := eventLine{Event: e, Who: p.Name(e.Actor), Did: exchange.DescribeAction(e, reader, ""), Anchor: "event-" +
			number(e.ID)}
		l.Look = ui.LookOf(e).Timeline
		d := e.Detail
		switch e.Kind {
		case exchange.Messaged:
			l.Did, l.Quote = "", d.Text
		case exchange.Assigned:
			if d.AssignedTo != nil {
				l.Did += " to " + p.Mid(*d.AssignedTo)
			}
		case exchange.StatusChanged:
			if d.Issue == 0 { // otherwise it is shown beside, as the reported problem
				l.Quote = d.Reason
			}
			if d.Override != "" {
				l.Quote = d.Override
				l.Did += ", without " + owedNeeds(d.Missing)
			}
		case exchange.DocumentAdded, exchange.DocumentAccepted, exchange.DocumentReturned:
			l.File, l.There = p.R.Files[d.Attachment]
			l.Quote = d.Reason
		default:
			l.Quote = d.Text + d.Reason
		}
		list[i] = l
	}
	return list
}

func owedNeeds(needs []exchange.Need) string {
	list := make([]string, len(needs))
	for i, n := range needs {
		list[i] = exchange.DescribeTask(string(n))
	}
	return ui.Listed(list)
}

// issueLine is a problem with the shipment.
type issueLine struct {
	exchange.Issue
	Who      string
	MayClose bool
}

func (p *requestPage) issueLines(viewer exchange.Actor) []issueLine {
	list := make([]issueLine, len(p.R.Issues.Items))
	for i, issue := range p.R.Issues.Items {
		list[i] = issueLine{issue, p.Name(issue.OpenedBy), p.R.MayClose(viewer, issue, p.R.Now)}
	}
	return list
}
