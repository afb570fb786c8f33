package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/material"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"
)

// Insert adds the spreadsheet of a job.
func (st Bulk) Insert(ctx context.Context, b material.Bulk) error {
	_, err := st.conn.Exec(ctx, "INSERT INTO bulks (job_id, organization_id, content_key, stored) VALUES ($1, $2, "+
		"$3, $4)",
		b.JobID, b.OrganizationID, b.ContentKey, b.Stored)
	return err
}

// Get reads the spreadsheet of a job.
func (st Bulk) Get(ctx context.Context, job int64) (material.Bulk, error) {
	scan := func(r sqldb.Row, b *material.Bulk) error {
		return r.Scan(&b.JobID, &b.OrganizationID, &b.ContentKey, &b.Stored)
	}
	return sqldb.One(ctx, st.conn, scan, "SELECT job_id, organization_id, content_key, stored FROM bulks WHERE "+
		"job_id = $1",
		job)
}

// Store notes that what its parts say was done.
func (st Bulk) Store(ctx context.Context, job int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE bulks SET stored = $2 WHERE job_id = $1", job, true)
	return err
}

// InsertPart keeps the outcomes of some rows.
func (st Bulk) InsertPart(ctx context.Context, job int64, list []material.RowResult) error {
	raw, err := sqldb.JSON(list)
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, "INSERT INTO bulk_parts (job_id, first_row, outcomes) VALUES ($1, $2, $3)", job,
		list[0].Row,
		raw)
	return err
}

// Part reads the first part that begins after a row; empty if there is none.
func (st Bulk) Part(ctx context.Context, job int64, after int) ([]material.RowResult, error) {
	return st.part(ctx, job, after, "")
}

func (st Bulk) part(ctx context.Context, job int64, after int, which string) ([]material.RowResult, error) {
	parts, err := sqldb.All(ctx, st.conn, sqldb.Value[string], "SELECT outcomes FROM bulk_parts WHERE job_id = $1 AND "+
		"first_row > $2"+
		which+
		" ORDER BY first_row LIMIT 1", job, after)
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	var list []material.RowResult
	return list, json.Unmarshal([]byte(parts[0]), &list)
}

// Problems is Bulk.Part among the parts in which some row has a problem or a doubt.
func (st Bulk) Problems(ctx context.Context, job int64, after int) ([]material.RowResult, error) {
	return st.part(ctx, job, after, ` AND (outcomes LIKE '%"problems":%' OR outcomes LIKE '%"doubts":%')`)
}

// AmendParts keeps other outcomes of some rows.
func (st Bulk) AmendParts(ctx context.Context, job int64, list []material.RowResult) error {
	for _, o := range list {
		first, err := sqldb.One(ctx, st.conn, sqldb.Value[int],
			"SELECT MAX(first_row) FROM bulk_parts WHERE job_id = $1 AND "+
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
		raw, err := sqldb.JSON(part)
		if err != nil {
			return err
		}
		if _, err := st.conn.Exec(ctx, "UPDATE bulk_parts SET outcomes = $3 WHERE job_id = $1 AND first_row = $2", job,
			first,
			raw); err != nil {
			return err
		}
	}
	return nil
}

// DeleteParts deletes the outcomes of a spreadsheet.
func (st Bulk) DeleteParts(ctx context.Context, job int64) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM bulk_parts WHERE job_id = $1", job)
	return err
}

// Mapping reads what an organization said of its headers: from folded header to field.
func (st Bulk) Mapping(ctx context.Context, organization int64) (map[string]string, error) {
	type said struct{ header, target string }
	list, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, s *said) error { return r.Scan(&s.header, &s.target) },
		"SELECT header, target FROM column_mappings WHERE organization_id = $1", organization)
	mapping := map[string]string{}
	for _, s := range list {
		mapping[s.header] = s.target
	}
	return mapping, err
}

// SetMapping keeps what an organization said of a header; nil deletes it.
func (st Bulk) SetMapping(ctx context.Context, organization int64, header string, target *string) error {
	if target == nil {
		_, err := st.conn.Exec(ctx, "DELETE FROM column_mappings WHERE organization_id = $1 AND header = $2",
			organization,
			header)
		return err
	}
	_, err := st.conn.Exec(ctx, `INSERT INTO column_mappings (organization_id, header, target) VALUES ($1, $2, $3)
		ON CONFLICT (organization_id, header) DO UPDATE SET target = excluded.target`, organization, header, *target)
	return err
}

