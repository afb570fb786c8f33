package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/insight"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Append seals the events of one act after those of the request, keeps them, and returns them with their ids. q is the
// request as it was locked by Requests.ForUpdate; UpdateRequest follows and keeps the new head of its chain.
func (st Events) Append(ctx context.Context, q *request.Detail, events []request.Event) ([]request.Event, error) {
	facts, err := sqldb.JSON(q.WithoutAddress())
	if err != nil {
		return nil, err
	}
	for i, e := range events {
		e.RequestID, e.At = q.ID, st.conn.Now
		e, err := e.Seal(q.Head.Seq, q.Head.Hash)
		if err != nil {
			return nil, err
		}
		e.ID, err = sqldb.One(ctx, st.conn, sqldb.Value[int64], "INSERT INTO request_events ("+
			strings.Join(eventWritten, ", ")+
			", title, facts) VALUES "+
			sqldb.Places(1, len(eventWritten)+2)+" RETURNING id", append(eventArgs(*q, e), q.Material, facts)...)
		if err != nil {
			return nil, err
		}
		q.Head, events[i] = request.Head{Seq: e.Seq, Hash: e.Hash}, e
	}
	return events, nil
}

// eventWritten are the columns that eventArgs fills.
var eventWritten = strings.Fields("request_id seq kind actor_id at detail prev_hash hash material_id organization_id")

func eventArgs(q request.Detail, e request.Event) []any {
	return []any{e.RequestID, e.Seq, string(e.Kind), uuid.NullUUID{UUID: e.Actor, Valid: e.Actor != uuid.Nil}, e.At,
		e.Raw, e.Prev, e.Hash,
		q.MaterialID, q.Organization}
}

const eventColumns = "o.id, o.request_id, o.seq, o.kind, o.actor_id, o.at, o.detail, o.prev_hash, o.hash"

func scanEvent(r sqldb.Row, e *request.Event) error {
	err := r.Scan(&e.ID, &e.RequestID, &e.Seq, &e.Kind, &e.Actor, sqldb.UTC(&e.At), &e.Raw, &e.Prev, &e.Hash)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(e.Raw), &e.Detail)
}

