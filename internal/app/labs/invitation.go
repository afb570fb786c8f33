package labs

import (
	"context"
	"fmt"

	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Invitations lists the invitations of an organization.
func (a Labs) Invitations(ctx context.Context, who exchange.Actor, organization int64, f lab.InvitationFilter,
	p exchange.Page) (exchange.ListPage[lab.ShownInvitation], error) {
	c := a.DB.Read()
	_, err := c.Organizations.Get(ctx, organization)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.InvitationRead, who.ToOrganization(organization),
			core.Object("invitations of organization", organization))
	}
	if err != nil {
		return exchange.ListPage[lab.ShownInvitation]{}, err
	}
	return c.Invitations.List(ctx, organization, f, p)
}

// maxSuggested is how many people the form of an invitation suggests.
const maxSuggested = 8

// SuggestedInvitees returns people with whom who has worked, for those who may invite people to the organization.
func (a Labs) SuggestedInvitees(ctx context.Context, who exchange.Actor, organization int64) ([]person.User, error) {
	if _, err := a.Can(who, exchange.InvitationWrite, who.ToOrganization(organization)); err != nil {
		return nil, err
	}
	return a.DB.Read().Invitations.Suggested(ctx, who.ID, organization, maxSuggested)
}

// Invite invites a person to an organization. existed reports whether they were invited already; then that invitation
// is returned unchanged.
func (a Labs) Invite(ctx context.Context, who exchange.Actor, organization int64,
	p lab.InvitationNew) (v lab.ShownInvitation, existed bool, err error) {
	i, err := p.Create(a.DB.Read().Now, a.Identity != nil && a.Identity.ByORCID())
	if err != nil {
		return v, false, err
	}
	i.OrganizationID = organization
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.lockForInvitation(ctx, tx, who, organization); err != nil {
			return err
		}
		if v, existed, err = a.invite(ctx, tx, who, i); err == nil && v.Role != i.Role {
			err = otherRole(v)
		}
		return err
	})
	return v, existed, err
}

// otherRole returns the error for inviting somebody who is already invited in another role.
func otherRole(v lab.ShownInvitation) error {
	return exchange.Errorf(exchange.Conflict, "%s is already invited as %s; withdraw that invitation first.",
		v.Addressee(), v.Role)
}

// invite is Invite for an organization whose row is locked.
func (a Labs) invite(ctx context.Context, tx store.Conn, who exchange.Actor,
	i lab.Invitation) (v lab.ShownInvitation, existed bool, err error) {
	i.InvitedBy = who.ID
	asked, err := tx.Invitations.InvitedUsers(ctx, i)
	if err != nil {
		return v, false, err
	}
	for _, u := range asked {
		if u.Owner || u.Member && i.Role == lab.MemberRole {
			return v, false, exchange.Errorf(exchange.Conflict, "%s is already a member of this organization.",
				i.Addressee())
		}
	}
	same, err := tx.Invitations.Same(ctx, i)
	if err != nil {
		return v, false, err
	}
	if same != nil {
		if same.Status == lab.InvitationPending {
			return *same, true, nil
		}
		err = followUp(ctx, tx, same.Invitation)
	}
	if err == nil {
		err = mayInviteMore(ctx, tx, who.ID)
	}
	if err != nil {
		return v, false, err
	}
	i.Mail = a.mailOfInvitation(i, asked)
	id, err := tx.Invitations.Insert(ctx, i)
	if err != nil {
		return v, false, err
	}
	if v, err = tx.Invitations.Get(ctx, id); err != nil {
		return v, false, err
	}
	return v, false, sendInvitation(ctx, tx, who, v, asked)
}

// inviteUsers invites users to an organization whose row is locked, as Invite does. Someone who is already invited to
// own it need not be invited as a member too.
func (a Labs) inviteUsers(ctx context.Context, tx store.Conn, who exchange.Actor, organization int64,
	role lab.Role, users ...uuid.UUID) ([]lab.ShownInvitation, error) {
	if len(users) > lab.MaxInvited {
		return nil, core.FieldError("members", "at most %d people can be invited at once", lab.MaxInvited)
	}
	list, err := tx.Users.ByIDs(ctx, users)
	if err != nil {
		return nil, err
	}
	invitations := make([]lab.ShownInvitation, len(list))
	for n, u := range list {
		i, err := lab.InvitationNew{RegistryID: exchange.Some(u.RegistryID),
			Role: exchange.Some(role)}.Create(tx.Now, false)
		if err != nil {
			return nil, err
		}
		i.OrganizationID = organization
		v, _, err := a.invite(ctx, tx, who, i)
		if err == nil && role == lab.OwnerRole && v.Role != role {
			err = otherRole(v)
		}
		if err != nil {
			return nil, err
		}
		invitations[n] = v
	}
	return invitations, nil
}

