package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// materialColumns are the columns of a material, and materialFields the values that they are scanned into.
var materialColumns = sqldb.ColumnsOf("o.", material.Descriptors)

func materialFields(m *material.Material) []any { return sqldb.ScannedInto(material.Descriptors, m) }

func scanMaterial(r sqldb.Row, m *material.Material) error { return r.Scan(materialFields(m)...) }

var shownMaterial = materialColumns + ", " + userColumns + `,
	(SELECT string_agg(CAST(g.grant_id AS TEXT), ',' ORDER BY g.grant_id) FROM grant_materials g
	WHERE g.material_id = o.id),
	(SELECT n.public_metadata_keys FROM organizations n WHERE n.id = o.organization_id)`

func shownFields(m *material.Shown) []any {
	m.Grants = []int64{}
	return append(append(materialFields(&m.Material), userFields(&m.Contact)...), sqldb.IDs(&m.Grants),
		hiddenMetadata{m})
}

// hiddenMetadata scans, after all other columns, the keys that the lab of a material publishes, and hides the others.
type hiddenMetadata struct{ m *material.Shown }

// Scan takes JSON.
func (s hiddenMetadata) Scan(src any) error {
	var published []string
	var err error
	if src != "[]" { // as of most labs
		err = sqldb.FromJSON(&published).Scan(src)
	}
	s.m.Conceal(published)
	return err
}

func scanShownMaterial(r sqldb.Row, m *material.Shown) error {
	return r.Scan(shownFields(m)...)
}

const (
	materialFrom = "materials o " + contactJoin
	contactJoin  = "JOIN users u ON u.id = o.contact_user_id"
)

// Shown reads one material with its contact and grants, in one query.
func (st Materials) Shown(ctx context.Context, id int64) (material.Shown, error) {
	return sqldb.One(ctx, st.conn, scanShownMaterial, selectShownMaterial, id)
}

var selectShownMaterial = "SELECT " + shownMaterial + " FROM " + materialFrom + " WHERE o.id = $1 AND " + published("o")

// Get reads one material.
func (st Materials) Get(ctx context.Context, id int64) (material.Material, error) {
	return sqldb.One(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.id = $1 AND "+
		published("o"),
		id)
}

// ForUpdate reads one and locks it until commit.
func (st Materials) ForUpdate(ctx context.Context, id int64) (material.Material, error) {
	return sqldb.One(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.id = $1 AND "+
		published("o")+st.conn.Dialect().ForUpdate, id)
}

// ShownForUpdate is Shown and ForUpdate in one query.
func (st Materials) ShownForUpdate(ctx context.Context, id int64) (material.Shown, error) {
	return sqldb.One(ctx, st.conn, scanShownMaterial, selectShownMaterial+ofListed(st.conn.Dialect().ForUpdate), id)
}

// ForShare reads one and keeps it as it is until commit; others may do so at the same time.
func (st Materials) ForShare(ctx context.Context, id int64) (material.Material, error) {
	return sqldb.One(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+" FROM materials o WHERE o.id = $1 AND "+
		published("o")+st.conn.Dialect().ForShare, id)
}

// ByImport reads the material that was imported under an identifier.
func (st Materials) ByImport(ctx context.Context, source, identifier string) (material.Shown, error) {
	return sqldb.One(ctx, st.conn, scanShownMaterial, "SELECT "+shownMaterial+" FROM "+materialFrom+
		" WHERE o.import_source = $1 AND o.import_identifier = $2 AND "+published("o"), source, identifier)
}

// membersOf are the organizations of a user.
const membersOf = "SELECT m.organization_id FROM memberships m WHERE m.user_id = ? AND m.left_at IS NULL"

// andVisible adds the condition that viewer may see the material o: it is not under embargo, or of an
// organization of theirs.
func andVisible(w *sqldb.Filter, c *sqldb.Conn, viewer uuid.UUID) {
	w.And("(o.embargo_date IS NULL OR o.embargo_date <= ? OR o.organization_id IN ("+membersOf+"))", c.Today(), viewer)
}

// List lists the materials that viewer may see: an embargoed one only
// members of its organization see.
func (st Materials) List(ctx context.Context, p exchange.Page, f material.Filter,
	viewer uuid.UUID) (exchange.ListPage[material.Shown], error) {
	w := &sqldb.Filter{}
	andVisible(w, st.conn, viewer)
	w.And(published("o"))
	sqldb.AndEqual(w, "o.organization_id", f.Organization)
	sqldb.AndEqual(w, "o.category", f.Category)
	sqldb.AndEqual(w, "o.is_archived", f.Archived)
	return shownMaterials.Page(ctx, st.conn, p, w)
}

