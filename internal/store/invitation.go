package store

import (
	"context"

	"aliquot/internal/exchange"
)

const invitationColumns = "o.id, o.organization_id, o.registry_id, o.email, o.invited_by, o.status, o.created_at, o.expires_at, n.name, " + userColumns

const invitationJoins = "JOIN organizations n ON n.id = o.organization_id JOIN users u ON u.id = o.invited_by"

func scanInvitation(r row, i *exchange.ShownInvitation) error {
	return r.Scan(append([]any{&i.ID, &i.OrganizationID, &i.RegistryID, &i.Email, &i.InvitedBy, &i.Status,
		utc{&i.CreatedAt}, utc{&i.ExpiresAt}, &i.Organization}, userFields(&i.Inviter)...)...)
}

var invitations = listing[exchange.ShownInvitation]{columns: invitationColumns, table: "invitations", joins: invitationJoins, scan: scanInvitation,
	id:    func(i exchange.ShownInvitation) int64 { return i.ID },
	sorts: map[string]string{"registry_id": "NULLIF(o.registry_id, '')", "email": "NULLIF(o.email, '')"}}

// Invitation reads one invitation. Whoever changes one locks its organization first.
func (c Conn) Invitation(ctx context.Context, id int64) (exchange.ShownInvitation, error) {
	return one(ctx, c, scanInvitation, "SELECT "+invitationColumns+" FROM invitations o "+invitationJoins+" WHERE o.id = $1", id)
}

func (c Conn) pending() *filter {
	return where("o.status = ? AND o.expires_at > ?", string(exchange.InvitationPending), c.Now)
}

// Invitations lists those invitations of an organization that can be answered.
func (c Conn) Invitations(ctx context.Context, organization int64, p exchange.Page) (exchange.Part[exchange.ShownInvitation], error) {
	f := c.pending()
	f.and("o.organization_id = ?", organization)
	return invitations.page(ctx, c, p, f)
}

// InvitationsFor lists those that u can answer.
func (c Conn) InvitationsFor(ctx context.Context, u exchange.User, p exchange.Page) (exchange.Part[exchange.ShownInvitation], error) {
	f := c.pending()
	if u.VerifiedEmail == "" {
		f.and("o.registry_id = ?", u.RegistryID)
	} else {
		f.and("(o.registry_id = ? OR o.email = ?)", u.RegistryID, u.VerifiedEmail)
	}
	return invitations.page(ctx, c, p, f)
}

// SameInvitation lists those of the organization that ask the same person as i and can be answered.
func (c Conn) SameInvitation(ctx context.Context, i exchange.Invitation) (exchange.Part[exchange.ShownInvitation], error) {
	f := c.pending()
	f.and("o.organization_id = ? AND o.registry_id = ? AND o.email = ?", i.OrganizationID, i.RegistryID, i.Email)
	return invitations.page(ctx, c, exchange.Page{}, f)
}

// InvitesMember says whether i asks someone who is a member already.
func (c Conn) InvitesMember(ctx context.Context, i exchange.Invitation) (bool, error) {
	column, who := "u.registry_id", i.RegistryID
	if who == "" {
		column, who = "u.verified_email", i.Email
	}
	return one(ctx, c, value[bool], `SELECT EXISTS (SELECT 1 FROM memberships m JOIN users u ON u.id = m.user_id
		WHERE m.organization_id = $1 AND m.left_at IS NULL AND `+column+" = $2)", i.OrganizationID, who)
}

// InsertInvitation adds an invitation and gives its id.
func (c Conn) InsertInvitation(ctx context.Context, i exchange.Invitation) (int64, error) {
	return one(ctx, c, value[int64], `INSERT INTO invitations (organization_id, registry_id, email, invited_by, status, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
		i.OrganizationID, i.RegistryID, i.Email, i.InvitedBy, string(i.Status), c.Now, i.ExpiresAt)
}

// SaveAnswer saves what became of an invitation.
func (c Conn) SaveAnswer(ctx context.Context, i exchange.Invitation) error {
	_, err := c.exec(ctx, "UPDATE invitations SET status = $2 WHERE id = $1", i.ID, string(i.Status))
	return err
}

// DeleteInvitation withdraws an invitation that nobody answered; NotFound when there is none.
func (c Conn) DeleteInvitation(ctx context.Context, organization, id int64) error {
	n, err := c.exec(ctx, "DELETE FROM invitations WHERE organization_id = $1 AND id = $2 AND status = $3", organization, id, string(exchange.InvitationPending))
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such invitation, or it was answered."}
	}
	return err
}
