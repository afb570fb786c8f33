package store

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// BeginEpoch begins an epoch of searches, and returns it. It waits for the transactions that save materials now; those
// that come later wait for this one. So whatever was saved in an earlier epoch is in sight.
func (st Alerts) BeginEpoch(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "UPDATE search_epochs SET epoch = epoch + 1 RETURNING epoch")
}

// epoch is the present epoch of searches, which does not end before the transaction.
func (st Alerts) epoch(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT epoch FROM search_epochs"+st.conn.Dialect().ForShare)
}

// noteChanges has alerts look at materials that were saved, unless nobody ever saved a search.
func (st Alerts) noteChanges(ctx context.Context, epoch int64, list []material.Material) error {
	if epoch == 0 {
		return nil
	}
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		var args []any
		for _, m := range some {
			args = append(args, m.ID)
		}
		if _, err := st.conn.Exec(ctx, "INSERT INTO material_changes (material_id) VALUES "+sqldb.Places(len(some), 1),
			args...); err != nil {
			return err
		}
	}
	return nil
}

// EmbargoDay is the day up to which alerts know of embargoes that ended.
func (st Alerts) EmbargoDay(ctx context.Context) (string, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[string], "SELECT day FROM embargo_days")
}

// EndEmbargoes has alerts look at materials whose embargo ended since EmbargoDay, which is today from now
// on: an earlier day too, where the clock was set back, so that embargoes which end then end again.
func (st Alerts) EndEmbargoes(ctx context.Context) error {
	day, err := sqldb.One(ctx, st.conn, sqldb.Value[string], "SELECT day FROM embargo_days"+st.conn.Dialect().ForUpdate)
	if err != nil {
		return err
	}
	today := st.conn.Today()
	if _, err := st.conn.Exec(ctx, "INSERT INTO material_changes (material_id) SELECT id FROM materials m WHERE "+
		"embargo_date > $1 AND embargo_date <= $2 AND "+published("m"),
		day, today); err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, "UPDATE embargo_days SET day = $1", today)
	return err
}

// MaterialChange records that saved searches must be checked against a material.
type MaterialChange struct {
	ID       int64
	Material int64
	Archived bool
	Opened   int64  // the epoch from which on everybody could see it, but for an embargo that ended since
	Embargo  string // the day on which it ended; "": there was none
}

// MayBeNew reports whether the material may be new to a saved search. Whether it is, AddMatches decides.
func (n MaterialChange) MayBeNew(since material.AlertStart) bool {
	return !n.Archived && (n.Opened >= since.Epoch || n.Embargo > since.Day)
}

// Changes returns the first materials that saved searches must be checked against.
func (st Alerts) Changes(ctx context.Context, limit int) ([]MaterialChange, error) {
	scan := func(r sqldb.Row, n *MaterialChange) error {
		return r.Scan(&n.ID, &n.Material, &n.Archived, &n.Opened, &n.Embargo)
	}
	return sqldb.All(ctx, st.conn, scan, `SELECT n.id, m.id, m.is_archived, m.opened_in, COALESCE(m.embargo_date, '')
		FROM material_changes n
		JOIN materials m ON m.id = n.material_id ORDER BY n.id LIMIT $1`, limit)
}

// DeleteChanges deletes changes that alerts looked at.
func (st Alerts) DeleteChanges(ctx context.Context, list []MaterialChange) error {
	for some := range slices.Chunk(list, sqldb.MaxIn) {
		ids := make([]int64, len(some))
		for i, n := range some {
			ids[i] = n.ID
		}
		places, args := sqldb.In(nil, ids)
		if _, err := st.conn.Exec(ctx, "DELETE FROM material_changes WHERE id IN ("+places+")", args...); err != nil {
			return err
		}
	}
	return nil
}

