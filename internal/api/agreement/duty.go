package agreement

import (
	"aliquot/internal/agreement/duty"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// ListDuties serves GET /agreements/{id}/duties.
func ListDuties(c *rest.Call, _ rest.None) (shape.AgreementDuties, error) {
	d, err := c.App.Duties.Of(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowDuties(d), err
}

// UpdateDuty serves PUT and PATCH /agreements/{id}/duties/{duty}.
func UpdateDuty(c *rest.Call, in duty.Patch) (shape.AgreementDuty, error) {
	d, err := c.App.Duties.SetDay(c.Context(), c.Actor, c.ID("id"), c.ID("duty"), in, rest.IfNoTag(c))
	return shape.ShowDuty(d), err
}

// SettleDuty serves POST /agreements/{id}/duties/{duty}/evidence.
func SettleDuty(c *rest.Call, in duty.Evidence) (shape.AgreementDuty, error) {
	d, err := c.App.Duties.Settle(c.Context(), c.Actor, c.ID("id"), c.ID("duty"), in)
	return shape.ShowDuty(d), err
}

// WaiveDuty serves POST /agreements/{id}/duties/{duty}/waive.
func WaiveDuty(c *rest.Call, in duty.Waiver) (shape.AgreementDuty, error) {
	d, err := c.App.Duties.Waive(c.Context(), c.Actor, c.ID("id"), c.ID("duty"), in)
	return shape.ShowDuty(d), err
}
