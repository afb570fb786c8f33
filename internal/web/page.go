package web

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
)

// page is one row of the table of pages: its address and its handler.
type page struct {
	pattern   string // for net/http's mux
	handle    func(*pageRequest) (response, error)
	signedIn  bool // visitors who are not signed in are sent to sign in, and come back afterwards
	uploads   bool // the handler reads the body itself, which may be large
	signsIn   bool // counts as a login
	takesLong bool // its queries may be slow, so callers take turns
}

func get(path string, handle func(*pageRequest) (response, error)) page {
	return page{pattern: "GET " + path, handle: handle}
}

func post(path string, handle func(*pageRequest) (response, error)) page {
	return page{pattern: "POST " + path, handle: handle, signedIn: true}
}

// private marks a page that needs a signed-in user. Forms always do.
func (p page) private() page {
	p.signedIn = true
	return p
}

// open marks a form that visitors send who are not signed in.
func (p page) open() page {
	p.signedIn = false
	return p
}

// takesFiles marks a form whose handler reads the body itself.
func (p page) takesFiles() page {
	p.uploads = true
	return p
}

// limited marks a page that signs people in, which has its own rate limit.
func (p page) limited() page {
	p.signsIn = true
	return p
}

// expensive marks a page whose queries may be slow, for which visitors take turns.
func (p page) expensive() page {
	p.takesLong = true
	return p
}

// pages returns all pages, by area.
func pages() [][]page {
	return [][]page{startPages, signInPages, catalogPages, requestPages, askPages, inboxPages, sharePages, labPages,
		insightPages,
		accountPages, closePages, noticePages, adminPages, helpPages, draftPages, undoPages}
}

// Patterns returns the patterns of all pages, for tests that visit every one.
func Patterns() []string {
	var list []string
	for _, area := range pages() {
		for _, p := range area {
			list = append(list, p.pattern)
		}
	}
	slices.Sort(list)
	return list
}

// pageRequest is one request for a page, with its visitor, while a handler answers it.
type pageRequest struct {
	*Server
	*http.Request
	w   http.ResponseWriter
	who app.Visitor
}

// signedIn reports whether the visitor is signed in.
func (v *pageRequest) signedIn() bool { return !v.who.Anonymous() }

// id returns the number at name in the path, or NotFound if it is not a number.
func (v *pageRequest) id(name string) (int64, error) {
	n, err := strconv.ParseInt(v.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
	}
	return n, nil
}

// response is what a handler returns: a page, or an address to redirect to.
type response struct {
	status   int
	template string
	page     anyPage
	location string
	note     *flash
	serve    func(http.ResponseWriter, *http.Request) // instead of a page: a file
	// the page or its address contains a secret, so it is not cached and sends no referrer; of an error, too
	private bool
}

// show returns a page.
func show(template string, p anyPage) (response, error) {
	return response{status: http.StatusOK, template: template, page: p}, nil
}

// invalid returns a form that was refused, as it was typed and with its errors.
func invalid(template string, p anyPage) (response, error) {
	return response{status: http.StatusUnprocessableEntity, template: template, page: p}, nil
}

// seeOther redirects the visitor to another page after a form.
func seeOther(location string) response {
	return response{status: http.StatusSeeOther, location: location}
}

// saying adds a message that the next page shows.
func (r response) saying(text string) response {
	r.note = &flash{Text: text}
	return r
}

// undoable adds a message about a pending action, with a button that undoes it.
func (r response) undoable(text string, deed int64) response {
	r.note = &flash{Text: text, Undo: deed}
	return r
}

// faults returns the field errors in err; ok is false if err is another error.
func faults(err error) (fields map[string][]string, ok bool) {
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code != exchange.InvalidInput {
		return nil, false
	}
	return e.Fields, true
}

// ServeHTTP answers a request for a page.
func (d *Server) serve(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &pageRequest{Server: d, Request: r, w: w, who: app.Visitor{Zone: d.zone}}
		answer, err := v.enter(p)
		if err != nil {
			secret := answer.private
			answer = v.failed(err)
			answer.private = secret
		}
		v.answer(answer)
	})
}

// enter identifies the visitor and runs the page's handler.
func (v *pageRequest) enter(p page) (response, error) {
	if err := v.count(p); err != nil {
		return response{}, err
	}
	if err := v.recognize(); err != nil {
		return response{}, err
	}
	if p.signedIn && !v.signedIn() {
		return v.toSignIn(), nil
	}
	if v.Method == http.MethodPost && !p.uploads {
		form, err := v.readForm(nil)
		if err != nil {
			return response{}, err
		}
		v.PostForm = form.fields
	}
	if !p.takesLong {
		return p.handle(v)
	}
	var answer response
	request := v.Request
	err := v.app.Expensive(v.Context(), v.caller(), func(ctx context.Context) (err error) {
		v.Request = request.WithContext(ctx)
		answer, err = p.handle(v)
		return err
	})
	v.Request = request
	return answer, err
}

// caller returns the key that the rate limit counts by: a user, or an address.
func (v *pageRequest) caller() string {
	if v.signedIn() {
		return v.who.ID.String()
	}
	return limit.Network(v.RemoteAddr)
}

// count counts the request, and refuses it if the visitor sends too many.
func (v *pageRequest) count(p page) error {
	if v.limits == nil {
		return nil
	}
	hash := ""
	if token := v.cookie(sessionCookie); token != "" {
		hash = app.Hash(token)
	}
	for _, verdict := range v.limits.Pass(hash, v.RemoteAddr, p.signsIn) {
		verdict.Tell(v.w.Header())
		if !verdict.OK {
			return exchange.Errorf(exchange.RateLimited, "Wait %s and try again. Nothing was lost.",
				plural(verdict.Seconds(), "second"))
		}
	}
	return nil
}

// answer writes a response.
func (v *pageRequest) answer(a response) {
	h := v.w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	h.Add("Vary", "Cookie, HX-Request")
	if a.serve != nil && v.signedIn() {
		h.Set("Cache-Control", "private, no-store")
	}
	if a.private {
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Robots-Tag", "noindex, nofollow")
	}
	if a.note != nil {
		v.remember(*a.note)
	}
	if a.serve != nil {
		a.serve(v.w, v.Request)
		return
	}
	if a.location != "" {
		http.Redirect(v.w, v.Request, a.location, a.status)
		return
	}
	var body bytes.Buffer
	if err := v.render(&body, a); err != nil {
		v.app.Log.ErrorContext(v.Context(), "page", "path", v.URL.Path, "template", a.template, "error", err)
		http.Error(v.w, "Something went wrong on our side; it is in the log.", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	send(v.w, v.Request, a.status, body.Bytes())
}
