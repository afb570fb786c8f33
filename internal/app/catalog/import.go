package catalog

import (
	"context"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/funding"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// Import lists a material as a public source describes it, and adds it to a grant. The caller owns the grant and
// belongs to the organization. existed reports whether it was imported before and is returned unchanged; a unique index
// decides. No transaction is open while Import waits for a source.
func (a Materials) Import(ctx context.Context, who exchange.Actor, n material.ImportNew) (m material.Shown,
	existed bool, err error) {
	o, err := n.Check()
	if err != nil {
		return m, false, err
	}
	return a.importOne(ctx, who, o,
		func(ctx context.Context, made material.Material) (m material.Shown, err error) {
			err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
				m, err = a.addImported(ctx, tx, who, o, made)
				return err
			})
			return m, err
		})
}

// importOne is Import with a function add that stores what the source returned by calling addImported in a transaction.
func (a Materials) importOne(ctx context.Context, who exchange.Actor, o material.ImportOptions,
	add func(context.Context, material.Material) (material.Shown, error)) (m material.Shown,
	existed bool, err error) {
	if _, err := a.mayImport(ctx, a.DB.Read(), who, o); err != nil {
		return m, false, err
	}
	// If it was imported under the same identifier, there is no need to query the source again.
	m, err = a.Imported(ctx, who, o.Source, o.Identifier)
	if exchange.CodeOf(err) != exchange.NotFound {
		return m, true, err
	}
	made, _, err := a.draft(ctx, who, o)
	if err != nil {
		return m, false, err
	}
	if m, err = add(ctx, made); exchange.CodeOf(err) == exchange.Conflict {
		m, err = a.Imported(ctx, who, made.ImportSource, *made.ImportIdentifier)
		if exchange.CodeOf(err) == exchange.NotFound { // nobody can see it yet
			err = exchange.Errorf(exchange.Conflict, "A spreadsheet being listed contains %s %s; try again when it "+
				"has finished.", made.ImportSource, *made.ImportIdentifier)
		}
		return m, true, err
	}
	return m, false, err
}

// addImported stores what a source returned.
func (a Materials) addImported(ctx context.Context, tx store.Conn, who exchange.Actor, o material.ImportOptions,
	made material.Material) (m material.Shown, err error) {
	g, err := funding.New(a.Core).GrantToChange(ctx, tx, who, o.GrantID)
	if err != nil {
		return m, core.Refer(err, "grant_id", o.GrantID)
	}
	asAdmin, err := a.Can(who, exchange.MaterialImport, who.ToOrganization(o.OrganizationID))
	if err != nil {
		return m, err
	}
	if err := a.NewWriter(tx, who).check(ctx, material.Material{}, &made); err != nil {
		return m, err
	}
	id, err := tx.Materials.Insert(ctx, made)
	if err != nil {
		return m, err
	}
	if _, err := tx.Grants.Fund(ctx, o.GrantID, id); err != nil {
		return m, err
	}
	if err := tx.Grants.Update(ctx, g); err != nil {
		return m, err
	}
	if m, err = a.ShownIn(ctx, tx, who, id); err != nil {
		return m, err
	}
	return m, core.RecordMaterialVersion(ctx, tx, who, exchange.MaterialImport, asAdmin, m)
}

// mayImport checks that who may import, or preview an import, for which no grant is needed (its id is 0), before a
// source is queried; addImported checks again. It names every wrong reference.
func (a Materials) mayImport(ctx context.Context, c store.Conn, who exchange.Actor,
	o material.ImportOptions) (asAdmin bool, err error) {
	var f exchange.FieldErrors
	var g person.Grant
	if o.GrantID != 0 {
		g, err = c.Grants.Get(ctx, o.GrantID)
		if exchange.CodeOf(err) == exchange.NotFound {
			f.Add("grant_id", "there is no object with the id %d", o.GrantID)
		} else if err != nil {
			return false, err
		}
	}
	_, err = c.Organizations.Get(ctx, o.OrganizationID)
	if exchange.CodeOf(err) == exchange.NotFound {
		f.Add("organization_id", "there is no object with the id %d", o.OrganizationID)
	} else if err != nil {
		return false, err
	}
	if err := f.Err(); err != nil {
		return false, err
	}
	power := false
	if o.GrantID != 0 {
		if power, err = a.Can(who, exchange.GrantUpdate, who.ToUser(g.UserID)); err != nil {
			return false, err
		}
	}
	asAdmin, err = a.Can(who, exchange.MaterialImport, who.ToOrganization(o.OrganizationID))
	return asAdmin || power, err
}

// draft returns the material that an import makes, with the caller as its contact. A future release date becomes its
// embargo date.
func (a Materials) draft(ctx context.Context, who exchange.Actor, o material.ImportOptions) (material.Material,
	[]string, error) {
	d, err := a.Importer.Draft(ctx, o)
	if err != nil {
		return material.Material{}, nil, err
	}
	p := d.Material
	p.Organization, p.Contact = exchange.Some(exchange.Ref(o.OrganizationID)), exchange.Some(exchange.UserRef(who.ID))
	if string(d.Released) > time.Now().UTC().Format(time.DateOnly) {
		p.EmbargoDate = exchange.NullOf(d.Released)
	}
	made, err := p.Create()
	if err == nil && made.ImportIdentifier == nil {
		err = core.FieldError(o.Field(), "the source gave no identifier")
	}
	if err != nil {
		return made, nil, &exchange.Error{Code: exchange.InvalidAnswer, Cause: err,
			Message: "The source’s description cannot be imported. Please list it manually."}
	}
	return made, d.Warnings, nil
}

// ImportPreview shows what an import would make.
type ImportPreview struct {
	Material material.Material
	Warnings []string        // what the sources leave out
	Existing *material.Shown // the material imported before, as imported reads it; nil if there is none
}

// PreviewImport shows what an import would make, and stores nothing.
func (a Materials) PreviewImport(ctx context.Context, who exchange.Actor, n material.ImportName) (ImportPreview,
	error) {
	o, err := n.Check()
	if err != nil {
		return ImportPreview{}, err
	}
	if _, err := a.Can(who, exchange.MaterialPreview, who.ToUser(who.ID)); err != nil {
		return ImportPreview{}, err
	}
	return a.preview(ctx, who, o)
}

func (a Materials) preview(ctx context.Context, who exchange.Actor, o material.ImportOptions) (v ImportPreview,
	err error) {
	if v.Material, v.Warnings, err = a.draft(ctx, who, o); err != nil {
		return v, err
	}
	m, err := a.Imported(ctx, who, v.Material.ImportSource, *v.Material.ImportIdentifier)
	switch {
	case err == nil:
		v.Existing = &m
		if m.ID == 0 {
			v.Warnings = append(v.Warnings, "Already imported by a lab that has not made it public yet.")
		}
	case exchange.CodeOf(err) == exchange.NotFound:
		err = nil
	}
	return v, err
}

// Publication looks up a publication by its PubMed id or its DOI, one of which is nil.
func (a Materials) Publication(ctx context.Context, who exchange.Actor, pubmedID, doi *string) (material.Publication,
	error) {
	pmid, name, err := material.PublicationOf(pubmedID, doi)
	if err != nil {
		return material.Publication{}, err
	}
	if _, err := a.Can(who, exchange.PublicationRead, who.ToUser(who.ID)); err != nil {
		return material.Publication{}, err
	}
	return a.Importer.Publication(ctx, pmid, name)
}