// Facts reads what requests were after each of some events, by event, where that is stored.
func (st Events) Facts(ctx context.Context, events []int64) (map[int64]request.Detail, error) {
	found := map[int64]request.Detail{}
	scan := func(r sqldb.Row, _ *struct{}) error {
		var id int64
		var q request.Detail
		err := r.Scan(&id, sqldb.FromJSON(&q))
		found[id] = q
		return err
	}
	for some := range slices.Chunk(events, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		if _, err := sqldb.All(ctx, st.conn, scan, "SELECT id, facts FROM request_events WHERE id IN ("+places+
			") AND facts IS NOT NULL", args...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// FirstTitle reads the title that the material of a request had when the request was made.
func (st Events) FirstTitle(ctx context.Context, request int64) (string, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[string], `SELECT COALESCE(e.title, m.title) FROM material_requests r
		JOIN materials m
		ON m.id = r.material_id
		LEFT JOIN request_events e ON e.request_id = r.id AND e.seq = 1 WHERE r.id = $1`, request)
}

// ForgetFacts deletes what requests were after the events before a moment, of which no mail is sent any more.
func (st Events) ForgetFacts(ctx context.Context, before time.Time) error {
	_, err := st.conn.Exec(ctx, "UPDATE request_events SET facts = NULL WHERE facts IS NOT NULL AND at < $1", before)
	return err
}

// Get reads one event.
func (st Events) Get(ctx context.Context, id int64) (request.Event, error) {
	return sqldb.One(ctx, st.conn, scanEvent, "SELECT "+eventColumns+" FROM request_events o WHERE o.id = $1", id)
}

// eventList lists events of requests.
var eventList = sqldb.Listing[request.Event]{Columns: eventColumns, Table: "request_events", Scan: scanEvent,
	ID: func(e request.Event) int64 { return e.ID }, Sorts: map[string]string{"sent_at": "o.at"},
	Filters: map[string]sqldb.Condition{"actor": sqldb.Equals("o.actor_id"), "sender": sqldb.Equals("o.actor_id"),
		"request": sqldb.Equals("o.request_id")}}

// List lists the events of a request; kind "" is every kind.
func (st Events) List(ctx context.Context, requestID int64, kind request.EventKind,
	p exchange.Page) (exchange.ListPage[request.Event], error) {
	f := sqldb.Where("o.request_id = ?", requestID)
	if kind != "" {
		f.And("o.kind = ?", string(kind))
	}
	return eventList.Page(ctx, st.conn, p, f)
}

// Messages lists the messages of requests.
func (st Events) Messages(ctx context.Context, requests []int64, p exchange.Page) (exchange.ListPage[request.Event],
	error) {
	f := sqldb.Where("o.kind = ?", string(request.Messaged))
	f.And("o.request_id IN ("+marks(len(requests))+")", anys(requests)...)
	return eventList.Page(ctx, st.conn, p, f)
}

// OfRequests reads all events of requests, of each in their order.
func (st Events) OfRequests(ctx context.Context, requests []int64) (map[int64][]request.Event, error) {
	found := map[int64][]request.Event{}
	for some := range slices.Chunk(requests, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		list, err := sqldb.All(ctx, st.conn, scanEvent, "SELECT "+eventColumns+
			" FROM request_events o WHERE o.request_id IN ("+
			places+") ORDER BY o.request_id, o.seq", args...)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			found[e.RequestID] = append(found[e.RequestID], e)
		}
	}
	return found, nil
}

var organizationEvents = sqldb.Listing[request.OrganizationEvent]{
	Columns: eventColumns + ", m.id, m.title",
	Table:   "request_events",
	Joins:   "JOIN materials m ON m.id = o.material_id",
	Scan: func(r sqldb.Row, e *request.OrganizationEvent) error {
		return scanEvent(sqldb.MoreColumns(r, []any{&e.Material, &e.Title}), &e.Event)
	},
	ID: func(e request.OrganizationEvent) int64 { return e.ID },
}

// OfOrganization lists what happened in the requests of an organization's materials.
func (st Events) OfOrganization(ctx context.Context, organization int64, p exchange.Page,
	by request.EventFilter) (exchange.ListPage[request.OrganizationEvent], error) {
	f := sqldb.Where("o.organization_id = ?", organization)
	sqldb.AndEqual(f, "o.kind", by.Kind)
	sqldb.AndEqual(f, "o.request_id", by.Request)
	sqldb.AndEqual(f, "o.actor_id", by.Actor)
	sqldb.AndEqual(f, "o.material_id", by.Material)
	if by.Since != nil {
		f.And("o.at >= ?", time.Time(*by.Since))
	}
	return organizationEvents.Page(ctx, st.conn, p, f)
}

// Timeline lists what happened to a request, of some kinds only where any are named, and the messages of others.
func (st Events) Timeline(ctx context.Context, requestID int64, others []int64, kinds []request.EventKind,
	p exchange.Page) (exchange.ListPage[request.Event], error) {
	f := &sqldb.Filter{}
	if len(others) == 0 {
		f.And("o.request_id = ?", requestID)
	} else {
		f.And("(o.request_id = ? OR o.kind = ? AND o.request_id IN ("+marks(len(others))+"))",
			append([]any{requestID, string(request.Messaged)}, anys(others)...)...)
	}
	if len(kinds) > 0 {
		f.And("o.kind IN ("+marks(len(kinds))+")", anys(exchange.Strings(kinds))...)
	}
	return eventList.Page(ctx, st.conn, p, f)
}

// marks is a list of n places of a Filter.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

func anys[T any](list []T) []any {
	values := make([]any, len(list))
	for i, v := range list {
		values[i] = v
	}
	return values
}

// Update saves a request and the head of its events; deleted takes it out of sight, and what
// happened to it out of the organization's feed, which only tells that it was deleted.
func (st Requests) Update(ctx context.Context, q request.Detail, deleted bool) error {
	args, err := st.args(q.Request)
	if err != nil {
		return err
	}
	var at *time.Time
	if deleted {
		at = &st.conn.Now
		if _, err := st.conn.Exec(ctx,
			"UPDATE request_events SET organization_id = NULL WHERE request_id = $1 AND kind <> $2", q.ID,
			string(request.Deleted)); err != nil {
			return err
		}
		if _, err := st.conn.Exec(ctx, "UPDATE request_turns SET organization_id = NULL WHERE request_id = $1",
			q.ID); err != nil {
			return err
		}
		if err := insight.New(st.conn).Forget(ctx, q.Organization, q.CreatedAt.Format(time.DateOnly)); err != nil {
			return err
		}
	}
	_, err = st.conn.Exec(ctx, `UPDATE material_requests SET assigned_to = $1, status = $2, is_active = $3,
		requester_abstract = $4, address = $5,
			payment_method = $6, payment_method_notes = $7, rejection_reason = $8, override_reason = $9,
			correction = $10,
			carrier = $11, tracking = $12, conditions = $13, sent_at = $14, open_issues = $15, put_back = $16,
			waiting_since = $17,
			updated_at = $18, reminded = $19, escalates = $20, snoozed_until = $21, clock = $22, party = $23,
			step = $24,
			deleted_at = $25, last_seq = $26, last_hash = $27
		WHERE id = $28`, append(args, at, q.Head.Seq, q.Head.Hash, q.ID)...)
	return err
}

// requestWritten are the columns that args fills, and then those that never change and the head.
var requestWritten = strings.Fields(`
	assigned_to status is_active requester_abstract address payment_method payment_method_notes rejection_reason
	override_reason correction carrier tracking conditions sent_at open_issues put_back waiting_since updated_at
	reminded escalates snoozed_until clock party step material_id requester_id quantity note created_at last_seq
	last_hash`)

func (st Requests) args(r request.Request) ([]any, error) {
	var address *string
	if r.Address != nil {
		raw, err := sqldb.JSON(r.Address)
		if err != nil {
			return nil, err
		}
		address = &raw
	}
	clock, err := sqldb.JSON(r.Clock)
	if err != nil {
		return nil, err
	}
	var carrier, tracking, conditions *string
	var sent *time.Time
	if s := r.Shipment; s != nil {
		carrier, tracking, conditions, sent = &s.Carrier, &s.Tracking, &s.Conditions, s.SentAt
	}
	return []any{r.AssignedTo, string(r.Status), r.Active, r.Abstract, address, r.Payment, r.PaymentNotes, r.Rejection,
		r.Override, r.Correction,
		carrier, tracking, conditions, sent, r.OpenIssues, r.PutBack, r.WaitingSince, st.conn.Now, r.Reminded,
		r.Escalates, r.SnoozedUntil, clock, string(r.Party), r.Step}, nil
}

// SaveDocuments adds the new document versions of a request and saves those that changed.
func (st Requests) SaveDocuments(ctx context.Context, request int64, before, after []document.Document) error {
	for i, d := range after {
		var err error
		switch {
		case d.ID == 0:
			_, err = st.conn.Exec(ctx, "INSERT INTO request_documents ("+strings.Join(documentWritten, ", ")+
				") VALUES "+
				sqldb.Places(1, len(documentWritten)), documentArgs(request, d)...)
		case d != before[i]:
			_, err = st.conn.Exec(ctx, "UPDATE request_documents SET state = $2, reason = $3, reviewed_at = $4 WHERE "+
				"id = $1",
				d.ID, string(d.State), d.Reason, d.ReviewedAt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// documentWritten are the columns that documentArgs fills.
var documentWritten = strings.Fields("request_id slot attachment_id state reason added_by added_at reviewed_at")

func documentArgs(request int64, d document.Document) []any {
	return []any{request, string(d.Slot), d.AttachmentID, string(d.State), d.Reason, d.AddedBy, d.AddedAt, d.ReviewedAt}
}

// Insert adds entries to the accounts of requests.
func (st Turns) Insert(ctx context.Context, list []request.TurnRecord) error {
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		var args []any
		for _, t := range some {
			turn, err := turnArgs(t)
			if err != nil {
				return err
			}
			args = append(args, turn...)
		}
		if _, err := st.conn.Exec(ctx, "INSERT INTO request_turns ("+strings.Join(turnWritten, ", ")+") VALUES "+
			sqldb.Places(len(some), len(turnWritten)), args...); err != nil {
			return err
		}
	}
	return nil
}

// turnWritten are the columns that turnArgs fills.
var turnWritten = strings.Fields("request_id seq status party what began_at organization_id")

func turnArgs(t request.TurnRecord) ([]any, error) {
	what, err := sqldb.JSON(t.What)
	var organization *int64
	if t.Organization != 0 {
		organization = &t.Organization
	}
	return []any{t.RequestID, t.Seq, string(t.Status), string(t.Side), what, t.BeganAt, organization}, err
}
