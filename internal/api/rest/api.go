// Package rest is the HTTP side of the API: it matches a call to its route, checks who calls and how often, decodes
// body and query, handles conditions, repeated calls and other origins, and encodes the answer.
package rest

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/limit"
	"aliquot/internal/server"
)

// API serves the JSON API of an App.
type API struct {
	App    *app.App
	Log    *slog.Logger
	Limits *limit.Gates // nil: no limits
	// Origins are those whose pages may call the API; "*" means any.
	Origins []string
	// Heartbeat is the longest time for which a stream sends nothing; 0: every 15 s.
	Heartbeat time.Duration
	// Stop is closed when the process stops; streams then end at once. nil: never.
	Stop     <-chan struct{}
	site     *server.Site
	mux      *http.ServeMux
	deny     map[exchange.Action]bool // actions that answer 401 without a token
	allow    map[string][]string      // the methods of each path of the table, in the order of verbs
	Contract func() ([]byte, error)   // returns the OpenAPI document, which is built on first use
}

// New returns the API that serves routes; contract returns its OpenAPI document, which is built on first use.
func New(a *app.App, log *slog.Logger, routes []Route, contract func() ([]byte, error)) *API {
	api := &API{App: a, Log: log, site: server.NewSite(a.PublicURL), mux: http.NewServeMux(),
		deny: map[exchange.Action]bool{}, allow: map[string][]string{},
		Contract: sync.OnceValues(contract)}
	for _, r := range routes {
		api.deny[r.Action] = a.Policy().NeedsToken(r.Action)
		for _, pattern := range r.patterns() {
			api.mux.Handle(pattern, api.handler(r))
		}
		api.allow[r.Path] = append(api.allow[r.Path], r.Methods...)
	}
	for path, methods := range api.allow {
		api.allow[path] = slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool {
			return !slices.Contains(methods, verb) &&
				(verb != http.MethodHead || !slices.Contains(methods, http.MethodGet))
		})
		// Without these, /materials/import would be read as a material with the id "import" for every method but POST.
		for _, verb := range verbs {
			if verb == http.MethodHead || slices.Contains(methods, verb) {
				continue
			}
			for _, pattern := range patterns(verb, path) {
				api.mux.HandleFunc(pattern, api.unknown)
			}
		}
	}
	api.mux.HandleFunc("/", api.unknown)
	return api
}

// RequestID is the header that names a request in answers and in the log; the server sets it before it calls a handler.
const RequestID = "X-Request-Id"

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !a.site.Answers(r.Host) {
		a.fail(w, r, exchange.Errorf(exchange.Misdirected, "This server is %s and does not answer for the host %q. "+
			"Its operator can set public-url to another address, or have the proxy pass on the Host header.",
			a.App.PublicURL, r.Host))
		return
	}
	a.allowOrigin(w, r)
	if !server.Clean(r.URL.Path) {
		a.fail(w, r, exchange.Errorf(exchange.NotFound, "There is no such path."))
		return
	}
	a.mux.ServeHTTP(w, r)
}

func (a *API) handler(route Route) http.HandlerFunc {
	filters, page, parameters := route.filters(), "", []string{}
	for _, p := range route.Parameters() {
		parameters = append(parameters, p.Name)
	}
	slices.Sort(parameters)
	if route.Page != "" {
		page = a.App.PublicURL + route.Page
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if !route.silent {
			w = server.Zip(w, r)
		}
		c := &Call{App: a.App, API: a, Request: r, Writer: w, Status: route.Status, stream: route.Stream,
			fields: route.Fields, Searched: route.search, page: page, filters: filters, parameters: parameters}
		if err := a.serve(c, route); err != nil {
			a.refused(c, route, err)
			a.fail(w, r, err)
		}
	}
}

// refused records that a call was refused for lack of a right; failed sign-ins are recorded by the use case.
func (a *API) refused(c *Call, route Route, err error) {
	if route.Action != exchange.Login && route.Action != exchange.Register {
		a.App.RecordRefusal(c.Actor, route.Action, strings.TrimPrefix(c.URL.Path, "/v1"), err)
	}
}

func (a *API) serve(c *Call, route Route) error {
	if err := a.sameSite(c, route.Action); err != nil {
		return err
	}
	if err := a.authenticate(c, route.Action); err != nil {
		return err
	}
	if a.deny[route.Action] && c.Actor.Anonymous() {
		return exchange.Errorf(exchange.NotAuthenticated, "This path needs a token: send \"Authorization: Token "+
			"<API_TOKEN>\".")
	}
	if !c.Actor.InScope(route.Action) {
		return c.Actor.BeyondScope(route.Action)
	}
	if coding := c.Header.Get("Content-Encoding"); route.HasBody() && coding != "" &&
		!strings.EqualFold(coding, "identity") {
		c.Writer.Header().Set("Accept-Encoding", "identity") // RFC 9110 section 15.5.16
		return exchange.Errorf(exchange.UnsupportedMedia, "The body must be sent without Content-Encoding.")
	}
	if c.stream {
		c.extendDeadlines(a.App.UploadLimit)
	}
	if c.stream || route.AsksSource() {
		defer server.Waits(c.Writer)() // for the client or a source, or in the queue of workbooks
	}
	k, repeatable, err := c.retry(route.Action)
	switch {
	case err != nil:
		return err
	case repeatable:
		return a.runIdempotent(c, route, k)
	}
	return route.serve(c)
}

// Knows reports whether the table has the path of a request, with any method.
func (a *API) Knows(r *http.Request) bool { return len(a.methods(r)) > 0 }

// verbs are the methods used by any path.
var verbs = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete}

// methods returns the methods that the table has for the path of a request.
func (a *API) methods(r *http.Request) []string {
	probe := *r
	probe.Method = http.MethodGet // every path of the table has a pattern with it
	_, pattern := a.mux.Handler(&probe)
	_, path, _ := strings.Cut(pattern, " ")
	return a.allow[strings.TrimSuffix(strings.TrimPrefix(path, "/v1"), "/{$}")]
}

// unknown answers a request whose path, or whose method on that path, is not in the table.
func (a *API) unknown(w http.ResponseWriter, r *http.Request) {
	allowed := a.methods(r)
	if len(allowed) == 0 {
		a.fail(w, r, exchange.Errorf(exchange.NotFound, "There is no such path."))
		return
	}
	allowed = append(slices.Clone(allowed), http.MethodOptions)
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	if r.Method == http.MethodOptions {
		options(w, r, allowed)
		return
	}
	a.fail(w, r, exchange.Errorf(exchange.MethodNotAllowed, "%s does not work here; %s does.", r.Method,
		strings.Join(allowed, ", ")))
}
