package requirement

import (
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// ListPermits serves GET /permits.
func ListPermits(c *rest.Call, in requirement.PermitFilter) ([]shape.Permit, error) {
	page, err := c.App.Requirements.Permits(c.Context(), c.Actor, in, c.List.Page)
	return rest.AnswerList(c, page, err, shape.ShowPermit)
}

// CreatePermit serves POST /permits.
func CreatePermit(c *rest.Call, in requirement.PermitPatch) (shape.Permit, error) {
	p, err := c.App.Requirements.AddPermit(c.Context(), c.Actor, in)
	c.Location(err, "/permits/%d", p.ID)
	return shape.ShowPermit(p), err
}

// GetPermit serves GET /permits/{id}.
func GetPermit(c *rest.Call, _ rest.None) (shape.Permit, error) {
	p, err := c.App.Requirements.Permit(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowPermit(p), err
}

// UpdatePermit serves PUT and PATCH /permits/{id}.
func UpdatePermit(c *rest.Call, in requirement.PermitPatch) (shape.Permit, error) {
	p, err := c.App.Requirements.ChangePermit(c.Context(), c.Actor, c.ID("id"), in, rest.IfMatch(c, shape.ShowPermit))
	return shape.ShowPermit(p), err
}

// UsePermit answers 201 with the permit, or 200 if the request used it before.
func UsePermit(c *rest.Call, in requirement.PermitUse) (shape.Permit, error) {
	p, existed, err := c.App.Requirements.UsePermit(c.Context(), c.Actor, c.ID("id"), in)
	if existed {
		c.Status = 200
	}
	return shape.ShowPermit(p), err
}

// ReleasePermit serves DELETE /material-requests/{id}/permits/{permit}.
func ReleasePermit(c *rest.Call, _ rest.None) (rest.None, error) {
	return rest.None{}, c.App.Requirements.ReleasePermit(c.Context(), c.Actor, c.ID("id"), c.ID("permit"),
		rest.IfNoTag(c))
}
