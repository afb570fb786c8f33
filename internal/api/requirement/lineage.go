package requirement

import (
	"aliquot/internal/agreement/term"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// GetLineage serves GET /materials/{id}/lineage.
func GetLineage(c *rest.Call, _ rest.None) (shape.Lineage, error) {
	_, l, err := c.App.Lineages.Lineage(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowLineage(l), err
}

// StateLineage serves PUT and PATCH /materials/{id}/lineage.
func StateLineage(c *rest.Call, in term.LineageStating) (shape.Lineage, error) {
	l, err := c.App.Lineages.StateLineage(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowLineage))
	return shape.ShowLineage(l), err
}

// ShareQuery says to whom a material would be passed on, and what for.
type ShareQuery struct {
	To      *int64  `query:"to" help:"The institution that would get it. Required."`
	Purpose *string `query:"purpose" help:"What it would be for: RESEARCH (the usual), COMMERCIAL or CLINICAL."`
}

// MayShare serves GET /materials/{id}/may-share.
func MayShare(c *rest.Call, in ShareQuery) (shape.Sharing, error) {
	if in.To == nil {
		return shape.Sharing{}, exchange.FieldErrors{"to": {"is required: the id of the institution that would get " +
			"it"}}.Err()
	}
	purpose := ""
	if in.Purpose != nil {
		purpose = *in.Purpose
	}
	s, err := c.App.Lineages.MayShare(c.Context(), c.Actor, c.ID("id"), *in.To, purpose)
	return shape.ShowSharing(s), err
}
