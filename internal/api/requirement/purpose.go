package requirement

import (
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// GetPurpose serves GET /material-requests/{id}/purpose.
func GetPurpose(c *rest.Call, _ rest.None) (shape.Purpose, error) {
	p, err := c.App.Requirements.Purpose(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowPurpose(p), err
}

// StatePurpose serves PUT and PATCH /material-requests/{id}/purpose.
func StatePurpose(c *rest.Call, in requirement.PurposePatch) (shape.Purpose, error) {
	p, err := c.App.Requirements.StatePurpose(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowPurpose))
	return shape.ShowPurpose(p), err
}
