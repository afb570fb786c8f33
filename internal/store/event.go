package store

import (
	"context"
	"encoding/json"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// AppendEvents seals the events of one act behind those of the request, keeps them, and gives
// them with their ids. q is the request as it was locked by RequestForUpdate; UpdateRequest
// follows and keeps the new head of its chain.
func (c Conn) AppendEvents(ctx context.Context, q *exchange.Requested, events []exchange.Event) ([]exchange.Event, error) {
	for i, e := range events {
		e.RequestID, e.At = q.ID, c.Now
		e, err := e.Seal(q.Head.Seq, q.Head.Hash)
		if err != nil {
			return nil, err
		}
		e.ID, err = one(ctx, c, value[int64], `INSERT INTO request_events (request_id, seq, kind, actor_id, at, detail, prev_hash, hash)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
			e.RequestID, e.Seq, string(e.Kind), uuid.NullUUID{UUID: e.Actor, Valid: e.Actor != uuid.Nil}, e.At, e.Raw, e.Prev, e.Hash)
		if err != nil {
			return nil, err
		}
		q.Head, events[i] = exchange.Head{Seq: e.Seq, Hash: e.Hash}, e
	}
	return events, nil
}

const eventColumns = "o.id, o.request_id, o.seq, o.kind, o.actor_id, o.at, o.detail, o.prev_hash, o.hash"

func scanEvent(r row, e *exchange.Event) error {
	err := r.Scan(&e.ID, &e.RequestID, &e.Seq, &e.Kind, &e.Actor, utc{&e.At}, &e.Raw, &e.Prev, &e.Hash)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(e.Raw), &e.Detail)
}

// Event reads one event.
func (c Conn) Event(ctx context.Context, id int64) (exchange.Event, error) {
	return one(ctx, c, scanEvent, "SELECT "+eventColumns+" FROM request_events o WHERE o.id = $1", id)
}

// Events lists the events of a request; kind "" is every kind.
func (c Conn) Events(ctx context.Context, request int64, kind exchange.EventKind, p exchange.Page) (exchange.Part[exchange.Event], error) {
	l := listing[exchange.Event]{columns: eventColumns, table: "request_events", scan: scanEvent,
		id: func(e exchange.Event) int64 { return e.ID }, sorts: map[string]string{"sent_at": "o.at"}}
	f := where("o.request_id = ?", request)
	if kind != "" {
		f.and("o.kind = ?", string(kind))
	}
	return l.page(ctx, c, p, f)
}

// Head is the last event of a request as its row has it.
type Head struct {
	Request int64
	exchange.Head
}

// Heads reads, by id, the heads of the requests behind after; for verifying.
func (c Conn) Heads(ctx context.Context, after int64, limit int) ([]Head, error) {
	scan := func(r row, h *Head) error { return r.Scan(&h.Request, &h.Seq, &h.Hash) }
	return all(ctx, c, scan, "SELECT id, last_seq, last_hash FROM material_requests WHERE id > $1 ORDER BY id LIMIT $2", after, limit)
}

// Chain reads the events of a request from the first on; for verifying.
func (c Conn) Chain(ctx context.Context, request int64) ([]exchange.Event, error) {
	return all(ctx, c, scanEvent, "SELECT "+eventColumns+" FROM request_events o WHERE o.request_id = $1 ORDER BY o.seq", request)
}