// Searches are the first saved searches with an id above after whose people want alerts.
func (st Alerts) Searches(ctx context.Context, after int64, limit int) ([]material.SavedSearch, error) {
	return sqldb.All(ctx, st.conn, scanSavedSearch, "SELECT "+savedSearchColumns+
		" FROM saved_searches o WHERE o.alerts AND o.id > $1 ORDER BY o.id LIMIT $2", after, limit)
}

// visibleTo is a condition on the materials m: they are offered, and the user of the column may see them.
func visibleTo(user, today string) string {
	return "NOT m.is_archived AND " + published("m") + " AND (m.embargo_date IS NULL OR m.embargo_date <= " + today +
		" OR " + memberOfMaterials(user) + ")"
}

// memberOfMaterials is the condition that the user of a column is in the organization of the material m.
func memberOfMaterials(user string) string {
	return "EXISTS (SELECT 1 FROM memberships b WHERE b.organization_id = m.organization_id AND b.user_id = " + user +
		" AND b.left_at IS NULL)"
}

// AddMatches notes that materials, which match a saved search, are new in it, so far as they are, its person
// may see them and did not list them, and the search is still the same.
func (st Alerts) AddMatches(ctx context.Context, s material.SavedSearch, materials []int64) error {
	lock := st.conn.Dialect().ForShare
	if lock != "" {
		lock += " OF s"
	}
	for some := range slices.Chunk(materials, sqldb.MaxIn) {
		places, args := sqldb.In([]any{s.ID, s.Since.Epoch, st.conn.Today()}, some)
		_, err := st.conn.Exec(ctx, `INSERT INTO search_matches (saved_search_id, material_id, told)
			SELECT s.id, m.id, FALSE FROM saved_searches s JOIN materials m ON m.id IN (`+places+`)
			WHERE s.id = $1 AND s.since_epoch = $2 AND s.alerts AND `+visibleTo("s.user_id", "$3")+`
				AND (m.listed_in >= s.since_epoch OR (m.opened_in >= s.since_epoch OR m.embargo_date > s.since_day)
				AND NOT `+memberOfMaterials("s.user_id")+`)
				AND NOT EXISTS (SELECT 1 FROM audit_events a WHERE a.object = 'material ' || m.id AND a.version = 1
				AND a.actor_id = s.user_id)`+
			lock+" ON CONFLICT DO NOTHING", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// SearchesToTell returns the first saved searches with new matches of which their users were not notified.
func (st Alerts) SearchesToTell(ctx context.Context, limit int) ([]material.SavedSearch, error) {
	return sqldb.All(ctx, st.conn, scanSavedSearch, "SELECT "+savedSearchColumns+` FROM saved_searches o
		WHERE o.id IN (SELECT DISTINCT n.saved_search_id FROM search_matches n WHERE NOT n.told
		ORDER BY n.saved_search_id LIMIT $1) ORDER BY o.id`, limit)
}

// TakeMatches returns what is new in a saved search and records that its person is notified of it: nobody else
// gets it. What they may not see any more is forgotten.
func (st Alerts) TakeMatches(ctx context.Context, s material.SavedSearch) (m notify.Match, err error) {
	if _, err := st.conn.Exec(ctx, `DELETE FROM search_matches WHERE saved_search_id = $1 AND NOT told
		AND NOT EXISTS (SELECT 1 FROM materials m WHERE m.id = material_id AND `+visibleTo("$2", "$3")+")",
		s.ID, s.UserID, st.conn.Today()); err != nil {
		return m, err
	}
	ids, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], "UPDATE search_matches SET told = TRUE WHERE "+
		"saved_search_id = $1 "+
		"AND NOT told RETURNING material_id", s.ID)
	if err != nil || len(ids) == 0 {
		return m, err
	}
	slices.SortFunc(ids, func(x, y int64) int { return int(y - x) })
	m = notify.Match{Search: s, Count: len(ids)}
	m.Materials, err = st.MaterialPayloads(ctx, s.UserID, ids[:min(len(ids), notify.MaxNamed)])
	return m, err
}

// MaterialPayloads names those of some materials that a user may see now, the newest first.
func (st Alerts) MaterialPayloads(ctx context.Context, user uuid.UUID, ids []int64) ([]notify.MaterialPayload, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	places, args := sqldb.In([]any{user, st.conn.Today()}, ids)
	scan := func(r sqldb.Row, m *notify.MaterialPayload) error { return r.Scan(&m.ID, &m.Title) }
	return sqldb.All(ctx, st.conn, scan, "SELECT m.id, m.title FROM materials m WHERE m.id IN ("+places+") AND "+
		visibleTo("$1", "$2")+" ORDER BY m.id DESC", args...)
}

const savedSearchColumns = `o.id, o.user_id, o.name, o.search, o.filters, o.alerts, o.since_epoch, o.since_day,
	o.created_at, o.updated_at`

func scanSavedSearch(r sqldb.Row, s *material.SavedSearch) error {
	return r.Scan(&s.ID, &s.UserID, &s.Name, &s.Search, sqldb.FromJSON(&s.Filters), &s.Alerts, &s.Since.Epoch,
		&s.Since.Day,
		sqldb.UTC(&s.CreatedAt), sqldb.UTC(&s.UpdatedAt))
}

// Get reads one saved search of a user.
func (st SavedSearches) Get(ctx context.Context, user uuid.UUID, id int64) (material.SavedSearch, error) {
	return sqldb.One(ctx, st.conn, scanSavedSearch, "SELECT "+savedSearchColumns+
		" FROM saved_searches o WHERE o.user_id = $1 AND o.id = $2", user, id)
}

// ForUpdate reads one saved search of a user and locks it until commit.
func (st SavedSearches) ForUpdate(ctx context.Context, user uuid.UUID, id int64) (material.SavedSearch, error) {
	return sqldb.One(ctx, st.conn, scanSavedSearch, "SELECT "+savedSearchColumns+
		" FROM saved_searches o WHERE o.user_id = $1 AND o.id = $2"+st.conn.Dialect().ForUpdate, user, id)
}

// List lists a user's saved searches.
func (st SavedSearches) List(ctx context.Context, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[material.SavedSearch], error) {
	l := sqldb.Listing[material.SavedSearch]{Columns: savedSearchColumns, Table: "saved_searches",
		Scan:    scanSavedSearch,
		ID:      func(s material.SavedSearch) int64 { return s.ID },
		Filters: map[string]sqldb.Condition{"user": sqldb.Equals("o.user_id")}}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.user_id = ?", user))
}

// Insert adds a saved search and returns its id.
func (st SavedSearches) Insert(ctx context.Context, s material.SavedSearch) (int64, error) {
	filters, err := sqldb.JSON(s.Filters)
	if err != nil {
		return 0, err
	}
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO saved_searches (user_id, name, name_sort, search,
		filters,
		alerts,
		since_epoch, since_day, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING id`,
		s.UserID, s.Name, exchange.SortKey(s.Name), s.Search, filters, s.Alerts, s.Since.Epoch, s.Since.Day,
		st.conn.Now)
}

// Update saves a saved search, which is locked.
func (st SavedSearches) Update(ctx context.Context, s material.SavedSearch) error {
	filters, err := sqldb.JSON(s.Filters)
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, `UPDATE saved_searches SET name = $2, name_sort = $3, search = $4, filters = $5,
		alerts = $6,
		since_epoch = $7, since_day = $8,
		updated_at = $9 WHERE id = $1`,
		s.ID, s.Name, exchange.SortKey(s.Name), s.Search, filters, s.Alerts, s.Since.Epoch, s.Since.Day, s.UpdatedAt)
	return err
}

// Delete deletes a saved search with what was new in it.
func (st SavedSearches) Delete(ctx context.Context, id int64) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM saved_searches WHERE id = $1", id)
	return err
}

// ForgetMatches deletes what was new in a saved search: what its user was notified of may be new again.
func (st SavedSearches) ForgetMatches(ctx context.Context, search int64) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM search_matches WHERE saved_search_id = $1", search)
	return err
}
