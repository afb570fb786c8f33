package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// walk is a statement that no route of a list runs: of a page, an export, a stream, a report or a job. It reads a part
// of many rows, limit of them at a time.
type walk struct {
	name  string
	read  func(ctx context.Context, tx store.Conn, limit int) error
	sorts int // how often SQLite may sort, no more than limit rows each time
	// it walks the table by its id, of which it shows every row or almost every one
	byID bool
	// on PostgreSQL it reads all labs and people of an institution, of which there are few, to look for their requests
	institution bool
}

// provider is the institution of the lab, by which the letter of the crowd is.
func (c *crowd) provider() (id int64) {
	c.t.Helper()
	if err := c.sql.QueryRowContext(c.t.Context(), "SELECT provider FROM agreements LIMIT 1").Scan(&id); err != nil {
		c.t.Fatal(err)
	}
	return id
}

// only discards what a statement returns beside its error.
func only[T any](_ T, err error) error { return err }

// walks are the walks of the crowd.
func (c *crowd) walks() []walk {
	organization, requester := c.id, c.requester().ID
	late := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	list := []walk{
		{name: "export of a lab's materials", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Materials.After(ctx, &organization, 0, limit))
		}},
		{name: "export of all materials", byID: true, read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Materials.After(ctx, nil, 0, limit))
		}},
		{name: "map of the site", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Materials.OfferedFrom(ctx, c.material, c.material+int64(limit)))
		}},
		{name: "newest materials", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Materials.Newest(ctx, limit, nil))
		}},
		{name: "materials of a lab to reindex", read: func(ctx context.Context, tx store.Conn,
			limit int) error {
			return only(tx.Materials.Behind(ctx, organization, 0, limit))
		}},
		// the parts that are united
		{name: "requests of a person to reindex", sorts: 2, read: func(ctx context.Context, tx store.Conn,
			limit int) error {
			return only(tx.Requests.Behind(ctx, request.Renaming{User: requester}, request.SearchPosition{}, limit))
		}},
		{name: "requests of a material to reindex", read: func(ctx context.Context, tx store.Conn,
			limit int) error {
			return only(tx.Requests.Behind(ctx, request.Renaming{Material: c.material}, request.SearchPosition{}, limit))
		}},
		{name: "stream of notifications", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Notifications.Behind(ctx, requester, 0, limit))
		}},
		// almost all of the crowd's are of this person
		{name: "newest notifications", byID: true, read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Notifications.Newest(ctx, requester, limit))
		}},
		{name: "newest of all notifications", byID: true, read: func(ctx context.Context, tx store.Conn,
			limit int) error {
			return only(tx.Notifications.AddedBefore(ctx, late, limit))
		}},
		{name: "digest", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Mail.DigestIDs(ctx, requester, mailing.ForDigest, limit))
		}},
		{name: "members of a lab to notify", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Organizations.MembersAfter(ctx, c.owner.Lab, uuid.Nil, limit))
		}},
		{name: "reminders", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Reminders.ToRemind(ctx, 0, late, request.Request{}, limit))
		}},
		{name: "escalations", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Reminders.ToEscalate(ctx, late, request.Request{}, limit))
		}},
		{name: "alerts: changed materials", byID: true, read: func(ctx context.Context, tx store.Conn,
			limit int) error {
			return only(tx.Alerts.Changes(ctx, limit))
		}},
		{name: "alerts: saved searches", byID: true, read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Alerts.Searches(ctx, 0, limit))
		}},
		{name: "alerts: searches to tell", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Alerts.SearchesToTell(ctx, limit))
		}},
		{name: "jobs to run", read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Jobs.Claim(ctx, false, 0, []string{"mail"}, late, limit))
		}},
		{name: "heads of requests", byID: true, read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Events.Heads(ctx, 0, limit))
		}},
		{name: "content of attachments", byID: true, read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Attachments.StoredContent(ctx, 0, limit))
		}},
		{name: "log of events", byID: true, read: func(ctx context.Context, tx store.Conn, limit int) error {
			return only(tx.Log.Entries(ctx, 0, limit))
		}},
	}
	for _, side := range []party.Direction{party.Provide, party.Receive} {
		// the part and the whole are sorted; almost all labs and people of the crowd are of one institution
		list = append(list, walk{name: "requests that need an agreement, " + string(side), sorts: 2, byID: true,
			institution: true,
			read: func(ctx context.Context, tx store.Conn, limit int) error {
				return only(tx.Agreements.Needs(ctx, c.provider(), side, exchange.DayOf(tx.Now),
					exchange.Page{Limit: limit, Order: exchange.Order{Ascending: true}}))
			}})
	}
	viewer := exchange.Actor{ID: c.owner.ID, Organizations: []int64{organization, c.owner.Lab}} // of few labs
	// Requests of a person's labs come from an index that has each lab in the order of waiting, and all are sorted, as
	// is every order by due date.
	for _, ascending := range []bool{true, false} {
		list = append(list, walk{name: fmt.Sprintf("inbox of one person, ascending %t", ascending),
			read: func(ctx context.Context, tx store.Conn, limit int) error {
				_, _, err := tx.Inbox.List(ctx, exchange.Page{Limit: limit,
					Order: exchange.Order{Field: request.ByWaiting, Ascending: ascending}},
					request.InboxFilter{Whose: new(request.OnMe)}, viewer)
				return err
			}})
	}
	return list
}

// checkWalk fails if a walk sorts or scans more than a few times as many rows as it returns.
func (c *crowd) checkWalk(w walk) {
	c.t.Helper()
	const limit = 10
	done := errors.New("only its plan counts")
	list := c.watched(func() {
		err := c.db.Tx(c.t.Context(), func(ctx context.Context, tx store.Conn) error {
			return errors.Join(w.read(ctx, tx, limit), done)
		})
		if !errors.Is(err, done) || strings.Contains(err.Error(), "\n") {
			c.t.Fatalf("%s: %v", w.name, err)
		}
	}, func(query string) bool {
		return strings.Contains(query, "FROM ") &&
			!strings.Contains(query, "FROM request_documents WHERE request_id IN") // of those read
	})
	if len(list) == 0 {
		c.t.Errorf("%s runs no statement", w.name)
	}
	for _, s := range list {
		plan := c.plan(s.query, s.args)
		if c.db.Postgres() {
			if n := maxRows(plan); n > 5*limit && !w.institution {
				c.t.Errorf("%s reads %d rows for %d:\n%s\n%s", w.name, n, limit, s.query, plan)
			}
			continue
		}
		if strings.Count(plan, "TEMP B-TREE FOR ORDER BY") > w.sorts || !w.byID && scansTable(plan) {
			c.t.Errorf("%s scans or sorts:\n%s\n%s", w.name, s.query, plan)
		}
	}
}
