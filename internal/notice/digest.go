package notice

import (
	"fmt"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// Digest is what happened in a span of time, told to one reader at once, and what waits for them.
type Digest struct {
	From, To    time.Time
	Location    *time.Location // the reader's time zone; nil: UTC
	Events      []Event        // oldest first; their Location and Unsubscribe are not read
	Waiting     []Waiting      // the longest first
	Unsubscribe string         // address at which the reader stops digests; "": none
}

// Waiting is a request that waits for the reader.
type Waiting struct {
	Request      exchange.Requested // as it is now
	Organization string             // the name of the lab
	Requester    string             // display name
	Side         exchange.Side      // the reader's
}

// Digest writes one message about many events, request by request in the order of their last events,
// newest last. Of each part it tells the last 50 requests, of each request the last 20 events, and how
// many more there are.
func (w *Writer) Digest(d Digest) (Words, error) {
	in := zone(d.Location)
	groups := byRequest(d.Events)
	subject := count(len(d.Waiting), "request waits", "requests wait") + " for you"
	if len(d.Events) > 0 {
		wait := count(len(d.Waiting), "waits for you", "wait for you")
		if len(d.Waiting) == 0 {
			wait = "none waits for you"
		}
		subject = fmt.Sprintf("%s happened in %s; %s", count(len(d.Events), "thing", "things"),
			count(len(groups), "request", "requests"), wait)
	}
	p := page{
		Subject: subject, Lead: subject + ".",
		Facts: []string{fmt.Sprintf("From %s to %s.", moment(d.From, in), moment(d.To, in))},
		Link:  link{"Open your requests", w.base + "/requests"},
		Foot:  []string{"You get this e-mail because you asked for a digest instead of an e-mail for each event."},
	}
	if d.Unsubscribe != "" {
		p.Change = link{"Stop digests", d.Unsubscribe}
	}
	if len(d.Waiting) > 0 {
		p.Parts = append(p.Parts, w.waiting(d.Waiting, in))
	}
	if len(groups) > 0 {
		p.Parts = append(p.Parts, w.happened(groups, in))
	}
	return w.write(p)
}

// byRequest groups events, the group with the newest event last.
func byRequest(events []Event) [][]Event {
	last := map[int64]int{}
	for i, e := range events {
		last[e.Request.ID] = i
	}
	of := map[int64][]Event{}
	var groups [][]Event
	for i, e := range events {
		id := e.Request.ID
		of[id] = append(of[id], e)
		if last[id] == i {
			groups = append(groups, of[id])
		}
	}
	return groups
}

func (w *Writer) waiting(list []Waiting, in *time.Location) part {
	p := part{Title: "What waits for you"}
	if more := len(list) - onePageMost; more > 0 {
		list, p.More = list[:onePageMost], fmt.Sprintf("And %d more.", more)
	}
	for _, x := range list {
		as := assignee
		if x.Side == exchange.RequesterSide {
			as = requester
		}
		t := turnOf(x.Request, as)
		g := heading(x.Request)
		g.Turn, g.Mine = t.sentence(in), t.mine()
		g.Link.URL = w.request(x.Request.ID, "next")
		if t.mine() {
			g.Link.URL = w.request(x.Request.ID, t.anchor())
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

func (w *Writer) happened(groups [][]Event, in *time.Location) part {
	p := part{Title: "What happened"}
	if more := len(groups) - onePageMost; more > 0 {
		groups, p.More = groups[more:], fmt.Sprintf("And %d more.", more)
	}
	for _, events := range groups {
		latest := events[len(events)-1]
		t := turnOf(latest.Request, latest.role())
		g := heading(latest.Request)
		g.Turn, g.Mine = t.sentence(in), t.mine()
		g.Link.URL = w.place(latest, t).URL
		if more := len(events) - oneGroupMost; more > 0 {
			events = events[more:]
			g.Lines = append(g.Lines, happened{Text: count(more, "earlier event", "earlier events") + "."})
		}
		for _, e := range events {
			h := happened{Text: moment(e.Event.At, in) + ": " + e.did(nameMost, nameMost) + "."}
			for _, q := range e.quotes() {
				h.Lines = append(h.Lines, shorten(flow(q.Label)+" "+line(strings.Join(q.Lines, " ")), excerptMost))
			}
			g.Lines = append(g.Lines, h)
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

func heading(r exchange.Requested) group {
	return group{
		Title: fmt.Sprintf("Request %d: %s", r.ID, glued(r.Material, titleMost, "a material")),
		Link:  link{Text: fmt.Sprintf("Open request %d", r.ID)},
	}
}
