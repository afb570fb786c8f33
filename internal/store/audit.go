package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Insert notes an act outside of a request's own events: actor is nil for an anonymous
// caller and for the operator; detail is what else is to be known of it.
func (st Audit) Insert(ctx context.Context, actor *uuid.UUID, action exchange.Action, object string, asAdmin bool,
	detail any) error {
	raw, err := sqldb.JSON(detail)
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, "INSERT INTO audit_events (actor_id, action, object, as_admin, at, state) VALUES "+
		"($1, $2, $3, $4, $5, $6)",
		actor, string(action), object, asAdmin, st.conn.Now, raw)
	st.acted(actor, action, object, "as_admin", asAdmin)
	return err
}

// acted has an event written to the log when the transaction commits.
func (st Audit) acted(actor *uuid.UUID, action exchange.Action, object string, more ...any) {
	if st.conn.Acts != nil {
		*st.conn.Acts = append(*st.conn.Acts,
			append([]any{"actor", actor, "action", action, "object", object}, more...))
	}
}

// AccessRefusal counts how often access was refused to somebody; Event is the audit event that counts earlier refusals,
// 0 if there is none.
type AccessRefusal struct {
	Event  int64
	Actor  uuid.UUID // uuid.Nil: nobody who is known
	Action exchange.Action
	Code   exchange.Code
	Object string
	Times  int64
}

