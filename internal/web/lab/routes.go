// Package lab has the pages of labs: people, requirements, webhooks, insights, funding.
package lab

import (
	"slices"

	"aliquot/internal/web/ui"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route { return slices.Concat(labPages, insightPages, fundingPages, joinPages) }
