package catalog

import (
	"context"
	"errors"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/store"
)

// Material reads one material.
func (a Materials) Material(ctx context.Context, who exchange.Actor, id int64) (material.Shown, error) {
	return a.Shown(ctx, a.DB.Read(), who, id)
}

// Listing reads one material in the form in which it is published.
func (a Materials) Listing(ctx context.Context, who exchange.Actor, id int64) (publish.Listing, error) {
	read := a.DB.Read()
	m, err := a.Listed(ctx, read, who, id)
	if err != nil {
		return publish.Listing{}, err
	}
	o, err := read.Organizations.Get(ctx, m.OrganizationID)
	return publish.Listing{Shown: m, Organization: o, Site: a.PublicURL, Now: read.Now}, err
}

// Materials lists materials.
func (a Materials) Materials(ctx context.Context, who exchange.Actor, p exchange.Page,
	f material.Filter) (exchange.ListPage[material.Shown], error) {
	part, err := a.DB.Read().Materials.List(ctx, p, f, who.Viewer())
	core.Reveal(who, part.Items)
	return part, err
}

// CreateMaterial lists a material. existed reports whether it was imported before; then it is returned as imported
// reads it (the duplicate rule of the specification, held by a unique index).
func (a Materials) CreateMaterial(ctx context.Context, who exchange.Actor,
	p material.Patch) (m material.Shown, existed bool, err error) {
	made, err := p.Create()
	if err != nil {
		return m, false, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		asAdmin, err := a.NewWriter(tx, who).Add(ctx, &made)
		if err != nil {
			return err
		}
		id, err := tx.Materials.Insert(ctx, made)
		if err != nil {
			return err
		}
		if m, err = a.ShownIn(ctx, tx, who, id); err != nil {
			return err
		}
		return core.RecordMaterialVersion(ctx, tx, who, exchange.MaterialCreate, asAdmin, m)
	})
	if exchange.CodeOf(err) != exchange.Conflict {
		return m, false, err
	}
	if made.ImportIdentifier != nil {
		m, err = a.Imported(ctx, who, made.ImportSource, *made.ImportIdentifier)
		if exchange.CodeOf(err) != exchange.NotFound {
			return m, true, err
		}
	}
	return m, false, takenReference(made)
}

// canIn is can for the organization that a body names. If it does not exist, that is an error in the body, whatever
// rights the caller has.
func (a Materials) canIn(ctx context.Context, tx store.Conn, who exchange.Actor, action exchange.Action,
	organization int64) (asAdmin bool, err error) {
	asAdmin, err = a.Can(who, action, who.ToOrganization(organization))
	if exchange.CodeOf(err) == exchange.Forbidden {
		if _, missing := tx.Organizations.Get(ctx, organization); exchange.CodeOf(missing) == exchange.NotFound {
			err = core.Refer(missing, "organization_id", organization)
		}
	}
	return asAdmin, err
}

// takenReference returns the error for a material whose reference is already used in its organization.
func takenReference(m material.Material) error {
	reference := ""
	if m.Reference != nil {
		reference = *m.Reference
	}
	return exchange.Errorf(exchange.Conflict, "Another material of this organization already has the reference %q.",
		reference).With("field", "reference")
}

// UpdateMaterial changes a material. To move it to another organization, the caller needs the right to change materials
// there too; archiving and unarchiving need a right of their own.
func (a Materials) UpdateMaterial(ctx context.Context, who exchange.Actor, id int64,
	p material.Patch, match core.IfMatch[material.Shown]) (material.Shown, error) {
	var shown material.Shown
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		before, err := tx.Materials.ShownForUpdate(ctx, id)
		if err != nil {
			return err
		}
		old := before.Revealed().Material
		writer := a.NewWriter(tx, who)
		if writer.takesBack, err = a.takesBack(ctx, tx, who, old, p); err != nil {
			return err
		}
		if a.Hides(who, old, tx.Now) && !writer.takesBack {
			return core.NoMaterial()
		}
		m, changed, asAdmin, err := writer.Change(ctx, old, p, match)
		if err != nil {
			return err
		}
		if !changed {
			shown, err = a.RevealIn(ctx, tx, who, before)
			return err
		}
		if err := core.SaveMaterials(ctx, tx, []material.Material{old},
			[]material.Material{m}); exchange.CodeOf(err) == exchange.Conflict {
			if m.ImportIdentifier != nil && !core.Same(m.ImportIdentifier, old.ImportIdentifier) {
				return exchange.Errorf(exchange.Conflict,
					"Another material was already imported with this identifier.")
			}
			return takenReference(m)
		} else if err != nil {
			return err
		}
		if m.OrganizationID != old.OrganizationID {
			if err := errors.Join(tx.Materials.InsertMove(ctx, id, old.OrganizationID, core.Object("material", id)),
				tx.Requests.Move(ctx, id, old.OrganizationID, m.OrganizationID),
				tx.Inquiries.Move(ctx, id, m.OrganizationID), indexMoved(ctx, tx, id)); err != nil {
				return err
			}
		}
		shown = before
		if shown.Material, shown.UpdatedAt = m, tx.Now; shownAnew(before, m) {
			if shown, err = a.ShownIn(ctx, tx, who, id); err != nil {
				return err
			}
		}
		return core.RecordMaterialVersion(ctx, tx, who, exchange.MaterialUpdate, asAdmin, shown)
	})
	return shown, err
}

