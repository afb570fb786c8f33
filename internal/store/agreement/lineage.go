package agreement

import (
	"context"
	"fmt"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange/document"
	"aliquot/internal/store/sqldb"
)

// Lineages stores what labs stated about where their materials came from.
type Lineages struct{ conn *sqldb.Conn }

// NewLineages returns the store on a connection.
func NewLineages(c *sqldb.Conn) Lineages { return Lineages{c} }

// Step is an origin of a material. Its relation is empty if the lab made it.
type Step struct {
	Of int64
	term.Origin
	Agreement *int64 // the executed letter of its request
	Paper     bool   // its request has an executed agreement on paper instead
}

// MaxSteps is how many steps of a lineage are read.
const MaxSteps = 200

// Back reads the origins of a material, theirs, and so on, up to MaxSteps and one more.
func (st Lineages) Back(ctx context.Context, material int64) ([]Step, error) {
	scan := func(r sqldb.Row, s *Step) error {
		return r.Scan(&s.Of, &s.Relation, &s.Material, &s.Request, &s.Agreement, &s.Paper)
	}
	return sqldb.All(ctx, st.conn, scan, fmt.Sprintf(`WITH RECURSIVE back (material) AS (
		SELECT CAST($1 AS BIGINT) UNION SELECT o.from_material FROM back b
			JOIN material_origins o ON o.material_id = b.material WHERE o.from_material IS NOT NULL)
		SELECT o.material_id, o.relation, o.from_material, o.request, a.id, a.id IS NULL AND EXISTS (
			SELECT 1 FROM request_documents d WHERE d.request_id = o.request AND d.slot = $2 AND d.state <> $3)
		FROM material_origins o LEFT JOIN agreement_requests r ON r.request = o.request AND r.live
			LEFT JOIN agreements a ON a.id = r.agreement AND a.state = $4
		WHERE o.material_id IN (SELECT material FROM back) ORDER BY o.id LIMIT %d`, MaxSteps+1),
		material, string(document.ExecutedMTA), string(document.Superseded), string(letter.Executed))
}

// Of reads what the lab of a material stated.
func (st Lineages) Of(ctx context.Context, material int64) (l term.Lineage, err error) {
	rows, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, o *term.Origin) error {
		return r.Scan(&o.Relation, &o.Material, &o.Request)
	}, "SELECT relation, from_material, request FROM material_origins WHERE material_id = $1 ORDER BY id", material)
	if len(rows) > 0 {
		l.Origins = []term.Origin{}
	}
	for _, o := range rows {
		if o.Relation != "" {
			l.Origins = append(l.Origins, o)
		}
	}
	return l, err
}

// Save saves what the lab of a material stated. The material is locked.
func (st Lineages) Save(ctx context.Context, material int64, l term.Lineage) error {
	if _, err := st.conn.Exec(ctx, "DELETE FROM material_origins WHERE material_id = $1", material); err != nil {
		return err
	}
	rows := l.Origins
	if rows != nil && len(rows) == 0 {
		rows = []term.Origin{{}}
	}
	if len(rows) == 0 {
		return nil
	}
	var args []any
	for _, o := range rows {
		args = append(args, material, string(o.Relation), o.Material, o.Request, st.conn.Now)
	}
	_, err := st.conn.Exec(ctx, "INSERT INTO material_origins (material_id, relation, from_material, request, "+
		"created_at) VALUES "+sqldb.Places(len(rows), 5), args...)
	return err
}
