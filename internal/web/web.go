package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/server"
	"aliquot/internal/web/ui"
)

// policy is the Content-Security-Policy of pages without script; pagePolicy is that of all others, and allows
// our own script too.
const (
	policy = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; " +
		"frame-ancestors 'none'"
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
		"connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)

// Config is what the pages need.
type Config struct {
	App     *app.App
	OpenAPI func() ([]byte, error) // returns the document that /docs shows
	Version string
	Stop    <-chan struct{} // closed when streams are to end
	Limits  *limit.Gates    // nil: none
	Rest    Rest            // answers requests for anything but a page; nil: nothing does
}

// Rest is the API server, which answers all requests that are not for a page.
type Rest interface {
	http.Handler
	Knows(*http.Request) bool // reports whether it has a route for the request
}

// Server is what all pages share.
type Server struct {
	app       *app.App
	templates *template.Template
	version   string
	stop      <-chan struct{}
	limits    *limit.Gates
	site      *server.Site
}

// siteAssets are the embedded assets and templates. They are read once, even if tests make many servers.
type siteAssets struct {
	assets    assets
	names     map[string]string // addresses of assets, by name
	templates *template.Template
}

var looks = sync.OnceValues(func() (l siteAssets, err error) {
	if l.assets, l.names, err = readAssets(); err == nil {
		l.templates, err = readTemplates(l.names)
	}
	return l, err
})

// Mount adds the pages to a mux.
func Mount(mux *http.ServeMux, cfg Config) error {
	look, err := looks()
	if err != nil {
		return err
	}
	d := &Server{app: cfg.App, templates: look.templates, version: cfg.Version,
		stop: cfg.Stop, limits: cfg.Limits, site: server.NewSite(cfg.App.PublicURL)}
	docs := d.docs(cfg.OpenAPI)
	unsubscribe := subscriptions{app: d.app, page: d.templates.Lookup("templates/unsubscribe.html")}
	here := d.here
	mux.Handle("/unsubscribe", here(unsubscribe))
	mux.Handle("/unsubscribe/{$}", here(unsubscribe))
	mux.Handle("/docs", here(docs))
	mux.Handle("/docs/{$}", here(docs))
	mux.Handle("/assets/", look.assets)
	mux.Handle("/favicon.ico", http.RedirectHandler(look.names["favicon.svg"], http.StatusFound))
	own, areas := http.NewServeMux(), map[string]bool{}
	for _, p := range pages() {
		own.Handle(p.Pattern, d.serve(p))
		_, path, _ := strings.Cut(p.Pattern, " ")
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		areas[first] = true
	}
	missing := d.serve(ui.Route{Handle: (*ui.PageRequest).Missing})
	own.Handle("/", missing)
	handler := here(d.sameSite(slashless(own)))
	for area := range areas {
		if area == "{$}" {
			mux.Handle("/{$}", handler)
			continue
		}
		mux.Handle("/"+area, handler)
		mux.Handle("/"+area+"/", handler)
	}
	if cfg.Rest != nil {
		mux.Handle("/", forPeople(rest(cfg.Rest, here(missing))))
	}
	return nil
}

// rest passes all other requests to the API. A browser that asks for an address without a route gets a page.
func rest(programs Rest, missing http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && strings.Contains(r.Header.Get("Accept"), "text/html") && !programs.Knows(r) {
			missing.ServeHTTP(w, r)
			return
		}
		programs.ServeHTTP(w, r)
	})
}

// slashless redirects addresses that end in a slash to the same address without it.
func slashless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p != "/" && strings.HasSuffix(p, "/") &&
			(r.Method == http.MethodGet || r.Method == http.MethodHead) && len(r.URL.RawQuery) <= ui.MaxAddress {
			u := url.URL{Path: "/" + strings.Trim(p, "/"), RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, u.String(), http.StatusMovedPermanently)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func foreign(*ui.PageRequest) (ui.Response, error) {
	return ui.Response{}, exchange.Errorf(exchange.CrossSite,
		"Nothing was changed. Open the page on this site and send the form again.")
}

func misdirected(v *ui.PageRequest) (ui.Response, error) {
	return ui.Response{}, exchange.Errorf(exchange.Misdirected, "You asked for %s; this server is %s.", v.Host,
		v.App.PublicURL)
}

// here refuses requests for a host other than our own.
func (d *Server) here(next http.Handler) http.Handler {
	return d.site.Only(next, d.serve(ui.Route{Handle: misdirected}.TakesFiles()))
}

// sameSite refuses forms that pages of other sites send. The setting cors-origins does not change that: browsers
// send the session cookie by themselves.
func (d *Server) sameSite(next http.Handler) http.Handler {
	refuse := d.serve(ui.Route{Handle: foreign}.TakesFiles())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.site.FromElsewhere(r) {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// docs serves the page that shows the OpenAPI document. It is rendered on the first request.
func (d *Server) docs(openAPI func() ([]byte, error)) http.Handler {
	page := sync.OnceValues(func() ([]byte, error) {
		document, err := openAPI()
		if err != nil {
			return nil, err
		}
		var c contract
		if err := json.Unmarshal(document, &c); err != nil {
			return nil, err
		}
		var docs bytes.Buffer
		err = d.templates.ExecuteTemplate(&docs, "templates/docs.html", &c)
		return docs.Bytes(), err
	})
	return only(func(w http.ResponseWriter, r *http.Request) {
		docs, err := page()
		if err != nil {
			d.app.Log.ErrorContext(r.Context(), "docs", "error", err)
			http.Error(w, "The API description could not be generated. The cause is in the server log.",
				http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		ui.Send(w, r, http.StatusOK, docs)
	})
}
