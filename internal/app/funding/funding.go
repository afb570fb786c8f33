package funding

import (
	"context"
	"net/url"
	"strconv"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// GrantReport describes what a grant made available, and the outcome of requests for it. It has nothing that requesters
// wrote or that names them.
type GrantReport struct {
	person.Grant
	Owner        person.User
	Materials    []material.Funded
	Labs         []FundedLab
	Requests     int64
	Completed    int64
	Publications []string
}

// FundedLab is a lab with materials of a grant, and the outcome of requests for these.
type FundedLab struct {
	lab.Organization
	Materials, Requests, Completed int64
}

// GrantPage is the report of a grant for its owner, with the actions they can take.
type GrantPage struct {
	GrantReport
	Links    []person.GrantLink
	Fundable []exchange.Named // further materials that it could name
	Own      bool
}

// maxFundable is how many materials are offered to choose from.
const maxFundable = 200

// GrantPage reads a grant with its report.
func (a Grants) GrantPage(ctx context.Context, who exchange.Actor, id int64) (v GrantPage, err error) {
	c := a.DB.Read()
	g, err := c.Grants.Get(ctx, id)
	if err != nil {
		return v, err
	}
	if err := a.MayRead(ctx, who, exchange.GrantRead, who.ToUser(g.UserID), core.Object("grant", id)); err != nil {
		return v, err
	}
	if v.GrantReport, err = reportOf(ctx, c, g,
		func(m material.Material) bool { return a.Hides(who, m, c.Now) }); err != nil {
		return v, err
	}
	if v.Own = who.Is(g.UserID); !v.Own {
		return v, nil
	}
	if v.Links, err = c.Grants.Links(ctx, id); err != nil {
		return v, err
	}
	v.Fundable, err = c.Grants.Fundable(ctx, id, who.ID, maxFundable)
	return v, err
}

// reportOf reads the report of a grant as if the materials in hidden did not exist.
func reportOf(ctx context.Context, c store.Conn, g person.Grant, hidden func(material.Material) bool) (v GrantReport,
	err error) {
	v.Grant = g
	if v.Owner, err = c.Users.Get(ctx, g.UserID); err != nil {
		return v, err
	}
	funded, err := c.Grants.Funded(ctx, g.ID)
	if err != nil {
		return v, err
	}
	counts, err := c.Grants.PaidFor(ctx, g.ID)
	if err != nil {
		return v, err
	}
	labs, published := map[int64]*FundedLab{}, map[string]bool{}
	var ids []int64
	for _, f := range funded {
		if hidden(f.Material.Material) {
			continue
		}
		p := counts[f.Material.ID]
		p.Material = f.Material
		v.Materials = append(v.Materials, p)
		v.Requests, v.Completed = v.Requests+p.Requests, v.Completed+p.Completed
		lab := labs[f.Material.OrganizationID]
		if lab == nil {
			lab = &FundedLab{}
			labs[f.Material.OrganizationID] = lab
			ids = append(ids, f.Material.OrganizationID)
		}
		lab.Materials, lab.Requests, lab.Completed = lab.Materials+1, lab.Requests+p.Requests, lab.Completed+p.Completed
		if text := p.Publication(); text != "" && !published[text] {
			published[text] = true
			v.Publications = append(v.Publications, text)
		}
	}
	organizations, err := c.Organizations.ByIDs(ctx, ids)
	for _, o := range organizations {
		lab := labs[o.ID]
		lab.Organization = o
		v.Labs = append(v.Labs, *lab)
	}
	return v, err
}

// ofReport is the purpose of keys in links to reports.
const ofReport = "grant report"

// ShareGrant creates a link to the report of a grant and returns its URL, which is stored nowhere.
func (a Grants) ShareGrant(ctx context.Context, who exchange.Actor, id int64, p person.GrantLinkNew) (address string,
	l person.GrantLink, err error) {
	if l, err = p.Create(id, a.DB.Read().Now); err != nil {
		return "", l, err
	}
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.mayShare(ctx, tx, who, id); err != nil {
			return err
		}
		list, err := tx.Grants.Links(ctx, id)
		if err != nil {
			return err
		}
		if len(list) >= person.MaxGrantLinks {
			return exchange.Errorf(exchange.Conflict, "A grant has at most %d links; revoke one first.",
				person.MaxGrantLinks)
		}
		if l.ID, err = tx.Grants.InsertLink(ctx, l); err != nil {
			return err
		}
		key, err := core.Seal(ctx, tx, ofReport, strconv.FormatInt(l.ID, 10))
		if err != nil {
			return err
		}
		address = a.PublicURL + "/funding/" + strconv.FormatInt(id, 10) + "/report?key=" + url.QueryEscape(key)
		return tx.Audit.Insert(ctx, &who.ID, exchange.GrantShare, core.Object("grant", id), false,
			map[string]any{"link": l.ID, "expires": l.ExpiresAt})
	})
	return address, l, err
}

func (a Grants) mayShare(ctx context.Context, tx store.Conn, who exchange.Actor, id int64) error {
	g, err := tx.Grants.ForUpdate(ctx, id)
	if err != nil {
		return err
	}
	return a.May(ctx, tx, who, exchange.GrantShare, who.ToUser(g.UserID), core.Object("grant", id))
}

// RevokeGrantLink revokes a link to the report of a grant.
func (a Grants) RevokeGrantLink(ctx context.Context, who exchange.Actor, grant, id int64) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.mayShare(ctx, tx, who, grant); err != nil {
			return err
		}
		if err := tx.Grants.RevokeLink(ctx, grant, id); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &who.ID, exchange.GrantShare, core.Object("grant", grant), false, id)
	})
}

// SharedReport reads the report of a grant with the key of a link to it; it returns NotFound if the link is revoked or
// has expired.
func (a Grants) SharedReport(ctx context.Context, who exchange.Actor, grant int64, key string) (GrantReport,
	person.GrantLink, error) {
	c := a.DB.Read()
	none := exchange.Errorf(exchange.NotFound,
		"This link is not valid any more. Ask the person who gave it to you for a new one.")
	if _, err := a.Can(who, exchange.GrantReport, who.ToUser(who.ID)); err != nil {
		return GrantReport{}, person.GrantLink{}, err
	}
	text, err := core.Unseal(ctx, c, ofReport, key)
	if err != nil {
		return GrantReport{}, person.GrantLink{}, err
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return GrantReport{}, person.GrantLink{}, none
	}
	l, err := c.Grants.Link(ctx, id)
	if err == nil && (l.GrantID != grant || !l.Opens(c.Now)) {
		err = none
	}
	if err != nil {
		return GrantReport{}, l, err
	}
	g, err := c.Grants.Get(ctx, grant)
	if err != nil {
		return GrantReport{}, l, err
	}
	v, err := reportOf(ctx, c, g, func(m material.Material) bool { return m.Embargoed(c.Now) })
	return v, l, err
}
