// Package admin has the pages of admins.
package admin

import "aliquot/internal/web/ui"

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route { return adminPages }
