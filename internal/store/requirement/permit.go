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
