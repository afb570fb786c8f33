package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"
)

// OfOrganization reads the requests in which it is somebody's turn, of one material, or of those of an
// organization that name some shipping requirements, and locks them.
func (st Turns) OfOrganization(ctx context.Context, organization int64, material,
	shipping *int64) ([]request.Detail,
	error) {
	f := sqldb.Where(ofTurn+" AND m.organization_id = ?", organization)
	sqldb.AndEqual(f, "m.id", material)
	sqldb.AndEqual(f, "m.shipping_requirements_id", shipping)
	list, err := sqldb.All(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+" WHERE "+
		f.SQL.String()+
		" ORDER BY o.id"+ofListed(st.conn.Dialect().ForUpdate), f.Args...)
	if err != nil {
		return nil, err
	}
	return list, Requests(st).addDocuments(ctx, list)
}

// Begin saves that requests begin another turn now for a reason outside of them; they count as
// unchanged. Their entries in the account follow with Turns.Insert.
func (st Turns) Begin(ctx context.Context, list []request.Detail) error {
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		var args []any
		for _, q := range some {
			clock, err := sqldb.JSON(q.Clock)
			if err != nil {
				return err
			}
			args = append(args, q.ID, q.Escalates, clock, string(q.Party), q.Step)
		}
		// The first row tells PostgreSQL the types of all.
		rows := strings.Replace(sqldb.Places(len(some), 5), "($1, $2,", "(CAST($1 AS BIGINT), CAST($2 AS BOOLEAN),", 1)
		if _, err := st.conn.Exec(ctx, `UPDATE material_requests SET waiting_since = $`+strconv.Itoa(len(args)+1)+
			`, reminded = 0,
				escalates = v.column2, snoozed_until = NULL, clock = v.column3, party = v.column4, step = v.column5
			FROM (VALUES `+rows+`) v WHERE id = v.column1`, append(args, st.conn.Now)...); err != nil {
			return err
		}
	}
	return nil
}

var requestTurns = sqldb.Listing[request.TurnRecord]{
	Columns: "o.id, o.request_id, o.seq, o.status, o.party, o.what, o.began_at, n.began_at",
	Table:   "request_turns",
	Joins:   "LEFT JOIN request_turns n ON n.request_id = o.request_id AND n.seq = o.seq + 1",
	Scan: func(r sqldb.Row, t *request.TurnRecord) error {
		return r.Scan(&t.ID, &t.RequestID, &t.Seq, &t.Status, &t.Side, sqldb.FromJSON(&t.What), sqldb.UTC(&t.BeganAt),
			sqldb.UTCOrNull(&t.EndedAt))
	},
	ID:    func(t request.TurnRecord) int64 { return t.ID },
	Sorts: map[string]string{"ended_at": "n.began_at"},
}

// List lists the account of a request's turns.
func (st Turns) List(ctx context.Context, request int64, p exchange.Page) (exchange.ListPage[request.TurnRecord],
	error) {
	return requestTurns.Page(ctx, st.conn, p, sqldb.Where("o.request_id = ?", request))
}

// RequestTurns are the turns of a request and the state of them in its row.
type RequestTurns struct {
	CreatedAt time.Time
	Party     request.Side
	Clock     request.Clock
	Turns     []request.TurnRecord // without what was to be done and when they ended
}

// Accounts reads, by request, the accounts of those of an id past after until last, as they are at one moment; for
// verifying.
func (st Turns) Accounts(ctx context.Context, after, last int64) (map[int64]*RequestTurns, error) {
	accounts := map[int64]*RequestTurns{}
	scan := func(r sqldb.Row, t *request.TurnRecord) error {
		var a RequestTurns
		if err := r.Scan(&t.RequestID, &t.Seq, &t.Status, &t.Side, sqldb.UTC(&t.BeganAt), sqldb.FromJSON(&a.Clock),
			sqldb.UTC(&a.CreatedAt), &a.Party); err != nil {
			return err
		}
		if accounts[t.RequestID] == nil {
			accounts[t.RequestID] = &a
		}
		accounts[t.RequestID].Turns = append(accounts[t.RequestID].Turns, *t)
		return nil
	}
	_, err := sqldb.All(ctx, st.conn, scan, `SELECT t.request_id, t.seq, t.status, t.party, t.began_at, r.clock,
		r.created_at,
		r.party
		FROM request_turns t JOIN material_requests r ON r.id = t.request_id
		WHERE t.request_id > $1 AND t.request_id <= $2 ORDER BY t.request_id, t.seq`, after, last)
	return accounts, err
}

// ofTurn are the requests in which it is somebody's turn; what is remembered of their reminders is
// indexed for these alone.
const ofTurn = "o.is_active AND o.deleted_at IS NULL"

// Next is the first day after day on which a side was reminded last in any request; false: there is no such request.
// Each is one step in the index, so that all of them are few.
func (st Reminders) Next(ctx context.Context, day int) (next int, some bool, err error) {
	days, err := sqldb.All(ctx, st.conn, sqldb.Value[int], "SELECT o.reminded FROM material_requests o WHERE "+ofTurn+
		" AND o.reminded > $1 ORDER BY o.reminded LIMIT 1", day)
	if err != nil || len(days) == 0 {
		return 0, false, err
	}
	return days[0], true, nil
}

// ToRemind reads the requests past after whose side was reminded last on a day of its turn, and whose turn began at a
// moment or before and is not snoozed, the longest waiting first. It locks them; those that others hold are left out.
func (st Reminders) ToRemind(ctx context.Context, day int, began time.Time, after request.Request,
	limit int) ([]request.Detail, error) {
	return st.longWaiting(ctx, sqldb.Where("o.reminded = ?", day), began, after, limit)
}

// ToEscalate is Reminders.ToRemind of those turns of labs of which the owner was not notified.
func (st Reminders) ToEscalate(ctx context.Context, began time.Time, after request.Request,
	limit int) ([]request.Detail, error) {
	return st.longWaiting(ctx, sqldb.Where("o.escalates"), began, after, limit)
}

func (st Reminders) longWaiting(ctx context.Context, f *sqldb.Filter, began time.Time, after request.Request,
	limit int) ([]request.Detail, error) {
	f.And(ofTurn)
	f.And("o.waiting_since <= ? AND (o.waiting_since, o.id) > (?, ?)", began, after.WaitingSince, after.ID)
	f.And("(o.snoozed_until IS NULL OR o.snoozed_until <= ?)", st.conn.Now)
	list, err := sqldb.All(ctx, st.conn, scanRequest, "SELECT "+requestColumns+" FROM "+requestFrom+" WHERE "+
		f.SQL.String()+
		" ORDER BY o.waiting_since, o.id LIMIT "+strconv.Itoa(limit)+ofListed(st.conn.Dialect().SkipLocked),
		f.Args...)
	if err != nil {
		return nil, err
	}
	return list, Requests(st).addDocuments(ctx, list)
}

// Save keeps what the side whose turn it is was reminded of, or its owner was told, with the head
// of the events. The request counts as unchanged.
func (st Reminders) Save(ctx context.Context, q request.Detail) error {
	_, err := st.conn.Exec(ctx, "UPDATE material_requests SET reminded = $2, escalates = $3, last_seq = $4, "+
		"last_hash = $5 "+
		"WHERE id = $1",
		q.ID, q.Reminded, q.Escalates, q.Head.Seq, q.Head.Hash)
	return err
}
