package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// Insert adds the spreadsheet of a job.
func (st Bulk) Insert(ctx context.Context, b exchange.Bulk) error {
	_, err := st.conn.exec(ctx, "INSERT INTO bulks (job_id, organization_id, content_key, stored) VALUES ($1, $2, "+
		"$3, $4)",
		b.JobID, b.OrganizationID, b.ContentKey, b.Stored)
	return err
}

// Get reads the spreadsheet of a job.
func (st Bulk) Get(ctx context.Context, job int64) (exchange.Bulk, error) {
	scan := func(r row, b *exchange.Bulk) error {
		return r.Scan(&b.JobID, &b.OrganizationID, &b.ContentKey, &b.Stored)
	}
	return one(ctx, st.conn, scan, "SELECT job_id, organization_id, content_key, stored FROM bulks WHERE job_id = $1",
		job)
}

// Store notes that what its parts say was done.
func (st Bulk) Store(ctx context.Context, job int64) error {
	_, err := st.conn.exec(ctx, "UPDATE bulks SET stored = $2 WHERE job_id = $1", job, true)
	return err
}

// InsertPart keeps the outcomes of some rows.
func (st Bulk) InsertPart(ctx context.Context, job int64, list []exchange.RowResult) error {
	raw, err := text(list)
	if err != nil {
		return err
	}
	_, err = st.conn.exec(ctx, "INSERT INTO bulk_parts (job_id, first_row, outcomes) VALUES ($1, $2, $3)", job,
		list[0].Row,
		raw)
	return err
}

// Part reads the first part that begins behind a row; empty where there is none.
func (st Bulk) Part(ctx context.Context, job int64, after int) ([]exchange.RowResult, error) {
	return st.part(ctx, job, after, "")
}

func (st Bulk) part(ctx context.Context, job int64, after int, which string) ([]exchange.RowResult, error) {
	parts, err := all(ctx, st.conn, value[string], "SELECT outcomes FROM bulk_parts WHERE job_id = $1 AND "+
		"first_row > $2"+
		which+
		" ORDER BY first_row LIMIT 1", job, after)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	var list []exchange.RowResult
	return list, json.Unmarshal([]byte(parts[0]), &list)
}

// Problems is Bulk.Part among the parts in which some row has a problem or a doubt.
func (st Bulk) Problems(ctx context.Context, job int64, after int) ([]exchange.RowResult, error) {
	return st.part(ctx, job, after, ` AND (outcomes LIKE '%"problems":%' OR outcomes LIKE '%"doubts":%')`)
}

// AmendParts keeps other outcomes of some rows.
func (st Bulk) AmendParts(ctx context.Context, job int64, list []exchange.RowResult) error {
	for _, o := range list {
		first, err := one(ctx, st.conn, value[int], "SELECT MAX(first_row) FROM bulk_parts WHERE job_id = $1 AND "+
			"first_row <= $2", job, o.Row)
		if err != nil {
			return err
		}
		part, err := st.Part(ctx, job, first-1)
		if err != nil {
			return err
		}
		for i := range part {
			if part[i].Row == o.Row {
				part[i] = o
			}
		}
		raw, err := text(part)
		if err != nil {
			return err
		}
		if _, err := st.conn.exec(ctx, "UPDATE bulk_parts SET outcomes = $3 WHERE job_id = $1 AND first_row = $2", job,
			first,
			raw); err != nil {
			return err
		}
	}
	return nil
}

// DeleteParts forgets the outcomes of a spreadsheet.
func (st Bulk) DeleteParts(ctx context.Context, job int64) error {
	_, err := st.conn.exec(ctx, "DELETE FROM bulk_parts WHERE job_id = $1", job)
	return err
}

// Mapping reads what an organization said of its headers: from folded header to field.
func (st Bulk) Mapping(ctx context.Context, organization int64) (map[string]string, error) {
	type said struct{ header, target string }
	list, err := all(ctx, st.conn, func(r row, s *said) error { return r.Scan(&s.header, &s.target) },
		"SELECT header, target FROM column_mappings WHERE organization_id = $1", organization)
	mapping := map[string]string{}
	for _, s := range list {
		mapping[s.header] = s.target
	}
	return mapping, err
}

