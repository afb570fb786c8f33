package transfer

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/agreement/lint"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// RequestView is a request with all that its page shows, read with a fixed number of statements.
type RequestView struct {
	request.Detail
	Now       time.Time
	Offers    request.AvailableActions
	Item      material.Shown
	Lab       lab.Organization
	Members   []person.User // possible assignees, if the viewer may assign
	More      bool          // there are more members; Member finds them
	People    map[uuid.UUID]person.User
	Files     map[int64]document.Attachment    // of every document version
	Papers    []lint.PaperCheck                // what was found in its MTAs
	Issues    exchange.ListPage[request.Issue] // the newest first
	Shipping  *lab.Shipping                    // the lab's shipping requirements; nil: none
	Addresses []person.Address                 // the requester's, if that is the viewer
	Events    exchange.ListPage[request.Event]
	Turns     []request.TurnRecord // the latest ones, newest first
	Typical   time.Duration        // usual time until receipt for this lab; 0: not known
	RemindsAt *time.Time           // next automatic reminder of this turn; nil: none
	// Inquiry led to the request; nil: none did.
	Inquiry  *request.ShownInquiry
	Together []request.Detail // the requests that were sent in the same step, among them this one; nil: none
	Pending  *PendingStatus   // an action that is pending, of the viewer or a colleague
	Replies  []lab.Reply      // texts that the lab keeps, if the viewer is a member
	Earlier  []request.Detail // other requests of the requester to the lab, newest first, while the viewer decides
}

// Limits of what the page of a request shows.
const (
	maxAssignees = 500
	maxIssues    = 100
	maxAddresses = 100
	maxTurns     = 100
	maxOthers    = 10
	pageOfEvents = 50
)

// RequestView reads a request for its page, with one page of its events: only of the given kinds if there are any,
// before the event given.
func (a Requests) RequestView(ctx context.Context, who exchange.Actor, id int64, kinds []request.EventKind,
	before *exchange.Position) (v RequestView, err error) {
	if v.Detail, err = a.Request(ctx, who, id); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.Together, err = together(ctx, a, c, who, v.Detail); err != nil {
		return v, err
	}
	if v.Inquiry, err = c.Inquiries.OfRequest(ctx, id); err != nil {
		return v, err
	}
	v.Now, v.Offers = c.Now, v.Detail.AvailableActions(who, c.Now)
	v.RemindsAt = a.Reminders.At(v.Request)
	if v.PresentTurn(v.Terms).Side == request.Nobody {
		v.RemindsAt = nil
	}
	if v.Events, err = c.Events.Timeline(ctx, id, v.others(), kinds,
		exchange.Page{Limit: pageOfEvents, After: before}); err != nil {
		return v, err
	}
	if v.Pending, err = a.PendingStatusOf(ctx, who, v.Detail); err != nil {
		return v, err
	}
	return v, v.read(ctx, c, who)
}

// others returns the ids of the requests that were sent together with this one.
func (v *RequestView) others() (ids []int64) {
	for _, q := range v.Together {
		if q.ID != v.ID {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// read adds what belongs to the request.
func (v *RequestView) read(ctx context.Context, c store.Conn, who exchange.Actor) (err error) {
	if v.Item, err = c.Materials.Shown(ctx, v.MaterialID); err != nil {
		return err
	}
	if v.Lab, err = c.Organizations.Get(ctx, v.Organization); err != nil {
		return err
	}
	if v.Files, err = c.Attachments.OfRequest(ctx, v.ID); err != nil {
		return err
	}
	if v.Papers, err = c.Papers.OfRequest(ctx, v.ID); err != nil {
		return err
	}
	if v.Issues, err = c.Requests.Issues(ctx, v.ID, exchange.Page{Limit: maxIssues}); err != nil {
		return err
	}
	if v.Item.ShippingID != nil {
		s, err := c.Shippings.Get(ctx, *v.Item.ShippingID)
		if err != nil {
			return err
		}
		v.Shipping = &s
	}
	if v.Offers.Roles.Requester {
		addresses, err := c.Addresses.List(ctx, who.ID, exchange.Page{Limit: maxAddresses})
		if err != nil {
			return err
		}
		v.Addresses = addresses.Items
	}
	if v.Offers.Assign {
		members, err := c.Organizations.ListMembers(ctx, v.Organization, exchange.Page{Limit: maxAssignees})
		if err != nil {
			return err
		}
		v.Members, v.More = members.Items, members.Next != nil
	}
	if v.Offers.Roles.Member {
		if v.Replies, err = c.Replies.List(ctx, v.Organization); err != nil {
			return err
		}
	}
	if v.Offers.Question {
		if v.Earlier, err = c.Requests.Earlier(ctx, v.Requester, v.Organization, v.ID, maxOthers); err != nil {
			return err
		}
	}
	turns, err := c.Turns.List(ctx, v.ID, exchange.Page{Limit: maxTurns})
	if err != nil {
		return err
	}
	v.Turns = turns.Items
	times, err := c.Requests.ReceiptTimes(ctx, v.Organization)
	if err != nil {
		return err
	}
	if len(times) > 0 {
		v.Typical = times[len(times)/2]
	}
	return v.readPeople(ctx, c)
}

// readPeople reads everybody who is named on the page.
func (v *RequestView) readPeople(ctx context.Context, c store.Conn) error {
	ids := []uuid.UUID{v.Requester, v.AssignedTo}
	for _, d := range v.Documents {
		ids = append(ids, d.AddedBy)
	}
	for _, i := range v.Issues.Items {
		ids = append(ids, i.OpenedBy)
	}
	for _, e := range v.Events.Items {
		ids = append(ids, e.Actor)
		if e.Detail.AssignedTo != nil {
			ids = append(ids, *e.Detail.AssignedTo)
		}
	}
	ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool { return id == uuid.Nil })
	users, err := c.Users.ByIDs(ctx, ids)
	v.People = map[uuid.UUID]person.User{}
	for _, u := range users {
		v.People[u.ID] = u
	}
	return err
}
