package catalog

import (
	"context"
	"slices"
	"strconv"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Results are the results of a search.
type Results[T any] struct {
	exchange.SearchResult[T]
	Labels map[string]map[string]string // facet -> value -> label, if it differs from the value
	Meant  string                       // a query that would find something, if this one finds nothing
}

// SearchMaterials finds materials; those under embargo are found only by members of their organization.
func (a Materials) SearchMaterials(ctx context.Context, who exchange.Actor,
	s exchange.Search) (r Results[material.Shown], err error) {
	s.Viewer = who.Viewer()
	err = a.DB.ReadCaughtUp(ctx, func(ctx context.Context, c store.Conn) error {
		found, err := c.Materials.Search(ctx, s)
		r = Results[material.Shown]{SearchResult: found}
		core.Reveal(who, r.Items)
		if err != nil {
			return err
		}
		if r.Labels, err = facetLabels(ctx, c, found.Facets); err == nil && found.Count.N == 0 && !s.Query.Empty() {
			r.Meant, err = c.Search.Meant(ctx, s.Query, s.Viewer)
		}
		return err
	})
	return r, err
}

// facetLabels returns the labels of facet values that are ids, codes or enum values.
func facetLabels(ctx context.Context, c store.Conn, facets map[string]exchange.Facet) (map[string]map[string]string,
	error) {
	labels := map[string]map[string]string{}
	label := func(name, value, text string) {
		if labels[name] == nil {
			labels[name] = map[string]string{}
		}
		labels[name][value] = text
	}
	var ids []int64
	for name, f := range facets {
		for value := range f.Values {
			if text := material.FacetLabel(name, value); text != "" {
				label(name, value, text)
			}
			if id, err := strconv.ParseInt(value, 10, 64); err == nil && name == "organization" {
				ids = append(ids, id)
			}
		}
	}
	organizations, err := c.Organizations.ByIDs(ctx, ids)
	for _, o := range organizations {
		label("organization", strconv.FormatInt(o.ID, 10), o.Name)
	}
	return labels, err
}

// SearchOrganizations finds organizations.
func (a Materials) SearchOrganizations(ctx context.Context, s exchange.Search) (r Results[core.OrganizationView],
	err error) {
	err = a.DB.ReadCaughtUp(ctx, func(ctx context.Context, c store.Conn) error {
		found, err := c.Organizations.Search(ctx, s)
		if err != nil {
			return err
		}
		views, err := core.ShowOrganizations(ctx, c, found.Items)
		r = ResultsOf(found, views)
		return err
	})
	return r, err
}

// SharingLabs returns those of some organizations that who may know of by search.SharingLabs.
func (a Materials) SharingLabs(ctx context.Context, who exchange.Actor, ids []int64) ([]int64, error) {
	return a.DB.Read().Search.Sharing(ctx, ids, who.Viewer())
}

// SearchUsers finds users by their names and registry ids; it does not return their private data.
func (a Materials) SearchUsers(ctx context.Context, s exchange.Search) (r Results[core.UserView], err error) {
	err = a.DB.ReadCaughtUp(ctx, func(ctx context.Context, c store.Conn) error {
		found, err := c.Users.Search(ctx, s)
		if err != nil {
			return err
		}
		views, err := ShowUsers(ctx, c, found.Items)
		r = ResultsOf(found, views)
		return err
	})
	return r, err
}

// ResultsOf returns the results of a search with the shown form of its items.
func ResultsOf[T, View any](found exchange.SearchResult[T], items []View) Results[View] {
	return Results[View]{SearchResult: exchange.SearchResult[View]{Items: items, Count: found.Count,
		Facets:      found.Facets,
		Approximate: found.Approximate, Next: found.Next}}
}

// ShowUsers adds their organizations to users, with one query for all.
func ShowUsers(ctx context.Context, c store.Conn, list []person.User) ([]core.UserView, error) {
	ids := make([]uuid.UUID, len(list))
	for i, u := range list {
		ids[i] = u.ID
	}
	organizations, err := c.Organizations.OfUsers(ctx, ids)
	views := make([]core.UserView, len(list))
	for i, u := range list {
		views[i] = core.UserView{User: u, Organizations: organizations[u.ID]}
	}
	return views, err
}

// Suggest returns at most n suggestions for what somebody has typed so far; embargoed materials are suggested only to
// members of their organization.
func (a Materials) Suggest(ctx context.Context, who exchange.Actor, typed string, n int) (list []exchange.Suggestion,
	err error) {
	err = a.DB.ReadCaughtUp(ctx, func(ctx context.Context, c store.Conn) (err error) {
		list, err = c.Search.Suggest(ctx, typed, who.Viewer(), n)
		return err
	})
	return list, err
}

// feedLength is how many materials a feed has.
const feedLength = 50

// Feed returns the newest available materials that a search finds, as the public sees them: feed readers show them to
// anyone.
func (a Materials) Feed(ctx context.Context, s exchange.Search) ([]publish.Listing, error) {
	c := a.DB.Read()
	s.Viewer, s.Sort, s.Page, s.Facets = uuid.Nil, exchange.ByNewest, exchange.SearchPage{Limit: feedLength}, false
	found, err := c.Materials.Search(ctx, s)
	if err != nil {
		return nil, err
	}
	var ids []int64
	found.Items = slices.DeleteFunc(found.Items, func(m material.Shown) bool { return m.Archived })
	for _, m := range found.Items {
		ids = append(ids, m.OrganizationID)
	}
	organizations, err := c.Organizations.ByIDs(ctx, ids)
	labs := map[int64]lab.Organization{}
	for _, o := range organizations {
		labs[o.ID] = o
	}
	listings := make([]publish.Listing, len(found.Items))
	for i, m := range found.Items {
		listings[i] = publish.Listing{Shown: m, Organization: labs[m.OrganizationID], Site: a.PublicURL,
			Now: c.Now}
	}
	return listings, err
}
