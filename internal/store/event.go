package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Append seals the events of one act behind those of the request, keeps them, and gives
// them with their ids. q is the request as it was locked by Requests.ForUpdate; UpdateRequest
// follows and keeps the new head of its chain.
func (st Events) Append(ctx context.Context, q *exchange.RequestDetail, events []exchange.Event) ([]exchange.Event,
	error) {
	facts, err := text(q.WithoutAddress())
	if err != nil {
		return nil, err
	}
	for i, e := range events {
		e.RequestID, e.At = q.ID, st.conn.Now
		e, err := e.Seal(q.Head.Seq, q.Head.Hash)
		if err != nil {
			return nil, err
		}
		e.ID, err = one(ctx, st.conn, value[int64], "INSERT INTO request_events ("+strings.Join(eventWritten, ", ")+
			", title, facts) VALUES "+
			places(1, len(eventWritten)+2)+" RETURNING id", append(eventArgs(*q, e), q.Material, facts)...)
		if err != nil {
			return nil, err
		}
		q.Head, events[i] = exchange.Head{Seq: e.Seq, Hash: e.Hash}, e
	}
	return events, nil
}

// eventWritten are the columns that eventArgs fills.
var eventWritten = strings.Fields("request_id seq kind actor_id at detail prev_hash hash material_id organization_id")

func eventArgs(q exchange.RequestDetail, e exchange.Event) []any {
	return []any{e.RequestID, e.Seq, string(e.Kind), uuid.NullUUID{UUID: e.Actor, Valid: e.Actor != uuid.Nil}, e.At,
		e.Raw, e.Prev, e.Hash,
		q.MaterialID, q.Organization}
}

const eventColumns = "o.id, o.request_id, o.seq, o.kind, o.actor_id, o.at, o.detail, o.prev_hash, o.hash"

func scanEvent(r row, e *exchange.Event) error {
	err := r.Scan(&e.ID, &e.RequestID, &e.Seq, &e.Kind, &e.Actor, utc{&e.At}, &e.Raw, &e.Prev, &e.Hash)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(e.Raw), &e.Detail)
}