// SaveRefusal notes a refusal, and returns the id of its event.
func (st Audit) SaveRefusal(ctx context.Context, r AccessRefusal) (int64, error) {
	var actor *uuid.UUID
	if r.Actor != uuid.Nil {
		actor = &r.Actor
	}
	st.acted(actor, r.Action, r.Object, "refused", r.Code, "times", r.Times)
	if r.Event != 0 {
		_, err := st.conn.Exec(ctx, "UPDATE audit_events SET times = times + $2 WHERE id = $1", r.Event, r.Times)
		return r.Event, err
	}
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO audit_events (actor_id, action, object, as_admin,
		at, state,
		refused,
		times)
		VALUES ($1, $2, $3, FALSE, $4, 'null', $5,
		$6) RETURNING id`, actor, string(r.Action), r.Object, st.conn.Now, string(r.Code), r.Times)
}

// ForgetRefusals deletes refusals before a moment.
func (st Audit) ForgetRefusals(ctx context.Context, before time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM audit_events WHERE refused <> '' AND at < $1", before)
	return err
}

// InsertVersion notes a change of an object with the state that it led to, under the object's
// next number. Whoever calls it holds the row of the object.
func (st Audit) InsertVersion(ctx context.Context, actor *uuid.UUID, action exchange.Action, object string,
	asAdmin bool,
	state any) error {
	return st.InsertVersions(ctx, actor, action, []Revision{{Object: object, AsAdmin: asAdmin, State: state}})
}

// Revision is an object in the state after a change.
type Revision struct {
	Object  string
	First   bool // it was made just now, so that it has no version
	AsAdmin bool
	State   any
}

// InsertVersions is InsertVersion for changes of different objects.
func (st Audit) InsertVersions(ctx context.Context, actor *uuid.UUID, action exchange.Action, list []Revision) error {
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		var args []any
		var values strings.Builder
		for i, k := range some {
			raw, err := sqldb.JSON(k.State)
			if err != nil {
				return err
			}
			st.acted(actor, action, k.Object, "as_admin", k.AsAdmin)
			args = append(args, actor, string(action), k.Object, k.AsAdmin, st.conn.Now, raw)
			if i > 0 {
				values.WriteString(", ")
			}
			n, version := 6*i, "1"
			if !k.First {
				version = fmt.Sprintf("(SELECT COALESCE(MAX(version), 0) + 1 FROM audit_events WHERE object = $%d)",
					n+3)
			}
			fmt.Fprintf(&values, "($%d, $%d, $%d, $%d, $%d, $%d, %s)", n+1, n+2, n+3, n+4, n+5, n+6, version)
		}
		if _, err := st.conn.Exec(ctx, "INSERT INTO audit_events (actor_id, action, object, as_admin, at, state, "+
			"version) VALUES "+values.String(), args...); err != nil {
			return err
		}
	}
	return nil
}

// RewriteVersions changes the states of versions after an id, at most limit of them. It returns how many there were,
// and the id of the last one.
func (st Audit) RewriteVersions(ctx context.Context, after int64, limit int,
	change func(string) (string, error)) (last int64, n int, err error) {
	list, err := Closing(st).rewrite(ctx, "audit_events", "state",
		"id > $1 AND version IS NOT NULL ORDER BY id LIMIT $2", change,
		after, limit)
	if len(list) == 0 {
		return after, 0, err
	}
	return list[len(list)-1].id, len(list), err
}

const actColumns = "o.id, o.actor_id, o.action, o.object, o.as_admin, o.at, o.version, o.refused, o.times"

func actFields(a *exchange.AuditEvent) []any {
	return []any{&a.ID, &a.Actor, &a.Action, &a.Object, &a.AsAdmin, sqldb.UTC(&a.At), &a.Version, &a.Refused, &a.Times}
}

// List lists what was noted.
func (st Audit) List(ctx context.Context, p exchange.Page,
	f exchange.AuditFilter) (exchange.ListPage[exchange.AuditEvent], error) {
	w := sqldb.Where("1 = 1")
	sqldb.AndEqual(w, "o.actor_id", f.Actor)
	sqldb.AndEqual(w, "o.object", f.Object)
	sqldb.AndEqual(w, "o.action", f.Action)
	sqldb.AndEqual(w, "o.as_admin", f.AsAdmin)
	if f.Refused != nil {
		w.And(map[bool]string{true: "o.refused <> ''", false: "o.refused = ''"}[*f.Refused])
	}
	if from, ok := f.From.Begin(); ok {
		w.And("o.at >= ?", from)
	}
	if to, ok := f.To.Begin(); ok {
		w.And("o.at < ?", to.AddDate(0, 0, 1))
	}
	l := sqldb.Listing[exchange.AuditEvent]{Columns: actColumns, Table: "audit_events",
		Scan:    func(r sqldb.Row, a *exchange.AuditEvent) error { return r.Scan(actFields(a)...) },
		ID:      func(a exchange.AuditEvent) int64 { return a.ID },
		Filters: map[string]sqldb.Condition{"actor": sqldb.Equals("o.actor_id")}}
	return l.Page(ctx, st.conn, p, w)
}

// Version is a change of an object as it is stored: JSON of the state that it led to and of the one before; Before is
// nil for the first.
type Version struct {
	exchange.AuditEvent
	State, Before json.RawMessage
}

var versions = sqldb.Listing[Version]{
	Columns: actColumns + ", o.state, p.state", Table: "audit_events",
	Joins: "LEFT JOIN audit_events p ON p.object = o.object AND p.version = o.version - 1",
	Scan: func(r sqldb.Row, v *Version) error {
		var before sql.NullString
		err := r.Scan(append(actFields(&v.AuditEvent), (*sqldb.RawText)(&v.State), &before)...)
		if before.Valid {
			v.Before = json.RawMessage(before.String)
		}
		return err
	},
	ID:      func(v Version) int64 { return v.ID },
	Filters: map[string]sqldb.Condition{"actor": sqldb.Equals("o.actor_id")},
}

// Versions lists the changes of an object; where before is not 0, those with a lower number.
func (st Audit) Versions(ctx context.Context, object string, before int64, p exchange.Page) (exchange.ListPage[Version],
	error) {
	w := sqldb.Where("o.object = ? AND o.version IS NOT NULL", object)
	if before != 0 {
		w.And("o.version < ?", before)
	}
	return versions.Page(ctx, st.conn, p, w)
}

// VersionState reads the state that a change of an object led to.
func (st Audit) VersionState(ctx context.Context, object string, version int64) (json.RawMessage, error) {
	state, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, state *sqldb.RawText) error { return r.Scan(state) },
		"SELECT o.state FROM audit_events o WHERE o.object = $1 AND o.version = $2", object, version)
	return json.RawMessage(state), err
}

// failedMail are the notifications o whose mail did not get through; there is an index of these alone.
const failedMail = "o.mail IN ('REFUSED', 'IN_DOUBT')"

// Overview counts what an admin looks after; requests count as stuck whose turn began before a moment.
func (st Admin) Overview(ctx context.Context, stuck time.Time) (exchange.Overview, error) {
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, o *exchange.Overview) error {
		return r.Scan(&o.Users, &o.Organizations, &o.Waiting, &o.Failed, &o.Stuck, &o.Mail)
	}, `SELECT (SELECT COUNT(*) FROM users), (SELECT COUNT(*) FROM organizations), (SELECT COUNT(*) FROM jobs
		WHERE due_at IS NOT NULL),
		(SELECT COUNT(*) FROM jobs WHERE ended_at IS NOT NULL AND state = 'FAILED'),
		(SELECT COUNT(*) FROM material_requests o WHERE o.party <> '' AND o.waiting_since < $1), (SELECT COUNT(*)
		FROM notifications o WHERE `+failedMail+")", stuck)
}

// StuckRequests lists the requests in which it is somebody's turn.
func (st Admin) StuckRequests(ctx context.Context, p exchange.Page,
	f request.StuckFilter) (exchange.ListPage[request.Detail], error) {
	w := sqldb.Where("o.party <> ''")
	sqldb.AndEqual(w, "o.party", f.Party)
	if f.Escalated != nil {
		sqldb.AndEqual(w, "o.escalates", new(!*f.Escalated))
		sqldb.AndEqual(w, "o.party", new(request.LabSide))
	}
	if f.Before != nil {
		w.And("o.waiting_since < ?", *f.Before)
	}
	l := sqldb.Listing[request.Detail]{Columns: requestColumns, Table: "material_requests", Joins: requestJoins,
		Scan: scanRequest,
		ID:   func(q request.Detail) int64 { return q.ID }}
	part, err := l.Page(ctx, st.conn, p, w)
	if err != nil {
		return part, err
	}
	return part, Requests(st).addDocuments(ctx, part.Items)
}

// FailedMail lists the notifications whose mail was refused, or may have been lost.
func (st Admin) FailedMail(ctx context.Context, p exchange.Page) (exchange.ListPage[notify.FailedMail], error) {
	l := sqldb.Listing[notify.FailedMail]{Columns: notificationColumns, Table: "notifications",
		Joins: notificationJoins,
		Scan:  func(r sqldb.Row, m *notify.FailedMail) error { return scanNotification(r, &m.Notification) },
		ID:    func(m notify.FailedMail) int64 { return m.ID }}
	part, err := l.Page(ctx, st.conn, p, sqldb.Where(failedMail))
	if err != nil {
		return part, err
	}
	var people []uuid.UUID
	for _, m := range part.Items {
		people = append(people, m.User)
	}
	readers, err := Mail(st).readers(ctx, people)
	for i := range part.Items {
		m := &part.Items[i]
		m.To, m.Refused = readers[m.User].User, readers[m.User].Mail.Refused
	}
	return part, err
}

// readers reads people with how they want mail.
func (st Mail) readers(ctx context.Context, people []uuid.UUID) (map[uuid.UUID]Reader, error) {
	byID := map[uuid.UUID]Reader{}
	places, args := sqldb.In(nil, people)
	list, err := sqldb.All(ctx, st.conn, scanReader, "SELECT "+userColumns+", "+mailColumns+
		` FROM users u LEFT JOIN mail_settings s ON s.user_id = u.id
		WHERE u.id IN (`+places+")", args...)
	for _, p := range list {
		byID[p.ID] = p
	}
	return byID, err
}
