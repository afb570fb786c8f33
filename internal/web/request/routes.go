// Package request has the pages of requests, and the list of them.
package request

import (
	"slices"

	"aliquot/internal/web/ui"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route {
	return slices.Concat(requestPages, askPages, basketPages, inquiryPages, permitPages, inboxPages, shippingPages)
}
