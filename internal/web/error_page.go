package web

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/server"
	"aliquot/internal/web/ui"
)

type failPage struct {
	ui.Page
	Status  int
	Icon    string
	Head    string
	Lead    string
	Help    string
	ID      string // of the request, in the log
	Try     string // a search to try instead of a page that does not exist
	SignOut bool   // another account may have access
}

// nameOfAction is the key of an error's details with the refused action, named as in the contract.
var nameOfAction = regexp.MustCompile(` \([a-z.-]+\)`)

// failed returns the page that explains an error.
func (v *pageRequest) failed(err error) ui.Response {
	if exchange.CodeOf(err) == exchange.Internal && server.TimedOut(v.Context()) {
		err = &exchange.Error{Code: exchange.Unavailable, Cause: err,
			Message: "This took longer than the server allows. Nothing was changed."}
	}
	code, message, retry := exchange.CodeOf(err), "", 0
	v.LogCause(err)
	v.NoteRefusal(err)
	if e, ok := errors.AsType[*exchange.Error](err); ok {
		message = e.Message
		retry, _ = e.Details["retry_after"].(int)
	}
	p := &failPage{Page: ui.Page{Narrow: true}, Icon: "alert", ID: v.W.Header().Get("X-Request-Id"), Lead: message}
	switch code {
	case exchange.NotAuthenticated:
		return v.ToSignIn()
	case exchange.Forbidden, exchange.FieldForbidden, exchange.OutOfScope, exchange.RegistrationClosed,
		exchange.NoAuthority:
		p.Status, p.Icon, p.Head, p.SignOut = http.StatusForbidden, "lock", "You do not have access to this",
			v.SignedIn()
		p.Lead = nameOfAction.ReplaceAllString(message, "")
		p.Help = "If this belongs to your lab, ask its owner to add you. If you have another account, sign in with " +
			"that one."
	case exchange.CrossSite:
		p.Status, p.Icon, p.Head = http.StatusForbidden, "lock", "This came from another site"
	case exchange.Misdirected:
		p.Status, p.Head = http.StatusMisdirectedRequest, "This server does not answer at this address"
	case exchange.NotFound:
		p.Status, p.Icon, p.Head, p.Try = http.StatusNotFound, "search", "There is no page at this address",
			v.PathValue("id")
		p.Lead = "The listing may have been removed, or the link may be mistyped. Your requests and documents are " +
			"safe: they are never deleted."
	case exchange.MethodNotAllowed:
		p.Status, p.Head = http.StatusMethodNotAllowed, "This address does not support that"
	case exchange.InvalidInput, exchange.MalformedJSON, exchange.InvalidCode:
		p.Status, p.Head = http.StatusBadRequest, "Something in the form or address is not valid"
		fields, _ := ui.FieldErrorsIn(err)
		for field, list := range fields {
			for _, text := range list {
				p.Lead += " " + field + ": " + text + "."
			}
		}
	case exchange.Conflict, exchange.InvalidTransition, exchange.MissingRequirements, exchange.MaterialArchived,
		exchange.MaterialEmbargoed,
		exchange.RequestClosed, exchange.AttachmentInUse, exchange.PreconditionFailed:
		p.Status, p.Icon, p.Head = http.StatusConflict, "undo", "That is no longer possible"
		p.Help = "Someone may have been faster. Nothing was changed. Go back and reload the page to see the current " +
			"state."
	case exchange.FileWithheld:
		p.Status, p.Icon, p.Head = http.StatusConflict, "alert", "This file cannot be opened now"
	case exchange.TooLarge:
		p.Status, p.Icon, p.Head = http.StatusRequestEntityTooLarge, "upload", "That is too large"
	case exchange.QuotaExceeded:
		p.Status, p.Icon, p.Head = http.StatusRequestEntityTooLarge, "upload", "The storage quota is used up"
		p.Help = "Delete files that are no longer needed, or ask the operator for more."
	case exchange.UnsupportedMedia:
		p.Status, p.Icon, p.Head = http.StatusUnsupportedMediaType, "file", "Files of this type are not accepted"
	case exchange.RateLimited:
		p.Status, p.Icon, p.Head = http.StatusTooManyRequests, "clock", "Too many attempts"
	case exchange.StorageFull:
		p.Status, p.Icon, p.Head = http.StatusInsufficientStorage, "alert", "The server’s storage is full"
		p.Help = "Nothing was changed, and you can still read everything. Please tell the operator."
	case exchange.Unavailable, exchange.InvalidAnswer:
		p.Status, p.Icon, p.Head = http.StatusServiceUnavailable, "clock", "Try again in a moment"
		retry = max(retry, 5)
	default:
		p.Status, p.Head, p.Lead = http.StatusInternalServerError, "Something went wrong on our side",
			"The error was logged, and nothing was changed."
	}
	if retry > 0 {
		v.W.Header().Set("Retry-After", strconv.Itoa(retry))
	}
	if v.Context().Err() != nil { // the client disconnected
		p.Status = http.StatusServiceUnavailable
	}
	p.Title = p.Head
	return ui.Response{Status: p.Status, Template: "error", Page: p}
}
