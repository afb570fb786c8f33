// Package catalog has the start page and the pages on which materials are found and shown.
package catalog

import (
	"slices"

	"aliquot/internal/web/ui"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route { return slices.Concat(startPages, catalogPages) }
