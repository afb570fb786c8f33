package request

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// GetPapers serves GET /material-requests/{id}/paper-findings.
func GetPapers(c *rest.Call, _ rest.None) (shape.Papers, error) {
	list, err := c.App.Papers.OfRequest(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowPapers(list), err
}