var shownMaterials = sqldb.Listing[material.Shown]{Columns: shownMaterial, Table: "materials",
	Joins: contactJoin,
	Scan:  scanShownMaterial,
	ID:    func(m material.Shown) int64 { return m.ID },
	Sorts: map[string]string{"organization": "o.organization_id"}, Filters: map[string]sqldb.Condition{
		"organization": sqldb.Equals("o.organization_id"), "contact_user": sqldb.Equals("o.contact_user_id"),
		"mta_attachment":        sqldb.Equals("o.mta_attachment_id"),
		"shipping_requirements": sqldb.Equals("o.shipping_requirements_id")}}

// materialWritten are the columns that args fills: those of the descriptors that a change may set, and others.
var materialWritten = append(sqldb.WrittenColumns(material.Descriptors),
	"title_sort", "created_at", "updated_at", "listed_in", "opened_in")

// Insert is Materials.InsertAll of one.
func (st Materials) Insert(ctx context.Context, m material.Material) (int64, error) {
	ids, err := st.InsertAll(ctx, []material.Material{m})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// InsertAll adds materials, sets their ids and returns them too. They are found from then on. The same identifier at
// the same source is a Conflict, and so is the same reference in the same organization.
func (st Materials) InsertAll(ctx context.Context, list []material.Material) (ids []int64, err error) {
	epoch, err := Alerts(st).epoch(ctx)
	if err != nil {
		return nil, err
	}
	if ids, err = st.insert(ctx, list, epoch, nil); err != nil {
		return nil, err
	}
	if err := Alerts(st).noteChanges(ctx, epoch, list); err != nil {
		return nil, err
	}
	return ids, search.On(st.conn).UpdateMaterials(ctx, list)
}

// insert adds the rows of materials, staged by a job where that is not nil.
func (st Materials) insert(ctx context.Context, list []material.Material, epoch int64, job *int64) (ids []int64,
	err error) {
	for i := range list {
		list[i].CreatedAt = st.conn.Now
	}
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		var args []any
		for _, m := range some {
			row, err := st.args([]material.Material{m}, epoch)
			if err != nil {
				return nil, err
			}
			var by *int64
			if m.ListedBy != 0 {
				by = &m.ListedBy
			}
			args = append(append(args, row...), job, by)
		}
		added, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], "INSERT INTO materials ("+
			strings.Join(materialWritten, ", ")+
			", staged_in, listed_by) VALUES "+
			sqldb.Places(len(some), len(materialWritten)+2)+" RETURNING id", args...)
		if err != nil {
			return nil, err
		}
		slices.Sort(added) // ids are given to rows in their order; how they come back no standard says
		for i := range some {
			some[i].ID = added[i]
		}
		ids = append(ids, added...)
	}
	return ids, nil
}

// Update is Materials.UpdateAll of one, which may arrive.
func (st Materials) Update(ctx context.Context, m material.Material) error {
	return st.UpdateAll(ctx, []material.Material{m}, true)
}

// UpdateAll saves materials that there are; when they were created never changes. arrive: some of them may, by
// material.Material.Arrives. Whoever calls it holds their rows.
func (st Materials) UpdateAll(ctx context.Context, list []material.Material, arrive bool) error {
	var epoch int64
	if arrive { // otherwise it is not written, so that it may end
		var err error
		if epoch, err = Alerts(st).epoch(ctx); err != nil {
			return err
		}
	}
	states := make([]search.MaterialState, 0, len(list))
	for some := range sqldb.Batches(list, st.conn.Dialect().AtOnce) {
		written, err := st.args(some, epoch)
		if err != nil {
			return err
		}
		var args []any
		for i, m := range some {
			args = append(append(args, m.ID), written[i*len(materialWritten):(i+1)*len(materialWritten)]...)
		}
		found, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, s *search.MaterialState) error {
			return r.Scan(append([]any{&epoch}, s.Fields()...)...)
		}, "INSERT INTO materials (id, "+strings.Join(materialWritten, ", ")+") VALUES "+
			sqldb.Places(len(some), len(materialWritten)+1)+" ON CONFLICT (id) DO UPDATE SET "+materialChanged+
			fmt.Sprintf(arrivals, len(args)+1)+materialState, append(args, st.conn.Now.Format(time.DateOnly))...)
		if err != nil {
			return err
		}
		states = append(states, found...)
	}
	if err := Alerts(st).noteChanges(ctx, epoch, list); err != nil {
		return err
	}
	return search.On(st.conn).UpdateMaterialsFrom(ctx, list, states)
}

