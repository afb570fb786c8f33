package store_test

import (
	stdcontext "context"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

type context = stdcontext.Context

// lab makes rows for tests. Every id is above 2^31, so that no query takes ids for 32 bits.
type testLab struct {
	t     testing.TB
	db    *store.DB
	ctx   context
	tx    *store.Conn // when set, rows are made in that transaction
	count *atomic.Int64
}

var start = time.Date(2026, 3, 12, 9, 40, 0, 0, time.UTC)

// each runs test on each kind of database, whose clock advances by a second and a microsecond
// whenever it is read.
func each(t *testing.T, test func(t *testing.T, l testLab)) {
	t.Helper()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := testLab{t: t, db: db, ctx: t.Context(), count: &atomic.Int64{}}
		db.SetNow(ticking())
		for _, table := range []string{"tokens", "organizations", "memberships", "shipping_requirements", "addresses",
			"materials", "grants",
			"attachments", "material_requests", "request_turns", "request_documents", "request_issues",
			"request_events", "notifications", "audit_events", "jobs", "chains", "chain_events"} {
			n := int64(1)<<31 + l.count.Add(1_000_000)
			query := fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('%s', %d)", table, n)
			if db.Postgres() {
				query = fmt.Sprintf("ALTER TABLE %s ALTER COLUMN id RESTART WITH %d", table, n)
			}
			l.exec(query)
		}
		test(t, l)
	})
}

// ticking is a clock that advances by a second and a microsecond whenever it is read.
func ticking() func() time.Time {
	var ticks atomic.Int64
	return func() time.Time {
		return start.Add(time.Duration(ticks.Add(1)) * (time.Second + time.Microsecond + 7*time.Nanosecond))
	}
}

// write runs do in a transaction that must go well, or in the one of the lab.
func (l testLab) write(do func(ctx context, tx store.Conn) error) {
	l.t.Helper()
	if l.tx != nil {
		if err := do(l.ctx, *l.tx); err != nil {
			l.t.Fatalf("in the transaction: %v", err)
		}
		return
	}
	if err := l.db.Tx(l.ctx, do); err != nil {
		l.t.Fatalf("transaction: %v", err)
	}
}

func (l testLab) exec(query string, args ...any) {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	})
}

func (l testLab) user() person.User {
	l.t.Helper()
	n := l.count.Add(1)
	u := person.User{ID: uuid.New(), Username: fmt.Sprintf("user %d", n), FirstName: "Zoë", LastName: "O'Hara",
		Email: "zoe@example.org", RegistryID: fmt.Sprintf("0000-%d", n)}
	l.write(func(ctx context, tx store.Conn) error {
		u.CreatedAt, u.UpdatedAt = tx.Now, tx.Now
		return tx.Users.Insert(ctx, u)
	})
	return u
}

func (l testLab) organization(owner uuid.UUID, members ...uuid.UUID) (id int64) {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) (err error) {
		o := lab.Organization{Name: "Lab", Owner: owner,
			Targets: lab.Targets{Decide: 1, Countersign: 2, Ship: 3}}
		if id, err = tx.Organizations.Insert(ctx, o); err != nil {
			return err
		}
		_, err = tx.Organizations.SetMembers(ctx, id, members)
		return err
	})
	return id
}

func (l testLab) setMembers(organization int64, members ...uuid.UUID) (left []uuid.UUID) {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) (err error) {
		left, err = tx.Organizations.SetMembers(ctx, organization, members)
		return err
	})
	return left
}

func (l testLab) material(organization int64, contact uuid.UUID, change func(m *material.Material)) (id int64) {
	l.t.Helper()
	m := material.Material{OrganizationID: organization, Category: "CELL_LINE", Title: "HeLa", Metadata: []byte("{}"),
		ContactID: contact}
	if change != nil {
		change(&m)
	}
	l.write(func(ctx context, tx store.Conn) (err error) {
		id, err = tx.Materials.Insert(ctx, m)
		return err
	})
	return id
}

func (l testLab) request(material int64, requester, assigned uuid.UUID, change func(r *request.Request)) (id int64) {
	l.t.Helper()
	r := request.Request{MaterialID: material, Requester: requester, AssignedTo: assigned, Status: request.Open,
		Active: true, WaitingSince: start}
	if change != nil {
		change(&r)
	}
	l.write(func(ctx context, tx store.Conn) (err error) {
		id, err = tx.Requests.Insert(ctx, r)
		return err
	})
	return id
}