// Facts reads what requests were after each of some events, by event, where that is kept.
func (st Events) Facts(ctx context.Context, events []int64) (map[int64]exchange.RequestDetail, error) {
	found := map[int64]exchange.RequestDetail{}
	scan := func(r row, _ *struct{}) error {
		var id int64
		var q exchange.RequestDetail
		err := r.Scan(&id, fromJSON{&q})
		found[id] = q
		return err
	}
	for some := range slices.Chunk(events, maxIn) {
		places, args := in(nil, some)
		if _, err := all(ctx, st.conn, scan, "SELECT id, facts FROM request_events WHERE id IN ("+places+
			") AND facts IS NOT NULL", args...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// FirstTitle reads the title that the material of a request had when the request was made.
func (st Events) FirstTitle(ctx context.Context, request int64) (string, error) {
	return one(ctx, st.conn, value[string], `SELECT COALESCE(e.title, m.title) FROM material_requests r JOIN materials m
		ON m.id = r.material_id
		LEFT JOIN request_events e ON e.request_id = r.id AND e.seq = 1 WHERE r.id = $1`, request)
}

// ForgetFacts forgets what requests were after the events before a moment, of which no mail is sent any more.
func (st Events) ForgetFacts(ctx context.Context, before time.Time) error {
	_, err := st.conn.exec(ctx, "UPDATE request_events SET facts = NULL WHERE facts IS NOT NULL AND at < $1", before)
	return err
}

// Get reads one event.
func (st Events) Get(ctx context.Context, id int64) (exchange.Event, error) {
	return one(ctx, st.conn, scanEvent, "SELECT "+eventColumns+" FROM request_events o WHERE o.id = $1", id)
}

// List lists the events of a request; kind "" is every kind.
func (st Events) List(ctx context.Context, request int64, kind exchange.EventKind,
	p exchange.Page) (exchange.ListPage[exchange.Event], error) {
	l := listing[exchange.Event]{columns: eventColumns, table: "request_events", scan: scanEvent,
		id: func(e exchange.Event) int64 { return e.ID }, sorts: map[string]string{"sent_at": "o.at"},
		filters: map[string]condition{"actor": equals("o.actor_id"), "sender": equals("o.actor_id")}}
	f := where("o.request_id = ?", request)
	if kind != "" {
		f.and("o.kind = ?", string(kind))
	}
	return l.page(ctx, st.conn, p, f)
}

// OfRequests reads all events of requests, of each in their order.
func (st Events) OfRequests(ctx context.Context, requests []int64) (map[int64][]exchange.Event, error) {
	found := map[int64][]exchange.Event{}
	for some := range slices.Chunk(requests, maxIn) {
		places, args := in(nil, some)
		list, err := all(ctx, st.conn, scanEvent, "SELECT "+eventColumns+
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

var organizationEvents = listing[exchange.OrganizationEvent]{
	columns: eventColumns + ", m.id, m.title",
	table:   "request_events",
	joins:   "JOIN materials m ON m.id = o.material_id",
	scan: func(r row, e *exchange.OrganizationEvent) error {
		return scanEvent(extraColumns{r, []any{&e.Material, &e.Title}}, &e.Event)
	},
	id: func(e exchange.OrganizationEvent) int64 { return e.ID },
}

// OfOrganization lists what happened in the requests of an organization's materials.
func (st Events) OfOrganization(ctx context.Context, organization int64, p exchange.Page,
	by exchange.EventFilter) (exchange.ListPage[exchange.OrganizationEvent], error) {
	f := where("o.organization_id = ?", organization)
	andEqual(f, "o.kind", by.Kind)
	andEqual(f, "o.request_id", by.Request)
	andEqual(f, "o.actor_id", by.Actor)
	andEqual(f, "o.material_id", by.Material)
	if by.Since != nil {
		f.and("o.at >= ?", time.Time(*by.Since))
	}
	return organizationEvents.page(ctx, st.conn, p, f)
}

// Move lets the requests of a material follow it from one organization to another, with their events
// in its feed and their turns in its insights; those of deleted requests stay in none.
func (st Requests) Move(ctx context.Context, material, from, to int64) error {
	if _, err := st.conn.exec(ctx, "UPDATE material_requests SET organization_id = $2 WHERE material_id = $1", material,
		to); err != nil {
		return err
	}
	if _, err := st.conn.exec(ctx, "UPDATE request_events SET organization_id = $3 WHERE organization_id = $2 AND "+
		"material_id = $1", material, from, to); err != nil {
		return err
	}
	moved, err := st.conn.exec(ctx, `UPDATE request_turns SET organization_id = $3 WHERE organization_id = $2
		AND request_id IN (SELECT r.id FROM material_requests r WHERE r.material_id = $1)`, material, from, to)
	if err != nil || moved == 0 {
		return err
	}
	return errors.Join(Insights(st).Forget(ctx, min(from, to), ""), Insights(st).Forget(ctx, max(from, to), ""))
}

// RequestHead is the last event of a request according to the request's row.
type RequestHead struct {
	Request int64
	exchange.Head
}

// Heads reads, by id, the heads of the requests behind after; for verifying.
func (st Events) Heads(ctx context.Context, after int64, limit int) ([]RequestHead, error) {
	scan := func(r row, h *RequestHead) error {
		return r.Scan(&h.Request, &h.Seq, &h.Hash)
	}
	return all(ctx, st.conn, scan, "SELECT id, last_seq, last_hash FROM material_requests WHERE id > $1 ORDER BY id "+
		"LIMIT $2",
		after, limit)
}

// Chain reads the events of a request from the first on; for verifying.
func (st Events) Chain(ctx context.Context, request int64) ([]exchange.Event, error) {
	return all(ctx, st.conn, scanEvent, "SELECT "+eventColumns+
		" FROM request_events o WHERE o.request_id = $1 ORDER BY o.seq", request)
}
