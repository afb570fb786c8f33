// Package api serves the JSON API: the contract as a table of routes, a codec, and the shapes of the answers. It
// contains no SQL and no rules; the use cases of package app decide.
package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strconv"
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

// New returns the API of a.
func New(a *app.App, log *slog.Logger) *API {
	api := &API{App: a, Log: log, site: server.NewSite(a.PublicURL), mux: http.NewServeMux(),
		deny: map[exchange.Action]bool{}, allow: map[string][]string{},
		Contract: sync.OnceValues(func() ([]byte, error) { return OpenAPI(a.Policy()) })}
	for _, r := range routes {
		api.deny[r.action] = a.Policy().NeedsToken(r.action)
		for _, pattern := range r.patterns() {
			api.mux.Handle(pattern, api.handler(r))
		}
		api.allow[r.path] = append(api.allow[r.path], r.methods...)
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

// requestID is the header that names a request in answers and in the log; the server sets it before it calls a handler.
const requestID = "X-Request-Id"

// ServeHTTP answers a request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !a.site.Answers(r.Host) {
		a.fail(w, r, exchange.Errorf(exchange.Misdirected, "This server is %s and does not answer for the host %q. "+
			"Its operator can set public-url to another address, or have the proxy pass on the Host header.",
			a.App.PublicURL, r.Host))
		return
	}
	a.allowOrigin(w, r)
	// The mux would redirect a path that is not clean, and a redirect loses the body of a POST.
	p := r.URL.Path
	if clean := path.Clean(p); !strings.HasPrefix(p, "/") || p != clean && (p != clean+"/" || clean == "/") {
		a.fail(w, r, exchange.Errorf(exchange.NotFound, "There is no such path."))
		return
	}
	a.mux.ServeHTTP(w, r)
}

func (a *API) handler(route route) http.HandlerFunc {
	filters, page, parameters := route.filters(), "", []string{}
	for _, p := range route.parameters() {
		parameters = append(parameters, p.name)
	}
	slices.Sort(parameters)
	if route.page != "" {
		page = a.App.PublicURL + route.page
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if !route.silent {
			w = server.Zip(w, r)
		}
		c := &Call{App: a.App, API: a, Request: r, w: w, status: route.status, stream: route.stream,
			fields: route.fields, searched: route.search, page: page, filters: filters, parameters: parameters}
		if err := a.serve(c, route); err != nil {
			a.refused(c, route, err)
			a.fail(w, r, err)
		}
	}
}

// refused records that a call was refused for lack of a right; failed sign-ins are recorded by the use case.
func (a *API) refused(c *Call, route route, err error) {
	if route.action != exchange.Login && route.action != exchange.Register {
		a.App.RecordRefusal(c.Actor, route.action, strings.TrimPrefix(c.URL.Path, "/v1"), err)
	}
}

