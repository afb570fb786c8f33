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

// page is one line of the table of pages: what can be asked of which address, and what answers.
type page struct {
	pattern   string // of net/http's mux
	handle    func(*pageRequest) (response, error)
	signedIn  bool // who is not is sent to sign in, and comes back
	uploads   bool // the handler reads the body itself, which may be large
	signsIn   bool // counts as a login
	takesLong bool // its reads may be long, so callers take turns
}

func get(path string, handle func(*pageRequest) (response, error)) page {
	return page{pattern: "GET " + path, handle: handle}
}

func post(path string, handle func(*pageRequest) (response, error)) page {
	return page{pattern: "POST " + path, handle: handle, signedIn: true}
}

// private marks a page for people who are signed in; forms are so anyway.
func (p page) private() page {
	p.signedIn = true
	return p
}

// open marks a form that people send who are not signed in.
func (p page) open() page {
	p.signedIn = false
	return p
}

// takesFiles marks a form whose handler reads the body itself.
func (p page) takesFiles() page {
	p.uploads = true
	return p
}

// limited marks a page that signs people in, which has a limit of its own.
func (p page) limited() page {
	p.signsIn = true
	return p
}

// expensive marks a page whose reads may be long, for which visitors take turns.
func (p page) expensive() page {
	p.takesLong = true
	return p
}

// pages are all of them, by area.
func pages() [][]page {
	return [][]page{startPages, signInPages, catalogPages, requestPages, askPages, inboxPages, sharePages, labPages,
		insightPages,
		accountPages, noticePages, adminPages, helpPages, draftPages, undoPages}
}

// Patterns are those of all pages, for tests that visit every one.
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

// visit is one request for a page, on its way through a handler.
type pageRequest struct {
	*Server
	*http.Request
	w   http.ResponseWriter
	who app.Visitor
}

// signedIn reports whether it is known who visits.
func (v *pageRequest) signedIn() bool { return !v.who.Anonymous() }

// id is a number in the address; what is none is not found.
func (v *pageRequest) id(name string) (int64, error) {
	n, err := strconv.ParseInt(v.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
	}
	return n, nil
}

// reply is what a handler answers: a page, or another address to go to.
type response struct {
	status   int
	template string
	page     anyPage
	location string
	note     *flash
	serve    func(http.ResponseWriter, *http.Request) // in place of a page: a file
	// a secret is in it, or in its address: nothing keeps it or tells where it was
	private bool
}

// show answers with a page.
func show(template string, p anyPage) (response, error) {
	return response{status: http.StatusOK, template: template, page: p}, nil
}

// invalid answers with a form that could not be taken, as it was typed, with what is wrong.
func invalid(template string, p anyPage) (response, error) {
	return response{status: http.StatusUnprocessableEntity, template: template, page: p}, nil
}

// seeOther sends the visitor to another address of ours, after a form.
func seeOther(location string) response {
	return response{status: http.StatusSeeOther, location: location}
}

// saying has the next page say what was done.
func (r response) saying(text string) response {
	r.note = &flash{Text: text}
	return r
}

// undoable has the next page say what is about to be done, with a button that takes it back.
func (r response) undoable(text string, deed int64) response {
	r.note = &flash{Text: text, Undo: deed}
	return r
}

// faults are what is wrong with the fields of a form, where that is why err is; else ok is false.
func faults(err error) (fields map[string][]string, ok bool) {
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code != exchange.InvalidInput {
		return nil, false
	}
	return e.Fields, true
}

// ServeHTTP answers for a page.
func (d *Server) serve(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &pageRequest{Server: d, Request: r, w: w, who: app.Visitor{Zone: d.zone}}
		answer, err := v.enter(p)
		if err != nil {
			answer = v.failed(err)
		}
		v.answer(answer)
	})
}

// enter finds out who visits, and has the page answer.
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

// caller is whose turn counts: a user, or an address.
func (v *pageRequest) caller() string {
	if v.signedIn() {
		return v.who.ID.String()
	}
	return limit.Network(v.RemoteAddr)
}

// count counts the request, and refuses it where its visitor comes too often.
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

// answer writes a reply.
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
		v.log.ErrorContext(v.Context(), "page", "path", v.URL.Path, "template", a.template, "error", err)
		http.Error(v.w, "Something went wrong on our side; it is in the log.", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	send(v.w, v.Request, a.status, body.Bytes())
}
