package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// mailColumns are the settings of the user u, whether they have a row of them or not.
const mailColumns = `COALESCE(s.delivery, ''), COALESCE(s.time_zone, ''), s.quiet_from, s.quiet_until,
	COALESCE(s.digest_at, 0), COALESCE(s.digest_day, 0),
	s.muted, COALESCE(s.refused_address, ''), COALESCE(s.refused_reason, ''), s.refused_at, s.updated_at`

// mailScan reads mailColumns; settings gives them afterwards.
type mailScan struct {
	s                mailing.Settings
	refused          mailing.Rejection
	refusedAt, saved *time.Time
}

func (m *mailScan) fields() []any {
	return []any{&m.s.Delivery, &m.s.TimeZone, &m.s.QuietFrom, &m.s.QuietUntil, &m.s.DigestAt, &m.s.DigestDay,
		sqldb.FromJSON(&m.s.Muted), &m.refused.Address, &m.refused.Reason, sqldb.UTCOrNull(&m.refusedAt),
		sqldb.UTCOrNull(&m.saved)}
}

func (m *mailScan) settings(user uuid.UUID) mailing.Settings {
	if m.saved == nil {
		return mailing.Default(user)
	}
	m.s.User, m.s.UpdatedAt = user, *m.saved
	if m.refused.Address != "" && m.refusedAt != nil {
		m.refused.At = *m.refusedAt
		m.s.Refused = &m.refused
	}
	return m.s
}

// Reader is a person to whom mail may go.
type Reader struct {
	person.User
	Mail mailing.Settings
}

func scanReader(r sqldb.Row, p *Reader) error {
	var m mailScan
	err := r.Scan(append(userFields(&p.User), m.fields()...)...)
	p.Mail = m.settings(p.ID)
	return err
}

// Reader reads one person with how they want mail.
func (st Mail) Reader(ctx context.Context, user uuid.UUID) (Reader, error) {
	return sqldb.One(ctx, st.conn, scanReader, "SELECT "+userColumns+", "+mailColumns+
		" FROM users u LEFT JOIN mail_settings s ON s.user_id = u.id WHERE u.id = $1", user)
}

// maxCounted is up to where each page counts what is new: it says "99+" if there is more.
const maxCounted = "100"

// VisitorState is a person with the counts that every page shows them.
type VisitorState struct {
	Reader        // whose mail settings say their time zone
	Unread  int64 // notifications, up to maxCounted
	Waiting int64 // requests in which it is their turn, likewise
	Basket  int64 // materials in their basket
}

// Visitor reads somebody with what pages tell them.
func (st Mail) Visitor(ctx context.Context, user uuid.UUID) (VisitorState, error) {
	scan := func(r sqldb.Row, v *VisitorState) error {
		var m mailScan
		err := r.Scan(append(append(userFields(&v.User), m.fields()...), &v.Unread, &v.Waiting, &v.Basket)...)
		v.Mail = m.settings(v.ID)
		return err
	}
	mine := make([]string, len(inboxes[request.OnMe]))
	for i, arm := range inboxes[request.OnMe] {
		mine[i] = "(SELECT COUNT(*) FROM (SELECT 1 FROM material_requests o WHERE o.deleted_at IS NULL AND " +
			strings.ReplaceAll(arm, "?", "u.id") + " LIMIT " + maxCounted + ") first)"
	}
	return sqldb.One(ctx, st.conn, scan, "SELECT "+userColumns+", "+mailColumns+`, (SELECT COUNT(*) FROM (SELECT 1
		FROM notifications n WHERE n.user_id = u.id AND n.read_at IS NULL LIMIT `+maxCounted+`) first),
		`+strings.Join(mine, " + ")+", (SELECT COUNT(*) FROM basket_items b WHERE b.user_id = u.id) "+
		"FROM users u LEFT JOIN mail_settings s ON s.user_id = u.id WHERE u.id = $1", user)
}

