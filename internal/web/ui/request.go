package ui

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"aliquot/internal/app"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/server"

	"github.com/google/uuid"
)

// PageRequest is one request for a page, with its visitor, while a handler answers it.
type PageRequest struct {
	*http.Request
	W    http.ResponseWriter
	Who  core.Visitor
	App  *app.App
	Stop <-chan struct{} // closed when streams are to end
}

// NoteRefusal counts a refusal for the audit. Every handler that shows a refusal on its own page calls it; the
// server does for all others.
func (v *PageRequest) NoteRefusal(err error) {
	v.App.RecordRefusal(v.Who.Actor, exchange.Action(v.Pattern), v.URL.Path, err)
}

// LogCause logs why a page failed if the visitor is not told all of it, as the API does.
func (v *PageRequest) LogCause(err error) {
	e, known := errors.AsType[*exchange.Error](err)
	id := v.W.Header().Get("X-Request-Id")
	switch {
	case !known && v.Context().Err() != nil: // the client disconnected; nobody reads the page
	case !known:
		v.App.Log.ErrorContext(v.Context(), "page", "path", v.URL.Path, "request_id", id, "error", err)
	case e.Cause != nil || e.Code == exchange.Internal || e.Code == exchange.Unavailable ||
		e.Code == exchange.InvalidAnswer:
		v.App.Log.WarnContext(v.Context(), string(e.Code), "path", v.URL.Path, "request_id", id, "error", err)
	}
}

// Waits marks the request as one that waits for a public source or in a queue of its own, until the function that it
// returns is called.
func (v *PageRequest) Waits() (until func()) { return server.Waits(v.W) }

// SignedIn reports whether the visitor is signed in.
func (v *PageRequest) SignedIn() bool { return !v.Who.Anonymous() }

// PathID returns the number at name in the path, or NotFound if it is not a number.
func (v *PageRequest) PathID(name string) (int64, error) {
	n, err := strconv.ParseInt(v.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
	}
	return n, nil
}

// Caller returns the key that the rate limit counts by: a user, or an address.
func (v *PageRequest) Caller() string {
	if v.SignedIn() {
		return v.Who.ID.String()
	}
	return limit.Network(v.RemoteAddr)
}

// Person returns the member in a field: chosen from a list, or typed if the list would be too long.
func (v *PageRequest) Person(typed string, labs ...int64) (uuid.UUID, error) {
	if id, err := uuid.Parse(typed); err == nil {
		return id, nil
	}
	u, err := v.App.Labs.Member(v.Context(), labs, typed)
	return u.ID, err
}

// Missing is the answer at an address where nothing is.
func (v *PageRequest) Missing() (Response, error) {
	return Response{}, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
}

// AnswerRefused is what a page says if what a device answered proves nothing.
const AnswerRefused = "The device’s answer was not accepted. Start again; if it repeats, use another device or " +
	"browser."

// Credential is what the device of the visitor answered, which script puts into the form.
func (v *PageRequest) Credential() (answer exchange.Opt[json.RawMessage]) {
	if typed := v.PostFormValue("credential"); typed != "" {
		answer = exchange.Some(json.RawMessage(typed))
	}
	return answer
}
