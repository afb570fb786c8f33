package funding

import (
	"context"
	"slices"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// GrantView is a grant with its owner, its materials and their organizations.
type GrantView struct {
	person.Grant
	Owner         person.User
	Materials     []material.Shown
	Organizations []core.OrganizationView
}

// showGrants adds to grants what who may see of their owners and materials; the number of queries does not depend on
// how many grants there are.
func (a Grants) showGrants(ctx context.Context, c store.Conn, who exchange.Actor, list []person.Grant) ([]GrantView,
	error) {
	views := make([]GrantView, len(list))
	at := map[int64]*GrantView{}
	var ids []int64
	var owners []uuid.UUID
	for i, g := range list {
		views[i] = GrantView{Grant: g}
		at[g.ID] = &views[i]
		ids, owners = append(ids, g.ID), append(owners, g.UserID)
	}
	users, err := c.Users.ByIDs(ctx, owners)
	if err != nil {
		return nil, err
	}
	funded, err := c.Grants.Funded(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var named []int64
	for _, f := range funded {
		if a.Hides(who, f.Material.Material, c.Now) {
			continue
		}
		at[f.GrantID].Materials = append(at[f.GrantID].Materials, f.Material)
		named = append(named, f.Material.OrganizationID)
	}
	slices.Sort(named)
	organizations, err := c.Organizations.ByIDs(ctx, slices.Compact(named))
	if err != nil {
		return nil, err
	}
	labs, err := core.ShowOrganizations(ctx, c, organizations)
	if err != nil {
		return nil, err
	}
	for i := range views {
		v := &views[i]
		core.Reveal(who, v.Materials)
		v.Owner = users[slices.IndexFunc(users, func(u person.User) bool { return u.ID == v.UserID })]
		for _, o := range labs {
			if slices.ContainsFunc(v.Materials,
				func(m material.Shown) bool { return m.OrganizationID == o.ID }) {
				v.Organizations = append(v.Organizations, o)
			}
		}
	}
	return views, nil
}

func (a Grants) showGrant(ctx context.Context, c store.Conn, who exchange.Actor, g person.Grant) (GrantView, error) {
	views, err := a.showGrants(ctx, c, who, []person.Grant{g})
	if err != nil {
		return GrantView{}, err
	}
	return views[0], nil
}

// Grant reads one grant.
func (a Grants) Grant(ctx context.Context, who exchange.Actor, id int64) (GrantView, error) {
	c := a.DB.Read()
	g, err := c.Grants.Get(ctx, id)
	if err != nil {
		return GrantView{}, err
	}
	if err := a.MayRead(ctx, who, exchange.GrantRead, who.ToUser(g.UserID), core.Object("grant", id)); err != nil {
		return GrantView{}, err
	}
	return a.showGrant(ctx, c, who, g)
}

// Grants lists the caller's own grants.
func (a Grants) Grants(ctx context.Context, who exchange.Actor, p exchange.Page) (exchange.ListPage[GrantView], error) {
	c := a.DB.Read()
	part, err := c.Grants.List(ctx, who.ID, p)
	if err != nil {
		return exchange.ListPage[GrantView]{}, err
	}
	views, err := a.showGrants(ctx, c, who, part.Items)
	return exchange.ListPage[GrantView]{Items: views, Total: part.Total, Next: part.Next}, err
}

// CreateGrant records a grant of the caller.
func (a Grants) CreateGrant(ctx context.Context, who exchange.Actor, p person.GrantPatch) (GrantView, error) {
	g, err := p.Patch(person.Grant{UserID: who.ID})
	if err != nil {
		return GrantView{}, err
	}
	var v GrantView
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.GrantCreate, who.ToUser(who.ID), "grant"); err != nil {
			return err
		}
		g.CreatedAt, g.UpdatedAt = tx.Now, tx.Now
		if g.ID, err = tx.Grants.Insert(ctx, g); err != nil {
			return err
		}
		v, err = a.showGrant(ctx, tx, who, g)
		return err
	})
	return v, err
}

// GrantToChange reads and locks a grant that who may change.
func (a Grants) GrantToChange(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) (person.Grant, error) {
	g, err := tx.Grants.ForUpdate(ctx, id)
	if err != nil {
		return g, err
	}
	return g, a.May(ctx, tx, who, exchange.GrantUpdate, who.ToUser(g.UserID), core.Object("grant", id))
}

