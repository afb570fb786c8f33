package institution

import (
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// GetPlaybook serves GET /institutions/{id}/playbook.
func GetPlaybook(c *rest.Call, _ rest.None) (shape.Playbook, error) {
	i, err := c.App.Institutions.Playbook(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowPlaybook(i), err
}

// UpdatePlaybook serves PUT and PATCH /institutions/{id}/playbook.
func UpdatePlaybook(c *rest.Call, in playbook.Patch) (shape.Playbook, error) {
	i, err := c.App.Institutions.UpdatePlaybook(c.Context(), c.Actor, c.ID("id"), in,
		rest.IfMatch(c, shape.ShowPlaybook))
	return shape.ShowPlaybook(i), err
}

// CompareQuery says with whose playbook one is compared.
type CompareQuery struct {
	With       *int64  `query:"with" help:"The id of the other institution. Required."`
	Instrument *string `query:"instrument" help:"The id of one instrument; without it all that are in force today."`
}

// ComparePlaybooks serves GET /institutions/{id}/playbook/conflicts.
func ComparePlaybooks(c *rest.Call, in CompareQuery) (shape.PlaybookComparison, error) {
	if in.With == nil {
		return shape.PlaybookComparison{}, exchange.FieldErrors{"with": {"is required: the id of the other " +
			"institution"}}.Err()
	}
	only := ""
	if in.Instrument != nil {
		only = *in.Instrument
	}
	k, err := c.App.Institutions.Compare(c.Context(), c.Actor, c.ID("id"), *in.With, only)
	return shape.ShowComparison(k), err
}
