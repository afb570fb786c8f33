package spreadsheet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
)

// bulkRow is a row that is being turned into a material.
type bulkRow struct {
	sheet.Row
	entry   material.RowTarget
	old     *material.Material // nil: the row makes a new one
	now     material.Material
	changed bool
	asAdmin bool
	faults  exchange.FieldErrors
}

// What to do with valid rows.
type rowMode int

const (
	tryRows   rowMode = iota // only check
	storeRows                // list and change materials
	stageRows                // stage new materials
)

// look checks rows and does what is wanted with the valid ones.
func (b *bulkRun) look(ctx context.Context, c store.Conn, list []sheet.Row, how rowMode) ([]material.RowResult, error) {
	rows, err := b.find(ctx, c, list)
	if err != nil {
		return nil, err
	}
	writer := catalog.New(b.a.Core).NewWriter(c, b.who)
	writer.Try = how != storeRows // publishing files the documents that staged materials show
	for i := range rows {
		if err := b.judge(ctx, writer, &rows[i]); err != nil {
			return nil, err
		}
	}
	if err := b.imported(ctx, c, rows); err != nil {
		return nil, err
	}
	if how != tryRows {
		if err := b.store(ctx, writer, rows, how == stageRows); err != nil {
			return nil, err
		}
	}
	outcomes := make([]material.RowResult, len(rows))
	for i, r := range rows {
		outcomes[i] = b.outcome(r)
	}
	return outcomes, nil
}

// find reads the materials that rows name.
func (b *bulkRun) find(ctx context.Context, c store.Conn, list []sheet.Row) ([]bulkRow, error) {
	rows := make([]bulkRow, len(list))
	var ids []int64
	var references []string
	for i, row := range list {
		rows[i] = bulkRow{Row: row, entry: b.layout.RowTarget(row.Cells, b.record.OrganizationID)}
		rows[i].faults = rows[i].entry.Faults
		if e := rows[i].entry; e.ID != 0 {
			ids = append(ids, e.ID)
		}
		if e := rows[i].entry; e.Reference != "" {
			references = append(references, e.Reference)
		}
	}
	named, err := c.Materials.ByIDs(ctx, b.record.OrganizationID, ids)
	if err != nil {
		return nil, err
	}
	byID := map[int64]*material.Material{}
	for i, m := range named {
		byID[m.ID] = &named[i]
	}
	known, err := c.Materials.ByReferences(ctx, b.record.OrganizationID, references)
	if err != nil {
		return nil, err
	}
	byReference := map[string]*material.Material{}
	for i, m := range known {
		byReference[*m.Reference] = &known[i]
	}
	for i := range rows {
		r := &rows[i]
		r.old = byReference[r.entry.Reference]
		if r.entry.ID == 0 {
			continue
		}
		if other := r.old; other != nil && other.ID != r.entry.ID {
			r.faults.Add("reference", "is already used by material %d", other.ID)
		}
		if r.old = byID[r.entry.ID]; r.old == nil {
			r.faults.Add("id", "organization %d has no material with the id %d", b.record.OrganizationID, r.entry.ID)
		}
	}
	return rows, nil
}

// judge finds what a row changes and what is wrong with it.
func (b *bulkRun) judge(ctx context.Context, s *catalog.MaterialWriter, r *bulkRow) error {
	b.claims(r)
	for i, why := range r.Wrong {
		r.faults.Add(b.layout.Field(i), "%s", why)
	}
	if r.old == nil && (r.entry.ID != 0 || r.faults["id"] != nil) {
		return nil // it names a material that does not exist
	}
	patch, faults := b.layout.Patch(r.Cells, b.record.OrganizationID, r.old)
	for field, texts := range faults {
		for _, text := range texts {
			r.faults.Add(field, "%s", text)
		}
	}
	if name := r.entry.Contact; name != "" {
		u, err := s.People.Get(name, func() (person.User, error) { return s.Conn.Users.ByRegistryID(ctx, name) })
		switch {
		case exchange.CodeOf(err) == exchange.NotFound:
			r.faults.Add("contact_user_id", "no one with the ORCID iD or user id %q has signed in", name)
		case err != nil:
			return err
		default:
			patch.Contact = exchange.Some(exchange.UserRef(u.ID))
		}
	}
	var err error
	if r.old != nil {
		r.now, r.changed, r.asAdmin, err = s.Change(ctx, *r.old, patch, nil)
	} else {
		r.changed = true
		if r.now, err = patch.Create(); err == nil {
			if b.args.Order.Lacking == material.LackingRefuse {
				r.needs(r.now.MissingFields())
			}
			r.asAdmin, err = s.Add(ctx, &r.now)
		}
	}
	r.asAdmin = r.asAdmin || b.args.Operator
	return r.refuse(err)
}

// needs refuses a new material without a value that the form requires too. Its title will do for a name.
func (r *bulkRow) needs(missing []category.Field) {
	for _, f := range missing {
		field := "additional_metadata." + f.Key
		if r.faults[field] != nil || strings.HasSuffix(f.Key, "_name") {
			continue // the cell could not be read, or the title is the name
		}
		if len(f.Options) == 0 {
			r.faults.Add(field, `is required; if it is not known, enter "not known"`)
			continue
		}
		var labels []string
		for _, o := range f.Options {
			labels = append(labels, o.Label)
		}
		r.faults.Add(field, "is required: one of %s", strings.Join(labels, ", "))
	}
}

