package app

import (
	"context"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// InboxItem is a request with what a list tells of it.
type InboxItem struct {
	exchange.Requested
	Whose     exchange.Whose
	Turn      *exchange.Turn // nil: it is nobody's
	Roles     exchange.Roles
	Asker     exchange.User // who made it
	Assignee  exchange.User
	Lab       string // the name of the organization
	Reminding bool   // the reader may remind whose turn it is
}

// Inbox is a part of a person's inbox, and how much there is of each kind.
type Inbox struct {
	exchange.Part[InboxItem]
	Counts exchange.InboxCounts
}

// Inbox lists the requests of the caller and of the labs that they are in. An admin sees their own, too.
func (a *App) Inbox(ctx context.Context, who exchange.Actor, p exchange.Page, f exchange.InboxFilter) (Inbox, error) {
	var in Inbox
	if _, err := a.can(who, exchange.RequestList, who.ToUser(who.ID)); err != nil {
		return in, err
	}
	who.Admin = false // what they may do as one is none of their turns
	c := a.DB.Read()
	var err error
	if in.Counts, err = c.CountInbox(ctx, f, who); err != nil {
		return in, err
	}
	list, next, err := c.Inbox(ctx, p, f, who)
	if err != nil {
		return in, err
	}
	in.Total, in.Next = in.Counts.Of(f.Whose), next
	in.Items, err = a.inboxItems(ctx, who, list)
	return in, err
}

// inboxItems are requests with those who have a part in them, in one statement for all people and one for all labs.
func (a *App) inboxItems(ctx context.Context, who exchange.Actor, list []exchange.Requested) ([]InboxItem, error) {
	c := a.DB.Read()
	var people []uuid.UUID
	var labs []int64
	for _, q := range list {
		people, labs = append(people, q.Requester, q.AssignedTo), append(labs, q.Organization)
	}
	users, err := c.Users(ctx, people)
	if err != nil {
		return nil, err
	}
	organizations, err := c.OrganizationsByID(ctx, labs)
	if err != nil {
		return nil, err
	}
	byID, names := map[uuid.UUID]exchange.User{}, map[int64]string{}
	for _, u := range users {
		byID[u.ID] = u
	}
	for _, o := range organizations {
		names[o.ID] = o.Name
	}
	items := make([]InboxItem, len(list))
	for i, q := range list {
		roles := exchange.RolesOf(who.ToRequest(q.Request, q.Organization))
		_, _, notNow := q.RemindNow(roles, who.ID, q.Terms, c.Now)
		items[i] = InboxItem{Requested: q, Whose: who.Whose(q), Turn: exchange.WaitingOn(q.Terms, q.Targets, q.Request), Roles: roles,
			Asker: byID[q.Requester], Assignee: byID[q.AssignedTo], Lab: names[q.Organization], Reminding: notNow == nil}
	}
	return items, nil
}
