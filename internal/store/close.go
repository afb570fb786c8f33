package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// LockAdmins is LockAdmin for all admins, so that of two who close their accounts at once one sees that they are the
// last.
func (st Actors) LockAdmins(ctx context.Context) error {
	return st.lock(ctx, "SELECT 1 FROM users WHERE is_admin ORDER BY id")
}

// OpenRequest is a request that is under way.
type OpenRequest struct {
	ID     int64
	Title  string // of the material
	Status request.Status
}

const openRequests = "SELECT o.id, m.title, o.status FROM material_requests o JOIN materials m ON m.id = " +
	"o.material_id WHERE o.is_active AND o.deleted_at IS NULL AND "

func scanOpenRequest(r sqldb.Row, q *OpenRequest) error { return r.Scan(&q.ID, &q.Title, &q.Status) }

// OpenRequests reads a user's requests that are active.
func (st Closing) OpenRequests(ctx context.Context, user uuid.UUID) ([]OpenRequest, error) {
	return sqldb.All(ctx, st.conn, scanOpenRequest, openRequests+"o.requester_id = $1 ORDER BY o.id", user)
}

// OpenRequestsTo reads the requests that others than a user made to organizations and that are active.
func (st Closing) OpenRequestsTo(ctx context.Context, organizations []int64, user uuid.UUID) (list []OpenRequest,
	err error) {
	for some := range slices.Chunk(organizations, sqldb.MaxIn) {
		places, args := sqldb.In([]any{user}, some)
		more, err := sqldb.All(ctx, st.conn, scanOpenRequest, openRequests+
			"o.requester_id <> $1 AND o.organization_id IN ("+
			places+
			") ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// ListedMaterials reads the materials of an organization that are not archived, and keeps others from changing or
// requesting them until commit.
func (st Closing) ListedMaterials(ctx context.Context, organization int64) ([]material.Material, error) {
	return sqldb.All(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
		" FROM materials o WHERE o.organization_id = $1 AND NOT o.is_archived AND "+published("o")+
		" ORDER BY o.id"+st.conn.Dialect().ForUpdate, organization)
}

// change is a statement with its arguments.
type change struct {
	statement string
	args      []any
}

func changeAll(ctx context.Context, c *sqldb.Conn, list ...change) error {
	for _, s := range list {
		if _, err := c.Exec(ctx, s.statement, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// ForgetUser takes from a user who closes their account what is theirs alone. u is the user as they were, labs are the
// organizations that they have been in; the content of their documents counts as deleted at gone.
func (st Closing) ForgetUser(ctx context.Context, u person.User, labs []int64, gone time.Time) error {
	st.conn.Changes.Forget = true
	if err := st.forgetMessages(ctx, u.ID, labs); err != nil {
		return err
	}
	const (
		grants      = " WHERE grant_id IN (SELECT id FROM grants WHERE user_id = $1)"
		withdrawn   = "status = CASE status WHEN 'PENDING' THEN 'WITHDRAWN' ELSE status END"
		ownDocument = ` owned_by_user = $1 AND NOT of_lab AND NOT EXISTS (SELECT 1 FROM request_documents d
			WHERE d.attachment_id = attachments.id) AND NOT EXISTS (SELECT 1 FROM permits p
			WHERE p.document = attachments.id)`
	)
	id, now := []any{u.ID}, person.ClosedID(u.ID)
	err := changeAll(ctx, st.conn,
		change{"DELETE FROM tokens WHERE user_id = $1", id},
		change{"DELETE FROM sign_ins WHERE user_id = $1", id},
		change{"DELETE FROM mail_settings WHERE user_id = $1", id},
		change{"DELETE FROM signing_statements WHERE user_id = $1", id},
		change{"UPDATE passkeys SET name = '', identified = '', removed_at = COALESCE(removed_at, $2) WHERE " +
			"user_id = $1", []any{u.ID, st.conn.Now}},
		change{"UPDATE approvals SET identified = '' WHERE officer = $1", id},
		change{"DELETE FROM notifications WHERE user_id = $1", id},
		change{"DELETE FROM drafts WHERE user_id = $1", id},
		// what was found quotes their papers
		change{"DELETE FROM paper_checks WHERE request IN (SELECT r.id FROM material_requests r WHERE " +
			"r.requester_id = $1)", id},
		change{"DELETE FROM saved_searches WHERE user_id = $1", id},
		change{"DELETE FROM inbox_views WHERE user_id = $1", id},
		change{"DELETE FROM basket_items WHERE user_id = $1", id},
		change{"DELETE FROM inquiries WHERE user_id = $1", id},
		change{"DELETE FROM addresses WHERE user_id = $1", id},
		change{"DELETE FROM memberships WHERE user_id = $1 AND organization_id NOT IN (SELECT id FROM organizations " +
			"WHERE owner_id = $1)", id},
		// one that a request uses stays as evidence of both sides
		change{"DELETE FROM permits WHERE organization IS NULL AND institution IS NULL AND person = $1 AND NOT " +
			"EXISTS (SELECT 1 FROM request_permits u WHERE u.permit = permits.id)", id},
		change{"DELETE FROM affiliations WHERE person = $1", id},
		change{"UPDATE authorities SET until_day = $2 WHERE holder = $1 AND (until_day = '' OR until_day > $2)",
			[]any{u.ID, st.conn.Today()}},
		change{"UPDATE stand_ins SET until_day = $2 WHERE person = $1 AND until_day > $2",
			[]any{u.ID, st.conn.Today()}},
		change{"UPDATE authorities SET name = '', title = '', mail = '' WHERE holder = $1", id},
		change{"UPDATE stand_ins SET name = '', title = '', mail = '', reason = '' WHERE person = $1", id},
		change{"DELETE FROM grant_links" + grants, id},
		change{"DELETE FROM grant_materials" + grants, id},
		change{"DELETE FROM grants WHERE user_id = $1", id},
		change{"DELETE FROM idempotency_keys WHERE caller LIKE $1", []any{"user " + u.ID.String() + "%"}},
		// refusals of before they were registered
		change{"DELETE FROM audit_events WHERE object = $1", []any{"registry id " + u.RegistryID}},
		change{"DELETE FROM mail_counts WHERE actor_id = $1 OR recipient IN ($2, $3, $4)",
			[]any{u.ID, u.ID.String(), u.VerifiedEmail, strings.ToLower(u.Email)}},
		change{"UPDATE jobs SET state = 'CANCELLED', due_at = NULL, ended_at = $2, lease = lease + 1 WHERE user_id = " +
			"$1 AND due_at IS NOT NULL", []any{u.ID, st.conn.Now}},
		change{"DELETE FROM jobs WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM bulks b WHERE b.job_id = jobs.id)",
			id},
		change{"UPDATE join_requests SET note = '', reason = '', " + withdrawn + " WHERE user_id = $1", id},
		change{"UPDATE invitations SET status = 'WITHDRAWN' WHERE invited_by = $1 AND status = 'PENDING'", id},
		change{"UPDATE invitations SET registry_id = $1, email = '', " + withdrawn +
			" WHERE registry_id = $2 OR email <> '' AND email IN ($3, $4) OR answered_by = $5",
			[]any{now, u.RegistryID, u.VerifiedEmail, strings.ToLower(u.Email), u.ID}},
		change{"UPDATE attachment_versions SET filename = $2 WHERE attachment_id IN (SELECT id FROM attachments WHERE" +
			ownDocument + ")", []any{u.ID, person.ClosedFile}},
		change{"UPDATE attachments SET filename = $2, filename_sort = $2, description = '', deleted_at = $3 WHERE" +
			ownDocument, []any{u.ID, person.ClosedFile, gone}},
		change{"UPDATE material_requests SET payment_method_notes = '' WHERE requester_id = $1", id},
		change{"UPDATE request_events SET facts = NULL WHERE facts IS NOT NULL AND request_id IN (SELECT id FROM " +
			"material_requests WHERE requester_id = $1)", id},
		change{`UPDATE users SET closed_at = $3, updated_at = $3, registry_id = $2, username = $2, first_name = '',
			first_name_sort = '', last_name = $4,
			last_name_sort = $4, email = '', verified_email = '', is_admin = FALSE
			WHERE id = $1`, []any{u.ID, now, st.conn.Now, person.ClosedName}},
	)
	if err != nil {
		return err
	}
	if err := st.forgetAddresses(ctx, u.ID); err != nil {
		return err
	}
	return st.forgetFound(ctx, u)
}

// keptText is the text of a row.
type keptText struct {
	id   int64
	text string
}

// rewrite changes the texts of a column by id, and returns the rows as they were.
func (st Closing) rewrite(ctx context.Context, table, column, condition string, change func(string) (string, error),
	args ...any) ([]keptText, error) {
	list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, k *keptText) error { return r.Scan(&k.id, &k.text) },
		"SELECT id, "+column+" FROM "+table+" WHERE "+condition, args...)
	for _, k := range list {
		if err != nil {
			break
		}
		var changed string
		if changed, err = change(k.text); err == nil && changed != k.text {
			_, err = st.conn.Exec(ctx, "UPDATE "+table+" SET "+column+" = $2 WHERE id = $1", k.id, changed)
		}
	}
	return list, err
}

// forgetAddresses leaves of the addresses of a user's requests to which institution, town and country they went.
func (st Closing) forgetAddresses(ctx context.Context, user uuid.UUID) error {
	_, err := st.rewrite(ctx, "material_requests", "address", "requester_id = $1 AND address IS NOT NULL",
		func(old string) (string, error) {
			var a person.Address
			if err := json.Unmarshal([]byte(old), &a); err != nil {
				return "", err
			}
			return sqldb.JSON(person.Address{ID: a.ID, UserID: a.UserID, Name: person.ClosedName,
				Institution: a.Institution,
				Locality:    a.Locality, Country: a.Country})
		}, user)
	return err
}

// forgetMessages takes from news what a user wrote and what was said to them, and from messages to webhooks their name.
func (st Closing) forgetMessages(ctx context.Context, user uuid.UUID, labs []int64) error {
	_, err := st.rewrite(ctx, "news", "detail", `id IN (SELECT id FROM news WHERE actor_id = $1
			UNION SELECT news_id FROM notifications WHERE user_id = $1
			AND news_id IS NOT NULL)`, func(old string) (string, error) {
		var d notify.AnnouncementDetail
		if err := json.Unmarshal([]byte(old), &d); err != nil {
			return "", err
		}
		if d.Text = ""; d.Agreement == 0 { // that of an agreement is its number
			d.Name = ""
		}
		if d.JoinRequest != 0 {
			d.Reason = ""
		}
		return sqldb.JSON(d)
	}, user)
	if err != nil {
		return err
	}
	unnamed := func(old string) (string, error) {
		decoder := json.NewDecoder(strings.NewReader(old))
		decoder.UseNumber()
		var message any
		if err := decoder.Decode(&message); err != nil {
			return "", err
		}
		return sqldb.JSON(withoutName(message, user.String()))
	}
	const payloads = "id IN (SELECT d.id FROM request_events e JOIN webhook_deliveries d ON d.event_id = e.id WHERE "
	if _, err := st.rewrite(ctx, "webhook_deliveries", "payload", payloads+
		"e.request_id IN (SELECT id FROM material_requests WHERE requester_id = $1))", unnamed, user); err != nil {
		return err
	}
	for _, lab := range labs {
		if _, err := st.rewrite(ctx, "webhook_deliveries", "payload", payloads+
			"e.organization_id = $1 AND e.actor_id = $2)", unnamed, lab, user); err != nil {
			return err
		}
	}
	_, err = st.rewrite(ctx, "webhook_deliveries", "payload", "id IN (SELECT d.id FROM news n JOIN "+
		"webhook_deliveries d ON d.news_id = n.id WHERE n.actor_id = $1)", unnamed, user)
	return err
}

// withoutName is JSON of whatever shape without the name of a user, which is in objects with their id.
func withoutName(v any, user string) any {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			v[i] = withoutName(item, user)
		}
	case map[string]any:
		for key, item := range v {
			v[key] = withoutName(item, user)
		}
		if _, named := v["name"]; named && v["id"] == user {
			v["name"] = person.ClosedName
		}
	}
	return v
}

// forgetFound has a user found by nothing any more, and no mistyped word mean their name.
func (st Closing) forgetFound(ctx context.Context, u person.User) error {
	if err := search.On(st.conn).RemoveUser(ctx, u.ID); err != nil {
		return err
	}
	places, args := sqldb.In(nil, fulltext.Spellings(u.SearchDocument().Doc.Weights))
	if len(args) == 0 {
		return nil
	}
	_, err := st.conn.Exec(ctx, "DELETE FROM search_words WHERE word IN ("+places+")", args...)
	return err
}

// LabsOf are the organizations that a user is in or has been in.
func (st Closing) LabsOf(ctx context.Context, user uuid.UUID) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT organization_id FROM memberships WHERE user_id = $1 "+
		"ORDER BY organization_id", user)
}