// claims checks that no earlier row names the same material or has the same reference.
func (b *bulkRun) claims(r *bulkRow) {
	if name := r.entry.Reference; name != "" {
		if other := b.claim("reference", name, r.Number); other != 0 {
			r.faults.Add("reference", "is also in row %d", other)
			return
		}
	}
	if r.old != nil {
		if other := b.claim("id", fmt.Sprint(r.old.ID), r.Number); other != 0 {
			r.faults.Add("id", "row %d is about the same material", other)
		}
	}
}

// refuse records a rule's error as faults of the row; it returns any other error.
func (r *bulkRow) refuse(err error) error {
	e, ok := errors.AsType[*exchange.Error](err)
	switch {
	case err == nil:
	case !ok || e.Code.ServerFault():
		return err
	case e.Code == exchange.InvalidInput:
		for field, texts := range e.Fields {
			if _, named := r.faults[field]; named {
				continue // the cell could not be read, so its value is missing too
			}
			for _, text := range texts {
				r.faults.Add(field, "%s", text)
			}
		}
	default:
		field, _ := e.Details["field"].(string)
		if field == "" {
			field = "row"
		}
		r.faults.Add(field, "%s", e.Message)
	}
	return nil
}

// imported refuses materials that were imported before, by the duplicate rule of the specification.
func (b *bulkRun) imported(ctx context.Context, c store.Conn, rows []bulkRow) error {
	bySource := map[string]map[string]*bulkRow{}
	for i := range rows {
		r := &rows[i]
		if r.now.ImportIdentifier == nil || len(r.faults) > 0 || !r.changed {
			continue
		}
		source, name := r.now.ImportSource, *r.now.ImportIdentifier
		if other := b.claim("import "+source, name, r.Number); other != 0 {
			r.faults.Add("import_source", "row %d is %s %s too", other, source, name)
			continue
		}
		if bySource[source] == nil {
			bySource[source] = map[string]*bulkRow{}
		}
		bySource[source][name] = r
	}
	for source, named := range bySource {
		there, err := c.Materials.ByImports(ctx, source, catalog.Sorted(named))
		if err != nil {
			return err
		}
		for _, m := range there {
			if r := named[*m.ImportIdentifier]; r.old == nil || r.old.ID != m.ID {
				which := fmt.Sprintf(": it is material %d", m.ID)
				if b.a.Hides(b.who, m, c.Now) {
					which = ""
				}
				r.faults.Add("import_source", "%s %s was imported already%s", source, *m.ImportIdentifier, which)
			}
		}
	}
	return nil
}

// store saves the valid rows that change something, or stages the new materials among them.
func (b *bulkRun) store(ctx context.Context, s *catalog.MaterialWriter, rows []bulkRow, stage bool) error {
	tx := s.Conn
	var added []*bulkRow
	var made, old, saved []material.Material
	asAdmin := map[int64]bool{} // for each changed material
	for i := range rows {
		switch r := &rows[i]; {
		case len(r.faults) > 0 || !r.changed:
		case r.old == nil:
			r.now.ListedBy = b.run.ID()
			added, made = append(added, r), append(made, r.now)
		default:
			old, saved, asAdmin[r.now.ID] = append(old, *r.old), append(saved, r.now), r.asAdmin
		}
	}
	insert := tx.Materials.InsertAll
	if stage {
		old, saved, asAdmin = nil, nil, nil
		insert = func(ctx context.Context, list []material.Material) ([]int64, error) {
			return tx.Bulk.Stage(ctx, b.run.ID(), list)
		}
	}
	ids, err := insert(ctx, made)
	if err != nil {
		return err
	}
	for i, id := range ids {
		added[i].now.ID = id
	}
	if err := core.SaveMaterials(ctx, tx, old, saved); err != nil {
		return err
	}
	return errors.Join(b.keepAdded(ctx, s, added), core.RecordMaterialVersions(ctx, tx, b.who, asAdmin))
}

// keepAdded records new materials as versions. It knows the shown form of a new material without reading it.
func (b *bulkRun) keepAdded(ctx context.Context, s *catalog.MaterialWriter, rows []*bulkRow) error {
	versions := make([]store.Revision, len(rows))
	for i, r := range rows {
		contact, err := s.User(ctx, r.now.ContactID)
		if err != nil {
			return err
		}
		r.now.CreatedAt, r.now.UpdatedAt = s.Conn.Now, s.Conn.Now
		versions[i] = core.MaterialVersion(material.Shown{Material: r.now, Contact: contact, Grants: []int64{}},
			r.asAdmin)
		versions[i].First = true
	}
	return s.Conn.Audit.InsertVersions(ctx, core.ActorID(b.who), exchange.MaterialCreate, versions)
}

// outcome returns the result of a row, for the report.
func (b *bulkRun) outcome(r bulkRow) material.RowResult {
	o := material.RowResult{Row: r.Number, Outcome: material.RowCreated, Material: r.now.ID,
		Reference: r.entry.Reference}
	if r.old != nil {
		o.Material = r.old.ID
	}
	switch {
	case len(r.faults) > 0:
		o.Outcome, o.Problems = material.RowRefused, b.byHeader(r.faults)
		o.Values = b.layout.Cells(r.Cells, o.Problems)
	case !r.changed:
		o.Outcome = material.RowUnchanged
	case r.old != nil:
		o.Outcome = material.RowUpdated
	}
	if b.args.Order.Mode == material.BulkDryRun && o.Problems == nil {
		o.Doubts = b.byHeader(r.now.Warnings())
	}
	return o
}

// byHeader groups problems by the column in which they occur.
func (b *bulkRun) byHeader(faults map[string][]string) map[string][]string {
	var named map[string][]string
	for field, texts := range faults {
		if named == nil {
			named = map[string][]string{}
		}
		header := b.layout.Header(field)
		named[header] = append(named[header], texts...)
	}
	return named
}
