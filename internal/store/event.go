package store

import (
	"context"
	"encoding/json"
	"errors"
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

// Append seals the events of one act behind those of the request, keeps them, and gives
// them with their ids. q is the request as it was locked by Requests.ForUpdate; UpdateRequest
// follows and keeps the new head of its chain.
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

// Facts reads what requests were after each of some events, by event, where that is kept.
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

// ForgetFacts forgets what requests were after the events before a moment, of which no mail is sent any more.
func (st Events) ForgetFacts(ctx context.Context, before time.Time) error {
	_, err := st.conn.Exec(ctx, "UPDATE request_events SET facts = NULL WHERE facts IS NOT NULL AND at < $1", before)
	return err
}

// Get reads one event.
func (st Events) Get(ctx context.Context, id int64) (request.Event, error) {
	return sqldb.One(ctx, st.conn, scanEvent, "SELECT "+eventColumns+" FROM request_events o WHERE o.id = $1", id)
}

// List lists the events of a request; kind "" is every kind.
func (st Events) List(ctx context.Context, requestID int64, kind request.EventKind,
	p exchange.Page) (exchange.ListPage[request.Event], error) {
	l := sqldb.Listing[request.Event]{Columns: eventColumns, Table: "request_events", Scan: scanEvent,
		ID: func(e request.Event) int64 { return e.ID }, Sorts: map[string]string{"sent_at": "o.at"},
		Filters: map[string]sqldb.Condition{"actor": sqldb.Equals("o.actor_id"), "sender": sqldb.Equals("o.actor_id")}}
	f := sqldb.Where("o.request_id = ?", requestID)
	if kind != "" {
		f.And("o.kind = ?", string(kind))
	}
	return l.Page(ctx, st.conn, p, f)
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

// RequestHead is the last event of a request according to the request's row.
type RequestHead struct {
	Request int64
	request.Head
}

// Heads reads, by id, the heads of the requests behind after; for verifying.
func (st Events) Heads(ctx context.Context, after int64, limit int) ([]RequestHead, error) {
	scan := func(r sqldb.Row, h *RequestHead) error {
		return r.Scan(&h.Request, &h.Seq, &h.Hash)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT id, last_seq, last_hash FROM material_requests WHERE id > $1 "+
		"ORDER BY id "+
		"LIMIT $2",
		after, limit)
}

// Chain reads the events of a request from the first on; for verifying.
func (st Events) Chain(ctx context.Context, request int64) ([]request.Event, error) {
	return sqldb.All(ctx, st.conn, scanEvent, "SELECT "+eventColumns+
		" FROM request_events o WHERE o.request_id = $1 ORDER BY o.seq", request)
}

// Timeline lists what happened to a request, of some kinds only where any are named.
func (st Events) Timeline(ctx context.Context, requestID int64, kinds []request.EventKind,
	p exchange.Page) (exchange.ListPage[request.Event], error) {
	l := sqldb.Listing[request.Event]{Columns: eventColumns, Table: "request_events", Scan: scanEvent,
		ID: func(e request.Event) int64 { return e.ID }}
	f := sqldb.Where("o.request_id = ?", requestID)
	if len(kinds) > 0 {
		words := make([]any, len(kinds))
		for i, kind := range kinds {
			words[i] = string(kind)
		}
		f.And("o.kind IN (?"+strings.Repeat(", ?", len(kinds)-1)+")", words...)
	}
	return l.Page(ctx, st.conn, p, f)
}

// OfRequest reads the attachments of every document version of a request, by id.
func (st Attachments) OfRequest(ctx context.Context, request int64) (map[int64]document.Attachment, error) {
	list, err := sqldb.All(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.id IN (SELECT attachment_id FROM request_documents WHERE request_id = $1)
		AND o.deleted_at IS NULL`, request)
	byID := map[int64]document.Attachment{}
	for _, t := range list {
		byID[t.ID] = t
	}
	return byID, err
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
