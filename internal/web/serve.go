package web

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/web/account"
	"aliquot/internal/web/admin"
	"aliquot/internal/web/catalog"
	"aliquot/internal/web/institution"
	"aliquot/internal/web/lab"
	"aliquot/internal/web/letter"
	"aliquot/internal/web/request"
	"aliquot/internal/web/share"
	"aliquot/internal/web/sign"
	"aliquot/internal/web/ui"
)

// pages returns all pages.
func pages() []ui.Route {
	return slices.Concat(catalog.Routes(), request.Routes(), share.Routes(), lab.Routes(), institution.Routes(),
		letter.Routes(), sign.Routes(), account.Routes(), admin.Routes())
}

// pageRequest is a request for a page as the server sees it.
type pageRequest struct {
	*Server
	*ui.PageRequest
}

// Patterns returns the patterns of all pages, for tests that visit every one.
func Patterns() []string {
	var list []string
	for _, p := range pages() {
		list = append(list, p.Pattern)
	}
	slices.Sort(list)
	return list
}

// serve answers a request for a page.
func (d *Server) serve(p ui.Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := &pageRequest{d, &ui.PageRequest{Request: r, W: w, Who: core.Visitor{Zone: time.UTC},
			App: d.app.ForPages(), Stop: d.stop}}
		answer, err := v.enter(p)
		if err != nil {
			secret := answer.Private
			answer = v.failed(err)
			answer.Private = secret
		}
		v.answer(answer)
	})
}

// enter identifies the visitor and runs the page's handler.
func (v *pageRequest) enter(p ui.Route) (ui.Response, error) {
	if err := v.count(p); err != nil {
		return ui.Response{}, err
	}
	if err := v.recognize(); err != nil {
		return ui.Response{}, err
	}
	if p.SignedIn && !v.SignedIn() {
		return v.ToSignIn(), nil
	}
	if v.Method == http.MethodPost && !p.Uploads {
		form, err := v.ReadForm(nil)
		if err != nil {
			return ui.Response{}, err
		}
		v.PostForm = form.Fields
	}
	if p.Uploads {
		defer v.Waits()() // for the visitor, or in the queue of workbooks
	}
	if !p.TakesLong {
		return p.Handle(v.PageRequest)
	}
	var answer ui.Response
	request := v.Request
	defer v.Waits()() // it has a queue of its own
	err := v.app.Expensive(v.Context(), v.Caller(), func(ctx context.Context) (err error) {
		v.Request = request.WithContext(ctx)
		answer, err = p.Handle(v.PageRequest)
		return err
	})
	v.Request = request
	return answer, err
}

// count counts the request, and refuses it if the visitor sends too many.
func (v *pageRequest) count(p ui.Route) error {
	if v.limits == nil {
		return nil
	}
	hash := ""
	if token := v.CookieValue(ui.SessionCookie); token != "" {
		hash = core.Hash(token)
	}
	for _, verdict := range v.limits.Pass(hash, v.RemoteAddr, p.SignsIn) {
		verdict.WriteHeader(v.W.Header())
		if !verdict.OK {
			return exchange.Errorf(exchange.RateLimited, "Wait %s and try again. Nothing was lost.",
				ui.Plural(verdict.Seconds(), "second"))
		}
	}
	return nil
}

// answer writes a response.
func (v *pageRequest) answer(a ui.Response) {
	h := v.W.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	h.Add("Vary", "Cookie, HX-Request")
	if a.Serve != nil && v.SignedIn() {
		h.Set("Cache-Control", "private, no-store")
	}
	if a.Private {
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Robots-Tag", "noindex, nofollow")
	}
	if a.Note != nil {
		v.remember(*a.Note)
	}
	if a.Serve != nil {
		a.Serve(v.W, v.Request)
		return
	}
	if a.Location != "" {
		http.Redirect(v.W, v.Request, a.Location, a.Status)
		return
	}
	var body bytes.Buffer
	if err := v.render(&body, a); err != nil {
		v.app.Log.ErrorContext(v.Context(), "page", "path", v.URL.Path, "template", a.Template, "error", err)
		http.Error(v.W, "Something went wrong on our side. The error was logged.", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	ui.Send(v.W, v.Request, a.Status, body.Bytes())
}
