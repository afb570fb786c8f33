// Package insight is the SQL of the daily counts of organizations.
package insight

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"
)

// Insights stores daily counts of an organization.
type Insights struct{ conn *sqldb.Conn }

// NewInsights returns the store on a connection.
func New(c *sqldb.Conn) Insights { return Insights{c} }

// What insights tell of days that are over is stored, a row for each day in which something happened to requests of an
// organization, and each category of their materials. insight_marks says until which day: what is later, or was
// forgotten, is computed from the turns themselves.

// Mark returns the day until before which an organization's days are stored, "" where none is.
func (st Insights) Mark(ctx context.Context, organization int64) (string, error) {
	day, err := sqldb.One(ctx, st.conn, sqldb.Value[string], "SELECT until_day FROM insight_marks WHERE "+
		"organization_id = $1",
		organization)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = nil
	}
	return day, err
}

// MarkForUpdate is Insights.Mark, and keeps others from changing what is stored until commit.
func (st Insights) MarkForUpdate(ctx context.Context, organization int64) (string, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[string], `INSERT INTO insight_marks (organization_id, until_day)
		VALUES ($1, '')
		ON CONFLICT (organization_id) DO UPDATE
		SET until_day = insight_marks.until_day RETURNING until_day`, organization)
}

// SetMark says until which day an organization's days are stored.
func (st Insights) SetMark(ctx context.Context, organization int64, day string) error {
	_, err := st.conn.Exec(ctx, "UPDATE insight_marks SET until_day = $2 WHERE organization_id = $1", organization, day)
	return err
}

// Forget deletes the days from one on of an organization in whose past something changed; "" forgets all.
func (st Insights) Forget(ctx context.Context, organization int64, day string) error {
	if _, err := st.conn.Exec(ctx, `INSERT INTO insight_marks (organization_id, until_day) VALUES ($1, '')
		ON CONFLICT (organization_id) DO UPDATE
		SET until_day = CASE WHEN insight_marks.until_day > $2 THEN $2 ELSE insight_marks.until_day END`,
		organization, day); err != nil {
		return err
	}
	_, err := st.conn.Exec(ctx, "DELETE FROM insight_days WHERE organization_id = $1 AND day >= $2", organization, day)
	return err
}

// FirstTurn is when the first turn in a request of an organization began; NotFound if there is none.
func (st Insights) FirstTurn(ctx context.Context, organization int64) (time.Time, error) {
	return sqldb.One(ctx, st.conn, func(r sqldb.Row, t *time.Time) error { return r.Scan(sqldb.UTC(t)) },
		"SELECT began_at FROM request_turns WHERE organization_id = $1 ORDER BY began_at LIMIT 1", organization)
}

// AccountsWithin reads the accounts, until before a moment, of those requests of an organization in which a turn began
// from another moment on.
func (st Insights) AccountsWithin(ctx context.Context, organization int64, from,
	until time.Time) (list []request.TurnHistory, err error) {
	var last int64
	_, err = sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var t request.TurnRecord
		var a request.TurnHistory
		var address *person.Address
		if err := r.Scan(&t.RequestID, &t.Seq, &t.Status, &t.Side, sqldb.FromJSON(&t.What), sqldb.UTC(&t.BeganAt),
			&a.Material,
			&a.Category, sqldb.FromJSON(&address)); err != nil {
			return err
		}
		if t.RequestID != last {
			last, list = t.RequestID, append(list, a)
		}
		at := &list[len(list)-1]
		if at.Turns = append(at.Turns, t); address != nil {
			at.Country = address.Country
		}
		return nil
	}, `SELECT t.request_id, t.seq, t.status, t.party, t.what, t.began_at, r.material_id, m.category,
			CASE WHEN t.status = 'VERIFIED_FULFILLED' AND r.address IS NOT NULL THEN r.address ELSE 'null' END
		FROM request_turns t JOIN material_requests r ON r.id = t.request_id JOIN materials m ON m.id = r.material_id
		WHERE t.request_id IN (SELECT n.request_id FROM request_turns n WHERE n.organization_id = $1
		AND n.began_at >= $2 AND n.began_at < $3)
			AND t.began_at < $3
		ORDER BY t.request_id, t.seq`, organization, from, until)
	return list, err
}

// InsightDay is what is stored of a day and a category.
type Day struct {
	Day, Category string
	Figures       request.InsightCounts
}

// Insert keeps days.
func (st Insights) Insert(ctx context.Context, organization int64, list []Day) error {
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		var args []any
		for _, d := range some {
			figures, err := sqldb.JSON(d.Figures)
			if err != nil {
				return err
			}
			args = append(args, organization, d.Day, d.Category, d.Figures.New, d.Figures.Progress, figures)
		}
		if _, err := st.conn.Exec(ctx, "INSERT INTO insight_days (organization_id, day, category, more_new, "+
			"more_progress, "+
			"figures) VALUES "+
			sqldb.Places(len(some), 6), args...); err != nil {
			return err
		}
	}
	return nil
}

// List reads the days that are stored from one on, of a category or of all ("").
func (st Insights) List(ctx context.Context, organization int64, category, from string) ([]Day, error) {
	scan := func(r sqldb.Row, d *Day) error { return r.Scan(&d.Day, &d.Category, sqldb.FromJSON(&d.Figures)) }
	return sqldb.All(ctx, st.conn, scan, `SELECT day, category, figures FROM insight_days WHERE organization_id = $1
		AND day >= $2
		AND ($3 = '' OR category = $3)
		ORDER BY day, category`, organization, from, category)
}

// StandingBefore returns how many requests stood new and in progress at the beginning of a day, as far as days are
// stored, of a category or of all ("").
func (st Insights) StandingBefore(ctx context.Context, organization int64, category,
	day string) (f request.InsightCounts,
	err error) {
	scan := func(r sqldb.Row, f *request.InsightCounts) error { return r.Scan(&f.New, &f.Progress) }
	return sqldb.One(ctx, st.conn, scan, `SELECT CAST(COALESCE(SUM(more_new), 0) AS BIGINT),
		CAST(COALESCE(SUM(more_progress),
		0) AS BIGINT)
		FROM insight_days WHERE organization_id = $1 AND day < $2 AND ($3 = ''
		OR category = $3)`, organization, day, category)
}