func (a *API) serve(c *Call, route route) error {
	if err := a.sameSite(c, route.action); err != nil {
		return err
	}
	if err := a.authenticate(c, route.action); err != nil {
		return err
	}
	if a.deny[route.action] && c.Actor.Anonymous() {
		return exchange.Errorf(exchange.NotAuthenticated, "This path needs a token: send \"Authorization: Token "+
			"<API_TOKEN>\".")
	}
	if !c.Actor.InScope(route.action) {
		return c.Actor.BeyondScope(route.action)
	}
	if coding := c.Header.Get("Content-Encoding"); route.hasBody() && coding != "" &&
		!strings.EqualFold(coding, "identity") {
		c.w.Header().Set("Accept-Encoding", "identity") // RFC 9110 section 15.5.16
		return exchange.Errorf(exchange.UnsupportedMedia, "The body must be sent without Content-Encoding.")
	}
	if c.stream {
		c.extendDeadlines(a.App.UploadLimit)
	}
	k, repeatable, err := c.retry(route.action)
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

// statuses maps each error code to its HTTP status (contract.md section 2).
var statuses = map[exchange.Code]int{
	exchange.InvalidInput:        http.StatusBadRequest,
	exchange.MalformedJSON:       http.StatusBadRequest,
	exchange.InvalidCode:         http.StatusBadRequest,
	exchange.NotAuthenticated:    http.StatusUnauthorized,
	exchange.Forbidden:           http.StatusForbidden,
	exchange.FieldForbidden:      http.StatusForbidden,
	exchange.OutOfScope:          http.StatusForbidden,
	exchange.RegistrationClosed:  http.StatusForbidden,
	exchange.CrossSite:           http.StatusForbidden,
	exchange.NotFound:            http.StatusNotFound,
	exchange.MethodNotAllowed:    http.StatusMethodNotAllowed,
	exchange.PreconditionFailed:  http.StatusPreconditionFailed,
	exchange.TooLarge:            http.StatusRequestEntityTooLarge,
	exchange.QuotaExceeded:       http.StatusRequestEntityTooLarge,
	exchange.UnsupportedMedia:    http.StatusUnsupportedMediaType,
	exchange.Misdirected:         http.StatusMisdirectedRequest,
	exchange.RateLimited:         http.StatusTooManyRequests,
	exchange.InvalidTransition:   http.StatusConflict,
	exchange.MissingRequirements: http.StatusConflict,
	exchange.MaterialArchived:    http.StatusConflict,
	exchange.MaterialEmbargoed:   http.StatusConflict,
	exchange.RequestClosed:       http.StatusConflict,
	exchange.AttachmentInUse:     http.StatusConflict,
	exchange.Conflict:            http.StatusConflict,
	rangeNotSatisfiable:          http.StatusRequestedRangeNotSatisfiable,
	exchange.StorageFull:         http.StatusInsufficientStorage,
	exchange.Unavailable:         http.StatusServiceUnavailable,
	exchange.InvalidAnswer:       http.StatusBadGateway,
	exchange.Internal:            http.StatusInternalServerError,
}

// retryAfter is the Retry-After of a 503, in seconds, if nothing better is known.
const retryAfter = 5

// fail answers with the error shape of contract.md section 2. The cause goes only to the log.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, known := errors.AsType[*exchange.Error](err)
	switch {
	case !known && r.Context().Err() != nil: // the client disconnected; nobody reads the answer
		e = exchange.Errorf(exchange.Unavailable, "The request was cancelled.")
	case !known:
		e = exchange.Errorf(exchange.Internal,
			"Something went wrong on our side; the error is logged under this request id.")
		a.Log.ErrorContext(r.Context(), "internal error", "request_id", w.Header().Get(requestID), "path", r.URL.Path,
			"error", err)
	case e.Cause != nil:
		a.Log.WarnContext(r.Context(), string(e.Code), "request_id", w.Header().Get(requestID), "path", r.URL.Path,
			"error", err)
	}
	body := map[string]any{"error": e.Message, "error_code": e.Code, "request_id": w.Header().Get(requestID)}
	for key, value := range e.Details {
		body[key] = value
	}
	if len(e.Fields) > 0 {
		body["fields"] = e.Fields
	}
	status := statuses[e.Code]
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Token")
	case http.StatusServiceUnavailable:
		seconds, ok := e.Details["retry_after"].(int)
		if !ok {
			seconds = retryAfter
		}
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	case http.StatusTooManyRequests:
		if seconds, ok := e.Details["retry_after"].(int); ok { // otherwise the limiter has set it
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
		}
	}
	if r.ContentLength < 0 || r.ContentLength > bodyLimit {
		w.Header().Set("Connection", "close") // otherwise net/http waits for the rest of the body
	}
	if err := answer(w, status, body); err != nil {
		a.Log.ErrorContext(r.Context(), "encode error", "error", err)
	}
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// answer sends a body as JSON. The whole body is encoded before the status is sent.
func answer(w http.ResponseWriter, status int, body any) error {
	return encoded(body, func(raw []byte) error {
		send(w, status, Body{Type: jsonType, Bytes: raw})
		return nil
	})
}

// encoded encodes a body as JSON and passes it to use; the bytes are valid only until use returns.
func encoded(body any, use func(raw []byte) error) error {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if raw, err := appendMaterials(buf.AvailableBuffer(), body); raw != nil || err != nil {
		if err != nil {
			return err
		}
		_, _ = buf.Write(raw) // never fails; what had to grow is kept for the next body
		return use(buf.Bytes())
	}
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return err
	}
	return use(buf.Bytes())
}

const jsonType = "application/json"

// Values of headers that every answer has. net/http copies them and nothing changes them in place, so they are
// allocated once. The names are in the form of http.CanonicalHeaderKey.
var (
	jsonHeader    = []string{jsonType}
	noSniffHeader = []string{"nosniff"}
	noStoreHeader = []string{"no-store"}
	varyHeader    = []string{"Accept-Encoding, Authorization"}
)

// send writes a body in one Write.
func send(w http.ResponseWriter, status int, b Body) {
	h := w.Header()
	if b.Type == jsonType {
		h["Content-Type"] = jsonHeader
	} else {
		h.Set("Content-Type", b.Type)
	}
	h["Content-Length"] = []string{strconv.Itoa(len(b.Bytes))}
	h["X-Content-Type-Options"] = noSniffHeader
	if b.Name != "" {
		h.Set("Content-Disposition", download(b.Name))
	}
	vary(h)
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes) // the client may have disconnected
}

// vary names the headers of a request that answers depend on, besides the origin that cors.go may have named.
func vary(h http.Header) {
	if others := h["Vary"]; others != nil {
		h["Vary"] = append(others, varyHeader...)
		return
	}
	h["Vary"] = varyHeader
}

// Paths returns the routes as "METHOD /path", for tests that visit every one.
func Paths() []string {
	var list []string
	for _, r := range routes {
		for _, m := range r.methods {
			list = append(list, m+" "+r.path)
		}
	}
	slices.Sort(list)
	return list
}
