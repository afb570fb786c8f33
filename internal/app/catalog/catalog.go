package catalog

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// Catalog is the result of a search for materials, with what its page shows besides.
type Catalog struct {
	Results[material.Shown]
	Labs     map[int64]lab.Organization
	Paces    map[int64]request.Pace // of each lab, by its id
	Shipping map[int64]lab.Shipping // by id
	Asked    map[int64]int64        // number of requests for each in the last year
}

// Catalog searches materials for a page.
func (a Materials) Catalog(ctx context.Context, who exchange.Actor, s exchange.Search) (Catalog, error) {
	found, err := a.SearchMaterials(ctx, who, s)
	r := Catalog{Results: found}
	if err != nil {
		return r, err
	}
	c := a.DB.Read()
	if r.Labs, err = core.LabsOf(ctx, c, materialsOf(found.Items)); err != nil {
		return r, err
	}
	if r.Paces, err = a.PacesOf(ctx, c); err != nil {
		return r, err
	}
	var ids, shippings []int64
	for _, m := range found.Items {
		ids = append(ids, m.ID)
		if m.ShippingID != nil && !slices.Contains(shippings, *m.ShippingID) {
			shippings = append(shippings, *m.ShippingID)
		}
	}
	if r.Shipping, err = c.Shippings.ByIDs(ctx, shippings); err != nil {
		return r, err
	}
	r.Asked, err = c.Materials.AskedFor(ctx, ids, c.Now.Add(-365*24*time.Hour))
	return r, err
}

func materialsOf(list []material.Shown) []material.Material {
	materials := make([]material.Material, len(list))
	for i, m := range list {
		materials[i] = m.Material
	}
	return materials
}

// MaterialView is a material with all that its page shows.
type MaterialView struct {
	publish.Listing
	Pace     request.Pace // of its lab
	Shipping *lab.Shipping
	Files    []document.Attachment // documents that anyone may read
	Grants   []person.Grant        // that paid for it
	Similar  []material.Shown
	Labs     map[int64]lab.Organization // labs of the similar materials
	Facts    requirement.Facts          // that decide what a transfer of it needs
	UnderWay int64                      // the viewer's unresolved request; 0: none

	MayUpdate, MayArchive, MayHistory, MayState bool
}

// MaterialView reads a material for its page. Until its embargo ends, only its lab can see it.
func (a Materials) MaterialView(ctx context.Context, who exchange.Actor, id int64) (MaterialView, error) {
	l, err := a.Listing(ctx, who, id)
	v := MaterialView{Listing: l}
	if err != nil {
		return v, err
	}
	c := a.DB.Read()
	if l.Conceals() {
		if v.Shown, err = a.Shown(ctx, c, who, id); err != nil {
			return v, err
		}
	}
	rel := who.ToOrganization(l.OrganizationID)
	may := func(action exchange.Action) bool {
		ok, _ := a.Policy().Can(action, rel)
		return ok && !who.Anonymous()
	}
	v.MayUpdate, v.MayArchive, v.MayHistory = may(exchange.MaterialUpdate), may(exchange.MaterialArchive),
		may(exchange.MaterialHistory)
	v.MayState = may(exchange.MaterialState)
	facts, err := core.FactsOf(ctx, c, l.Material)
	if err != nil {
		return v, err
	}
	v.Facts = facts[id]
	paces, err := a.PacesOf(ctx, c)
	if err != nil {
		return v, err
	}
	v.Pace = paces[l.OrganizationID]
	if l.ShippingID != nil {
		s, err := c.Shippings.Get(ctx, *l.ShippingID)
		if err != nil {
			return v, err
		}
		v.Shipping = &s
	}
	if !l.Archived && !l.Embargoed(c.Now) { // else nobody can read them without a token
		if v.Files, err = c.Attachments.OfMaterial(ctx, l.Material); err != nil {
			return v, err
		}
	}
	if v.Grants, err = c.Grants.ByIDs(ctx, l.Shown.Grants); err != nil {
		return v, err
	}
	if !who.Anonymous() {
		if v.UnderWay, err = c.Requests.UnderWay(ctx, id, who.ID); err != nil {
			return v, err
		}
	}
	if v.Similar, err = similar(ctx, c, who, l.Material); err != nil {
		return v, err
	}
	v.Labs, err = core.LabsOf(ctx, c, materialsOf(v.Similar))
	return v, err
}

// maxSimilar is how many similar materials a page shows.
const maxSimilar = 4

// similar returns materials of the same category and, if there are any, of the same disease or organism, or else from
// the same lab.
func similar(ctx context.Context, c store.Conn, who exchange.Actor, m material.Material) ([]material.Shown, error) {
	for _, likeness := range material.SimilarFilters(m) {
		found, err := c.Materials.Alike(ctx, likeness, who.ID, maxSimilar+1)
		if err != nil {
			return nil, err
		}
		list := slices.DeleteFunc(found, func(other material.Shown) bool { return other.ID == m.ID })
		if len(list) > 0 {
			return list[:min(len(list), maxSimilar)], nil
		}
	}
	return nil, nil
}

// maxWithout is how many filters are left out in turn, and maxNear how many materials are shown without any filter.
const (
	maxWithout = 6
	maxNear    = 3
)

// Without counts, for each facet that a search filters by, what it would find without that filter, and returns the
// first results without any filter.
func (a Materials) Without(ctx context.Context, who exchange.Actor, s exchange.Search) (
	counts map[string]exchange.Count, near Catalog, err error) {
	counts = map[string]exchange.Count{}
	one := exchange.Search{Query: s.Query, Viewer: who.ID}
	for name := range s.Filters {
		if len(counts) == maxWithout {
			break
		}
		one.Filters = map[string][]string{}
		for other, values := range s.Filters {
			if other != name {
				one.Filters[other] = values
			}
		}
		found, err := a.DB.Read().Materials.Search(ctx, one)
		if err != nil {
			return nil, near, err
		}
		counts[name] = found.Count
	}
	near, err = a.Catalog(ctx, who, exchange.Search{Query: s.Query, Page: exchange.SearchPage{Limit: maxNear}})
	return counts, near, err
}

// partSize is how many ids of materials a part covers. A sitemap may have 50,000 addresses (sitemaps.org); with fewer,
// it is read in milliseconds.
const partSize = 10_000

// Parts returns in how many parts all materials are listed for crawlers; at least one.
func (a Materials) Parts(ctx context.Context) (int64, error) {
	last, err := a.DB.Read().Materials.LastID(ctx)
	return last/partSize + 1, err
}

// Part returns those materials of a part, counted from 1, that are offered to everybody. It returns NotFound if there
// are fewer parts.
func (a Materials) Part(ctx context.Context, part int64) ([]material.Changed, error) {
	parts, err := a.Parts(ctx)
	if err != nil {
		return nil, err
	}
	if part < 1 || part > parts {
		return nil, exchange.Errorf(exchange.NotFound, "There are %d parts; see /sitemap.xml.", parts)
	}
	return a.DB.Read().Materials.OfferedFrom(ctx, (part-1)*partSize, part*partSize)
}
