package requirement

import (
	"context"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Permits stores permits, and for which requests they are used.
type Permits struct{ conn *sqldb.Conn }

// NewPermits returns the store on a connection.
func NewPermits(c *sqldb.Conn) Permits { return Permits{c} }

var permitColumns = sqldb.ColumnsOf("o.", requirement.PermitFields)

func scanPermit(r sqldb.Row, p *requirement.Permit) error {
	return r.Scan(sqldb.ScannedInto(requirement.PermitFields, p)...)
}

const ofPerson = "o.organization IS NULL AND o.institution IS NULL AND o.person = ?"

// Get reads one permit.
func (st Permits) Get(ctx context.Context, id int64) (requirement.Permit, error) {
	return sqldb.One(ctx, st.conn, scanPermit, "SELECT "+permitColumns+" FROM permits o WHERE o.id = $1", id)
}

// ForUpdate reads one and locks it until commit.
func (st Permits) ForUpdate(ctx context.Context, id int64) (requirement.Permit, error) {
	return sqldb.One(ctx, st.conn, scanPermit, "SELECT "+permitColumns+" FROM permits o WHERE o.id = $1"+
		st.conn.Dialect().ForUpdate, id)
}

var permits = sqldb.Listing[requirement.Permit]{Columns: permitColumns, Table: "permits", Scan: scanPermit,
	ID:      func(p requirement.Permit) int64 { return p.ID },
	Filters: map[string]sqldb.Condition{"from": sqldb.Equals("o.from_day"), "until": sqldb.Equals("o.until_day")}}

// Holders are whose permits a list has: those of a person, of labs and of institutions.
type Holders struct {
	Person       uuid.UUID
	Labs         []int64
	Institutions []int64
	All          bool // an admin's: every permit
}

// List lists the permits of holders.
func (st Permits) List(ctx context.Context, h Holders, p exchange.Page) (exchange.ListPage[requirement.Permit],
	error) {
	l := permits
	if !h.All {
		l.Scopes = []sqldb.Scope{{Condition: ofPerson, Args: []any{h.Person}}}
		for _, lab := range h.Labs {
			l.Scopes = append(l.Scopes, sqldb.Scope{Condition: "o.organization = ?", Args: []any{lab}})
		}
		for _, institution := range h.Institutions {
			l.Scopes = append(l.Scopes, sqldb.Scope{Condition: "o.institution = ?", Args: []any{institution}})
		}
	}
	st.conn = st.conn.WithoutStmtCache() // there are as many texts of it as sizes of holders
	return l.Page(ctx, st.conn, p, sqldb.Where("1 = 1"))
}

// UsedFor lists the permits that are used for a request.
func (st Permits) UsedFor(ctx context.Context, request int64, p exchange.Page) (exchange.ListPage[requirement.Permit],
	error) {
	return permits.Page(ctx, st.conn, p, sqldb.Where(
		"o.id IN (SELECT u.permit FROM request_permits u WHERE u.request = ?)", request))
}

// OfRequests reads the permits that are used for some requests, at most a few hundred.
func (st Permits) OfRequests(ctx context.Context, requests ...int64) ([]requirement.Permit, error) {
	places, args := sqldb.In(nil, requests)
	return sqldb.All(ctx, st.conn, scanPermit, "SELECT "+permitColumns+" FROM permits o WHERE o.id IN "+
		"(SELECT u.permit FROM request_permits u WHERE u.request IN ("+places+")) ORDER BY o.id", args...)
}

// SharedWith reports whether one of some permits is used for a request of which a user is a party.
func (st Permits) SharedWith(ctx context.Context, ids []int64, user uuid.UUID) (bool, error) {
	places, args := sqldb.In([]any{user}, ids)
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM request_permits u
		JOIN material_requests r ON r.id = u.request
		LEFT JOIN memberships p ON p.organization_id = r.organization_id AND p.user_id = $1 AND p.left_at IS NULL
		WHERE r.deleted_at IS NULL AND (r.requester_id = $1 OR p.id IS NOT NULL) AND u.permit IN (`+places+`))`,
		args...)
}

// outlasts is that a permit o has the regime of a permit p, and is valid when that ends.
const outlasts = "o.regime = p.regime AND o.from_day <= p.until_day AND (o.until_day = '' OR o.until_day > p.until_day)"

// Ending reads some of the permits that end within a number of days, of which people were reminded earlier or not at
// all, and locks them.
func (st Permits) Ending(ctx context.Context, days, limit int) ([]requirement.Permit, error) {
	return sqldb.All(ctx, st.conn, scanPermit, "SELECT "+permitColumns+` FROM permits o WHERE o.until_day <> ''
		AND o.until_day > $1 AND o.until_day <= $2 AND (o.reminded = 0 OR o.reminded > $3) ORDER BY o.id LIMIT $4`+
		st.conn.Dialect().ForUpdate, st.conn.Today(), string(exchange.DayOf(st.conn.Now.AddDate(0, 0, days))), days,
		limit)
}

// SetReminded notes how many days before the end of a permit people were reminded of it; 0: not yet.
func (st Permits) SetReminded(ctx context.Context, id int64, days int) error {
	_, err := st.conn.Exec(ctx, "UPDATE permits SET reminded = $2 WHERE id = $1", id, days)
	return err
}

// Outlasting reads the permits that outlast one and have the same holder.
func (st Permits) Outlasting(ctx context.Context, id int64) ([]requirement.Permit, error) {
	return sqldb.All(ctx, st.conn, scanPermit, "SELECT "+permitColumns+" FROM permits p JOIN permits o ON "+outlasts+`
		WHERE p.id = $1 AND (o.organization = p.organization OR o.institution = p.institution
		OR COALESCE(o.organization, o.institution, p.organization, p.institution) IS NULL AND o.person = p.person)
		ORDER BY o.id`, id)
}

// Choosers reads who chose a permit for an open request for which none that outlasts it is used: its requester, or a
// member of its lab.
func (st Permits) Choosers(ctx context.Context, id int64) ([]uuid.UUID, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[uuid.UUID], `SELECT DISTINCT u.added_by FROM request_permits u
		JOIN permits p ON p.id = u.permit JOIN material_requests r ON r.id = u.request
		LEFT JOIN memberships m ON m.organization_id = r.organization_id AND m.user_id = u.added_by
			AND m.left_at IS NULL
		WHERE u.permit = $1 AND r.is_active AND r.deleted_at IS NULL
		AND (r.requester_id = u.added_by OR m.id IS NOT NULL) AND NOT EXISTS (SELECT 1 FROM request_permits v
			JOIN permits o ON o.id = v.permit WHERE v.request = u.request AND `+outlasts+") ORDER BY u.added_by", id)
}

// Used reports whether a permit was chosen for a request, also for one that is closed.
func (st Permits) Used(ctx context.Context, id int64) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], "SELECT EXISTS (SELECT 1 FROM request_permits WHERE permit = $1)",
		id)
}

// Documented reads the permits whose document an attachment is.
func (st Permits) Documented(ctx context.Context, attachment int64) ([]requirement.Permit, error) {
	return sqldb.All(ctx, st.conn, scanPermit, "SELECT "+permitColumns+
		" FROM permits o WHERE o.document = $1 ORDER BY o.id", attachment)
}

// Count counts the permits that a user added.
func (st Permits) Count(ctx context.Context, user uuid.UUID) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int], "SELECT COUNT(*) FROM permits WHERE person = $1", user)
}

// Insert adds a permit and returns its id.
func (st Permits) Insert(ctx context.Context, p requirement.Permit) (int64, error) {
	return sqldb.InsertOne(ctx, st.conn, "permits", requirement.PermitFields, &p)
}

// Update saves a permit.
func (st Permits) Update(ctx context.Context, p requirement.Permit) error {
	return sqldb.UpdateOne(ctx, st.conn, "permits", requirement.PermitFields,
		[]sqldb.Setter{{Column: "id", Value: p.ID}}, &p)
}

// Use notes that a permit is used for a request, and reports whether it was not yet.
func (st Permits) Use(ctx context.Context, request, permit int64, by uuid.UUID) (bool, error) {
	n, err := st.conn.Exec(ctx, "INSERT INTO request_permits (request, permit, added_by, added_at) VALUES "+
		"($1, $2, $3, $4) ON CONFLICT (request, permit) DO NOTHING", request, permit, by, st.conn.Now)
	return n > 0, err
}

// Release notes that a permit is no longer used for a request; NotFound if it was not.
func (st Permits) Release(ctx context.Context, request, permit int64) error {
	n, err := st.conn.Exec(ctx, "DELETE FROM request_permits WHERE request = $1 AND permit = $2", request, permit)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "The request does not use this permit."}
	}
	return err
}
