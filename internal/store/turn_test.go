package store_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

func TestTurns_EndWhenTheNextBegin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user, user), user, nil)
		requestID, other := l.request(material, user, user, func(r *request.Request) {
			r.Clock = request.Clock{Turn: 4, Since: start, Sides: map[request.Side]int64{request.LabSide: 3}}
		}), l.request(material, user, user, nil)
		at := func(n int) *time.Time { return new(start.Add(time.Duration(n) * time.Hour)) }
		var want []request.TurnRecord
		for i, what := range [][]string{{"abstract"}, {"decision"}, {"requester_signed_mta", "address"}, {}} {
			side := []request.Side{request.RequesterSide, request.LabSide, request.RequesterSide,
				request.Nobody}[i]
			want = append(want, request.TurnRecord{RequestID: requestID, Seq: int64(i + 1),
				Status: request.Statuses[i], Side: side, What: what, BeganAt: *at(i)})
		}
		l.write(func(ctx context, tx store.Conn) error {
			return tx.Turns.Insert(ctx,
				append(want, request.TurnRecord{RequestID: other, Seq: 1, What: []string{}, BeganAt: *at(0)}))
		})
		accounts, err := l.db.Read().Turns.Accounts(l.ctx, 0, requestID)
		code(t, "Accounts", err, "")
		q, err := l.db.Read().Requests.Get(l.ctx, requestID)
		code(t, "Request", err, "")
		account := store.RequestTurns{CreatedAt: q.CreatedAt, Clock: q.Clock}
		for _, turn := range want {
			turn.What = nil
			account.Turns = append(account.Turns, turn)
		}
		same(t, "Accounts", map[int64]*store.RequestTurns{requestID: &account}, accounts)
		byEnd := exchange.Order{Field: exchange.TurnFields[4], Ascending: true}
		for _, order := range []exchange.Order{{}, byEnd} {
			part, err := l.db.Read().Turns.List(l.ctx, requestID, exchange.Page{Limit: 9, Order: order})
			if err != nil || part.Total.N != 4 || len(part.Items) != 4 {
				t.Fatalf("Turns = %+v, %v", part, err)
			}
			for i, got := range part.Items {
				n := i // ended_at, and the present one last
				if !order.Ascending {
					n = 3 - i
				}
				turn := want[n]
				if turn.ID = got.ID; n < 3 {
					turn.EndedAt = at(n + 1)
				}
				same(t, "Turns", turn, got)
			}
		}
	})
}

func TestTurns_KeepWhatIsKnownWhenTheyBeginFromOutside(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user, user), user, nil)
		var list []request.Detail
		for i := range 45 { // more than one statement on both databases
			id := l.request(material, user, user, func(r *request.Request) {
				r.Reminded, r.Escalates, r.SnoozedUntil = 14, i%2 == 0, new(start.AddDate(0, 0, 9))
			})
			q, err := l.db.Read().Requests.Get(l.ctx, id)
			code(t, "Request", err, "")
			list = append(list, q)
		}
		l.write(func(ctx context, tx store.Conn) error {
			for i := range list {
				q := &list[i]
				q.WaitingSince, q.Reminded, q.SnoozedUntil, q.Escalates = tx.Now, 0, nil, i%3 == 0
				q.Clock = request.Clock{Turn: int64(i), Since: tx.Now,
					Sides: map[request.Side]int64{request.Nobody: int64(i + 1)}}
			}
			return tx.Turns.Begin(ctx, list[1:])
		})
		for i, q := range list {
			got, err := l.db.Read().Requests.Get(l.ctx, q.ID)
			code(t, "Request", err, "")
			if i > 0 {
				same(t, "BeginTurns", q, got)
			} else if got.Reminded != 14 {
				t.Errorf("another request began a turn: %+v", got)
			}
		}
	})
}
