package catalog

import (
	"fmt"
	"net/url"
	"strings"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// SearchMaterials serves GET /search/materials.
func SearchMaterials(c *rest.Call, _ rest.None) (shape.Page[shape.MaterialHit], error) {
	found, err := c.App.Materials.SearchMaterials(c.Context(), c.Actor, c.Search.Search)
	return rest.PageOf(c, found, err, func(m material.Shown) shape.MaterialHit {
		return shape.MaterialHit{Material: shape.ShowMaterial(m), Highlights: exchange.Highlights(c.Search.Search.Query,
			m.Texts())}
	})
}

// SearchOrganizations serves GET /search/organizations.
func SearchOrganizations(c *rest.Call, _ rest.None) (shape.Page[shape.OrganizationHit], error) {
	found, err := c.App.Materials.SearchOrganizations(c.Context(), c.Search.Search)
	return rest.PageOf(c, found, err, func(v core.OrganizationView) shape.OrganizationHit {
		return shape.OrganizationHit{Organization: shape.ShowOrganization(v),
			Highlights: exchange.Highlights(c.Search.Search.Query, v.Texts())}
	})
}

// SearchUsers serves GET /search/users.
func SearchUsers(c *rest.Call, _ rest.None) (shape.Page[shape.User], error) {
	found, err := c.App.Materials.SearchUsers(c.Context(), c.Search.Search)
	return rest.PageOf(c, found, err, shape.ShowUser(c.App))
}

// SuggestQuery is the query of GET /search/suggest.
type SuggestQuery struct {
	Search *exchange.SearchText `query:"search" help:"What was typed so far."`
	Limit  int64                `query:"limit" least:"1" most:"20" default:"8" help:"How many there are at most."`
}

// Suggest serves GET /search/suggest.
func Suggest(c *rest.Call, asked SuggestQuery) (shape.Suggestions, error) {
	text := ""
	if asked.Search != nil {
		text = string(*asked.Search)
	}
	found, err := c.App.Materials.Suggest(c.Context(), c.Actor, text, int(asked.Limit))
	return shape.Suggestions{Results: shape.List(found, shape.ShowSuggestion)}, err
}

// FeedMaterials writes a search as a feed. A feed reader sends the same search from now on, so the feed is identified
// by its search alone.
func FeedMaterials(c *rest.Call, _ rest.None) (rest.Body, error) {
	listings, err := c.App.Materials.Feed(c.Context(), c.Search.Search)
	if err != nil {
		return rest.Body{}, err
	}
	asked, title := url.Values{}, []string{}
	if c.Search.Text != "" {
		asked.Set("search", c.Search.Text)
		title = append(title, c.Search.Text)
	}
	for _, f := range c.Searched.Facets {
		if values := c.Search.Search.Filters[f.Name]; values != nil {
			asked[f.Name] = values
			title = append(title, f.Label+": "+strings.Join(values, ", "))
		}
	}
	address := func(path string) string { return strings.TrimSuffix(c.App.PublicURL+path+"?"+asked.Encode(), "?") }
	raw, err := publish.Atom(publish.Feed{
		Title:  strings.TrimSuffix(fmt.Sprintf("Materials on Aliquot: %s", strings.Join(title, "; ")), ": "),
		Self:   address("/v1/search/materials/feed"),
		Search: address("/v1/search/materials"), Listings: listings,
	})
	return rest.Body{Type: publish.AtomType, Bytes: raw}, err
}