// followUp checks that another invitation may follow the last one to the same person, which is over. If that one
// expired, it is withdrawn, so that it cannot be sent again in addition to the new one.
func followUp(ctx context.Context, tx store.Conn, last lab.Invitation) error {
	if last.Email != "" {
		if err := exchange.NotBefore(last.SentAt.Add(lab.InvitationPause), tx.Now,
			"This address was invited a moment ago"); err != nil {
			return err
		}
	}
	if last.Status != lab.InvitationExpired {
		return nil
	}
	last, err := last.Withdraw()
	if err != nil {
		return err
	}
	return tx.Invitations.SaveAnswer(ctx, last)
}

// mayInviteMore limits how many people one person invites within a day.
func mayInviteMore(ctx context.Context, tx store.Conn, who uuid.UUID) error {
	n, first, err := tx.Invitations.InvitedBy(ctx, who, tx.Now.Add(-lab.InvitationDay))
	if err != nil || n < lab.MaxInvited {
		return err
	}
	return exchange.NotBefore(first.Add(lab.InvitationDay), tx.Now,
		fmt.Sprintf("You invited %d people within a day", n))
}

// invitationNote is the detail of an invitation's audit event. It does not say whom the invitation is for, since that
// account may be closed later.
func invitationNote(i lab.Invitation) any {
	return map[string]any{"invitation": i.ID, "role": i.Role, "status": i.Status}
}

// sendInvitation records an invitation and informs its addressee: with a notification if they have signed in before,
// else by mail if the invitation has an address. Anyone else sees it when they sign in.
func sendInvitation(ctx context.Context, tx store.Conn, who exchange.Actor, v lab.ShownInvitation,
	asked []store.InvitedUser) error {
	if err := tx.Audit.Insert(ctx, &who.ID, exchange.InvitationWrite, core.Object("organization", v.OrganizationID),
		false, invitationNote(v.Invitation)); err != nil {
		return err
	}
	switch {
	case len(asked) > 0:
		people := make([]uuid.UUID, len(asked))
		for i, u := range asked {
			people[i] = u.ID
		}
		return notifier.NotifyPeople(ctx, tx, invitationAnnouncement(v, notify.Invited, who.ID), people...)
	case v.Mail == mailing.Waiting:
		if err := notifier.MayMailAddress(ctx, tx, who.ID, v.Email); err != nil {
			return err
		}
		_, err := MailInvitation.Enqueue(ctx, tx, InvitationMail{v.ID, v.Round}, job.EnqueueOptions{Turn: who.ID})
		return err
	}
	return nil
}

// lockForInvitation locks an organization and its invitations for a caller who may change them.
func (a Labs) lockForInvitation(ctx context.Context, tx store.Conn, who exchange.Actor, organization int64) error {
	if _, err := tx.Organizations.ForUpdate(ctx, organization); err != nil {
		return err
	}
	return a.May(ctx, tx, who, exchange.InvitationWrite, who.ToOrganization(organization),
		core.Object("organization", organization))
}

// Resend sends an unanswered invitation again and restarts its lifetime.
func (a Labs) Resend(ctx context.Context, who exchange.Actor, organization, id int64) (v lab.ShownInvitation,
	err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.lockForInvitation(ctx, tx, who, organization); err != nil {
			return err
		}
		if v, err = tx.Invitations.GetOf(ctx, organization, id); err != nil {
			return err
		}
		if v.Invitation, err = v.Resend(tx.Now); err != nil {
			return err
		}
		asked, err := tx.Invitations.InvitedUsers(ctx, v.Invitation)
		if err != nil {
			return err
		}
		v.Mail = a.mailOfInvitation(v.Invitation, asked)
		if err := tx.Invitations.SaveRound(ctx, v.Invitation); err != nil {
			return err
		}
		return sendInvitation(ctx, tx, who, v, asked)
	})
	return v, err
}

// Withdraw withdraws an unanswered invitation.
func (a Labs) Withdraw(ctx context.Context, who exchange.Actor, organization, id int64,
	match core.IfMatch[core.Untagged]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.lockForInvitation(ctx, tx, who, organization); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		v, err := tx.Invitations.GetOf(ctx, organization, id)
		if err != nil {
			return err
		}
		withdrawn, err := v.Withdraw()
		if err != nil {
			return err
		}
		if err := tx.Invitations.SaveAnswer(ctx, withdrawn); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &who.ID, exchange.InvitationWrite, core.Object("organization", organization), false,
			invitationNote(withdrawn))
	})
}
