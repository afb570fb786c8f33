package request

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/request"
)

// CreateRequestGroup serves POST /request-groups.
func CreateRequestGroup(c *rest.Call, in request.NewGroup) (shape.NewRequestGroup, error) {
	v, err := c.App.Groups.CreateRequestGroup(c.Context(), c.Actor, in)
	c.Location(err, "/request-groups/%d", v.ID)
	return shape.ShowNewRequestGroup(c.App, v), err
}

// GetRequestGroup serves GET /request-groups/{id}.
func GetRequestGroup(c *rest.Call, _ rest.None) (shape.RequestGroup, error) {
	v, err := c.App.Groups.RequestGroup(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowRequestGroup(c.App, v), err
}

// AcceptRequestGroup serves POST /request-groups/{id}/accept.
func AcceptRequestGroup(c *rest.Call, _ rest.None) (shape.AcceptedGroup, error) {
	list, err := c.App.Groups.AcceptRequestGroup(c.Context(), c.Actor, c.ID("id"))
	return shape.AcceptedGroup{Requests: shape.List(list, shape.ShowAcceptedRequest)}, err
}
