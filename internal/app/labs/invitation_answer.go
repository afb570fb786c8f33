package labs

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Answer accepts or declines an invitation of a user; accepting it makes them a member. The same answer again changes
// nothing.
func (a Labs) Answer(ctx context.Context, who exchange.Actor, user uuid.UUID, id int64,
	to lab.InvitationStatus) (v lab.ShownInvitation, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.InvitationAnswer, who.ToUser(user),
			core.Object("invitation", id)); err != nil {
			return err
		}
		u, err := tx.Users.Get(ctx, user)
		if err != nil {
			return err
		}
		v, err = answer(ctx, tx, who, u, id, to, false)
		return err
	})
	return v, err
}

// answer records a user's answer; holding reports whether they have the token that was sent. The organization is
// locked, so that of two concurrent calls the second sees the effect of the first.
func answer(ctx context.Context, tx store.Conn, who exchange.Actor, u person.User, id int64,
	to lab.InvitationStatus, holding bool) (lab.ShownInvitation, error) {
	v, err := tx.Invitations.Get(ctx, id)
	if err != nil {
		return v, err
	}
	o, err := tx.Organizations.ForUpdate(ctx, v.OrganizationID)
	if err != nil {
		return v, err
	}
	if v, err = tx.Invitations.Get(ctx, id); err != nil { // read again under the lock
		return v, err
	}
	switch {
	case v.For(u, holding):
	case holding:
		return v, exchange.Errorf(exchange.Forbidden, "This invitation is for someone else: sign in as %s.",
			v.RegistryID)
	default:
		return v, exchange.Errorf(exchange.NotFound, "There is no such invitation.")
	}
	was := v.Status
	if v.Invitation, err = v.Answer(to, u.ID, tx.Now); err != nil || v.Status == was {
		return v, err
	}
	if err := tx.Invitations.SaveAnswer(ctx, v.Invitation); err != nil {
		return v, err
	}
	kind, owner := notify.InvitationRefused, o.Owner
	if to == lab.InvitationAccepted {
		kind = notify.InvitationTaken
		if v.Role == lab.OwnerRole {
			o.Owner, o.UpdatedAt = u.ID, tx.Now
			if err := errors.Join(tx.Actors.LockOwner(ctx, o.ID), tx.Organizations.Update(ctx, o),
				tx.Invitations.WithdrawOwners(ctx, o.ID)); err != nil {
				return v, err
			}
		}
		err = addMember(ctx, tx, who, exchange.InvitationAnswer, o, u.ID)
	} else {
		err = tx.Audit.Insert(ctx, &who.ID, exchange.InvitationAnswer, core.Object("organization", o.ID), false,
			invitationNote(v.Invitation))
	}
	if err != nil {
		return v, err
	}
	return v, notifier.NotifyPeople(ctx, tx, invitationAnnouncement(v, kind, u.ID), owner)
}

// HeldInvitation reads the invitation that a token opens.
func (a Labs) HeldInvitation(ctx context.Context, token string) (lab.ShownInvitation, error) {
	return held(ctx, a.DB.Read(), token)
}

// held reads the invitation that a token opens. It returns NotFound if the invitation was withdrawn or its addressee
// has changed.
func held(ctx context.Context, c store.Conn, token string) (lab.ShownInvitation, error) {
	text, err := core.Unseal(ctx, c, notifier.OfInvitation, token)
	if err != nil {
		return lab.ShownInvitation{}, err
	}
	number, addressee, _ := strings.Cut(text, " ")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return lab.ShownInvitation{}, err
	}
	v, err := c.Invitations.Get(ctx, id)
	if err == nil && (v.Status == lab.InvitationWithdrawn || v.Addressee() != addressee) {
		err = exchange.Errorf(exchange.NotFound, "This invitation was withdrawn.")
	}
	return v, err
}

// AnswerHeld is Answer for a caller with the token that was sent.
func (a Labs) AnswerHeld(ctx context.Context, who exchange.Actor, t lab.InvitationToken,
	to lab.InvitationStatus) (v lab.ShownInvitation, err error) {
	token, err := t.Check()
	if err != nil {
		return v, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.InvitationTake, who.ToUser(who.ID), "invitation"); err != nil {
			return err
		}
		u, err := tx.Users.Get(ctx, who.ID)
		if err != nil {
			return err
		}
		if v, err = held(ctx, tx, token); err != nil {
			return tokenFault(err, "token", exchange.NotFound)
		}
		v, err = answer(ctx, tx, who, u, v.ID, to, true)
		return err
	})
	return v, err
}

// AcceptInvitationOnSignIn accepts the invitation whose token comes with a sign-in. The sign-in fails if it cannot be
// accepted.
func AcceptInvitationOnSignIn(ctx context.Context, tx store.Conn, u person.User, token string) error {
	v, err := held(ctx, tx, token)
	if err == nil {
		_, err = answer(ctx, tx, exchange.Actor{ID: u.ID}, u, v.ID, lab.InvitationAccepted, true)
	}
	return tokenFault(err, "invitation", exchange.NotFound, exchange.Conflict, exchange.Forbidden)
}

// Acceptable checks before a sign-in, as far as possible, the token that comes with it, so that the code of the
// identity provider is not used up for nothing.
func (a Labs) Acceptable(ctx context.Context, token string) error {
	c := a.DB.Read()
	v, err := held(ctx, c, token)
	if err == nil && v.Status != lab.InvitationAccepted { // only the sign-in shows by whom
		_, err = v.Answer(lab.InvitationAccepted, uuid.Nil, c.Now)
	}
	return tokenFault(err, "invitation", exchange.NotFound, exchange.Conflict)
}

// tokenFault turns errors with these codes into an error on the field with the token.
func tokenFault(err error, field string, codes ...exchange.Code) error {
	if e, ok := errors.AsType[*exchange.Error](err); ok && slices.Contains(codes, e.Code) {
		return core.FieldError(field, "%s", e.Message)
	}
	return err
}
