// Package admin has the handlers of the audit and of background jobs.
package admin

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// ListAuditEvents serves GET /audit-events.
func ListAuditEvents(c *rest.Call, f exchange.AuditFilter) ([]shape.Act, error) {
	part, err := c.App.Audit(c.Context(), c.Actor, c.List.Page, f)
	return rest.AnswerList(c, part, err, shape.ShowAct)
}