// shownAnew reports whether a changed material must be read again to be shown: others than before are to be looked up,
// or other fields may be private.
func shownAnew(before material.Shown, m material.Material) bool {
	return before.Conceals() || m.ContactID != before.ContactID || m.OrganizationID != before.OrganizationID ||
		m.Category != before.Category || string(m.Metadata) != string(before.Metadata)
}

// takeBackTime is how long a lab may take back a material that was moved to another lab.
const takeBackTime = 30 * 24 * time.Hour

// takesBack reports whether p returns a material to a lab of the caller that it left within takeBackTime. Under open
// access anyone may move a material, so the lab that had it needs no right in the lab that has it now.
func (a Materials) takesBack(ctx context.Context, tx store.Conn, who exchange.Actor, old material.Material,
	p material.Patch) (bool, error) {
	if a.Access != exchange.AccessOpen || !p.Organization.Set || int64(p.Organization.Value) == old.OrganizationID ||
		!who.MemberOf(int64(p.Organization.Value)) {
		return false, nil
	}
	moves, err := tx.Materials.MovedFrom(ctx, old.ID, who.Viewer())
	return len(moves) > 0 && moves[0].From == int64(p.Organization.Value) &&
		tx.Now.Sub(moves[0].MovedAt) <= takeBackTime, err
}

// idle returns an error if a request for a material is under way.
func idle(ctx context.Context, tx store.Conn, material int64) error {
	active, err := tx.Materials.ActiveRequests(ctx, material)
	if err == nil && active > 0 {
		err = exchange.Errorf(exchange.Conflict, "Requests for this material are open (%d); close them first.",
			active).With("active_requests", active)
	}
	return err
}

// ArchiveMaterial archives a material; it is refused while a request for it is under way.
func (a Materials) ArchiveMaterial(ctx context.Context, who exchange.Actor, id int64,
	match core.IfMatch[material.Shown]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		m, err := a.MaterialForUpdate(ctx, tx, who, id)
		if err != nil {
			return err
		}
		asAdmin, err := a.Can(who, exchange.MaterialArchive, who.ToOrganization(m.OrganizationID))
		if err != nil {
			return err
		}
		if err := match.CheckRead(func() (material.Shown, error) {
			return a.ShownIn(ctx, tx, who, id)
		}); err != nil {
			return err
		}
		if m.Archived {
			return nil
		}
		if err := idle(ctx, tx, id); err != nil {
			return err
		}
		m.Archived = true
		return saveArchived(ctx, tx, who, m, asAdmin)
	})
}

func saveArchived(ctx context.Context, tx store.Conn, who exchange.Actor, m material.Material, asAdmin bool) error {
	if err := tx.Materials.Update(ctx, m); err != nil {
		return err
	}
	shown, err := tx.Materials.Shown(ctx, m.ID)
	if err != nil {
		return err
	}
	return core.RecordMaterialVersion(ctx, tx, who, exchange.MaterialArchive, asAdmin, shown)
}

// UndoListing archives a material that an import listed, inside a transaction. Its reference and its identifier at the
// source are free again, so that the corrected import lists it again.
func (a Materials) UndoListing(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) error {
	m, err := a.MaterialForUpdate(ctx, tx, who, id)
	if err != nil {
		return err
	}
	asAdmin, err := a.Can(who, exchange.MaterialArchive, who.ToOrganization(m.OrganizationID))
	if err != nil {
		return err
	}
	m.Archived, m.Reference, m.ImportIdentifier = true, nil, nil
	return saveArchived(ctx, tx, who, m, asAdmin)
}
