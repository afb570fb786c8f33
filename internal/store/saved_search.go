package store

import (
	"context"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

const savedSearchColumns = `o.id, o.user_id, o.name, o.search, o.filters, o.alerts, o.since_epoch, o.since_day,
	o.created_at, o.updated_at`

func scanSavedSearch(r row, s *exchange.SavedSearch) error {
	return r.Scan(&s.ID, &s.UserID, &s.Name, &s.Search, fromJSON{&s.Filters}, &s.Alerts, &s.Since.Epoch, &s.Since.Day,
		utc{&s.CreatedAt}, utc{&s.UpdatedAt})
}

// Get reads one saved search of a user.
func (st SavedSearches) Get(ctx context.Context, user uuid.UUID, id int64) (exchange.SavedSearch, error) {
	return one(ctx, st.conn, scanSavedSearch, "SELECT "+savedSearchColumns+
		" FROM saved_searches o WHERE o.user_id = $1 AND o.id = $2", user, id)
}

// ForUpdate reads one saved search of a user and keeps others from changing it until commit.
func (st SavedSearches) ForUpdate(ctx context.Context, user uuid.UUID, id int64) (exchange.SavedSearch, error) {
	return one(ctx, st.conn, scanSavedSearch, "SELECT "+savedSearchColumns+
		" FROM saved_searches o WHERE o.user_id = $1 AND o.id = $2"+st.conn.db.dialect.forUpdate, user, id)
}

// List lists a user's saved searches.
func (st SavedSearches) List(ctx context.Context, user uuid.UUID,
	p exchange.Page) (exchange.ListPage[exchange.SavedSearch], error) {
	l := listing[exchange.SavedSearch]{columns: savedSearchColumns, table: "saved_searches", scan: scanSavedSearch,
		id:      func(s exchange.SavedSearch) int64 { return s.ID },
		filters: map[string]condition{"user": equals("o.user_id")}}
	return l.page(ctx, st.conn, p, where("o.user_id = ?", user))
}

// Insert adds a saved search and gives its id.
func (st SavedSearches) Insert(ctx context.Context, s exchange.SavedSearch) (int64, error) {
	filters, err := text(s.Filters)
	if err != nil {
		return 0, err
	}
	return one(ctx, st.conn, value[int64], `INSERT INTO saved_searches (user_id, name, name_sort, search, filters,
		alerts,
		since_epoch, since_day, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING id`,
		s.UserID, s.Name, exchange.SortKey(s.Name), s.Search, filters, s.Alerts, s.Since.Epoch, s.Since.Day,
		st.conn.Now)
}

// Update saves a saved search, which is locked.
func (st SavedSearches) Update(ctx context.Context, s exchange.SavedSearch) error {
	filters, err := text(s.Filters)
	if err != nil {
		return err
	}
	_, err = st.conn.exec(ctx, `UPDATE saved_searches SET name = $2, name_sort = $3, search = $4, filters = $5,
		alerts = $6,
		since_epoch = $7, since_day = $8,
		updated_at = $9 WHERE id = $1`,
		s.ID, s.Name, exchange.SortKey(s.Name), s.Search, filters, s.Alerts, s.Since.Epoch, s.Since.Day, s.UpdatedAt)
	return err
}

// Delete forgets a saved search with what was new in it.
func (st SavedSearches) Delete(ctx context.Context, id int64) error {
	_, err := st.conn.exec(ctx, "DELETE FROM saved_searches WHERE id = $1", id)
	return err
}

// ForgetMatches forgets what was new in a saved search: what its person was told of may be new again.
func (st SavedSearches) ForgetMatches(ctx context.Context, search int64) error {
	_, err := st.conn.exec(ctx, "DELETE FROM search_matches WHERE saved_search_id = $1", search)
	return err
}
