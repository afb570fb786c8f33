package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// Digest is one message to one reader about the events in a span of time, and the tasks that wait for them.
type Digest struct {
	Reader        uuid.UUID
	From, To      time.Time
	Events        []Event        // oldest first; Reader, Location and Unsubscribe are those of the digest
	Matches       []Match        // oldest first; Location and Unsubscribe are those of the digest
	Waiting       []Waiting      // in the order of the message
	Location      *time.Location // the reader's time zone; nil: UTC
	Unsubscribe   string         // address at which the reader unsubscribes from digests; "": none
	Announcements []Announcement // oldest first
	Held          bool           // it contains held-back mail, because one person caused many messages
}

// Announcement is what happened between people and labs.
type Announcement struct {
	notify.Announcement
	Actor        string // display name of who did it
	Organization string // the name of the lab
}

// Waiting is a request in which it is the turn of the reader or of the reader's lab.
type Waiting struct {
	Request      request.Detail // as it is now
	Organization string         // the name of the lab
	Requester    string         // display name
}

// Digest writes one message about many events: first pending requests, then what happened, request by request in the
// order of their last events, newest last, then what is new in saved searches. It contains the first 50 requests that
// wait, the 50 with the newest events, of each of these the last 20 events, the last 50 matches, and how many more
// there are.
func (w *Writer) Digest(d Digest) (Text, error) {
	in := zone(d.Location)
	events := slices.Clone(d.Events)
	for i := range events {
		events[i].Reader, events[i].Location = d.Reader, in
	}
	groups := byRequest(events)
	subject := count(len(d.Waiting), "request is waiting", "requests are waiting") + " for you"
	if len(d.Events) > 0 {
		wait := count(len(d.Waiting), "is waiting for you", "are waiting for you")
		if len(d.Waiting) == 0 {
			wait = "none is waiting for you"
		}
		subject = fmt.Sprintf("%s in %s; %s", count(len(d.Events), "event", "events"),
			count(len(groups), "request", "requests"), wait)
	}
	if len(d.Matches) > 0 {
		materials := 0
		for _, m := range d.Matches {
			materials += m.Count
		}
		matched := count(materials, "material is new in your saved searches",
			"materials are new in your saved searches")
		switch {
		case len(d.Events) > 0:
			subject += "; " + matched
		case len(d.Waiting) > 0:
			subject = matched + "; " + subject
		default:
			subject = matched
		}
	}
	p := page{
		Subject: subject, Lead: subject + ".",
		Facts:  []string{fmt.Sprintf("From %s to %s.", moment(d.From, in), moment(d.To, in))},
		Link:   link{"Open your requests", w.base + "/requests"},
		Why:    "You get this e-mail from Aliquot because you chose digests instead of one e-mail per event.",
		Change: link{"Stop digests", d.Unsubscribe},
	}
	if d.Held {
		p.Subject = count(len(d.Events)+len(d.Announcements)+len(d.Matches), "more event", "more events") + ""
		p.Lead, p.Link = p.Subject+".", link{"Open your notifications", w.base + "/notifications"}
		p.Why = "You get this as one e-mail because one person’s actions caused more messages than we send one by one."
		p.Change.Text = "Stop all e-mail"
	}
	if len(d.Waiting) > 0 {
		p.Parts = append(p.Parts, w.waiting(d, in))
	}
	if len(groups) > 0 {
		p.Parts = append(p.Parts, w.happened(groups, in))
	}
	if len(d.Matches) > 0 {
		p.Parts = append(p.Parts, w.found(d.Matches, in))
	}
	if len(d.Announcements) > 0 {
		p.Parts = append(p.Parts, w.news(d.Announcements, in))
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

func (w *Writer) waiting(d Digest, in *time.Location) part {
	p, list := part{Title: "Your tasks"}, d.Waiting
	if more := len(list) - maxPartRequests; more > 0 {
		list, p.More = list[:maxPartRequests], fmt.Sprintf("And %d more.", more)
	}
	for _, x := range list {
		r, t := x.Request, turnOf(x.Request, member, d.Reader)
		anchor := "next"
		if t.mine() {
			anchor = t.anchor()
		}
		p.Groups = append(p.Groups, group{
			Title: heading(r, t.as, x.Organization, x.Requester), URL: w.request(r, anchor), Turn: t.sentence(in),
			Mine: t.mine(),
		})
	}
	return p
}

func (w *Writer) happened(groups [][]Event, in *time.Location) part {
	p := part{Title: "What happened"}
	if more := len(groups) - maxPartRequests; more > 0 {
		groups, p.More = groups[more:], fmt.Sprintf("And in %d more.", more)
	}
	for _, events := range groups {
		latest := events[len(events)-1]
		as := latest.role()
		t := turnOf(latest.Request, as, latest.Reader)
		g := group{
			Title: heading(latest.Request, as, latest.Organization, latest.Requester),
			URL:   w.place(latest, t).URL, Turn: t.sentence(in), Mine: t.mine(),
		}
		if more := len(events) - maxGroupEvents; more > 0 {
			events = events[more:]
			g.Lines = append(g.Lines, digestEvent{Text: count(more, "earlier event", "earlier events") + "."})
		}
		for _, e := range events {
			h := digestEvent{Text: moment(e.Event.At, in) + ": " + e.headline(maxName, maxName) + "."}
			for _, q := range e.quotes() {
				h.Lines = append(h.Lines, shorten(q.Label+" "+line(strings.Join(q.Lines, " ")), maxExcerpt))
			}
			g.Lines = append(g.Lines, h)
		}
		p.Groups = append(p.Groups, g)
	}
	return p
}

// news returns the part about people and labs.
func (w *Writer) news(list []Announcement, in *time.Location) part {
	p := part{Title: "People and labs"}
	if more := len(list) - maxPartRequests; more > 0 {
		list, p.More = list[more:], fmt.Sprintf("And %d earlier.", more)
	}
	for _, n := range list {
		did := notify.DescribeAnnouncement(n.Announcement, glued(n.Actor, maxName, "Someone"),
			glued(n.Organization, maxName, "a lab"))
		p.Groups = append(p.Groups, group{Title: moment(n.At, in) + ": " + did, URL: w.base + "/notifications"})
	}
	return p
}

func heading(r request.Detail, as role, organization, by string) string {
	return naming(r, as, organization, by) + ": " + glued(r.Material, maxTitle, "a material")
}
