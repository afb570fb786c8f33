package account

import (
	"context"
	"errors"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/app/labs"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Closing describes what closing an account does, and what has to be done first.
type Closing struct {
	User      person.User
	HandOver  []lab.Organization  // labs with other members, which need another owner first
	Answer    []store.OpenRequest // open requests by others to the labs in Closes, which must be resolved first
	LastAdmin bool                // there is no other admin

	Closes []lab.Organization  // labs without other members, which close with the account
	Leaves []lab.Organization  // labs of others
	Open   []store.OpenRequest // the user's requests under way, which end
}

// Blocked reports whether something has to be done before the account can be closed.
func (c Closing) Blocked() bool { return len(c.HandOver) > 0 || len(c.Answer) > 0 || c.LastAdmin }

// First says what has to be done first; "": nothing.
func (c Closing) First() string {
	if e, ok := errors.AsType[*exchange.Error](c.conflict()); ok {
		return e.Message
	}
	return ""
}

// conflict returns the error that states what has to be done first, or nil.
func (c Closing) conflict() error {
	if !c.Blocked() {
		return nil
	}
	var sentences []string
	details := map[string]any{}
	if c.LastAdmin {
		sentences = append(sentences, "This is the only admin: make someone else an admin first.")
	}
	if len(c.HandOver) > 0 {
		sentences = append(sentences,
			"Labs with other members need a new owner first: transfer their ownership, or remove the other members.")
		labs := make([]map[string]any, len(c.HandOver))
		for i, o := range c.HandOver {
			labs[i] = map[string]any{"id": o.ID, "name": o.Name}
		}
		details["organizations"] = labs
	}
	if len(c.Answer) > 0 {
		sentences = append(sentences, "Open requests to a lab that will close must end first: complete or decline "+
			"them, or transfer ownership of the lab.")
		requests := make([]map[string]any, len(c.Answer))
		for i, q := range c.Answer {
			requests[i] = map[string]any{"id": q.ID, "title": q.Title, "status": q.Status}
		}
		details["requests"] = requests
	}
	e := exchange.Errorf(exchange.Conflict, "%s", strings.Join(sentences, " "))
	for name, value := range details {
		e = e.With(name, value)
	}
	return e
}

// Closing reads what closing the account of a user does.
func (a Accounts) Closing(ctx context.Context, who exchange.Actor, user uuid.UUID) (v Closing, err error) {
	if err := a.MayRead(ctx, who, exchange.UserClose, who.ToUser(user), core.Object("user", user)); err != nil {
		return v, err
	}
	return closing(ctx, a.DB.Read(), user)
}

func closing(ctx context.Context, c store.Conn, user uuid.UUID) (v Closing, err error) {
	if v.User, err = c.Users.Get(ctx, user); err != nil {
		return v, err
	}
	if v.User.Admin {
		admins, err := c.Users.Admins(ctx)
		if err != nil {
			return v, err
		}
		v.LastAdmin = len(admins) == 1
	}
	labs, err := c.Organizations.OfUser(ctx, user)
	if err != nil {
		return v, err
	}
	ids := make([]int64, len(labs))
	for i, o := range labs {
		ids[i] = o.ID
	}
	members, err := c.Organizations.Members(ctx, ids...)
	if err != nil {
		return v, err
	}
	var closes []int64
	for _, o := range labs {
		others := slices.ContainsFunc(members,
			func(m store.Member) bool { return m.OrganizationID == o.ID && m.User.ID != user })
		switch {
		case o.Owner != user:
			v.Leaves = append(v.Leaves, o)
		case others:
			v.HandOver = append(v.HandOver, o)
		default:
			v.Closes, closes = append(v.Closes, o), append(closes, o.ID)
		}
	}
	if v.Answer, err = c.Closing.OpenRequestsTo(ctx, closes, user); err != nil {
		return v, err
	}
	v.Open, err = c.Closing.OpenRequests(ctx, user)
	return v, err
}

// CloseAccount deletes what belongs to a user alone, and keeps under "closed account" what both sides of a transfer
// need. Labs with other members need another owner first. Closing a closed account changes nothing.
func (a Accounts) CloseAccount(ctx context.Context, who exchange.Actor, user uuid.UUID,
	match core.IfMatch[core.UserView]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		u, err := tx.Users.Get(ctx, user)
		if err != nil {
			return err
		}
		rel := who.ToUser(user)
		if err := a.May(ctx, tx, who, exchange.UserClose, rel, core.Object("user", user)); err != nil {
			return err
		}
		if who.Scope != "" {
			return exchange.Errorf(exchange.OutOfScope,
				"A program’s token cannot close an account; sign in to do that (%s).", exchange.UserClose)
		}
		if u.Admin {
			err = tx.Actors.LockAdmins(ctx)
		} else {
			err = tx.Actors.LockAdmin(ctx, user)
		}
		if err != nil {
			return err
		}
		if u, err = tx.Users.ForUpdate(ctx, user); err != nil {
			return err
		}
		if err := match.CheckRead(func() (core.UserView, error) {
			return a.viewUser(ctx, tx, who, u, true)
		}); err != nil || u.Closed {
			return err
		}
		if err := a.closeAccount(ctx, tx, who, u); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.UserClose, rel, core.Object("user", user), nil)
	})
}

