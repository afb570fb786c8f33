package notice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// Event is an event of a request, as reported to one reader.
type Event struct {
	Event        request.Event
	Category     mailing.Category // under which the reader is notified
	Actor        string           // display name; "": Aliquot itself
	Request      request.Detail   // as it was then
	Title        string           // of the material when the request was made; "": as in Request
	Group        []request.Detail // the requests that were sent in the same step, if that is the event
	Over         bool             // the request has moved on since
	Organization string           // the name of the lab
	Requester    string           // display name
	Reader       uuid.UUID
	Owner        uuid.UUID      // of the lab
	Location     *time.Location // the reader's time zone; nil: UTC
	Unsubscribe  string         // address at which the reader unsubscribes from this category; "": none
}

// role is the reader's part in a request.
type role int

const (
	requester role = iota
	assignee
	owner
	member
)

// role returns the role in which the reader is notified of e, the closest relation first. Someone on both sides is
// notified as a lab member of what only a lab is notified of.
func (e Event) role() role {
	lab := e.Category == mailing.NewRequestNotif || e.Category == mailing.AssignedNotif ||
		e.Category == mailing.ReminderNotif && e.Event.Detail.Party == request.LabSide
	switch {
	case e.Reader == e.Request.Requester && !lab:
		return requester
	case e.Reader == e.Request.AssignedTo:
		return assignee
	case e.Reader == e.Owner:
		return owner
	default:
		return member
	}
}

func (r role) side() request.Side {
	if r == requester {
		return request.RequesterSide
	}
	return request.LabSide
}

// Event writes about one event: what happened, and whose turn it was then. Every message about the request has the same
// subject, so that mail programs show them as one conversation.
func (w *Writer) Event(e Event) (Text, error) {
	e.Location = zone(e.Location)
	as := e.role()
	turn := turnOf(e.Request, as, e.Reader)
	var returned document.Slot // whose reason is part of the message
	if e.Event.Kind == request.DocumentReturned {
		returned = e.Event.Detail.Slot
	}
	p := page{
		Subject: e.subject(),
		Lead:    e.headline(maxName, maxTitle) + ".",
		Facts:   []string{e.about(as)},
		Quotes:  e.quotes(),
		Turn:    turn.sentence(e.Location),
		Mine:    turn.mine(),
		Needs:   needs(e.Request, as, returned),
		Link:    w.place(e, turn),
		Why: fmt.Sprintf("You get this e-mail from Aliquot about %s because %s.", e.Category.Words(),
			e.because(as)),
	}
	d := e.Event.Detail
	if d.Days > 0 {
		p.Facts = append(p.Facts, "By then, the turn had lasted "+count(d.Days, "day", "days")+".")
	}
	if d.Until != nil {
		p.Facts = append(p.Facts, "No reminders will be sent before "+moment(time.Time(*d.Until), e.Location)+".")
	}
	if e.Over {
		p.Facts = append(p.Facts, "The request has changed since then. Its page shows the next step.")
	}
	if e.Unsubscribe != "" {
		p.Change = link{"Stop e-mail about " + e.Category.Words(), e.Unsubscribe}
	}
	return w.write(p)
}

// headline returns who did what, with at most name and title characters of the two.
func (e Event) headline(name, title int) string {
	actor := e.actor(name)
	if e.Event.Kind == request.Made && e.Event.Actor == e.Reader && e.role() == requester { // a receipt
		actor = "You"
	}
	event := e.Event
	if event.Kind == request.AgreementExecuted {
		event.Detail.Text = glued(event.Detail.Text, title, "a letter")
	}
	text := glued(actor, name, "") + " " +
		request.DescribeAction(event, e.role().side(), glued(e.material(title), title, ""))
	if to := e.Event.Detail.AssignedTo; e.Event.Kind == request.Assigned && to != nil && *to == e.Reader {
		text += " to you"
	}
	return text
}

func (e Event) actor(most int) string    { return shortName(or(e.Actor, "Aliquot"), most, "Someone") }
func (e Event) material(most int) string { return shortName(e.Request.Material, most, "a material") }

// subject returns the subject for a request, the same for every event.
func (e Event) subject() string {
	if n := len(e.Group); n > 1 {
		return fmt.Sprintf("%d requests: %s and %d more", n, e.material(maxTitle), n-1)
	}
	return fmt.Sprintf("Request %d: ", e.Request.ID) + shortName(or(e.Title, e.Request.Material), maxTitle,
		"a material")
}

