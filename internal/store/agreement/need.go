package agreement

import (
	"context"
	"strconv"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/store/sqldb"
)

// needed holds for a request o that needs an agreement and has none: letter.Need. It is
// request.Request.TakesAgreement for requests that need an MTA.
const needed = `o.is_active AND o.deleted_at IS NULL
	AND EXISTS (SELECT 1 FROM materials n WHERE n.id = o.material_id AND n.needs_mta)
	AND NOT EXISTS (SELECT 1 FROM agreement_requests r JOIN agreements g ON g.id = r.agreement
		WHERE r.request = o.id AND r.live AND g.state <> 'EXECUTED')
	AND NOT EXISTS (SELECT 1 FROM request_documents d WHERE d.request_id = o.id AND d.slot = ?
		AND d.state NOT IN (?, ?))`

// itsLabs are the labs whose institution is the first ?, on the day that each other ? is, as party.InstitutionOf says;
// itsPeople are those who are at it, as far as is known from anybody.
const (
	itsLabs = `SELECT l.organization FROM institution_labs l WHERE l.institution = ? AND l.confirmed
		AND l.from_day <= ? AND (l.until_day = '' OR l.until_day > ?)
		AND NOT EXISTS (SELECT 1 FROM institution_labs n WHERE n.organization = l.organization AND n.confirmed
			AND n.from_day <= ? AND (n.until_day = '' OR n.until_day > ?)
			AND (n.from_day > l.from_day OR n.from_day = l.from_day AND n.id < l.id))`
	itsPeople = `SELECT a.person FROM affiliations a WHERE a.institution = ? AND a.from_day <= ?
		AND (a.until_day = '' OR a.until_day > ?)`
)

// maxLabScopes is the largest number of labs whose requests are read lab by lab. The requests of more are found first
// and sorted then.
const maxLabScopes = 20

// Needs lists the requests that need an agreement and have none: those to the labs of an institution (party.Provide),
// or those of its people (party.Receive), as both are on a day. Requests within the institution need none.
func (st Agreements) Needs(ctx context.Context, institution int64, side party.Direction, day exchange.Date,
	p exchange.Page) (exchange.ListPage[letter.Need], error) {
	l := sqldb.Listing[letter.Need]{Table: "material_requests", Joins: "JOIN materials m ON m.id = o.material_id",
		Columns: "o.id, o.material_id, m.title, o.quantity, o.organization_id, o.requester_id, o.created_at",
		Scan: func(r sqldb.Row, n *letter.Need) error {
			return r.Scan(&n.Request, &n.MaterialID, &n.Material, &n.Quantity, &n.Organization, &n.Requester,
				sqldb.UTC(&n.CreatedAt))
		},
		ID: func(n letter.Need) int64 { return n.Request }}
	labs, people := []any{institution, day, day, day, day}, []any{institution, day, day}
	f := sqldb.Where(needed, string(document.ExecutedMTA), string(document.Returned), string(document.Superseded))
	if side == party.Receive {
		f.And("o.organization_id NOT IN ("+itsLabs+")", labs...)
		l.Scopes = []sqldb.Scope{{Condition: "o.requester_id IN (" + itsPeople + ")", Args: people}}
		return l.Page(ctx, st.conn, p, f)
	}
	f.And("o.requester_id NOT IN ("+itsPeople+")", people...)
	few := sqldb.Where(itsLabs, labs...)
	ids, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], few.SQL.String()+" LIMIT "+strconv.Itoa(maxLabScopes+1),
		few.Args...)
	switch {
	case err != nil || len(ids) == 0:
		return exchange.ListPage[letter.Need]{}, err
	case len(ids) > maxLabScopes:
		l.Scopes = []sqldb.Scope{{Condition: "o.organization_id IN (" + itsLabs + ")", Args: labs}}
	default:
		for _, id := range ids {
			l.Scopes = append(l.Scopes, sqldb.Scope{Condition: "o.organization_id = ?", Args: []any{id}})
		}
	}
	return l.Page(ctx, st.conn.WithoutStmtCache(), p, f) // there are as many texts of it as numbers of labs
}