func (a Accounts) closeAccount(ctx context.Context, tx store.Conn, who exchange.Actor, u person.User) error {
	ids, err := tx.Closing.LabsOf(ctx, u.ID)
	if err != nil {
		return err
	}
	listed := map[int64][]material.Material{} // of the user's own labs, locked
	for _, id := range ids {                  // so that nobody joins them or requests something from them meanwhile
		o, err := tx.Organizations.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if o.Owner != u.ID {
			continue
		}
		if listed[id], err = tx.Closing.ListedMaterials(ctx, id); err != nil {
			return err
		}
	}
	v, err := closing(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	if err := v.conflict(); err != nil {
		return err
	}
	for _, q := range v.Open {
		if err := a.endRequest(ctx, tx, who, q.ID); err != nil {
			return err
		}
	}
	for _, o := range v.Closes {
		if err := a.closeLab(ctx, tx, who, o, listed[o.ID]); err != nil {
			return err
		}
	}
	for _, o := range v.Leaves {
		if err := labs.New(a.Core).DropMember(ctx, tx, who, exchange.OrganizationLeave, who.ID != u.ID, o, u.ID,
			o.Owner); err != nil {
			return err
		}
	}
	if err := tx.Closing.ForgetUser(ctx, u, ids, tx.Now.Add(-a.Grace)); err != nil {
		return err
	}
	return core.IndexNow(ctx, tx, request.Renaming{User: u.ID})
}

// endRequest cancels a request for its requester, or closes it if the material was sent.
func (a Accounts) endRequest(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) error {
	q, err := tx.Requests.ForUpdate(ctx, id)
	if err != nil {
		return err
	}
	roles, p := request.Roles{Requester: true}, request.Patch{Status: exchange.Some(request.Cancelled)}
	if !slices.Contains(request.AllowedStatuses(roles, q.Status), request.Cancelled) {
		roles, p = request.Roles{Requester: true, Member: true}, request.Patch{Active: exchange.Some(false)}
	}
	after, events, err := q.Apply(roles, who.ID, p, q.Address, q.Terms, tx.Now)
	if err != nil || len(events) == 0 {
		return err
	}
	return transfer.New(a.Core).CommitRequest(ctx, tx, &q, after, roles, events)
}

// closeLab archives the materials, which are locked, of a lab without members, and removes its name.
func (a Accounts) closeLab(ctx context.Context, tx store.Conn, who exchange.Actor, o lab.Organization,
	old []material.Material) error {
	v, err := core.ShowOrganization(ctx, tx, o)
	if err != nil {
		return err
	}
	v.Name, v.Description, v.UpdatedAt = person.ClosedLab, "", tx.Now
	if err := tx.Organizations.Update(ctx, v.Organization); err != nil {
		return err
	}
	asAdmin := who.ID != o.Owner
	if err := core.RecordOrganizationVersion(ctx, tx, who, exchange.UserClose, asAdmin, v); err != nil {
		return err
	}
	list, kept := slices.Clone(old), map[int64]bool{}
	for i := range list {
		list[i].Archived, kept[list[i].ID] = true, asAdmin
	}
	if err := core.SaveMaterials(ctx, tx, old, list); err != nil {
		return err
	}
	if err := core.RecordMaterialVersions(ctx, tx, who, kept); err != nil {
		return err
	}
	if err := tx.Closing.CloseLab(ctx, o.ID); err != nil {
		return err
	}
	return core.IndexNow(ctx, tx, request.Renaming{Organization: o.ID})
}