// ReaderForUpdate reads one person, and locks them until commit. The settings, which may have no row to lock, are read
// by a statement of their own, which sees what others committed meanwhile.
func (st Mail) ReaderForUpdate(ctx context.Context, user uuid.UUID) (Reader, error) {
	if _, err := Users(st).ForUpdate(ctx, user); err != nil {
		return Reader{}, err
	}
	return st.Reader(ctx, user)
}

// SaveSettings keeps how a person wants mail.
func (st Mail) SaveSettings(ctx context.Context, s mailing.Settings) error {
	muted, err := sqldb.JSON(s.Muted)
	if err != nil {
		return err
	}
	var refused mailing.Rejection
	var refusedAt *time.Time
	if s.Refused != nil {
		refused, refusedAt = *s.Refused, &s.Refused.At
	}
	_, err = st.conn.Exec(ctx, `INSERT INTO mail_settings (user_id, delivery, time_zone, quiet_from, quiet_until,
		digest_at,
		digest_day, muted,
			refused_address, refused_reason, refused_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (user_id) DO UPDATE SET delivery = excluded.delivery, time_zone = excluded.time_zone,
		quiet_from = excluded.quiet_from,
			quiet_until = excluded.quiet_until, digest_at = excluded.digest_at, digest_day = excluded.digest_day,
			muted = excluded.muted,
			refused_address = excluded.refused_address, refused_reason = excluded.refused_reason,
			refused_at = excluded.refused_at,
			updated_at = excluded.updated_at`,
		s.User, string(s.Delivery), s.TimeZone, s.QuietFrom, s.QuietUntil, int(s.DigestAt), int(s.DigestDay), muted,
		refused.Address, refused.Reason, refusedAt, st.conn.Now)
	return err
}

// ToMail is a notification that nobody looked at yet for mail, and whom it is to.
type ToMail struct {
	Notification int64
	Kind         notify.NotificationKind
	Category     mailing.Category
	Address      string
	Mail         mailing.Settings
}

// OfEvent reads those of an event that nobody looked at yet for mail.
func (st Mail) OfEvent(ctx context.Context, event int64, limit int) ([]ToMail, error) {
	return st.toMail(ctx, "n.event_id", event, limit)
}

// OfAnnouncement is Mail.OfEvent for news.
func (st Mail) OfAnnouncement(ctx context.Context, news int64, limit int) ([]ToMail, error) {
	return st.toMail(ctx, "n.news_id", news, limit)
}

func (st Mail) toMail(ctx context.Context, column string, id int64, limit int) ([]ToMail, error) {
	scan := func(r sqldb.Row, t *ToMail) error {
		var m mailScan
		var user uuid.UUID
		err := r.Scan(append([]any{&t.Notification, &t.Kind, &t.Category, &user, &t.Address}, m.fields()...)...)
		t.Mail = m.settings(user)
		return err
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT n.id, COALESCE(e.kind, w.kind), n.category, u.id, u.email, "+
		mailColumns+
		` FROM notifications n JOIN users u ON u.id = n.user_id
		LEFT JOIN request_events e ON e.id = n.event_id LEFT JOIN news w ON w.id = n.news_id LEFT JOIN mail_settings s
		ON s.user_id = u.id WHERE `+column+` = $1 AND n.mail = 'NEW' ORDER BY n.id LIMIT $2`, id, limit)
}

// SetState sets the state of the mail about notifications that were in a state. That state is in the text: SQLite would
// compare a bound one with the conditions of the indexes, and so parse the statement again each time.
func (st Mail) SetState(ctx context.Context, was, now mailing.State, ids ...int64) error {
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In([]any{string(now)}, some)
		if _, err := st.conn.Exec(ctx, "UPDATE notifications SET mail = $1 WHERE mail = '"+string(was)+"' AND id IN ("+
			places+")", args...); err != nil {
			return err
		}
	}
	return nil
}

// NoneSoFar reports whether no mail is wanted about what nobody looked at yet.
func (st Mail) NoneSoFar(ctx context.Context) error {
	_, err := st.conn.Exec(ctx, "UPDATE notifications SET mail = 'NOT_WANTED' WHERE mail = 'NEW'")
	return err
}

