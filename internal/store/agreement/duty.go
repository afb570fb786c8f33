package agreement

import (
	"context"
	"strings"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Duties stores what is owed after agreements were executed.
type Duties struct{ conn *sqldb.Conn }

// NewDuties returns the store on a connection.
func NewDuties(c *sqldb.Conn) Duties { return Duties{c} }

const dutyColumns = `o.id, o.agreement, o.term, o.due_on, o.reminded, o.state, o.text, o.settled_by, o.settled_at,
	o.created_at, o.updated_at`

func scanDuty(r sqldb.Row, d *duty.Duty) error {
	var by uuid.NullUUID
	err := r.Scan(&d.ID, &d.Agreement, &d.Term, &d.DueOn, &d.Reminded, &d.State, &d.Text, &by,
		sqldb.UTCOrNull(&d.SettledAt), sqldb.UTC(&d.CreatedAt), sqldb.UTC(&d.UpdatedAt))
	d.SettledBy = by.UUID
	return err
}

// Of reads the duties of an agreement, in the order of its terms.
func (st Duties) Of(ctx context.Context, agreement int64) ([]duty.Duty, error) {
	return sqldb.All(ctx, st.conn, scanDuty, "SELECT "+dutyColumns+
		" FROM agreement_duties o WHERE o.agreement = $1 ORDER BY o.id", agreement)
}

// Get reads one duty.
func (st Duties) Get(ctx context.Context, id int64) (duty.Duty, error) {
	return sqldb.One(ctx, st.conn, scanDuty, "SELECT "+dutyColumns+" FROM agreement_duties o WHERE o.id = $1", id)
}

// Due reads the duties that are due until a day, some of them past an id, by id, and locks them.
func (st Duties) Due(ctx context.Context, until exchange.Date, after int64, limit int) ([]duty.Duty, error) {
	return sqldb.All(ctx, st.conn, scanDuty, "SELECT "+dutyColumns+` FROM agreement_duties o WHERE o.state = 'OWED'
		AND o.due_on <> '' AND o.due_on <= $1 AND o.id > $2 ORDER BY o.id LIMIT $3`+st.conn.Dialect().ForUpdate,
		string(until), after, limit)
}

// OfPerson reads the duties of the agreements of a requester that are due until a day, the first due first.
func (st Duties) OfPerson(ctx context.Context, requester uuid.UUID, until exchange.Date,
	limit int) ([]duty.Duty, error) {
	return sqldb.All(ctx, st.conn, scanDuty, "SELECT "+dutyColumns+` FROM agreement_duties o
		JOIN agreements a ON a.id = o.agreement WHERE a.requester = $1 AND o.state = 'OWED' AND o.due_on <> ''
		AND o.due_on <= $2 ORDER BY o.due_on, o.id LIMIT $3`, requester, string(until), limit)
}

// Insert adds duties.
func (st Duties) Insert(ctx context.Context, list []duty.Duty) error {
	if len(list) == 0 {
		return nil
	}
	var args []any
	for _, d := range list {
		args = append(args, d.Agreement, string(d.Term), string(d.DueOn), d.Reminded, string(d.State), d.Text,
			d.CreatedAt, d.UpdatedAt)
	}
	_, err := st.conn.Exec(ctx, `INSERT INTO agreement_duties (agreement, term, due_on, reminded, state, text,
		created_at, updated_at) VALUES `+sqldb.Places(len(list), 8), args...)
	return err
}

// Update saves a duty.
func (st Duties) Update(ctx context.Context, d duty.Duty) error {
	_, err := st.conn.Exec(ctx, `UPDATE agreement_duties SET due_on = $2, reminded = $3, state = $4, text = $5,
		settled_by = $6, settled_at = $7, updated_at = $8 WHERE id = $1`, d.ID, string(d.DueOn), d.Reminded,
		string(d.State), d.Text, uuid.NullUUID{UUID: d.SettledBy, Valid: d.SettledBy != uuid.Nil}, d.SettledAt,
		d.UpdatedAt)
	return err
}

// Close closes executed agreements of which nothing is owed any more: every duty is settled, and each of their requests
// was fulfilled or ended. id 0 is all of them.
func (st Duties) Close(ctx context.Context, id int64) error {
	where, args := []string{"state = 'EXECUTED'", "closed_at IS NULL"}, []any{st.conn.Now}
	if id != 0 {
		where, args = append(where, "id = $2"), append(args, id)
	}
	_, err := st.conn.Exec(ctx, "UPDATE agreements SET closed_at = $1 WHERE "+strings.Join(where, " AND ")+`
		AND NOT EXISTS (SELECT 1 FROM agreement_duties d WHERE d.agreement = agreements.id AND d.state = 'OWED')
		AND NOT EXISTS (SELECT 1 FROM agreement_requests r JOIN material_requests q ON q.id = r.request
			WHERE r.agreement = agreements.id AND r.live AND q.deleted_at IS NULL
			AND q.status IN ('OPEN', 'APPROVED', 'IN_FULFILLMENT'))`, args...)
	return err
}
