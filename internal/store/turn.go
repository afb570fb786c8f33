package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

// OfOrganization reads the requests in which it is somebody's turn, of one material, or of those of an
// organization that name some shipping requirements, and locks them.
func (st Turns) OfOrganization(ctx context.Context, organization int64, material,
	shipping *int64) ([]exchange.RequestDetail,
	error) {
	f := where(ofTurn+" AND m.organization_id = ?", organization)
	andEqual(f, "m.id", material)
	andEqual(f, "m.shipping_requirements_id", shipping)
	list, err := all(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+" WHERE "+f.sql.String()+
		" ORDER BY o.id"+ofRequests(st.conn.db.dialect.forUpdate), f.args...)
	if err != nil {
		return nil, err
	}
	return list, Requests(st).addDocuments(ctx, list)
}

// Begin saves that requests begin another turn now for a reason outside of them; they count as
// unchanged. Their entries in the account follow with Turns.Insert.
func (st Turns) Begin(ctx context.Context, list []exchange.RequestDetail) error {
	for some := range inBatches(list, st.conn.db.dialect.atOnce) {
		var args []any
		for _, q := range some {
			clock, err := text(q.Clock)
			if err != nil {
				return err
			}
			args = append(args, q.ID, q.Escalates, clock, string(q.Party), q.Step)
		}
		// The first row tells PostgreSQL the types of all.
		rows := strings.Replace(places(len(some), 5), "($1, $2,", "(CAST($1 AS BIGINT), CAST($2 AS BOOLEAN),", 1)
		if _, err := st.conn.exec(ctx, `UPDATE material_requests SET waiting_since = $`+strconv.Itoa(len(args)+1)+
			`, reminded = 0,
				escalates = v.column2, snoozed_until = NULL, clock = v.column3, party = v.column4, step = v.column5
			FROM (VALUES `+rows+`) v WHERE id = v.column1`, append(args, st.conn.Now)...); err != nil {
			return err
		}
	}
	return nil
}

// Insert adds entries to the accounts of requests.
func (st Turns) Insert(ctx context.Context, list []exchange.RequestTurn) error {
	for some := range inBatches(list, st.conn.db.dialect.atOnce) {
		var args []any
		for _, t := range some {
			turn, err := turnArgs(t)
			if err != nil {
				return err
			}
			args = append(args, turn...)
		}
		if _, err := st.conn.exec(ctx, "INSERT INTO request_turns ("+strings.Join(turnWritten, ", ")+") VALUES "+
			places(len(some), len(turnWritten)), args...); err != nil {
			return err
		}
	}
	return nil
}

// turnWritten are the columns that turnArgs fills.
var turnWritten = strings.Fields("request_id seq status party what began_at organization_id")

func turnArgs(t exchange.RequestTurn) ([]any, error) {
	what, err := text(t.What)
	var organization *int64
	if t.Organization != 0 {
		organization = &t.Organization
	}
	return []any{t.RequestID, t.Seq, string(t.Status), string(t.Side), what, t.BeganAt, organization}, err
}

var requestTurns = listing[exchange.RequestTurn]{
	columns: "o.id, o.request_id, o.seq, o.status, o.party, o.what, o.began_at, n.began_at",
	table:   "request_turns",
	joins:   "LEFT JOIN request_turns n ON n.request_id = o.request_id AND n.seq = o.seq + 1",
	scan: func(r row, t *exchange.RequestTurn) error {
		return r.Scan(&t.ID, &t.RequestID, &t.Seq, &t.Status, &t.Side, fromJSON{&t.What}, utc{&t.BeganAt},
			utcNull{&t.EndedAt})
	},
	id:    func(t exchange.RequestTurn) int64 { return t.ID },
	sorts: map[string]string{"ended_at": "n.began_at"},
}

// List lists the account of a request's turns.
func (st Turns) List(ctx context.Context, request int64, p exchange.Page) (exchange.ListPage[exchange.RequestTurn],
	error) {
	return requestTurns.page(ctx, st.conn, p, where("o.request_id = ?", request))
}

// RequestTurns are the turns of a request and what its row says of them.
type RequestTurns struct {
	CreatedAt time.Time
	Party     exchange.Side
	Clock     exchange.Clock
	Turns     []exchange.RequestTurn // without what was to be done and when they ended
}

// Accounts reads, by request, the accounts of those of an id behind after until last, as they are at
// one moment; for verifying.
func (st Turns) Accounts(ctx context.Context, after, last int64) (map[int64]*RequestTurns, error) {
	accounts := map[int64]*RequestTurns{}
	scan := func(r row, t *exchange.RequestTurn) error {
		var a RequestTurns
		if err := r.Scan(&t.RequestID, &t.Seq, &t.Status, &t.Side, utc{&t.BeganAt}, fromJSON{&a.Clock},
			utc{&a.CreatedAt}, &a.Party); err != nil {
			return err
		}
		if accounts[t.RequestID] == nil {
			accounts[t.RequestID] = &a
		}
		accounts[t.RequestID].Turns = append(accounts[t.RequestID].Turns, *t)
		return nil
	}
	_, err := all(ctx, st.conn, scan, `SELECT t.request_id, t.seq, t.status, t.party, t.began_at, r.clock, r.created_at,
		r.party
		FROM request_turns t JOIN material_requests r ON r.id = t.request_id
		WHERE t.request_id > $1 AND t.request_id <= $2 ORDER BY t.request_id, t.seq`, after, last)
	return accounts, err
}