// SetMapping keeps what an organization said of a header; nil forgets it.
func (st Bulk) SetMapping(ctx context.Context, organization int64, header string, target *string) error {
	if target == nil {
		_, err := st.conn.exec(ctx, "DELETE FROM column_mappings WHERE organization_id = $1 AND header = $2",
			organization,
			header)
		return err
	}
	_, err := st.conn.exec(ctx, `INSERT INTO column_mappings (organization_id, header, target) VALUES ($1, $2, $3)
		ON CONFLICT (organization_id, header) DO UPDATE SET target = excluded.target`, organization, header, *target)
	return err
}

// materialsBy reads rows of materials whose column is one of a list, in any order. The query starts from the list.
func materialsBy[T, K any](ctx context.Context, c *conn, scan func(row, *T) error, columns, joins, column, kind string,
	list []K, rest string, more ...any) ([]T, error) {
	found, fresh := []T(nil), c.tx != nil && c.db.dialect.planAnew != ""
	if fresh && len(list) > 0 {
		if _, err := c.exec(ctx, c.db.dialect.planAnew); err != nil {
			return nil, err
		}
	}
	for some := range inBatches(list, maxIn) {
		args := slices.Clone(more)
		var values strings.Builder
		for i, name := range some {
			if i > 0 {
				values.WriteString(", ")
			}
			args = append(args, name)
			fmt.Fprintf(&values, "(CAST($%d AS %s))", len(args), kind)
		}
		part, err := all(ctx, c, scan, "WITH wanted (name) AS (VALUES "+values.String()+") SELECT "+columns+
			" FROM wanted CROSS JOIN materials o "+joins+" WHERE "+column+" = wanted.name AND "+publishedByKey+rest,
			args...)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	if fresh && len(list) > 0 {
		if _, err := c.exec(ctx, c.db.dialect.planAsUsual); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ofOrganization narrows what called reads in a way that no index serves: a database that knows
// nothing of how large an organization is would rather go through all of it.
const ofOrganization = " AND o.organization_id + 0 = $1"

// ByReferences reads those of an organization's materials that have one of the references,
// and keeps others from changing them until commit.
func (st Materials) ByReferences(ctx context.Context, organization int64, references []string) ([]exchange.Material,
	error) {
	return materialsBy(ctx, st.conn, scanMaterial, materialColumns, "", "o.reference", "TEXT", references,
		ofOrganization+st.conn.db.dialect.forUpdate, organization)
}

// ByIDs is Materials.ByReferences by id.
func (st Materials) ByIDs(ctx context.Context, organization int64, ids []int64) ([]exchange.Material, error) {
	return materialsBy(ctx, st.conn, scanMaterial, materialColumns, "", "o.id", "BIGINT", ids,
		ofOrganization+st.conn.db.dialect.forUpdate, organization)
}

// ByImports reads the materials of any organization that were imported under one of the
// identifiers at a source.
func (st Materials) ByImports(ctx context.Context, source string, identifiers []string) ([]exchange.Material, error) {
	return materialsBy(ctx, st.conn, scanMaterial, materialColumns, "", "o.import_identifier", "TEXT", identifiers,
		" AND o.import_source = $1", source)
}

// ShownByIDs reads materials as Shown does.
func (st Materials) ShownByIDs(ctx context.Context, ids []int64) ([]exchange.ShownMaterial, error) {
	return materialsBy(ctx, st.conn, scanShownMaterial, shownMaterial, contactJoin, "o.id", "BIGINT", ids, "")
}

// After reads, by id, the materials behind after, whoever may see them; of one organization,
// or of all where that is nil.
func (st Materials) After(ctx context.Context, organization *int64, after int64,
	limit int) ([]exchange.ShownMaterial, error) {
	w := where("o.id > ? AND "+published("o"), after)
	andEqual(w, "o.organization_id", organization)
	w.args = append(w.args, limit)
	return all(ctx, st.conn, scanShownMaterial, "SELECT "+shownMaterial+" FROM "+materialFrom+" WHERE "+w.sql.String()+
		" ORDER BY o.id LIMIT $"+strconv.Itoa(len(w.args)), w.args...)
}
