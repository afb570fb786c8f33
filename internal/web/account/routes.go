// Package account has the pages of a person: signing in, settings, notifications, drafts.
package account

import (
	"slices"

	"aliquot/internal/web/ui"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route {
	return slices.Concat(signInPages, accountPages, closePages, erasurePages, passkeyPages, noticePages, draftPages,
		undoPages, helpPages)
}