// materialState returns the epoch of searches, and what search.MaterialState.Fields takes.
const materialState = ` RETURNING (SELECT epoch FROM search_epochs), id,
	(SELECT n.name FROM organizations n WHERE n.id = organization_id),
	(SELECT n.public_metadata_keys FROM organizations n WHERE n.id = organization_id),
	(SELECT f.data_uses FROM transfer_facts f WHERE f.material_id = materials.id),
	(SELECT x.rank FROM material_index x WHERE x.id = materials.id),
	(SELECT x.digest FROM material_index x WHERE x.id = materials.id),
	(SELECT x.weights FROM material_index x WHERE x.id = materials.id)`

// arrivals sets in which epoch a material came back from the archive, or its embargo ended by a change;
// the place of today is filled in.
const arrivals = `, listed_in = CASE WHEN materials.is_archived
	AND NOT excluded.is_archived THEN excluded.listed_in ELSE materials.listed_in END,
	opened_in = CASE WHEN materials.is_archived AND NOT excluded.is_archived
		OR materials.embargo_date > $%[1]d AND (excluded.embargo_date IS NULL OR excluded.embargo_date <= $%[1]d)
		THEN excluded.opened_in ELSE materials.opened_in END`

// materialChanged sets what an update may change.
var materialChanged = sqldb.Excluded(slices.DeleteFunc(slices.Clone(materialWritten), func(column string) bool {
	return column == "created_at" || column == "listed_in" || column == "opened_in"
}))

func (st Materials) args(list []material.Material, epoch int64) ([]any, error) {
	args := make([]any, 0, len(list)*(len(materialWritten)+1))
	for _, m := range list {
		var err error
		if args, err = sqldb.AppendWritten(args, material.Descriptors, &m); err != nil {
			return nil, err
		}
		args = append(args, exchange.SortKey(m.Title), m.CreatedAt, st.conn.Now, epoch, epoch)
	}
	return args, nil
}

// Accepted reports whether the lab of a material accepted a request of a user for it, and did not turn it down since.
func (st Materials) Accepted(ctx context.Context, material int64, requester uuid.UUID) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM material_requests
		WHERE material_id = $1
		AND requester_id = $2
		AND status IN ('APPROVED', 'IN_FULFILLMENT', 'FULFILLED', 'VERIFIED_FULFILLED')
		AND deleted_at IS NULL)`, material, requester)
}

// ActiveRequests is how many requests of a material are under way.
func (st Materials) ActiveRequests(ctx context.Context, material int64) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM material_requests WHERE material_id = "+
		"$1 AND is_active "+
		"AND deleted_at IS NULL", material)
}

// Reindex updates the index rows of materials after a change of other data that they are found by, such as the
// name of their organization. Ids that do not exist are skipped.
func (st Materials) Reindex(ctx context.Context, ids []int64) error {
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		list, err := sqldb.All(ctx, st.conn, scanMaterial, "SELECT "+materialColumns+
			" FROM materials o WHERE o.id IN ("+
			places+
			") ORDER BY o.id"+
			st.conn.Dialect().ForUpdate, args...)
		if err != nil {
			return err
		}
		if err := search.On(st.conn).UpdateMaterials(ctx, list); err != nil {
			return err
		}
	}
	return nil
}

// Search returns the materials that match a search and that its viewer may see. Without words, the newest are
// the most relevant.
func (st Materials) Search(ctx context.Context, s exchange.Search) (exchange.SearchResult[material.Shown], error) {
	return search.Find(ctx, st.conn, search.Materials, s, shownMaterial, materialFrom, shownFields)
}

// Move is that a material went from an organization to another.
type Move struct {
	From    int64
	Version int64 // of the material, that it made
	MovedAt time.Time
}

// InsertMove notes that a material, which versions call object, goes from an organization to another, before the
// version that it makes is stored.
func (st Materials) InsertMove(ctx context.Context, material, from int64, object string) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO material_moves (material_id, from_organization_id, version, moved_at)
		VALUES ($1, $2, (SELECT COALESCE(MAX(version), 0) + 1 FROM audit_events WHERE object = $3),
		$4)`, material, from, object, st.conn.Now)
	return err
}

// MovedFrom returns the last move of a material away from an organization that a user is a member of, if there is any.
func (st Materials) MovedFrom(ctx context.Context, material int64, user uuid.UUID) ([]Move, error) {
	scan := func(r sqldb.Row, m *Move) error { return r.Scan(&m.From, &m.Version, sqldb.UTC(&m.MovedAt)) }
	return sqldb.All(ctx, st.conn, scan, `SELECT v.from_organization_id, v.version, v.moved_at FROM material_moves v
		JOIN memberships m ON m.organization_id = v.from_organization_id AND m.user_id = $2 AND m.left_at IS NULL
		WHERE v.material_id = $1 ORDER BY v.id DESC LIMIT 1`, material, user)
}