// UpdateGrant changes a grant.
func (a Grants) UpdateGrant(ctx context.Context, who exchange.Actor, id int64, p person.GrantPatch,
	match core.IfMatch[GrantView]) (GrantView, error) {
	var v GrantView
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := a.GrantToChange(ctx, tx, who, id)
		if err != nil {
			return err
		}
		if err := match.CheckRead(func() (GrantView, error) { return a.showGrant(ctx, tx, who, old) }); err != nil {
			return err
		}
		g, err := p.Patch(old)
		if err != nil {
			return err
		}
		if g != old {
			g.UpdatedAt = tx.Now
			if err := tx.Grants.Update(ctx, g); err != nil {
				return err
			}
		}
		v, err = a.showGrant(ctx, tx, who, g)
		return err
	})
	return v, err
}

// FundedBy lists those materials of a grant that who may see.
func (a Grants) FundedBy(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (exchange.ListPage[material.Shown], error) {
	c := a.DB.Read()
	g, err := c.Grants.Get(ctx, id)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.GrantRead, who.ToUser(g.UserID), core.Object("grant", id))
	}
	if err != nil {
		return exchange.ListPage[material.Shown]{}, err
	}
	part, err := c.Grants.FundedBy(ctx, id, p, who)
	core.Reveal(who, part.Items)
	return part, err
}

// Fund adds a material to a grant: the caller must own both. existed reports whether the grant named it before.
func (a Grants) Fund(ctx context.Context, who exchange.Actor, id int64, p material.FundingBody) (m material.Shown,
	existed bool, err error) {
	material, err := p.Check()
	if err != nil {
		return m, false, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		g, err := a.GrantToChange(ctx, tx, who, id)
		if err != nil {
			return err
		}
		named, err := a.MaterialForUpdate(ctx, tx, who, material)
		if err != nil {
			return core.Refer(err, "material_id", material)
		}
		asAdmin, err := a.Can(who, exchange.MaterialFund, who.ToOrganization(named.OrganizationID))
		if err != nil {
			return err
		}
		if existed, err = tx.Grants.Fund(ctx, id, material); err != nil {
			return err
		}
		if m, err = a.ShownIn(ctx, tx, who, material); err != nil {
			return err
		}
		if existed {
			return a.May(ctx, tx, who, exchange.MaterialFund, who.ToOrganization(named.OrganizationID),
				core.Object("material", material))
		}
		if err := tx.Grants.Update(ctx, g); err != nil {
			return err
		}
		return core.RecordMaterialVersion(ctx, tx, who, exchange.MaterialFund, asAdmin, m)
	})
	return m, existed, err
}

// Unfund removes a material from a grant; the grant's owner may, even after leaving the lab.
func (a Grants) Unfund(ctx context.Context, who exchange.Actor, id, material int64,
	match core.IfMatch[core.Untagged]) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		g, err := a.GrantToChange(ctx, tx, who, id)
		if err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		if _, err := a.MaterialForUpdate(ctx, tx, who, material); err != nil {
			return err
		}
		if err := tx.Grants.Unfund(ctx, id, material); err != nil {
			return err
		}
		if err := tx.Grants.Update(ctx, g); err != nil {
			return err
		}
		m, err := tx.Materials.Shown(ctx, material)
		if err != nil {
			return err
		}
		return core.RecordMaterialVersion(ctx, tx, who, exchange.GrantUpdate, false, m) // audited already
	})
}

// GrantsOf lists the grants that paid for materials of an organization.
func (a Grants) GrantsOf(ctx context.Context, who exchange.Actor, organization int64,
	p exchange.Page) (exchange.ListPage[person.Grant], error) {
	c := a.DB.Read()
	_, err := c.Organizations.Get(ctx, organization)
	if err == nil {
		err = a.MayRead(ctx, who, exchange.OrganizationGrants, who.ToOrganization(organization),
			core.Object("grants of organization", organization))
	}
	if err != nil {
		return exchange.ListPage[person.Grant]{}, err
	}
	return c.Grants.OfOrganization(ctx, organization, p)
}
