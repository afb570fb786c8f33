package store

import (
	"context"
	"fmt"

	"aliquot/internal/exchange"
)

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
func (st Bulk) Stage(ctx context.Context, job int64, list []exchange.Material) ([]int64, error) {
	return Materials(st).insert(ctx, list, 0, &job)
}

// StagedAgreements reads which documents the staged materials of a job show as their MTA that are not filed for the
// lab.
func (st Bulk) StagedAgreements(ctx context.Context, job, organization int64) ([]int64, error) {
	return all(ctx, st.conn, value[int64], `SELECT DISTINCT o.mta_attachment_id FROM materials o JOIN attachments a
		ON a.id = o.mta_attachment_id
		WHERE o.staged_in = $1 AND NOT (a.of_lab AND COALESCE(a.owned_by_org, 0) = $2)
		ORDER BY o.mta_attachment_id`, job, organization)
}

// PublishStaged makes the materials that a spreadsheet staged visible, and gives the epoch of searches in which
// that happens, for SettleStaged.
func (st Bulk) PublishStaged(ctx context.Context, job int64) (int64, error) {
	epoch, err := Alerts(st).epoch(ctx)
	if err != nil {
		return 0, err
	}
	return epoch, st.Store(ctx, job)
}

// SettleStaged makes some materials behind an id found that a spreadsheet published, as Materials.InsertAll does, and
// returns the last of their ids; 0: none is left.
func (st Bulk) SettleStaged(ctx context.Context, job, epoch, after int64, limit int) (last int64, err error) {
	if err := st.conn.walkInOrder(ctx); err != nil {
		return 0, err
	}
	list, err := all(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
		" FROM materials o WHERE o.staged_in = $1 AND o.id > $2 ORDER BY o.id LIMIT $3"+
		st.conn.db.dialect.forUpdate, job, after, min(limit, maxIn))
	if err != nil || len(list) == 0 {
		return 0, err
	}
	places, args := in([]any{epoch}, idsOf(list))
	if _, err := st.conn.exec(ctx,
		"UPDATE materials SET staged_in = NULL, listed_in = $1, opened_in = $1 WHERE id IN ("+
			places+")", args...); err != nil {
		return 0, err
	}
	if err := Alerts(st).noteChanges(ctx, epoch, list); err != nil {
		return 0, err
	}
	return list[len(list)-1].ID, st.conn.indexMaterials(ctx, list)
}

// walkInOrder has PostgreSQL read the index of staged materials in its order until commit. It has no statistics of
// them, takes them for few, and would otherwise read all that are left and sort them, for each part anew.
func (c *conn) walkInOrder(ctx context.Context) error {
	if c.db.dialect.inOrder == "" {
		return nil
	}
	_, err := c.exec(ctx, c.db.dialect.inOrder)
	return err
}

// Unstage forgets some materials behind an id that a spreadsheet staged and will not publish, and returns the last of
// their ids; 0: none is left.
func (st Bulk) Unstage(ctx context.Context, job, after int64, limit int) (last int64, err error) {
	if err := st.conn.walkInOrder(ctx); err != nil {
		return 0, err
	}
	ids, err := all(ctx, st.conn, value[int64],
		"SELECT id FROM materials WHERE staged_in = $1 AND id > $2 ORDER BY id "+
			"LIMIT $3", job, after, min(limit, maxIn))
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	objects := make([]string, len(ids))
	for i, id := range ids {
		objects[i] = fmt.Sprintf("material %d", id)
	}
	places, args := in(nil, objects)
	if _, err := st.conn.exec(ctx, "DELETE FROM audit_events WHERE object IN ("+places+")", args...); err != nil {
		return 0, err
	}
	places, args = in(nil, ids)
	_, err = st.conn.exec(ctx, "DELETE FROM materials WHERE id IN ("+places+")", args...)
	return ids[len(ids)-1], err
}

// StagedIn gives the jobs that have materials staged.
func (st Bulk) StagedIn(ctx context.Context) ([]int64, error) {
	return all(ctx, st.conn, value[int64], "SELECT DISTINCT staged_in FROM materials WHERE staged_in IS NOT NULL "+
		"ORDER BY "+
		"staged_in")
}

// StagedBeside reports whether another job stages materials of an organization.
func (st Bulk) StagedBeside(ctx context.Context, organization, job int64) (bool, error) {
	return one(ctx, st.conn, value[bool], `SELECT EXISTS (SELECT 1 FROM bulks b WHERE b.organization_id = $1
		AND b.job_id <> $2 AND NOT b.stored
		AND EXISTS (SELECT 1 FROM materials m WHERE m.staged_in = b.job_id))`, organization, job)
}

// ForgetCheckpoint has a job begin anew when it is tried again.
func (st Bulk) ForgetCheckpoint(ctx context.Context, job int64) error {
	_, err := st.conn.exec(ctx, "UPDATE jobs SET checkpoint = NULL WHERE id = $1", job)
	return err
}

func idsOf(list []exchange.Material) []int64 {
	ids := make([]int64, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	return ids
}
