package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Invitations lists those invitations of an organization that can be answered.
func (a *App) Invitations(ctx context.Context, who exchange.Actor, organization int64, p exchange.Page) (exchange.Part[exchange.ShownInvitation], error) {
	c := a.DB.Read()
	_, err := c.Organization(ctx, organization)
	if err == nil {
		err = a.mayRead(ctx, who, exchange.InvitationRead, who.ToOrganization(organization), object("invitations of organization", organization))
	}
	if err != nil {
		return exchange.Part[exchange.ShownInvitation]{}, err
	}
	return c.Invitations(ctx, organization, p)
}

// Invite asks a person into an organization. existed: they are asked already, and that
// invitation is given as it is.
func (a *App) Invite(ctx context.Context, who exchange.Actor, organization int64, p exchange.InvitationNew) (v exchange.ShownInvitation, existed bool, err error) {
	i, err := p.Create()
	if err != nil {
		return v, false, err
	}
	i.OrganizationID, i.InvitedBy = organization, who.ID
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.lockForInvitation(ctx, tx, who, organization); err != nil {
			return err
		}
		switch member, err := tx.InvitesMember(ctx, i); {
		case err != nil:
			return err
		case member:
			return exchange.Fail(exchange.Conflict, "%s is a member of this organization already.", i.RegistryID+i.Email)
		}
		asked, err := tx.SameInvitation(ctx, i)
		if err != nil {
			return err
		}
		if existed = len(asked.Items) > 0; existed {
			v = asked.Items[0]
			return nil
		}
		i.ExpiresAt = tx.Now.Add(exchange.InvitationLifetime)
		id, err := tx.InsertInvitation(ctx, i)
		if err != nil {
			return err
		}
		if v, err = tx.Invitation(ctx, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, &who.ID, exchange.InvitationWrite, object("organization", organization), false, v.Invitation)
	})
	return v, existed, err
}

// lockForInvitation keeps others from changing an organization and whom it asks, for who may.
func (a *App) lockForInvitation(ctx context.Context, tx store.Conn, who exchange.Actor, organization int64) error {
	if _, err := tx.OrganizationForUpdate(ctx, organization); err != nil {
		return err
	}
	return a.may(ctx, tx, who, exchange.InvitationWrite, who.ToOrganization(organization), object("organization", organization))
}

// Withdraw takes back an invitation that nobody answered.
func (a *App) Withdraw(ctx context.Context, who exchange.Actor, organization, id int64) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.lockForInvitation(ctx, tx, who, organization); err != nil {
			return err
		}
		if err := neverShown(ctx); err != nil {
			return err
		}
		return tx.DeleteInvitation(ctx, organization, id)
	})
}

// Answer accepts or declines an invitation of a user; who accepts is a member from then on.
// The same answer again changes nothing.
func (a *App) Answer(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64, to exchange.InvitationStatus) (exchange.ShownInvitation, error) {
	var v exchange.ShownInvitation
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		if err := a.may(ctx, tx, who, exchange.InvitationAnswer, who.ToUser(user), object("invitation", id)); err != nil {
			return err
		}
		u, err := tx.User(ctx, user)
		if err != nil {
			return err
		}
		if v, err = tx.Invitation(ctx, id); err != nil {
			return err
		}
		o, err := tx.OrganizationForUpdate(ctx, v.OrganizationID)
		if err != nil {
			return err
		}
		if v, err = tx.Invitation(ctx, id); err != nil { // as it is under the lock
			return err
		}
		if !v.For(u) {
			return exchange.Fail(exchange.NotFound, "There is no such invitation.")
		}
		was := v.Status
		if v.Invitation, err = v.Answer(to, tx.Now); err != nil || v.Status == was {
			return err
		}
		if err := tx.SaveAnswer(ctx, v.Invitation); err != nil {
			return err
		}
		if to == exchange.InvitationAccepted {
			if err := tx.Join(ctx, v.OrganizationID, user); err != nil {
				return err
			}
			joined, err := showOrganization(ctx, tx, o)
			if err != nil {
				return err
			}
			return keepOrganization(ctx, tx, who, exchange.InvitationAnswer, false, joined)
		}
		return tx.InsertAudit(ctx, &who.ID, exchange.InvitationAnswer, object("organization", v.OrganizationID), false, v.Invitation)
	})
	return v, err
}