// about returns which request it is, and when the event happened.
func (e Event) about(as role) string {
	which := naming(e.Request, as, e.Organization, e.Requester)
	if len(e.Group) > 1 {
		ids := make([]string, len(e.Group))
		for i, q := range e.Group {
			ids[i] = strconv.FormatInt(q.ID, 10)
		}
		which = strings.Replace(which, "Request "+ids[0], "Requests "+joinWords(ids), 1)
	}
	return fmt.Sprintf("%s. This happened on %s.", which, moment(e.Event.At, e.Location))
}

// naming returns the name of a request by its number and its other side.
func naming(r request.Detail, as role, organization, by string) string {
	if as == requester {
		return fmt.Sprintf("Request %d to %s", r.ID, glued(organization, maxName, "a lab"))
	}
	return fmt.Sprintf("Request %d by %s", r.ID, glued(by, maxName, "someone"))
}

// quotes returns the texts of people that belong to e.
func (e Event) quotes() []quote {
	var list []quote
	add := func(label, text string) {
		if l := lines(text); len(l) > 0 {
			list = append(list, quote{label, l})
		}
	}
	r, d := e.Request, e.Event.Detail
	switch e.Event.Kind {
	case request.Made:
		if len(e.Group) > 1 {
			add("Materials:", listing(e.Group))
		} else {
			add("Quantity:", r.Quantity)
		}
		add("Note:", r.Note)
		add("Research abstract:", r.Abstract)
	case request.AbstractChanged:
		add("Research abstract:", r.Abstract)
	case request.Messaged:
		add("Message:", d.Text)
	case request.IssueOpened, request.IssueClosed:
		add("Problem:", d.Text)
		add("Answer:", d.Reason)
	case request.DetailsChanged:
		if slices.Contains(d.Fields, "rejection_reason") {
			add("Reason:", r.Rejection)
		}
	case request.ShipmentChanged:
		add("Shipment:", parcel(r.Shipment))
	case request.StatusChanged:
		if d.To == request.Fulfilled {
			add("Shipment:", parcel(r.Shipment))
		}
	}
	add("Reason:", d.Reason)
	if len(d.Missing) > 0 {
		missing := make([]string, len(d.Missing))
		for i, n := range d.Missing {
			missing[i] = request.DescribeTask(string(n))
		}
		add("Without "+joinWords(missing)+", because:", d.Override)
	}
	return list
}

// listing returns what requests are for, one per line.
func listing(list []request.Detail) string {
	lines := make([]string, len(list))
	for i, q := range list {
		lines[i] = shortName(q.Material, maxTitle, "a material")
		if quantity := line(q.Quantity); quantity != "" {
			lines[i] += ", " + quantity
		}
	}
	return strings.Join(lines, "\n")
}

// parcel returns the details of the shipment, one per line.
func parcel(s *request.Shipment) string {
	if s == nil {
		return ""
	}
	return strings.Join(slices.DeleteFunc([]string{line(s.Carrier), line(s.Tracking), s.Conditions},
		func(s string) bool { return s == "" }), "\n")
}

// place returns the link for e: to a document, a message, the reader's next step, or the event.
func (w *Writer) place(e Event, t turn) link {
	anchor := fmt.Sprintf("event-%d", e.Event.ID)
	switch k := e.Event.Kind; {
	case k == request.Deleted:
		return link{"Open your requests", w.base + "/requests"}
	case e.Event.Detail.Slot != "":
		anchor = requirement(string(e.Event.Detail.Slot))
	case t.mine() && k != request.Messaged && k != request.IssueOpened:
		anchor = t.anchor()
	}
	return link{fmt.Sprintf("Open request %d", e.Request.ID), w.request(e.Request, anchor)}
}

func (w *Writer) request(r request.Detail, anchor string) string {
	return fmt.Sprintf("%s/requests/%d#%s", w.base, r.ID, anchor)
}

// because returns the role in which the reader is notified of e.
func (e Event) because(as role) string {
	lab := glued(e.Organization, maxName, "a lab")
	switch as {
	case requester:
		return "you made this request"
	case assignee:
		return "this request is assigned to you at " + lab
	case owner:
		return "you own " + lab
	default:
		return "you are a member of " + lab
	}
}

func zone(in *time.Location) *time.Location {
	if in == nil {
		return time.UTC
	}
	return in
}
