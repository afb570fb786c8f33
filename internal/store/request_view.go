package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// Timeline lists what happened to a request, of some kinds only where any are named.
func (st Events) Timeline(ctx context.Context, request int64, kinds []exchange.EventKind,
	p exchange.Page) (exchange.ListPage[exchange.Event], error) {
	l := listing[exchange.Event]{columns: eventColumns, table: "request_events", scan: scanEvent,
		id: func(e exchange.Event) int64 { return e.ID }}
	f := where("o.request_id = ?", request)
	if len(kinds) > 0 {
		words := make([]any, len(kinds))
		for i, kind := range kinds {
			words[i] = string(kind)
		}
		f.and("o.kind IN (?"+strings.Repeat(", ?", len(kinds)-1)+")", words...)
	}
	return l.page(ctx, st.conn, p, f)
}

// OfRequest reads the attachments of every document version of a request, by id.
func (st Attachments) OfRequest(ctx context.Context, request int64) (map[int64]exchange.Attachment, error) {
	list, err := all(ctx, st.conn, scanAttachment, "SELECT "+attachmentColumns+` FROM attachments o
		WHERE o.id IN (SELECT attachment_id FROM request_documents WHERE request_id = $1)
		AND o.deleted_at IS NULL`, request)
	byID := map[int64]exchange.Attachment{}
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
	list, err := all(ctx, st.conn, func(r row, s *span) error { return r.Scan(utc{&s.from}, utc{&s.to}) },
		`SELECT r.created_at, e.at
		FROM (SELECT request_id, at, detail FROM request_events WHERE organization_id = $1 AND kind = $2
		ORDER BY id DESC LIMIT $3) e
		JOIN material_requests r ON r.id = e.request_id
		WHERE e.detail LIKE $4`, organization, string(exchange.StatusChanged), recent, `%"to":"`+
			string(exchange.Verified)+`"%`)
	times := make([]time.Duration, len(list))
	for i, s := range list {
		times[i] = s.to.Sub(s.from)
	}
	slices.Sort(times)
	return times, err
}