// materialsBy reads rows of materials whose column is one of a list, in any order. The query starts from the list.
func materialsBy[T, K any](ctx context.Context, c *sqldb.Conn, scan func(sqldb.Row, *T) error, columns, joins, column,
	kind string,
	list []K, rest string, more ...any) ([]T, error) {
	found, fresh := []T(nil), c.InTx() && c.Dialect().PlanAnew != ""
	if fresh && len(list) > 0 {
		if _, err := c.Exec(ctx, c.Dialect().PlanAnew); err != nil {
			return nil, err
		}
	}
	for some := range sqldb.Batches(list, sqldb.MaxIn) {
		args := slices.Clone(more)
		var values strings.Builder
		for i, name := range some {
			if i > 0 {
				values.WriteString(", ")
			}
			args = append(args, name)
			fmt.Fprintf(&values, "(CAST($%d AS %s))", len(args), kind)
		}
		part, err := sqldb.All(ctx, c, scan, "WITH wanted (name) AS (VALUES "+values.String()+") SELECT "+columns+
			" FROM wanted CROSS JOIN materials o "+joins+" WHERE "+column+" = wanted.name AND "+publishedByKey+rest,
			args...)
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	if fresh && len(list) > 0 {
		if _, err := c.Exec(ctx, c.Dialect().PlanAsUsual); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ofOrganization narrows what called reads in a way that no index serves: a database that knows
// nothing of how large an organization is would rather go through all of it.
const ofOrganization = " AND o.organization_id + 0 = $1"

// ByReferences reads those of an organization's materials that have one of the references, and locks them until commit.
func (st Materials) ByReferences(ctx context.Context, organization int64, references []string) ([]material.Material,
	error) {
	return materialsBy(ctx, st.conn, scanMaterial, materialColumns, "", "o.reference", "TEXT", references,
		ofOrganization+st.conn.Dialect().ForUpdate, organization)
}

// ByIDs is Materials.ByReferences by id.
func (st Materials) ByIDs(ctx context.Context, organization int64, ids []int64) ([]material.Material, error) {
	return materialsBy(ctx, st.conn, scanMaterial, materialColumns, "", "o.id", "BIGINT", ids,
		ofOrganization+st.conn.Dialect().ForUpdate, organization)
}

// ByImports reads the materials of any organization that were imported under one of the
// identifiers at a source.
func (st Materials) ByImports(ctx context.Context, source string, identifiers []string) ([]material.Material, error) {
	return materialsBy(ctx, st.conn, scanMaterial, materialColumns, "", "o.import_identifier", "TEXT", identifiers,
		" AND o.import_source = $1", source)
}

// ShownByIDs reads materials as Shown does.
func (st Materials) ShownByIDs(ctx context.Context, ids []int64) ([]material.Shown, error) {
	return materialsBy(ctx, st.conn, scanShownMaterial, shownMaterial, contactJoin, "o.id", "BIGINT", ids, "")
}

// After reads, by id, the materials past after, whoever may see them; of one organization, or of all where that is nil.
func (st Materials) After(ctx context.Context, organization *int64, after int64,
	limit int) ([]material.Shown, error) {
	w := sqldb.Where("o.id > ? AND "+published("o"), after)
	sqldb.AndEqual(w, "o.organization_id", organization)
	w.Args = append(w.Args, limit)
	return sqldb.All(ctx, st.conn, scanShownMaterial, "SELECT "+shownMaterial+" FROM "+materialFrom+" WHERE "+
		w.SQL.String()+
		" ORDER BY o.id LIMIT $"+strconv.Itoa(len(w.Args)), w.Args...)
}

// A large spreadsheet that is listed as a whole is written in many short transactions, so that others write in
// between. Its new materials are staged: their rows and versions are there, and keep their references and
// identifiers from others, but no query finds them, until PublishStaged makes all of them visible by changing one
// row. What they are found by is written after that.

// published is the condition that a material is not one that is staged.
func published(m string) string {
	return "(" + m + ".staged_in IS NULL OR " + m + ".staged_in IN (SELECT b.job_id FROM bulks b WHERE b.stored))"
}

// publishedByKey is published("o") for called, which forbids PostgreSQL to scan tables. Without the correlation all of
// bulks would have to be scanned, at a prohibitive cost that hides every other: the planner then compiles the statement
// and reads the whole index of references.
const publishedByKey = "(o.staged_in IS NULL OR EXISTS (SELECT 1 FROM bulks b WHERE b.job_id = o.staged_in AND " +
	"b.stored))"

// Stage is Materials.InsertAll for a spreadsheet that is not published yet.
func (st Bulk) Stage(ctx context.Context, job int64, list []material.Material) ([]int64, error) {
	return Materials(st).insert(ctx, list, 0, &job)
}

// StagedAgreements reads which documents the staged materials of a job show as their MTA that are not filed for the
// lab.
func (st Bulk) StagedAgreements(ctx context.Context, job, organization int64) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], `SELECT DISTINCT o.mta_attachment_id FROM materials o
		JOIN attachments a
		ON a.id = o.mta_attachment_id
		WHERE o.staged_in = $1 AND NOT (a.of_lab AND COALESCE(a.owned_by_org, 0) = $2)
		ORDER BY o.mta_attachment_id`, job, organization)
}

// PublishStaged makes the materials that a spreadsheet staged visible, and returns the epoch of searches in which that
// happens, for SettleStaged.
func (st Bulk) PublishStaged(ctx context.Context, job int64) (int64, error) {
	epoch, err := Alerts(st).epoch(ctx)
	if err != nil {
		return 0, err
	}
	return epoch, st.Store(ctx, job)
}

