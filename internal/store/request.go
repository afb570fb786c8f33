package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/insight"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const requestColumns = `o.id, o.material_id, o.requester_id, o.assigned_to, o.status, o.is_active, o.quantity, o.note,
	o.requester_abstract, o.address, o.payment_method, o.payment_method_notes, o.rejection_reason, o.override_reason,
	o.correction,
	o.carrier, o.tracking, o.conditions, o.sent_at, o.open_issues, o.put_back, o.party, o.step, o.waiting_since,
	o.reminded,
	o.escalates, o.snoozed_until, o.clock, o.created_at, o.updated_at, o.mta_attachment_id, o.mta_version,
	COALESCE(o.group_id, 0),
	COALESCE((SELECT l.agreement FROM agreement_requests l WHERE l.request = o.id AND l.live), 0),
	o.last_seq, o.last_hash, m.title, m.organization_id, m.needs_mta, m.needs_irb,
	m.needs_abstract,
	COALESCE(s.needs_shipping_address, FALSE), COALESCE(s.needs_payment, FALSE), g.decide_days, g.countersign_days,
	g.ship_days`

const requestFrom = "material_requests o " + requestJoins

const requestJoins = `JOIN materials m ON m.id = o.material_id JOIN organizations g ON g.id = m.organization_id
	LEFT JOIN shipping_requirements s ON s.id = m.shipping_requirements_id`

func scanRequest(r sqldb.Row, q *request.Detail) error {
	var carrier, tracking, conditions *string
	var sent *time.Time
	var mta, version *int64
	err := r.Scan(&q.ID, &q.MaterialID, &q.Requester, &q.AssignedTo, &q.Status, &q.Active, &q.Quantity, &q.Note,
		&q.Abstract, sqldb.FromJSON(&q.Address), &q.Payment, &q.PaymentNotes, &q.Rejection, &q.Override, &q.Correction,
		&carrier, &tracking, &conditions, sqldb.UTCOrNull(&sent), &q.OpenIssues, &q.PutBack, &q.Party, &q.Step,
		sqldb.UTC(&q.WaitingSince), &q.Reminded,
		&q.Escalates, sqldb.UTCOrNull(&q.SnoozedUntil), sqldb.FromJSON(&q.Clock), sqldb.UTC(&q.CreatedAt),
		sqldb.UTC(&q.UpdatedAt), &mta,
		&version, &q.Group, &q.Letter,
		&q.Head.Seq, &q.Head.Hash, &q.Material, &q.Organization, &q.Terms.MTA, &q.Terms.IRB, &q.Terms.Abstract,
		&q.Terms.Address, &q.Terms.Payment, &q.Targets.Decide, &q.Targets.Countersign, &q.Targets.Ship)
	if mta != nil {
		q.MTA = &document.MTA{Attachment: *mta, Version: *version}
	}
	if err == nil && carrier != nil {
		q.Shipment = &request.Shipment{Carrier: *carrier, Tracking: *tracking, Conditions: *conditions, SentAt: sent}
	}
	return err
}

// Get reads one request with its documents.
func (st Requests) Get(ctx context.Context, id int64) (request.Detail, error) {
	q, err := sqldb.One(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+
		" WHERE o.id = $1 AND o.deleted_at IS NULL", id)
	return st.withDocuments(ctx, q, err)
}

// Deleted reads a request that was deleted, without its documents. It is nobody's turn in it.
func (st Requests) Deleted(ctx context.Context, id int64) (request.Detail, error) {
	q, err := sqldb.One(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+
		" WHERE o.id = $1 AND o.deleted_at IS NOT NULL", id)
	q.Active = false
	return q, err
}

// ForUpdate reads one request and locks it until commit.
func (st Requests) ForUpdate(ctx context.Context, id int64) (request.Detail, error) {
	q, err := sqldb.One(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+
		" WHERE o.id = $1 AND o.deleted_at IS NULL"+ofListed(st.conn.Dialect().ForUpdate), id)
	return st.withDocuments(ctx, q, err)
}

// Lock locks those of some requests that exist until commit, the oldest first, so that two calls never wait for each
// other.
func (st Requests) Lock(ctx context.Context, ids []int64) error {
	for some := range slices.Chunk(slices.Sorted(slices.Values(ids)), sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		if _, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT id FROM material_requests WHERE id IN "+
			"("+places+
			") ORDER BY id"+st.conn.Dialect().ForUpdate, args...); err != nil {
			return err
		}
	}
	return nil
}

// ofListed is a lock for the rows o of a SELECT alone, not for what is joined to them.
func ofListed(lock string) string { return strings.Replace(lock, "UPDATE", "UPDATE OF o", 1) }

func (st Requests) withDocuments(ctx context.Context, q request.Detail, err error) (request.Detail, error) {
	if err != nil {
		return q, err
	}
	q.Documents, err = st.documents(ctx, q.ID)
	return q, err
}

func (st Requests) documents(ctx context.Context, requests ...int64) ([]document.Document, error) {
	places, args := sqldb.In(nil, requests)
	scan := func(r sqldb.Row, d *document.Document) error {
		return r.Scan(&d.ID, &d.RequestID, &d.Slot, &d.AttachmentID, &d.State, &d.Reason, &d.AddedBy,
			sqldb.UTC(&d.AddedAt),
			sqldb.UTCOrNull(&d.ReviewedAt))
	}
	return sqldb.All(ctx, st.conn, scan, `SELECT id, request_id, slot, attachment_id, state, reason, added_by, added_at,
		reviewed_at
		FROM request_documents WHERE request_id IN (`+places+") ORDER BY id", args...)
}

// ByIDs reads those of the requests that exist, with their documents, the oldest first.
func (st Requests) ByIDs(ctx context.Context, ids []int64) (list []request.Detail, err error) {
	ids = slices.Sorted(slices.Values(ids))
	for some := range slices.Chunk(slices.Compact(ids), sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		found, err := sqldb.All(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+
			" WHERE o.id IN ("+
			places+
			") AND o.deleted_at IS NULL ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, st.addDocuments(ctx, list)
}

// Earlier reads the requests of a person to an organization other than the one given, the newest first, without their
// documents. They are looked for among the person's: an organization can have a hundred times as many.
func (st Requests) Earlier(ctx context.Context, requester uuid.UUID, organization, than int64,
	limit int) ([]request.Detail, error) {
	return sqldb.All(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+
		" WHERE o.requester_id = $1 AND o.organization_id + 0 = $2 AND o.id <> $3 AND o.deleted_at IS NULL "+
		"ORDER BY o.id DESC LIMIT $4", requester, organization, than, limit)
}

// List lists what viewer may see: the requests of their organizations'
// materials and their own; an admin sees every one.
func (st Requests) List(ctx context.Context, p exchange.Page, f request.Filter,
	viewer exchange.Actor) (exchange.ListPage[request.Detail], error) {
	w := sqldb.Where("o.deleted_at IS NULL")
	sqldb.AndEqual(w, "o.material_id", f.Material)
	sqldb.AndEqual(w, "o.status", f.Status)
	sqldb.AndEqual(w, "o.is_active", f.Active)
	sqldb.AndEqual(w, "o.requester_id", f.Requester)
	sqldb.AndEqual(w, "o.assigned_to", f.AssignedTo)
	scopes, err := st.scopes(ctx, viewer)
	if err != nil {
		return exchange.ListPage[request.Detail]{}, err
	}
	if f.Search != nil {
		st.conn = st.conn.WithoutStmtCache() // there are as many texts of it as kinds of searches
		condition, args := matching{st.conn,
			request.SearchScope(viewer)}.requests(fulltext.Parse(string(*f.Search)).Expr())
		w.And(condition, args...)
	}
	l := sqldb.Listing[request.Detail]{Columns: requestColumns, Table: "material_requests", Joins: requestJoins,
		Scan:  scanRequest,
		ID:    func(q request.Detail) int64 { return q.ID },
		Sorts: map[string]string{"material": "o.material_id"}, Scopes: scopes,
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id"),
			"group":                           sqldb.Equals("o.group_id"),
			"requester_signed_mta_attachment": holdsDocument(document.SignedMTA),
			"irb_attachment":                  holdsDocument(document.IRB),
			"executed_mta_attachment":         holdsDocument(document.ExecutedMTA)}}
	part, err := l.Page(ctx, st.conn, p, w)
	if err != nil {
		return part, err
	}
	return part, st.addDocuments(ctx, part.Items)
}

// maxLabScopes is the largest number of labs whose requests are read lab by lab. The requests of more are found first
// and sorted then.
const maxLabScopes = 20

// scopes returns the conditions for what viewer may see; none: everything.
func (st Requests) scopes(ctx context.Context, viewer exchange.Actor) ([]sqldb.Scope, error) {
	inLab := func(lab int64) sqldb.Scope { return sqldb.Scope{Condition: "o.organization_id = ?", Args: []any{lab}} }
	switch {
	case viewer.Lab != 0 && viewer.MemberOf(viewer.Lab):
		return []sqldb.Scope{inLab(viewer.Lab)}, nil
	case viewer.Lab != 0:
		return []sqldb.Scope{{Condition: "1 = 0"}}, nil
	case viewer.Admin:
		return nil, nil
	}
	list := []sqldb.Scope{{Condition: "o.requester_id = ?", Args: []any{viewer.ID}}}
	const theirs = "SELECT organization_id FROM memberships WHERE user_id = "
	labs, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], theirs+"$1 AND left_at IS NULL LIMIT "+
		strconv.Itoa(maxLabScopes+1), viewer.ID)
	if len(labs) > maxLabScopes {
		return append(list, sqldb.Scope{Condition: "o.organization_id IN (" + theirs + "? AND left_at IS NULL)",
			Args: []any{viewer.ID}}), err
	}
	for _, lab := range labs {
		list = append(list, inLab(lab))
	}
	return list, err
}

// holdsDocument holds where an attachment is the present document of a slot.
func holdsDocument(slot document.Slot) sqldb.Condition {
	return func(f *sqldb.Filter, attachment any) {
		f.And("o.id IN (SELECT d.request_id FROM request_documents d WHERE d.attachment_id = ? AND d.slot = ? AND "+
			"d.state <> ?)",
			attachment, string(slot), string(document.Superseded))
	}
}

// Submitted reads the ids of the requests to which somebody submitted an attachment that was not reviewed since.
func (st Requests) Submitted(ctx context.Context, attachment int64) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT DISTINCT d.request_id FROM request_documents d "+
		"WHERE d.attachment_id = $1 AND d.state = $2 ORDER BY d.request_id", attachment, string(document.Delivered))
}

// addDocuments reads the documents of requests, in one query for each 256.
func (st Requests) addDocuments(ctx context.Context, list []request.Detail) error {
	byID, ids := map[int64]*request.Detail{}, make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ID
		byID[ids[i]] = &list[i]
	}
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		documents, err := st.documents(ctx, some...)
		if err != nil {
			return err
		}
		for _, d := range documents {
			byID[d.RequestID].Documents = append(byID[d.RequestID].Documents, d)
		}
	}
	return nil
}

// Insert adds a request and returns its id; its documents follow with SaveDocuments.
func (st Requests) Insert(ctx context.Context, r request.Request) (int64, error) {
	args, err := st.args(r)
	if err != nil {
		return 0, err
	}
	material, group := "$"+strconv.Itoa(len(requestWritten)+1), "$"+strconv.Itoa(len(requestWritten)+2)
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "INSERT INTO material_requests ("+
		strings.Join(requestWritten, ", ")+
		", organization_id, mta_attachment_id, mta_version, group_id) VALUES ("+
		strings.Trim(sqldb.Places(1, len(requestWritten)), "()")+", COALESCE((SELECT organization_id FROM materials "+
		"WHERE id = "+material+`), 0),
		(SELECT a.id FROM materials m JOIN attachments a ON a.id = m.mta_attachment_id WHERE m.id = `+material+`),
		(SELECT a.version FROM materials m JOIN attachments a ON a.id = m.mta_attachment_id
		WHERE m.id = `+material+"), NULLIF(CAST("+group+" AS BIGINT), 0)) RETURNING id",
		append(args, r.MaterialID, r.Requester, r.Quantity, r.Note, st.conn.Now, 0, "", r.MaterialID, r.Group)...)
}

// InsertGroup adds a group of requests of a person, which follow, and gives its id.
func (st Requests) InsertGroup(ctx context.Context, requester uuid.UUID) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64],
		"INSERT INTO request_groups (requester_id, created_at) VALUES ($1, $2) RETURNING id", requester, st.conn.Now)
}

// OfGroup reads the requests of a group, the first one first.
func (st Requests) OfGroup(ctx context.Context, group int64) ([]request.Detail, error) {
	list, err := sqldb.All(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+
		" WHERE o.group_id = $1 AND o.deleted_at IS NULL ORDER BY o.id", group)
	if err != nil {
		return nil, err
	}
	return list, st.addDocuments(ctx, list)
}

// InsertIssue adds an open issue and returns its id.
func (st Requests) InsertIssue(ctx context.Context, i request.Issue) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64],
		"INSERT INTO request_issues (request_id, text, opened_by, opened_at) VALUES "+
			"($1, $2, $3, $4) RETURNING id",
		i.RequestID, i.Text, i.OpenedBy, st.conn.Now)
}

// AssignedTo reads the ids of the active requests to an organization's materials that are
// assigned to a user.
func (st Requests) AssignedTo(ctx context.Context, organization int64, user uuid.UUID) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], `SELECT o.id FROM material_requests o JOIN materials m
		ON m.id = o.material_id
		WHERE m.organization_id = $1 AND o.assigned_to = $2 AND o.is_active AND o.deleted_at IS NULL
		ORDER BY o.id`, organization, user)
}

// CloseIssue closes an issue.
func (st Requests) CloseIssue(ctx context.Context, id int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE request_issues SET closed_at = $2 WHERE id = $1", id, st.conn.Now)
	return err
}

func scanIssue(r sqldb.Row, i *request.Issue) error {
	return r.Scan(&i.ID, &i.RequestID, &i.Text, &i.OpenedBy, sqldb.UTC(&i.OpenedAt), sqldb.UTCOrNull(&i.ClosedAt))
}

const issueColumns = "o.id, o.request_id, o.text, o.opened_by, o.opened_at, o.closed_at"

// Issue reads one issue of a request.
func (st Requests) Issue(ctx context.Context, request, id int64) (request.Issue, error) {
	return sqldb.One(ctx, st.conn, scanIssue, "SELECT "+issueColumns+
		" FROM request_issues o WHERE o.request_id = $1 AND o.id = $2",
		request, id)
}

// Issues lists the issues of a request.
func (st Requests) Issues(ctx context.Context, requestID int64, p exchange.Page) (exchange.ListPage[request.Issue],
	error) {
	l := sqldb.Listing[request.Issue]{Columns: issueColumns, Table: "request_issues", Scan: scanIssue,
		Filters: map[string]sqldb.Condition{"request": sqldb.Equals("o.request_id")},
		ID:      func(i request.Issue) int64 { return i.ID }}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.request_id = ?", requestID))
}

// Move lets the requests of a material follow it from one organization to another, with their events
// in its feed and their turns in its insights; those of deleted requests stay in none.
func (st Requests) Move(ctx context.Context, material, from, to int64) error {
	if _, err := st.conn.Exec(ctx, "UPDATE material_requests SET organization_id = $2 WHERE material_id = $1", material,
		to); err != nil {
		return err
	}
	if _, err := st.conn.Exec(ctx, "UPDATE request_events SET organization_id = $3 WHERE organization_id = $2 AND "+
		"material_id = $1", material, from, to); err != nil {
		return err
	}
	moved, err := st.conn.Exec(ctx, `UPDATE request_turns SET organization_id = $3 WHERE organization_id = $2
		AND request_id IN (SELECT r.id FROM material_requests r WHERE r.material_id = $1)`, material, from, to)
	if err != nil || moved == 0 {
		return err
	}
	insights := insight.New(st.conn)
	return errors.Join(insights.Forget(ctx, min(from, to), ""), insights.Forget(ctx, max(from, to), ""))
}

// recent is how many moves of an organization's requests tell how long a request typically takes.
const recent = 500

// ReceiptTimes are how long the latest requests of an organization took until their receipt was confirmed,
// the shortest first.
func (st Requests) ReceiptTimes(ctx context.Context, organization int64) ([]time.Duration, error) {
	type span struct{ from, to time.Time }
	list, err := sqldb.All(ctx, st.conn,
		func(r sqldb.Row, s *span) error { return r.Scan(sqldb.UTC(&s.from), sqldb.UTC(&s.to)) },
		`SELECT r.created_at, e.at
		FROM (SELECT request_id, at, detail FROM request_events WHERE organization_id = $1 AND kind = $2
		ORDER BY id DESC LIMIT $3) e
		JOIN material_requests r ON r.id = e.request_id
		WHERE e.detail LIKE $4`, organization, string(request.StatusChanged), recent, `%"to":"`+
			string(request.Verified)+`"%`)
	times := make([]time.Duration, len(list))
	for i, s := range list {
		times[i] = s.to.Sub(s.from)
	}
	slices.Sort(times)
	return times, err
}
