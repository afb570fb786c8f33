package ui

import (
	"errors"
	"net/http"
	"net/url"

	"aliquot/internal/exchange"
)

// Response is what a handler returns: a page, or an address to redirect to.
type Response struct {
	Status   int
	Template string
	Page     Content
	Location string
	Note     *Note
	Serve    func(http.ResponseWriter, *http.Request) // instead of a page: a file
	// the page or its address contains a secret, so it is not cached and sends no referrer; of an error, too
	Private bool
}

// Show returns a page.
func Show(template string, p Content) (Response, error) {
	return Response{Status: http.StatusOK, Template: template, Page: p}, nil
}

// Invalid returns a form that was refused, as it was typed and with its errors.
func Invalid(template string, p Content) (Response, error) {
	return Response{Status: http.StatusUnprocessableEntity, Template: template, Page: p}, nil
}

// SeeOther redirects the visitor to another page after a form.
func SeeOther(location string) Response {
	return Response{Status: http.StatusSeeOther, Location: location}
}

// Saying adds a message that the next page shows.
func (r Response) Saying(text string) Response {
	r.Note = &Note{Text: text}
	return r
}

// Undoable adds a message about a pending action, or several, with a button that undoes them.
func (r Response) Undoable(text string, job int64, more ...int64) Response {
	r.Note = &Note{Text: text, Undo: job, More: more}
	return r
}

// FieldErrorsIn returns the field errors in err; ok is false if err is another error.
func FieldErrorsIn(err error) (fields map[string][]string, ok bool) {
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code != exchange.InvalidInput {
		return nil, false
	}
	return e.Fields, true
}

// Note is the message on the next page: what was done, or what is pending and can be undone.
type Note struct {
	Text string  `json:"t"`
	Undo int64   `json:"u,omitempty"` // the pending action
	More []int64 `json:"m,omitempty"` // those that are undone with it
}

// ToSignIn sends the visitor to sign in, and back here afterwards; after a form, to the form's page.
func (v *PageRequest) ToSignIn() Response {
	next := v.URL.RequestURI()
	if v.Method != http.MethodGet {
		next = "/"
		if from, err := url.Parse(v.Referer()); err == nil && from.Host == v.Host {
			next = from.RequestURI()
		}
	}
	return SeeOther("/signin?next=" + url.QueryEscape(LocalAddress(next)))
}