// DigestSince is since when something waits in a state for mail that tells a person of all of it; some is false where
// nothing does.
func (st Mail) DigestSince(ctx context.Context, user uuid.UUID, waits mailing.State) (since time.Time, some bool,
	err error) {
	scan := func(r sqldb.Row, t *time.Time) error { return r.Scan(sqldb.UTC(t)) }
	list, err := sqldb.All(ctx, st.conn, scan, "SELECT created_at FROM notifications WHERE user_id = $1 AND mail = "+
		waiting(waits)+
		" ORDER BY id LIMIT 1", user)
	if err != nil || len(list) == 0 {
		return time.Time{}, false, err
	}
	return list[0], true, nil
}

// DigestIDs are the oldest notifications that wait like that. It locks them.
func (st Mail) DigestIDs(ctx context.Context, user uuid.UUID, waits mailing.State, limit int) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT id FROM notifications WHERE user_id = $1 AND mail = "+
		waiting(waits)+
		" ORDER BY id LIMIT $2"+st.conn.Dialect().ForUpdate, user, limit)
}

// waiting is the state in the words of the index that has those notifications.
func waiting(state mailing.State) string {
	if state == mailing.Held {
		return "'HELD'"
	}
	return "'DIGEST'"
}

// MailCount is how much mail one person has caused to one recipient.
type MailCount struct {
	Recipient string
	Since     time.Time  // the beginning of the present span of time
	Sent      int        // messages since then
	Met       *time.Time // when the person last turned to them first; nil: never
}

// Count counts one message of a person to each recipient, in spans of time that begin with their first message;
// first: the person turns to them first, which counts once a day.
func (st Mail) Count(ctx context.Context, actor uuid.UUID, recipients []string, span, day time.Duration,
	first bool) (list []MailCount, err error) {
	var met *time.Time
	if first {
		met = &st.conn.Now
	}
	scan := func(r sqldb.Row, m *MailCount) error {
		return r.Scan(&m.Recipient, sqldb.UTC(&m.Since), &m.Sent, sqldb.UTCOrNull(&m.Met))
	}
	// those who count at the same time lock rows in the same order
	recipients = slices.Sorted(slices.Values(recipients))
	for some := range sqldb.Batches(recipients, sqldb.MaxIn) {
		args := []any{actor, st.conn.Now, met, st.conn.Now.Add(-span), st.conn.Now.Add(-day)}
		rows := make([]string, len(some))
		for i, recipient := range some {
			args = append(args, recipient)
			rows[i] = fmt.Sprintf("($1, $%d, $2, 1, $3)", len(args))
		}
		counted, err := sqldb.All(ctx, st.conn, scan,
			"INSERT INTO mail_counts (actor_id, recipient, since, sent, met) "+
				"VALUES "+
				strings.Join(rows, ", ")+`
			ON CONFLICT (actor_id, recipient) DO UPDATE SET
				sent = CASE WHEN mail_counts.since > $4 THEN mail_counts.sent + 1 ELSE 1 END,
				since = CASE WHEN mail_counts.since > $4 THEN mail_counts.since ELSE excluded.since END,
				met = CASE WHEN excluded.met IS NULL OR mail_counts.met > $5 THEN mail_counts.met ELSE excluded.met END
			RETURNING recipient, since, sent, met`, args...)
		if err != nil {
			return nil, err
		}
		list = append(list, counted...)
	}
	return list, nil
}

// Contacts counts the people whom somebody turned to first since a moment.
func (st Mail) Contacts(ctx context.Context, actor uuid.UUID, since time.Time) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int],
		"SELECT COUNT(*) FROM mail_counts WHERE actor_id = $1 AND met > $2", actor,
		since)
}

// DeleteCounts deletes what counts for no limit any more.
func (st Mail) DeleteCounts(ctx context.Context, before time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM mail_counts WHERE since < $1 AND (met IS NULL OR met < $1)", before)
	return err
}