// SettleStaged makes some materials after an id found that a spreadsheet published, as Materials.InsertAll does, and
// returns the last of their ids; 0: none is left.
func (st Bulk) SettleStaged(ctx context.Context, job, epoch, after int64, limit int) (last int64, err error) {
	if err := walkInOrder(ctx, st.conn); err != nil {
		return 0, err
	}
	list, err := sqldb.All(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
		" FROM materials o WHERE o.staged_in = $1 AND o.id > $2 ORDER BY o.id LIMIT $3"+
		st.conn.Dialect().ForUpdate, job, after, min(limit, sqldb.MaxIn))
	if err != nil || len(list) == 0 {
		return 0, err
	}
	places, args := sqldb.In([]any{epoch}, idsOf(list))
	if _, err := st.conn.Exec(ctx,
		"UPDATE materials SET staged_in = NULL, listed_in = $1, opened_in = $1 WHERE id IN ("+
			places+")", args...); err != nil {
		return 0, err
	}
	if err := Alerts(st).noteChanges(ctx, epoch, list); err != nil {
		return 0, err
	}
	return list[len(list)-1].ID, search.On(st.conn).UpdateMaterials(ctx, list)
}

// walkInOrder has PostgreSQL read the index of staged materials in its order until commit. It has no statistics of
// them, takes them for few, and would otherwise read all that are left and sort them, again for each part.
func walkInOrder(ctx context.Context, c *sqldb.Conn) error {
	if c.Dialect().InOrder == "" {
		return nil
	}
	_, err := c.Exec(ctx, c.Dialect().InOrder)
	return err
}

// Unstage deletes some materials after an id that a spreadsheet staged and will not publish, and returns the last of
// their ids; 0: none is left.
func (st Bulk) Unstage(ctx context.Context, job, after int64, limit int) (last int64, err error) {
	if err := walkInOrder(ctx, st.conn); err != nil {
		return 0, err
	}
	ids, err := sqldb.All(ctx, st.conn, sqldb.Value[int64],
		"SELECT id FROM materials WHERE staged_in = $1 AND id > $2 ORDER BY id "+
			"LIMIT $3", job, after, min(limit, sqldb.MaxIn))
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	objects := make([]string, len(ids))
	for i, id := range ids {
		objects[i] = fmt.Sprintf("material %d", id)
	}
	places, args := sqldb.In(nil, objects)
	if _, err := st.conn.Exec(ctx, "DELETE FROM audit_events WHERE object IN ("+places+")", args...); err != nil {
		return 0, err
	}
	places, args = sqldb.In(nil, ids)
	_, err = st.conn.Exec(ctx, "DELETE FROM materials WHERE id IN ("+places+")", args...)
	return ids[len(ids)-1], err
}

// StagedIn returns the jobs that have materials staged.
func (st Bulk) StagedIn(ctx context.Context) ([]int64, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT DISTINCT staged_in FROM materials WHERE staged_in IS "+
		"NOT NULL ORDER BY "+
		"staged_in")
}

// StagedBeside reports whether another job stages materials of an organization.
func (st Bulk) StagedBeside(ctx context.Context, organization, job int64) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM bulks b WHERE b.organization_id = $1
		AND b.job_id <> $2 AND NOT b.stored
		AND EXISTS (SELECT 1 FROM materials m WHERE m.staged_in = b.job_id))`, organization, job)
}

// ListedAfter reads some of the materials after an id that a job listed, with what happened to them since, by id.
func (st Bulk) ListedAfter(ctx context.Context, job, after int64, limit int) ([]material.Listed, error) {
	scan := func(r sqldb.Row, l *material.Listed) error {
		return r.Scan(&l.ID, &l.Organization, &l.Title, &l.Archived, &l.Requested, &l.Changed)
	}
	return sqldb.All(ctx, st.conn, scan, `SELECT o.id, o.organization_id, o.title, o.is_archived,
		EXISTS (SELECT 1 FROM material_requests r WHERE r.material_id = o.id AND r.deleted_at IS NULL)
			OR EXISTS (SELECT 1 FROM inquiries i WHERE i.material_id = o.id),
		EXISTS (SELECT 1 FROM audit_events a WHERE a.object = 'material ' || CAST(o.id AS TEXT) AND a.version > 1)
		FROM materials o WHERE o.listed_by = $1 AND o.id > $2 AND `+published("o")+" ORDER BY o.id LIMIT $3",
		job, after, limit)
}

// CountListed counts the materials that a job listed.
func (st Bulk) CountListed(ctx context.Context, job int64) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM materials o WHERE o.listed_by = $1 AND "+
		published("o"), job)
}

// ForgetCheckpoint has a job begin again when it is tried again.
func (st Bulk) ForgetCheckpoint(ctx context.Context, job int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE jobs SET checkpoint = NULL WHERE id = $1", job)
	return err
}

func idsOf(list []material.Material) []int64 {
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	return ids
}
