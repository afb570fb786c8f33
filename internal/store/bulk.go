package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"aliquot/internal/exchange"
)

// InsertBulk adds the spreadsheet of a job.
func (c Conn) InsertBulk(ctx context.Context, b exchange.Bulk) error {
	_, err := c.exec(ctx, "INSERT INTO bulks (job_id, organization_id, content_key, stored) VALUES ($1, $2, $3, $4)",
		b.JobID, b.OrganizationID, b.ContentKey, b.Stored)
	return err
}

// Bulk reads the spreadsheet of a job.
func (c Conn) Bulk(ctx context.Context, job int64) (exchange.Bulk, error) {
	scan := func(r row, b *exchange.Bulk) error {
		return r.Scan(&b.JobID, &b.OrganizationID, &b.ContentKey, &b.Stored)
	}
	return one(ctx, c, scan, "SELECT job_id, organization_id, content_key, stored FROM bulks WHERE job_id = $1", job)
}

// StoreBulk notes that what its parts say was done.
func (c Conn) StoreBulk(ctx context.Context, job int64) error {
	_, err := c.exec(ctx, "UPDATE bulks SET stored = $2 WHERE job_id = $1", job, true)
	return err
}

// InsertBulkPart keeps the outcomes of some rows.
func (c Conn) InsertBulkPart(ctx context.Context, job int64, list []exchange.RowOutcome) error {
	raw, err := text(list)
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, "INSERT INTO bulk_parts (job_id, first_row, outcomes) VALUES ($1, $2, $3)", job, list[0].Row, raw)
	return err
}

// BulkPart reads the first part that begins behind a row; empty where there is none.
func (c Conn) BulkPart(ctx context.Context, job int64, after int) ([]exchange.RowOutcome, error) {
	parts, err := all(ctx, c, value[string], "SELECT outcomes FROM bulk_parts WHERE job_id = $1 AND first_row > $2 ORDER BY first_row LIMIT 1", job, after)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	var list []exchange.RowOutcome
	return list, json.Unmarshal([]byte(parts[0]), &list)
}

// DeleteBulkParts forgets the outcomes of a spreadsheet.
func (c Conn) DeleteBulkParts(ctx context.Context, job int64) error {
	_, err := c.exec(ctx, "DELETE FROM bulk_parts WHERE job_id = $1", job)
	return err
}

// Mapping reads what an organization said of its headers: from folded header to field.
func (c Conn) Mapping(ctx context.Context, organization int64) (map[string]string, error) {
	type said struct{ header, target string }
	list, err := all(ctx, c, func(r row, s *said) error { return r.Scan(&s.header, &s.target) },
		"SELECT header, target FROM column_mappings WHERE organization_id = $1", organization)
	mapping := map[string]string{}
	for _, s := range list {
		mapping[s.header] = s.target
	}
	return mapping, err
}

// SetMapping keeps what an organization said of a header; nil forgets it.
func (c Conn) SetMapping(ctx context.Context, organization int64, header string, target *string) error {
	if target == nil {
		_, err := c.exec(ctx, "DELETE FROM column_mappings WHERE organization_id = $1 AND header = $2", organization, header)
		return err
	}
	_, err := c.exec(ctx, `INSERT INTO column_mappings (organization_id, header, target) VALUES ($1, $2, $3)
		ON CONFLICT (organization_id, header) DO UPDATE SET target = excluded.target`, organization, header, *target)
	return err
}

// someMaterials reads materials by what they are called in a column, by id.
func someMaterials[T, K any](ctx context.Context, c Conn, scan func(row, *T) error, columns, from, condition string, args []any, list []K, lock string) ([]T, error) {
	var found []T
	for some := range slices.Chunk(list, mostIn) {
		places, filled := in(slices.Clone(args), some)
		part, err := all(ctx, c, scan, "SELECT "+columns+" FROM "+from+" WHERE "+condition+" IN ("+places+") ORDER BY o.id"+lock, filled...)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	return found, nil
}

// MaterialsByReference reads those of an organization's materials that have one of the references,
// and keeps others from changing them until commit.
func (c Conn) MaterialsByReference(ctx context.Context, organization int64, references []string) ([]exchange.Material, error) {
	return someMaterials(ctx, c, scanMaterial, materialColumns, "materials o", "o.organization_id = $1 AND o.reference", []any{organization}, references, c.db.dialect.forUpdate)
}

// MaterialsByID is MaterialsByReference by id.
func (c Conn) MaterialsByID(ctx context.Context, organization int64, ids []int64) ([]exchange.Material, error) {
	return someMaterials(ctx, c, scanMaterial, materialColumns, "materials o", "o.organization_id = $1 AND o.id", []any{organization}, ids, c.db.dialect.forUpdate)
}

// MaterialsByImport reads the materials of any organization that were imported under one of the
// identifiers at a source.
func (c Conn) MaterialsByImport(ctx context.Context, source string, identifiers []string) ([]exchange.Material, error) {
	return someMaterials(ctx, c, scanMaterial, materialColumns, "materials o", "o.import_source = $1 AND o.import_identifier", []any{source}, identifiers, "")
}

// ShownMaterials reads materials as ShownMaterial does.
func (c Conn) ShownMaterials(ctx context.Context, ids []int64) ([]exchange.ShownMaterial, error) {
	return someMaterials(ctx, c, scanShownMaterial, shownMaterial, materialFrom, "o.id", nil, ids, "")
}

// MaterialsAfter reads, by id, the materials behind after, whoever may see them; of one organization,
// or of all where that is nil.
func (c Conn) MaterialsAfter(ctx context.Context, organization *int64, after int64, limit int) ([]exchange.ShownMaterial, error) {
	w := where("o.id > ?", after)
	andEqual(w, "o.organization_id", organization)
	w.args = append(w.args, limit)
	return all(ctx, c, scanShownMaterial, "SELECT "+shownMaterial+" FROM "+materialFrom+" WHERE "+w.sql.String()+
		" ORDER BY o.id LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
}
