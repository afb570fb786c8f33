package labs

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// AskToJoin asks the owner of an organization to admit the caller. existed reports whether they had asked already; then
// that join request is returned unchanged.
func (a Labs) AskToJoin(ctx context.Context, who exchange.Actor, organization int64,
	p lab.JoinNew) (v lab.ShownJoinRequest, existed bool, err error) {
	j, err := p.Create()
	if err != nil {
		return v, false, err
	}
	j.OrganizationID, j.UserID = organization, who.ID
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.JoinAsk, who.ToOrganization(organization),
			core.Object("organization", organization)); err != nil {
			return err
		}
		if _, err := tx.Users.ForUpdate(ctx, who.ID); err != nil { // locked, or they could send many at once
			return err
		}
		o, err := tx.Organizations.ForUpdate(ctx, organization)
		if err != nil {
			return err
		}
		switch member, err := tx.Organizations.IsMember(ctx, organization, who.ID); {
		case err != nil:
			return err
		case member:
			return exchange.Errorf(exchange.Conflict, "You are already a member of this organization.")
		}
		last, err := tx.JoinRequests.Last(ctx, organization, who.ID)
		if err != nil {
			return err
		}
		if existed = last != nil && last.Status == lab.JoinPending; existed {
			v = *last
			return nil
		}
		if last != nil {
			if err := last.Again(tx.Now); err != nil {
				return err
			}
		}
		switch n, err := tx.JoinRequests.Pending(ctx, who.ID); {
		case err != nil:
			return err
		case n >= lab.MaxJoins:
			return exchange.Errorf(exchange.Conflict,
				"You asked to join %d organizations that have not answered; withdraw one of these requests first.", n)
		}
		id, err := tx.JoinRequests.Insert(ctx, j)
		if err != nil {
			return err
		}
		if v, err = tx.JoinRequests.Get(ctx, organization, id); err != nil {
			return err
		}
		if err := noteJoin(ctx, tx, who, exchange.JoinAsk, v.JoinRequest); err != nil {
			return err
		}
		return notifier.NotifyPeople(ctx, tx, joinAnnouncement(v.JoinRequest, notify.JoinAsked, who.ID), o.Owner)
	})
	return v, existed, err
}

// JoinRequests lists the join requests to an organization.
func (a Labs) JoinRequests(ctx context.Context, who exchange.Actor, organization int64, f lab.JoinFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownJoinRequest], error) {
	c := a.DB.Read()
	_, err := c.Organizations.Get(ctx, organization)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.JoinRead, who.ToOrganization(organization),
			core.Object("join requests of organization", organization))
	}
	if err != nil {
		return exchange.ListPage[lab.ShownJoinRequest]{}, err
	}
	return c.JoinRequests.List(ctx, organization, f, p)
}

// JoinRequestsOf lists the join requests of a user.
func (a Labs) JoinRequestsOf(ctx context.Context, who exchange.Actor, user uuid.UUID, f lab.JoinFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownJoinRequest], error) {
	if err := a.MayRead(ctx, who, exchange.JoinRead, who.ToUser(user),
		core.Object("join requests of", user)); err != nil {
		return exchange.ListPage[lab.ShownJoinRequest]{}, err
	}
	return a.DB.Read().JoinRequests.OfUser(ctx, user, f, p)
}

// AnswerJoin accepts or declines a join request. The same answer again changes nothing.
func (a Labs) AnswerJoin(ctx context.Context, who exchange.Actor, organization, id int64, to lab.JoinStatus,
	r lab.JoinDecline) (lab.ShownJoinRequest, error) {
	reason, err := r.Check()
	if err != nil {
		return lab.ShownJoinRequest{}, err
	}
	return a.endJoin(ctx, who, organization, id, to, reason, nil)
}

// WithdrawJoin withdraws an unanswered join request; withdrawing it again changes nothing.
func (a Labs) WithdrawJoin(ctx context.Context, who exchange.Actor, organization, id int64,
	match core.IfMatch[core.Untagged]) error {
	_, err := a.endJoin(ctx, who, organization, id, lab.JoinWithdrawn, "", match)
	return err
}

// endJoin ends a join request: its sender withdraws it, or the organization's owner answers. The organization is
// locked, so that of two concurrent calls the second sees the effect of the first.
func (a Labs) endJoin(ctx context.Context, who exchange.Actor, organization, id int64, to lab.JoinStatus,
	reason string, match core.IfMatch[core.Untagged]) (v lab.ShownJoinRequest, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		o, err := tx.Organizations.ForUpdate(ctx, organization)
		if err != nil {
			return err
		}
		if v, err = tx.JoinRequests.Get(ctx, organization, id); err != nil {
			return err
		}
		action, rel := exchange.JoinAnswer, who.ToOrganization(organization)
		if to == lab.JoinWithdrawn {
			action, rel = exchange.JoinWithdraw, who.ToUser(v.UserID)
		}
		if err := a.May(ctx, tx, who, action, rel, core.Object("join request", id)); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		was := v.Status
		if v.JoinRequest, err = v.Answer(to, reason, tx.Now); err != nil || v.Status == was {
			return err
		}
		if err := tx.JoinRequests.Save(ctx, v.JoinRequest); err != nil {
			return err
		}
		switch to {
		case lab.JoinAccepted:
			if err := addMember(ctx, tx, who, action, o, v.UserID); err != nil {
				return err
			}
			return notifier.NotifyPeople(ctx, tx, joinAnnouncement(v.JoinRequest, notify.JoinTaken, who.ID), v.UserID)
		case lab.JoinDeclined:
			if err := noteJoin(ctx, tx, who, action, v.JoinRequest); err != nil {
				return err
			}
			return notifier.NotifyPeople(ctx, tx, joinAnnouncement(v.JoinRequest, notify.JoinRefused, who.ID), v.UserID)
		default:
			return noteJoin(ctx, tx, who, action, v.JoinRequest)
		}
	})
	return v, err
}

func noteJoin(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	j lab.JoinRequest) error {
	return tx.Audit.Insert(ctx, &who.ID, action, core.Object("organization", j.OrganizationID), false,
		map[string]any{"join_request": j.ID, "status": j.Status})
}
