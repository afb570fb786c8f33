package admin

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
)

// ListJobs serves GET /jobs.
func ListJobs(c *rest.Call, f exchange.JobFilter) ([]shape.Job, error) {
	part, err := c.App.Jobs(c.Context(), c.Actor, c.List.Page, f)
	return rest.AnswerList(c, part, err, shape.ShowJob)
}

// GetJob serves GET /jobs/{id}.
func GetJob(c *rest.Call, _ rest.None) (shape.Job, error) {
	j, err := c.App.Job(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowJob(j), err
}

// CancelJob serves POST /jobs/{id}/cancel.
func CancelJob(c *rest.Call, _ rest.None) (shape.Job, error) {
	j, err := c.App.CancelJob(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowJob(j), err
}

// UndoImport serves POST /jobs/{id}/undo.
func UndoImport(c *rest.Call, _ rest.None) (shape.Job, error) {
	j, err := c.App.Spreadsheets.Undo(c.Context(), c.Actor, c.ID("id"))
	c.Location(err, "/jobs/%d", j.ID)
	return shape.ShowJob(j), err
}

// RetryJob serves POST /jobs/{id}/retry.
func RetryJob(c *rest.Call, _ rest.None) (shape.Job, error) {
	j, err := c.App.RetryJob(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowJob(j), err
}
