// Package requirement has the handlers of what transfers need: facts of materials.
package requirement

import (
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// GetTransferFacts serves GET /materials/{id}/transfer-facts.
func GetTransferFacts(c *rest.Call, _ rest.None) (shape.TransferFacts, error) {
	facts, err := c.App.Requirements.TransferFacts(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowTransferFacts(facts), err
}

// StateFacts serves PUT and PATCH /materials/{id}/transfer-facts.
func StateFacts(c *rest.Call, in requirement.Stating) (shape.TransferFacts, error) {
	facts, err := c.App.Requirements.StateFacts(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowTransferFacts))
	return shape.ShowTransferFacts(facts), err
}
