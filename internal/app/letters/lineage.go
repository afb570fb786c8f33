package letters

import (
	"context"
	"slices"

	"aliquot/internal/agreement/term"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Lineages are the use cases of where materials came from, and to whom they may be passed on.
type Lineages struct{ Letters }

// Lineage reads what the lab of a material stated about where it came from, for its members.
func (a Lineages) Lineage(ctx context.Context, who exchange.Actor, id int64) (m material.Shown, l term.Lineage,
	err error) {
	c := a.DB.Read()
	if m, err = a.Listed(ctx, c, who, id); err == nil {
		l, err = a.lineage(ctx, c, who, m)
	}
	return m, l, err
}

// lineage is Lineage of a material that was read.
func (a Lineages) lineage(ctx context.Context, c store.Conn, who exchange.Actor,
	m material.Shown) (l term.Lineage, err error) {
	if err := a.MayRead(ctx, who, exchange.MaterialLineage, who.ToOrganization(m.OrganizationID),
		core.Object("material", m.ID)); err != nil {
		return l, err
	}
	return c.Lineages.Of(ctx, m.ID)
}

// StateLineage changes what the lab of a material states about where it came from.
func (a Lineages) StateLineage(ctx context.Context, who exchange.Actor, id int64, p term.LineageStating,
	match core.IfMatch[term.Lineage]) (l term.Lineage, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		m, err := a.MaterialForUpdate(ctx, tx, who, id)
		if err != nil {
			return err
		}
		rel, object := who.ToOrganization(m.OrganizationID), core.Object("material", id)
		if err := a.May(ctx, tx, who, exchange.MaterialState, rel, object); err != nil {
			return err
		}
		old, err := tx.Lineages.Of(ctx, id)
		if err != nil {
			return err
		}
		if err := match.Check(old); err != nil {
			return err
		}
		if l, err = p.Patch(old); err != nil || core.Same(l, old) {
			return err
		}
		if err := a.checkOrigins(ctx, tx, who, m, old, l.Origins); err != nil || core.Same(l, old) {
			return err
		}
		if err := tx.Lineages.Save(ctx, id, l); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.MaterialState, rel, object, nil)
	})
	return l, err
}

// checkOrigins checks what the lineage of a material names, apart from what it named before, and completes origins
// that were received with the material of the request.
func (a Lineages) checkOrigins(ctx context.Context, tx store.Conn, who exchange.Actor, m material.Material,
	old term.Lineage, origins []term.Origin) error {
	var requests, materials []int64
	for _, o := range origins {
		if o.Request != nil {
			requests = append(requests, *o.Request)
		} else {
			materials = append(materials, *o.Material)
		}
	}
	received, err := tx.Requests.ByIDs(ctx, requests)
	if err != nil {
		return err
	}
	earlier, err := tx.Materials.ShownByIDs(ctx, unique(materials))
	if err != nil {
		return err
	}
	const field = "origins"
	var f exchange.FieldErrors
	members := map[uuid.UUID]bool{}
	for i, o := range origins {
		if o.Request == nil {
			n := slices.IndexFunc(earlier, func(e material.Shown) bool { return e.ID == *o.Material })
			switch {
			case n < 0 || a.Hides(who, earlier[n].Material, tx.Now):
				f.Add(field, "number %d: there is no material %d", i+1, *o.Material)
			case *o.Material == m.ID:
				f.Add(field, "number %d: a material cannot come from itself", i+1)
			}
			continue
		}
		if n := slices.IndexFunc(old.Origins, func(before term.Origin) bool {
			return before.Request != nil && *before.Request == *o.Request
		}); n >= 0 && (o.Material == nil || *o.Material == *old.Origins[n].Material) {
			origins[i].Material = old.Origins[n].Material
			continue
		}
		n := slices.IndexFunc(received, func(q request.Detail) bool { return q.ID == *o.Request })
		ours := false
		if n >= 0 {
			if ours, err = isMember(ctx, tx, m.OrganizationID, received[n].Requester, members); err != nil {
				return err
			}
		}
		switch {
		case !ours:
			f.Add(field, "number %d: your lab made no request %d", i+1, *o.Request)
		case received[n].Status != request.Fulfilled && received[n].Status != request.Verified:
			f.Add(field, "number %d: request %d was not fulfilled", i+1, *o.Request)
		case o.Material != nil && *o.Material != received[n].MaterialID:
			f.Add(field, "number %d: request %d is for material %d; leave the material out", i+1, *o.Request,
				received[n].MaterialID)
		default:
			origins[i].Material = &received[n].MaterialID
		}
	}
	return f.Err()
}

// isMember reports whether somebody is a member of a lab, asking once for each person.
func isMember(ctx context.Context, tx store.Conn, lab int64, user uuid.UUID, known map[uuid.UUID]bool) (bool, error) {
	if _, asked := known[user]; !asked {
		is, err := tx.Organizations.IsMember(ctx, lab, user)
		if err != nil {
			return false, err
		}
		known[user] = is
	}
	return known[user], nil
}

// LineageView is the lineage of a material as its pages show it.
type LineageView struct {
	Material material.Shown
	term.Lineage
	Titles map[int64]string // of the materials that it came from, as far as the caller sees them
}

// LineageView reads the lineage of a material for its pages, for members of its lab.
func (a Lineages) LineageView(ctx context.Context, who exchange.Actor, id int64) (v LineageView, err error) {
	m, err := a.Listed(ctx, a.DB.Read(), who, id)
	if err != nil {
		return v, err
	}
	return a.ViewOf(ctx, who, m)
}

// ViewOf is LineageView of a material that the caller read.
func (a Lineages) ViewOf(ctx context.Context, who exchange.Actor, m material.Shown) (v LineageView, err error) {
	c := a.DB.Read()
	v.Material = m
	if v.Lineage, err = a.lineage(ctx, c, who, m); err != nil {
		return v, err
	}
	var ids []int64
	for _, o := range v.Origins {
		ids = append(ids, *o.Material)
	}
	earlier, err := c.Materials.ShownByIDs(ctx, unique(ids))
	v.Titles = map[int64]string{}
	for _, m := range earlier {
		if !a.Hides(who, m.Material, c.Now) {
			v.Titles[m.ID] = m.Material.Title
		}
	}
	return v, err
}
