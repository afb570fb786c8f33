package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// addMember makes a user a member of an organization whose row is locked, and ends their other invitations and join
// requests to it.
func addMember(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action, o lab.Organization,
	user uuid.UUID) error {
	if err := tx.Organizations.Join(ctx, o.ID, user); err != nil {
		return err
	}
	if err := tx.Invitations.Settle(ctx, o.ID); err != nil {
		return err
	}
	joined, err := showOrganization(ctx, tx, o)
	if err != nil {
		return err
	}
	return recordOrganizationVersion(ctx, tx, who, action, false, joined)
}

// invitationAnnouncement returns the announcement of an invitation.
func invitationAnnouncement(v lab.ShownInvitation, kind notify.AnnouncementKind,
	actor uuid.UUID) notify.Announcement {
	return notify.Announcement{Kind: kind, Actor: actor, Organization: v.OrganizationID,
		Detail: notify.AnnouncementDetail{Invitation: v.ID, Role: v.Role}}
}

// joinAnnouncement returns the announcement of a join request.
func joinAnnouncement(j lab.JoinRequest, kind notify.AnnouncementKind, actor uuid.UUID) notify.Announcement {
	return notify.Announcement{Kind: kind, Actor: actor, Organization: j.OrganizationID,
		Detail: notify.AnnouncementDetail{JoinRequest: j.ID, Text: j.Note, Reason: j.Reason}}
}

// notifyPeople notifies people of what happened outside of requests. Actors are not notified of their own actions.
func notifyPeople(ctx context.Context, tx store.Conn, n notify.Announcement, people ...uuid.UUID) error {
	var err error
	if n.ID, err = tx.Notifications.InsertAnnouncement(ctx, n); err != nil {
		return err
	}
	if err := tx.Notifications.Announce(ctx, n, people...); err != nil {
		return err
	}
	_, err = Tell.Enqueue(ctx, tx, NotifyArgs{Organization: n.Organization, News: n.ID},
		job.EnqueueOptions{Turn: n.Actor})
	return err
}
