// Package api serves the JSON API: the contract as a table of routes, each with its handler, of a package below. It
// contains no SQL and no rules; the use cases of package app decide.
package api

import (
	"log/slog"
	"slices"

	"aliquot/internal/api/openapi"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

// New returns the API of a.
func New(a *app.App, log *slog.Logger) *rest.API {
	return rest.New(a, log, routes, func() ([]byte, error) { return OpenAPI(a.Policy()) })
}

// OpenAPI returns the contract as an OpenAPI document under a policy.
func OpenAPI(policy exchange.Policy) ([]byte, error) { return openapi.Document(routes, policy) }

// getOpenAPI serves GET /openapi.json.
func getOpenAPI(c *rest.Call, _ rest.None) (shape.Contract, error) {
	document, err := c.API.Contract()
	return shape.Contract{RawMessage: document}, err
}

// Paths returns the routes as "METHOD /path", for tests that visit every one.
func Paths() []string {
	var list []string
	for _, r := range routes {
		for _, m := range r.Methods {
			list = append(list, m+" "+r.Address())
		}
	}
	slices.Sort(list)
	return list
}
