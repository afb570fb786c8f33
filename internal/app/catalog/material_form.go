package catalog

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
)

// MaterialFormOptions holds what the form for a lab's material offers to choose from.
type MaterialFormOptions struct {
	Labs       []lab.Organization // the labs for which the user may list materials
	Lab        lab.Organization   // the chosen lab; zero: none
	People     []person.User      // possible contacts
	More       bool               // there are more people; Member finds them
	Shippings  []lab.Shipping
	Agreements []document.Attachment // documents that can be the blank MTA
	Maps       []document.Attachment // sequence maps of the material
	Grants     []person.Grant        // the user's own
	Others     []material.Shown
}

// maxOffered is how many people, grants and materials a form offers to choose from.
const maxOffered = 200

// MaterialToEdit reads a material for a user who may change it.
func (a Materials) MaterialToEdit(ctx context.Context, who exchange.Actor, id int64) (m material.Shown, err error) {
	c := a.DB.Read()
	if m, err = a.Shown(ctx, c, who, id); err == nil {
		_, err = a.Can(who, exchange.MaterialUpdate, who.ToOrganization(m.OrganizationID))
	}
	return m, err
}

// MaterialFormOptions returns what the form offers who for a lab; 0 means the first of their labs. material is nil for
// a new one.
func (a Materials) MaterialFormOptions(ctx context.Context, who exchange.Actor, labID int64,
	material *material.Shown) (d MaterialFormOptions, err error) {
	c := a.DB.Read()
	if d.Labs, err = c.Organizations.OfUser(ctx, who.ID); err != nil {
		return d, err
	}
	at := slices.IndexFunc(d.Labs, func(o lab.Organization) bool { return o.ID == labID })
	switch {
	case at >= 0:
		d.Lab = d.Labs[at]
	case labID != 0 && (who.Admin || material != nil && material.OrganizationID == labID):
		if d.Lab, err = c.Organizations.Get(ctx, labID); err != nil {
			return d, core.Refer(err, "organization_id", labID)
		}
		d.Labs = append(d.Labs, d.Lab)
	case len(d.Labs) > 0: // prefer a lab that they joined to the one that everybody has
		joined := slices.IndexFunc(d.Labs, func(o lab.Organization) bool { return o.Owner != who.ID })
		d.Lab = d.Labs[max(joined, 0)]
	default:
		return d, nil
	}
	return d, a.materialFormOptions(ctx, c, who, material, &d)
}

func (a Materials) materialFormOptions(ctx context.Context, c store.Conn, who exchange.Actor,
	item *material.Shown, d *MaterialFormOptions) error {
	people, err := c.Organizations.ListMembers(ctx, d.Lab.ID, exchange.Page{Limit: maxOffered})
	if err != nil {
		return err
	}
	d.People, d.More = people.Items, people.Next != nil
	if !slices.ContainsFunc(d.People, func(u person.User) bool { return u.ID == who.ID }) {
		u, err := c.Users.Get(ctx, who.ID)
		if err != nil {
			return err
		}
		d.People = append(d.People, u)
	}
	if item != nil && !slices.ContainsFunc(d.People,
		func(u person.User) bool { return u.ID == item.ContactID }) {
		d.People = append(d.People, core.WithoutAddresses(item.Contact))
	}
	shippings, err := c.Shippings.List(ctx, &d.Lab.ID, exchange.Page{Limit: maxOffered})
	if err != nil {
		return err
	}
	d.Shippings = shippings.Items
	if d.Agreements, err = c.Attachments.BlankAgreements(ctx, d.Lab.ID, maxOffered); err != nil {
		return err
	}
	if item != nil && item.MTAAttachmentID != nil {
		id := *item.MTAAttachmentID
		if !slices.ContainsFunc(d.Agreements, func(t document.Attachment) bool { return t.ID == id }) {
			t, err := c.Attachments.Get(ctx, id)
			if err != nil && exchange.CodeOf(err) != exchange.NotFound {
				return err
			}
			t.ID = id // even if it no longer exists: it stays until somebody chooses another one
			d.Agreements = append(d.Agreements, t)
		}
	}
	grants, err := c.Grants.List(ctx, who.ID, exchange.Page{Limit: maxOffered})
	if err != nil {
		return err
	}
	d.Grants = grants.Items
	if item != nil {
		d.Maps, err = c.Attachments.MapsOf(ctx, item.ID)
		return err
	}
	others, err := c.Materials.List(ctx, exchange.Page{Limit: maxOffered / 4},
		material.Filter{Organization: &d.Lab.ID}, who.ID)
	d.Others = others.Items
	core.Reveal(who, d.Others)
	return err
}

// maxAlike is how many hits are compared to find materials that may be the same.
const maxAlike = 20

// SimilarMaterial is a material that may be the same as another one.
type SimilarMaterial struct {
	material.Shown
	Lab string // the name of its organization
}

// Alike finds materials that may be the same as m: with the same name in any spelling, or with the same identifier. It
// leaves out m itself and materials that who may not see.
func (a Materials) Alike(ctx context.Context, who exchange.Actor, m material.Material) ([]SimilarMaterial, error) {
	ids := identifiersOf(m)
	queries := []string{`"` + strings.ReplaceAll(m.Title, `"`, " ") + `"`}
	for id := range ids {
		queries = append(queries, id)
	}
	slices.Sort(queries[1:])
	var list []SimilarMaterial
	for i, text := range queries {
		q := fulltext.Parse(text)
		if i == 0 && material.Fold(m.Title) == "" || q.Empty() {
			continue
		}
		found, err := a.DB.Read().Materials.Search(ctx,
			exchange.Search{Query: q, Viewer: who.ID, Page: exchange.SearchPage{Limit: maxAlike}})
		if err != nil {
			return nil, err
		}
		for _, other := range found.Items {
			same := m.Title != "" && material.Fold(other.Title) == material.Fold(m.Title) &&
				other.Category == m.Category
			for id := range identifiersOf(other.Material) {
				same = same || ids[id]
			}
			known := func(o SimilarMaterial) bool { return o.ID == other.ID }
			if same && other.ID != m.ID && !slices.ContainsFunc(list, known) {
				list = append(list, SimilarMaterial{Shown: other})
			}
		}
	}
	return list, a.nameLabs(ctx, list)
}

func (a Materials) nameLabs(ctx context.Context, list []SimilarMaterial) error {
	var ids []int64
	for _, m := range list {
		ids = append(ids, m.OrganizationID)
	}
	labs, err := a.DB.Read().Organizations.ByIDs(ctx, ids)
	for i := range list {
		for _, o := range labs {
			if o.ID == list[i].OrganizationID {
				list[i].Lab = o.Name
			}
		}
	}
	return err
}

// identifiersOf returns the identifiers of m itself: those of its category, and the one at its source.
func identifiersOf(m material.Material) map[string]bool {
	ids := map[string]bool{}
	if m.ImportIdentifier != nil {
		ids[*m.ImportIdentifier] = true
	}
	c, _ := category.Get(m.Category)
	var values map[string]json.RawMessage
	_ = json.Unmarshal(m.Metadata, &values) // it is always an object
	for _, f := range c.Fields {
		for _, id := range category.Items(values[f.Key]) {
			if f.Type == category.Identifier {
				ids[id] = true
			}
		}
	}
	return ids
}