// change loads a request for update, changes it and saves it.
func (l testLab) change(request int64, deleted bool,
	change func(ctx context, tx store.Conn, q *request.Detail) error) {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) error {
		q, err := tx.Requests.ForUpdate(ctx, request)
		if err != nil {
			return err
		}
		if err := change(ctx, tx, &q); err != nil {
			return err
		}
		return tx.Requests.Update(ctx, q, deleted)
	})
}

// event adds one event to a request.
func (l testLab) event(requestID int64, actor uuid.UUID, kind request.EventKind) (e request.Event) {
	l.t.Helper()
	l.change(requestID, false, func(ctx context, tx store.Conn, q *request.Detail) error {
		events, err := tx.Events.Append(ctx, q,
			[]request.Event{{Kind: kind, Actor: actor, Detail: request.EventDetail{Text: odd}}})
		if err == nil {
			e = events[0]
		}
		return err
	})
	return e
}

func (l testLab) attachment(owner uuid.UUID, change func(a *document.Attachment)) (id int64) {
	l.t.Helper()
	a := document.Attachment{Filename: "mta.pdf", OwnedByUser: &owner, Version: 1}
	if change != nil {
		change(&a)
	}
	l.write(func(ctx context, tx store.Conn) (err error) {
		id, err = tx.Attachments.Insert(ctx, a)
		return err
	})
	return id
}

// odd is a text that breaks what can be broken by a text.
const odd = "Zoë's \"µ\" — 株 \\ %_ ; DROP TABLE users; -- $1 ? :a 🧬\n\te\u0301 "

// times are moments, far and near, in and out of UTC, to the microsecond.
var times = []time.Time{
	time.Date(2026, 10, 25, 2, 30, 0, 1000, time.FixedZone("", 5*3600+1800)),
	time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
	time.Date(1969, 7, 20, 20, 17, 40, 120_000_000, time.FixedZone("", -4*3600)),
	time.Date(2026, 3, 12, 9, 40, 0, 0, time.UTC),
}

// rounds is how many values fill gives. In the last one everything is empty.
const rounds = 8

// fill puts an odd value into every field of what dst points to: another one in each field and
// round. In some round every two booleans differ; a pointer is nil in one of three. UUIDs are left to
// the caller, who knows whom they refer to.
func fill(dst any, round int) {
	n := 0
	fillValue(reflect.ValueOf(dst).Elem(), "", round, &n)
}

func fillValue(v reflect.Value, name string, round int, n *int) {
	*n++
	if round == rounds-1 {
		if v.Kind() != reflect.Array {
			v.SetZero()
		}
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(times[(*n+round)%len(times)]))
		return
	case exchange.Instant: // whole seconds, not before 1900
		v.Set(reflect.ValueOf(exchange.Instant(start.Add(time.Duration(*n+round) * time.Second))))
		return
	case exchange.Date:
		v.SetString("2031-02-28")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprint(name, round, odd))
	case reflect.Bool:
		v.SetBool(*n>>round&1 == 1)
	case reflect.Int:
		v.SetInt(int64(1000*round + *n))
	case reflect.Int64:
		v.SetInt(1<<41 + int64(1000*round+*n))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON
			v.SetBytes(fmt.Appendf(nil, `{"%d": [1.50, "é\u00e9 '", null]}`, round))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), round, round))
		for i := range round {
			fillValue(v.Index(i), name, round, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(v.Elem(), name, round, n)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Type.Kind() == reflect.Pointer && (i+round)%3 == 0 {
				v.Field(i).SetZero()
			} else if f.IsExported() && f.Tag.Get("json") != "-" { // which is only written
				fillValue(v.Field(i), f.Name, round, n)
			}
		}
	}
}

// same compares what was read with what was written: moments are equal, and read in UTC.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	written := cmp.Transformer("utc", func(m time.Time) string { return m.Format(time.RFC3339Nano) })
	moment := cmp.Transformer("moment", func(m exchange.Instant) time.Time { return time.Time(m) })
	if diff := cmp.Diff(want, got, written, moment); diff != "" {
		t.Errorf("%s (-written +read):\n%s", what, diff)
	}
}

// code checks the code of an error, "" for none.
func code(t testing.TB, what string, err error, want exchange.Code) {
	t.Helper()
	got := exchange.Code("")
	if err != nil {
		got = exchange.CodeOf(err)
	}
	if got != want {
		t.Errorf("%s: %v, want code %q", what, err, want)
	}
}
