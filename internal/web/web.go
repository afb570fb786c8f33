// Package web is the server for people: pages of HTML, complete when they arrive, that work without script
// and need nothing of another host.
package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/server"
)

// policy allows the pages that have no script what they need and nothing else; pagePolicy allows the others
// our own script beside.
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
	OpenAPI func() ([]byte, error) // gives what /docs shows
	Version string
	Stop    <-chan struct{} // closed when streams are to end
	Limits  *limit.Gates    // nil: none
	Rest    Rest            // answers what is no page; nil: nobody does
}

// Rest is the server for programs, which answers all that is no page.
type Rest interface {
	http.Handler
	Knows(*http.Request) bool // whether there is something at the address
}

// door is what all pages share.
type Server struct {
	app       *app.App
	log       *slog.Logger
	templates map[string]*template.Template
	version   string
	provider  string // of identities, as people call it
	zone      *time.Location
	stop      <-chan struct{}
	limits    *limit.Gates
	site      *server.Site
}

// look is what pages are made of, which is in the program: it is read once, however many doors there are in tests.
type siteAssets struct {
	assets    assets
	names     map[string]string // addresses of assets
	templates map[string]*template.Template
}

var looks = sync.OnceValues(func() (l siteAssets, err error) {
	if l.assets, l.names, err = readAssets(); err == nil {
		l.templates, err = readTemplates(l.names)
	}
	return l, err
})

// Mount puts the pages on a mux.
func Mount(mux *http.ServeMux, cfg Config) error {
	look, err := looks()
	if err != nil {
		return err
	}
	d := &Server{app: cfg.App, log: cfg.App.Log, templates: look.templates, version: cfg.Version,
		provider: "your institution", zone: time.UTC, stop: cfg.Stop, limits: cfg.Limits,
		site: server.NewSite(cfg.App.PublicURL)}
	if d.app.Identity != nil {
		d.provider = provider(d.app.Identity.Issuer())
	}
	docs := d.docs(cfg.OpenAPI)
	unsubscribe := subscriptions{app: d.app, page: d.templates["unsubscribe"].Lookup("unsubscribe.html"), log: d.log}
	here := d.here
	mux.Handle("/unsubscribe", here(unsubscribe))
	mux.Handle("/unsubscribe/{$}", here(unsubscribe))
	mux.Handle("/docs", here(docs))
	mux.Handle("/docs/{$}", here(docs))
	mux.Handle("/assets/", look.assets)
	mux.Handle("/favicon.ico", http.RedirectHandler(look.names["favicon.svg"], http.StatusFound))
	own, areas := http.NewServeMux(), map[string]bool{}
	for _, list := range pages() {
		for _, p := range list {
			own.Handle(p.pattern, d.serve(p))
			_, path, _ := strings.Cut(p.pattern, " ")
			first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
			areas[first] = true
		}
	}
	missing := d.serve(page{handle: (*pageRequest).missing})
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

// rest answers what is no page: a browser that asks for nothing of either door gets a page that says so.
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

// provider is what people call an identity provider.
func provider(issuer string) string {
	u, err := url.Parse(issuer)
	switch {
	case err != nil:
		return issuer
	case u.Hostname() == "orcid.org" || strings.HasSuffix(u.Hostname(), ".orcid.org"):
		return "ORCID"
	case strings.HasSuffix(u.Path, "/demo/identity"):
		return "the sample people"
	}
	return u.Hostname()
}

// slashless sends addresses that end in a slash to those that do not.
func slashless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p != "/" && strings.HasSuffix(p, "/") &&
			(r.Method == http.MethodGet || r.Method == http.MethodHead) {
			u := url.URL{Path: "/" + strings.Trim(p, "/"), RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, u.String(), http.StatusMovedPermanently)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (v *pageRequest) missing() (response, error) {
	return response{}, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
}

func (v *pageRequest) foreign() (response, error) {
	return response{}, exchange.Errorf(exchange.CrossSite, "Nothing was changed. Open the page here and send the "+
		"form again.")
}

func (v *pageRequest) misdirected() (response, error) {
	return response{}, exchange.Errorf(exchange.Misdirected, "You asked for %s; this server is %s.", v.Host,
		v.app.PublicURL)
}

// here refuses requests for a host that is not ours.
func (d *Server) here(next http.Handler) http.Handler {
	return d.site.Only(next, d.serve(page{handle: (*pageRequest).misdirected}.takesFiles()))
}

// sameSite refuses forms that pages of another site send. The setting cors-origins does not open it: browsers
// send the cookie of a session by themselves.
func (d *Server) sameSite(next http.Handler) http.Handler {
	refuse := d.serve(page{handle: (*pageRequest).foreign}.takesFiles())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.site.FromElsewhere(r) {
			refuse.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// docs is the page that shows an OpenAPI document, made when it is asked for first.
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
		err = d.templates["docs"].ExecuteTemplate(&docs, "docs.html", &c)
		return docs.Bytes(), err
	})
	return only(func(w http.ResponseWriter, r *http.Request) {
		docs, err := page()
		if err != nil {
			d.log.ErrorContext(r.Context(), "docs", "error", err)
			http.Error(w, "The description of the API could not be made; the log of the server says why.",
				http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-cache")
		send(w, r, http.StatusOK, docs)
	})
}
