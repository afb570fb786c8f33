package transfer

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// SendMessage adds a message to a request and returns its event.
func (a Requests) SendMessage(ctx context.Context, who exchange.Actor, id int64, w request.TextBody) (request.Event,
	error) {
	return a.write(ctx, who, id, w, request.Request.Message)
}

// AskRequester is SendMessage of a question of the lab, which the requester has to answer before the lab decides.
func (a Requests) AskRequester(ctx context.Context, who exchange.Actor, id int64, w request.TextBody) (request.Event,
	error) {
	return a.write(ctx, who, id, w, request.Request.Question)
}

func (a Requests) write(ctx context.Context, who exchange.Actor, id int64, w request.TextBody,
	add func(r request.Request, roles request.Roles, by uuid.UUID, text string, t request.Terms,
		now time.Time) (request.Request, []request.Event, error)) (request.Event, error) {
	text, err := w.Check()
	if err != nil {
		return request.Event{}, err
	}
	var sent []request.Event
	_, err = a.Act(ctx, who, exchange.RequestUpdate, id, nil,
		func(_ context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			after, events, err := add(q.Request, roles, who.ID, text, q.Terms, tx.Now)
			sent = events // commitRequest fills in their ids
			return after, events, err
		})
	if err != nil {
		return request.Event{}, err
	}
	return sent[0], nil
}

// OpenIssue reports a problem with the transfer.
func (a Requests) OpenIssue(ctx context.Context, who exchange.Actor, id int64, w request.TextBody) (request.Issue,
	error) {
	text, err := w.Check()
	if err != nil {
		return request.Issue{}, err
	}
	issue := request.Issue{RequestID: id, Text: text, OpenedBy: who.ID}
	_, err = a.Act(ctx, who, exchange.RequestUpdate, id, nil,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			after, events, err := q.Request.OpenIssue(roles, who.ID, text, q.Terms, tx.Now)
			if err != nil {
				return after, nil, err
			}
			issue.OpenedAt = tx.Now
			issue.ID, err = tx.Requests.InsertIssue(ctx, issue)
			for i := range events {
				events[i].Detail.Issue = issue.ID
			}
			return after, events, err
		})
	return issue, err
}

// CloseIssue closes a reported problem as resolved; closing one twice changes nothing.
func (a Requests) CloseIssue(ctx context.Context, who exchange.Actor, id, issueID int64,
	done request.Resolution) (request.Issue, error) {
	var issue request.Issue
	_, err := a.Act(ctx, who, exchange.RequestUpdate, id, nil,
		func(ctx context.Context, tx store.Conn, who exchange.Actor, q request.Detail,
			roles request.Roles) (request.Request, []request.Event, error) {
			var err error
			if issue, err = tx.Requests.Issue(ctx, id, issueID); err != nil || issue.ClosedAt != nil {
				return q.Request, nil, err
			}
			var sent []request.Event
			if p := done.Shipment; p != nil {
				if q.Request, sent, err = q.Ship(roles, who.ID, *p, q.Terms, tx.Now); err != nil {
					return q.Request, nil, err
				}
			}
			after, events, err := q.ResolveIssue(roles, who.ID, issue, done.Answer, q.Terms, tx.Now)
			if err != nil {
				return after, nil, err
			}
			issue.ClosedAt = &tx.Now
			return after, append(sent, events...), tx.Requests.CloseIssue(ctx, issueID)
		})
	return issue, err
}

// Issues lists the issues of a request.
func (a Requests) Issues(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[request.Issue], error) {
	if _, err := a.Request(ctx, who, id); err != nil {
		return exchange.ListPage[request.Issue]{}, err
	}
	return a.DB.Read().Requests.Issues(ctx, id, p)
}

// Events lists the events of a request.
func (a Requests) Events(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[request.Event], error) {
	if _, err := a.Request(ctx, who, id); err != nil {
		return exchange.ListPage[request.Event]{}, err
	}
	return a.DB.Read().Events.List(ctx, id, "", p)
}

// Messages lists the messages of a request and of those that were sent together with it, which are one conversation.
func (a Requests) Messages(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[request.Event], error) {
	q, err := a.Request(ctx, who, id)
	if err != nil {
		return exchange.ListPage[request.Event]{}, err
	}
	c, of := a.DB.Read(), []int64{id}
	list, err := together(ctx, a, c, who, q)
	if err != nil {
		return exchange.ListPage[request.Event]{}, err
	}
	for _, other := range list {
		if other.ID != id {
			of = append(of, other.ID)
		}
	}
	return c.Events.Messages(ctx, of, p)
}

// OrganizationEvents lists the events of the requests for an organization's materials.
func (a Requests) OrganizationEvents(ctx context.Context, who exchange.Actor, organization int64, f request.EventFilter,
	p exchange.Page) (exchange.ListPage[request.OrganizationEvent], error) {
	c := a.DB.Read()
	_, err := c.Organizations.Get(ctx, organization)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.OrganizationEvents, who.ToOrganization(organization),
			core.Object("events of organization", organization))
	}
	if err != nil {
		return exchange.ListPage[request.OrganizationEvent]{}, err
	}
	return c.Events.OfOrganization(ctx, organization, p, f)
}
