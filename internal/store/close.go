package store

import (
	"context"
	"encoding/json"
	"strings"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Closed reports whether a user closed their account.
func (c Conn) Closed(ctx context.Context, user uuid.UUID) (bool, error) {
	return one(ctx, c, value[bool], "SELECT closed_at IS NOT NULL FROM users WHERE id = $1", user)
}

// OpenRequests reads the ids of a user's requests that are active.
func (c Conn) OpenRequests(ctx context.Context, user uuid.UUID) ([]int64, error) {
	return all(ctx, c, value[int64], "SELECT id FROM material_requests WHERE requester_id = $1 AND is_active AND deleted_at IS NULL ORDER BY id", user)
}

// OpenRequestsOf reads the ids of the requests to an organization that are active.
func (c Conn) OpenRequestsOf(ctx context.Context, organization int64) ([]int64, error) {
	return all(ctx, c, value[int64], "SELECT id FROM material_requests WHERE organization_id = $1 AND is_active AND deleted_at IS NULL ORDER BY id", organization)
}

// MaterialsOn reads the materials of an organization that are not archived, and keeps others from changing them until commit.
func (c Conn) MaterialsOn(ctx context.Context, organization int64) ([]exchange.Material, error) {
	return all(ctx, c, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.organization_id = $1 AND NOT o.is_archived ORDER BY o.id"+
		c.db.dialect.forUpdate, organization)
}

// forgotten are the statements that forget what was a user's own: $1 is the user, $2 the registry id and $3 the verified address
// that they had, $4 what the registry id is now.
var forgotten = []string{
	"DELETE FROM tokens WHERE user_id = $1",
	"DELETE FROM mail_settings WHERE user_id = $1",
	"DELETE FROM notifications WHERE user_id = $1",
	"DELETE FROM drafts WHERE user_id = $1",
	"DELETE FROM saved_searches WHERE user_id = $1",
	"DELETE FROM addresses WHERE user_id = $1",
	"DELETE FROM memberships WHERE user_id = $1",
	"DELETE FROM grant_links WHERE grant_id IN (SELECT id FROM grants WHERE user_id = $1)",
	"DELETE FROM grant_materials WHERE grant_id IN (SELECT id FROM grants WHERE user_id = $1)",
	"DELETE FROM grants WHERE user_id = $1",
	"UPDATE join_requests SET note = '', status = CASE status WHEN 'PENDING' THEN 'WITHDRAWN' ELSE status END WHERE user_id = $1",
	`UPDATE invitations SET registry_id = $4, email = '', status = CASE status WHEN 'PENDING' THEN 'WITHDRAWN' ELSE status END
		WHERE registry_id = $2 OR email <> '' AND email = $3 OR answered_by = $1`,
	`UPDATE attachments SET deleted_at = $5 WHERE owned_by_user = $1 AND NOT of_lab AND deleted_at IS NULL
		AND NOT EXISTS (SELECT 1 FROM request_documents d WHERE d.attachment_id = attachments.id)`,
	"UPDATE users SET closed_at = $5, registry_id = $4, username = $4 WHERE id = $1",
}

// Forget takes from a user whose account is closed what is theirs alone. u is the user as they were.
func (c Conn) Forget(ctx context.Context, u exchange.User) error {
	all := []any{u.ID, u.RegistryID, u.VerifiedEmail, "closed:" + u.ID.String(), c.Now}
	for _, statement := range forgotten {
		var args []any
		numbers := []string{}
		for i, arg := range all { // PostgreSQL wants no argument that is not there
			if n := "$" + string(rune('1'+i)); strings.Contains(statement, n) {
				args = append(args, arg)
				numbers = append(numbers, n, "$"+string(rune('0'+len(args))))
			}
		}
		if _, err := c.exec(ctx, strings.NewReplacer(numbers...).Replace(statement), args...); err != nil {
			return err
		}
	}
	if _, err := c.exec(ctx, "DELETE FROM idempotency_keys WHERE caller LIKE $1", "%"+u.ID.String()+"%"); err != nil {
		return err
	}
	if err := c.forgetAddresses(ctx, u.ID); err != nil {
		return err
	}
	if err := c.forgetNews(ctx, u.ID); err != nil {
		return err
	}
	_, err := c.exec(ctx, "DELETE FROM webhook_deliveries WHERE ended_at IS NOT NULL AND payload LIKE $1", "%"+u.ID.String()+"%")
	return err
}

// keptText is the text of a row.
type keptText struct {
	id   int64
	text string
}

// rewrite changes the texts of a column by id.
func (c Conn) rewrite(ctx context.Context, table, column, condition string, change func(string) (string, error), args ...any) error {
	list, err := all(ctx, c, func(r row, k *keptText) error { return r.Scan(&k.id, &k.text) },
		"SELECT id, "+column+" FROM "+table+" WHERE "+condition+" ORDER BY id", args...)
	for _, k := range list {
		if err != nil {
			return err
		}
		var changed string
		if changed, err = change(k.text); err == nil && changed != k.text {
			_, err = c.exec(ctx, "UPDATE "+table+" SET "+column+" = $2 WHERE id = $1", k.id, changed)
		}
	}
	return err
}

// forgetAddresses leaves of the addresses of a user's requests to which institution, town and country they went.
func (c Conn) forgetAddresses(ctx context.Context, user uuid.UUID) error {
	return c.rewrite(ctx, "material_requests", "address", "requester_id = $1 AND address IS NOT NULL", func(old string) (string, error) {
		var a exchange.Address
		if err := json.Unmarshal([]byte(old), &a); err != nil {
			return "", err
		}
		return text(exchange.Address{ID: a.ID, UserID: a.UserID, Name: exchange.ClosedName, Institution: a.Institution, Locality: a.Locality, Country: a.Country})
	}, user)
}

// forgetNews takes from news what a user wrote when they asked to join.
func (c Conn) forgetNews(ctx context.Context, user uuid.UUID) error {
	return c.rewrite(ctx, "news", "detail", "actor_id = $1", func(old string) (string, error) {
		var d exchange.NewsDetail
		if err := json.Unmarshal([]byte(old), &d); err != nil {
			return "", err
		}
		d.Text = ""
		return text(d)
	}, user)
}

// ForgetVersions takes the names of a user, and those of the labs that closed with them, from the versions of materials and
// organizations.
func (c Conn) ForgetVersions(ctx context.Context, u exchange.User, labs map[int64]string) error {
	change := func(old string) (string, error) {
		decoder := json.NewDecoder(strings.NewReader(old))
		decoder.UseNumber()
		var state any
		if err := decoder.Decode(&state); err != nil {
			return "", err
		}
		return text(scrub(state, u))
	}
	for _, known := range []string{u.ID.String(), u.RegistryID, u.VerifiedEmail} {
		if known == "" {
			continue
		}
		if err := c.rewrite(ctx, "audit_events", "state", "state LIKE $1", change, "%"+known+"%"); err != nil {
			return err
		}
	}
	for id, object := range labs {
		err := c.rewrite(ctx, "audit_events", "state", "object = $1 AND version IS NOT NULL", func(old string) (string, error) {
			state := map[string]json.RawMessage{}
			if err := json.Unmarshal([]byte(old), &state); err != nil {
				return "", err
			}
			state["Name"], state["Description"] = json.RawMessage(`"`+exchange.ClosedLab+`"`), json.RawMessage(`""`)
			return text(state)
		}, object)
		if err != nil {
			return err
		}
		if _, err := c.exec(ctx, "UPDATE news SET organization_name = $2 WHERE organization_id = $1", id, exchange.ClosedLab); err != nil {
			return err
		}
	}
	return nil
}

// scrub is JSON of whatever shape without the names of a user, which stand in objects with their id, and without their
// registry id and addresses.
func scrub(v any, u exchange.User) any {
	id := u.ID.String()
	switch v := v.(type) {
	case string:
		switch {
		case v != "" && (v == u.RegistryID || v == u.Username):
			return "closed:" + id
		case v != "" && (v == u.Email || strings.EqualFold(v, u.VerifiedEmail)):
			return ""
		}
		return v
	case []any:
		for i, item := range v {
			v[i] = scrub(item, u)
		}
	case map[string]any:
		for key, item := range v {
			v[key] = scrub(item, u)
		}
		if _, user := v["RegistryID"]; user && v["ID"] == id {
			v["FirstName"], v["LastName"] = "", exchange.ClosedName
		}
		if _, asks := v["Note"]; asks && v["UserID"] == id {
			v["Note"] = ""
		}
	}
	return v
}

// EndLab withdraws what waits for an answer of an organization that nobody is left in, and takes its webhooks.
func (c Conn) EndLab(ctx context.Context, organization int64) error {
	for _, statement := range []string{
		"UPDATE invitations SET status = 'WITHDRAWN' WHERE organization_id = $1 AND status = 'PENDING'",
		"UPDATE join_requests SET status = 'DECLINED' WHERE organization_id = $1 AND status = 'PENDING'",
		"DELETE FROM webhooks WHERE organization_id = $1",
	} {
		if _, err := c.exec(ctx, statement, organization); err != nil {
			return err
		}
	}
	return nil
}