// CloseLab withdraws the open invitations and join requests of an organization that nobody is left in, and takes what
// it told others and how it wanted to be paid, and its name from its versions and from news.
func (st Closing) CloseLab(ctx context.Context, organization int64) error {
	id := []any{organization}
	err := changeAll(ctx, st.conn,
		change{"UPDATE invitations SET status = 'WITHDRAWN' WHERE organization_id = $1 AND status = 'PENDING'", id},
		change{"UPDATE join_requests SET status = 'DECLINED' WHERE organization_id = $1 AND status = 'PENDING'", id},
		change{"DELETE FROM inquiries WHERE organization_id = $1", id},
		change{"DELETE FROM webhooks WHERE organization_id = $1", id},
		change{"DELETE FROM column_mappings WHERE organization_id = $1", id},
		change{"UPDATE shipping_requirements SET accepted_payment_details = '', restrictions = '' WHERE " +
			"organization_id = $1", id},
		change{"UPDATE news SET organization_name = $2 WHERE organization_id = $1",
			[]any{organization, person.ClosedLab}},
	)
	if err != nil {
		return err
	}
	_, err = st.rewrite(ctx, "audit_events", "state", "object = $1 AND version IS NOT NULL",
		func(old string) (string, error) {
			state := map[string]json.RawMessage{}
			if err := json.Unmarshal([]byte(old), &state); err != nil {
				return "", err
			}
			state["Name"], state["Description"] = json.RawMessage(`"`+person.ClosedLab+`"`), json.RawMessage(`""`)
			return sqldb.JSON(state)
		}, "organization "+strconv.FormatInt(organization, 10))
	return err
}

// CompactIndex has the search index drop some of the words of what was deleted, and reports whether there may be more.
func (st Closing) CompactIndex(ctx context.Context, first bool) (more bool, err error) {
	return search.On(st.conn).Compact(ctx, first)
}
