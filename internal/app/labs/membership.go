package labs

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/notify"
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
	joined, err := core.ShowOrganization(ctx, tx, o)
	if err != nil {
		return err
	}
	return core.RecordOrganizationVersion(ctx, tx, who, action, false, joined)
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
