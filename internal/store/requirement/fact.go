// Package requirement is the SQL of what transfers need: the facts of materials.
package requirement

import (
	"context"
	"slices"
	"strings"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/store/sqldb"
)

// TransferFacts stores what labs stated about passing materials on.
type TransferFacts struct{ conn *sqldb.Conn }

// NewTransferFacts returns the store on a connection.
func NewTransferFacts(c *sqldb.Conn) TransferFacts { return TransferFacts{c} }

var factColumns = append(sqldb.WrittenColumns(requirement.FactFields), "encumbrances", "data_uses")

// OfMaterials reads what labs stated of materials, by the material.
func (st TransferFacts) OfMaterials(ctx context.Context, materials []int64) (map[int64]requirement.Facts, error) {
	stated := map[int64]requirement.Facts{}
	for some := range slices.Chunk(materials, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, f *requirement.Facts) error {
			var material int64
			into := append([]any{&material}, sqldb.ScannedInto(requirement.FactFields, f)...)
			err := r.Scan(append(into, sqldb.FromJSON(&f.Encumbrances), sqldb.FromJSON(&f.Uses))...)
			stated[material] = *f
			return err
		}, "SELECT material_id, "+strings.Join(factColumns, ", ")+" FROM transfer_facts WHERE material_id IN ("+
			places+")", args...)
		if err != nil {
			return nil, err
		}
	}
	return stated, nil
}

// Save saves what the lab of a material stated. The material is locked.
func (st TransferFacts) Save(ctx context.Context, material int64, f requirement.Facts) error {
	args, err := sqldb.AppendWritten([]any{material}, requirement.FactFields, &f)
	if err != nil {
		return err
	}
	for _, list := range []any{f.Encumbrances, f.Uses} {
		text, err := sqldb.JSON(list)
		if err != nil {
			return err
		}
		args = append(args, text)
	}
	written := append(slices.Clone(factColumns), "updated_at")
	_, err = st.conn.Exec(ctx, "INSERT INTO transfer_facts (material_id, "+strings.Join(written, ", ")+") VALUES "+
		sqldb.Places(1, len(written)+1)+" ON CONFLICT (material_id) DO UPDATE SET "+sqldb.Excluded(written),
		append(args, st.conn.Now)...)
	return err
}
