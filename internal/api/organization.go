package api

import (
	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

func (a *API) createOrganization(c *Call, in exchange.OrganizationPatch) (Organization, error) {
	v, err := a.App.CreateOrganization(c.Context(), c.Actor, in)
	c.location(err, "/organizations/%d", v.ID)
	return showOrganization(v), err
}

func (a *API) listOrganizations(c *Call, _ None) ([]Organization, error) {
	return listed(c, c.query(), func(p exchange.Page) (exchange.Part[app.OrganizationView], error) {
		return a.App.Organizations(c.Context(), p)
	}, showOrganization)
}

func (a *API) getOrganization(c *Call, _ None) (Organization, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Organization{}, err
	}
	v, err := a.App.Organization(c.Context(), id)
	return showOrganization(v), err
}

func (a *API) updateOrganization(c *Call, in exchange.OrganizationPatch) (Organization, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Organization{}, err
	}
	v, err := a.App.UpdateOrganization(c.Context(), c.Actor, id, in)
	return showOrganization(v), err
}

func (a *API) listMembers(c *Call, _ None) ([]Person, error) {
	id, err := c.pathID("id")
	if err != nil {
		return nil, err
	}
	return listed(c, c.query(), func(p exchange.Page) (exchange.Part[exchange.User], error) {
		return a.App.Members(c.Context(), id, p)
	}, showPerson)
}

func (a *API) listMaterialsOf(c *Call, _ None) ([]Material, error) {
	id, err := c.pathID("id")
	if err != nil {
		return nil, err
	}
	return listed(c, c.query(), func(p exchange.Page) (exchange.Part[exchange.ShownMaterial], error) {
		return a.App.MaterialsOf(c.Context(), c.Actor, id, p)
	}, showMaterial)
}

func (a *API) listGrantsOf(c *Call, _ None) ([]LabAward, error) {
	id, err := c.pathID("id")
	if err != nil {
		return nil, err
	}
	return listed(c, c.query(), func(p exchange.Page) (exchange.Part[exchange.Grant], error) {
		return a.App.GrantsOf(c.Context(), c.Actor, id, p)
	}, func(g exchange.Grant) LabAward { return LabAward{showAward(g), g.UserID} })
}

func (a *API) listSettings(c *Call, _ None) ([]Settings, error) {
	return listed(c, c.query(), func(p exchange.Page) (exchange.Part[exchange.Membership], error) {
		return a.App.OwnSettings(c.Context(), c.Actor, p)
	}, showSettings)
}

func (a *API) getSettings(c *Call, _ None) (Settings, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Settings{}, err
	}
	m, err := a.App.Settings(c.Context(), c.Actor, id)
	return showSettings(m), err
}

func (a *API) updateSettings(c *Call, in exchange.SwitchesPatch) (Settings, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Settings{}, err
	}
	m, err := a.App.UpdateSettings(c.Context(), c.Actor, id, in)
	return showSettings(m), err
}

func (a *API) createShipping(c *Call, in exchange.ShippingPatch) (Shipping, error) {
	s, err := a.App.CreateShipping(c.Context(), c.Actor, in)
	c.location(err, "/shipping-requirements/%d", s.ID)
	return showShipping(s), err
}

// ShippingFilter narrows the list of shipping requirements.
type ShippingFilter struct {
	Organization *int64 `query:"organization"`
}

func (a *API) listShippings(c *Call, filter ShippingFilter) ([]Shipping, error) {
	return listed(c, c.query(), func(p exchange.Page) (exchange.Part[exchange.Shipping], error) {
		return a.App.Shippings(c.Context(), filter.Organization, p)
	}, showShipping)
}

func (a *API) getShipping(c *Call, _ None) (Shipping, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Shipping{}, err
	}
	s, err := a.App.Shipping(c.Context(), id)
	return showShipping(s), err
}

func (a *API) updateShipping(c *Call, in exchange.ShippingPatch) (Shipping, error) {
	id, err := c.pathID("id")
	if err != nil {
		return Shipping{}, err
	}
	s, err := a.App.UpdateShipping(c.Context(), c.Actor, id, in)
	return showShipping(s), err
}
