package requirement

import (
	"aliquot/internal/agreement/instrument"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// Resolve serves POST /agreements/resolve.
func Resolve(c *rest.Call, in instrument.Asking) (shape.Resolution, error) {
	r, err := c.App.Requirements.Resolve(c.Context(), c.Actor, in)
	return shape.ShowResolution(r), err
}

// GetOwed serves GET /material-requests/{id}/requirements.
func GetOwed(c *rest.Call, _ rest.None) (shape.Owed, error) {
	owed, err := c.App.Requirements.Requirements(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowOwed(owed), err
}
