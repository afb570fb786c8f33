// Package server is the HTTP server around the API and the pages: listener, limits, request id, one log record per
// request, recovery from panics, health; and what both use to answer: compressed bodies and server-sent events.
package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// The limits of a connection. Handlers that stream extend the read and write deadlines.
const (
	headerTime  = 10 * time.Second
	readTime    = 30 * time.Second
	writeTime   = 60 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
	drainTime   = 20 * time.Second // for requests in progress when the process is asked to stop
)

// requestID is the header that names a request in its answer and in the log.
const requestID = "X-Request-Id"

// Observer watches requests for metrics or traces.
type Observer interface {
	// BeginRequest is called when a request begins; it returns the request to continue with, which may have another
	// context.
	BeginRequest(r *http.Request) *http.Request
	// EndRequest is called with that request once it is answered; by then its Pattern is that of its route, if it has
	// one.
	EndRequest(r *http.Request, status int, took time.Duration)
}

// RouteOf returns the method and the route of an answered request for metrics and traces: the pattern of its route,
// never its path, which clients choose and which may have a secret in it.
func RouteOf(r *http.Request) (method, route string) {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		method = r.Method
	default:
		method = "other"
	}
	route = strings.TrimSuffix(r.Pattern[strings.IndexByte(r.Pattern, ' ')+1:], "/{$}")
	if rest := strings.TrimPrefix(route, "/v1"); strings.HasPrefix(rest, "/") {
		route = rest
	}
	switch {
	case r.Pattern == "":
		route = "none" // refused before a route was looked for
	case route == "" && strings.HasSuffix(r.Pattern, "/{$}"):
		route = "/"
	case route == "/":
		route = "unknown"
	}
	return method, route
}

// Serve answers on l until ctx ends; then it finishes the requests in progress. It trusts what proxies at the trusted
// addresses say about their clients.
func Serve(ctx context.Context, l net.Listener, h http.Handler, trusted []netip.Prefix, log *slog.Logger,
	observers ...Observer) error {
	s := &http.Server{
		Handler:           Clients(Record(Deadline(h, requestTime), log, observers...), trusted, log),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping", "drain", drainTime)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := s.Shutdown(drain); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// Record gives every request an id, recovers from panics, writes one log record per request, and calls the observers.
func Record(next http.Handler, log *slog.Logger, observers ...Observer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		for _, o := range observers {
			r = o.BeginRequest(r)
		}
		id := rand.Text()
		w.Header()[requestID] = []string{id}
		seen := &statusRecorder{ResponseWriter: w}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it in this way
					finish(observers, r, seen.status, time.Since(start))
					panic(p)
				}
				log.ErrorContext(r.Context(), "panic", "request_id", id, "panic", p, "stack", string(debug.Stack()))
				if seen.status == 0 {
					fail(seen, http.StatusInternalServerError, "INTERNAL",
						"Something went wrong on our side; the error is logged under this request id.")
				}
			}
			end := time.Now()
			finish(observers, r, seen.status, end.Sub(start))
			// pc 0: the source position is not logged
			record := slog.NewRecord(end, slog.LevelInfo, "request", 0)
			record.AddAttrs(slog.String("request_id", id), slog.String("method", r.Method),
				slog.String("path", r.URL.Path),
				slog.Int("status", seen.status), slog.Int64("bytes", seen.bytes),
				slog.Int64("duration_ms", end.Sub(start).Milliseconds()),
				slog.String("client", shortened(r.RemoteAddr)))
			if seen.actor != "" {
				record.AddAttrs(slog.String("actor", seen.actor))
			}
			if log.Enabled(r.Context(), slog.LevelInfo) {
				// as Logger does: a failing log cannot be reported anywhere
				_ = log.Handler().Handle(r.Context(), record)
			}
		}()
		next.ServeHTTP(seen, r)
	})
}

// finish calls the observers of a request, in the reverse order. Of an answer without a status net/http sends 200.
func finish(observers []Observer, r *http.Request, status int, took time.Duration) {
	for _, o := range slices.Backward(observers) {
		o.EndRequest(r, cmp.Or(status, http.StatusOK), took)
	}
}

// fail answers with the error shape of contract.md section 2.
func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message, "error_code": code,
		"request_id": w.Header().Get(requestID)})
}

// statusRecorder records the status and size of an answer.
type statusRecorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	actor  string
}

// SetUser sets the user in the log record of a request.
func SetUser(w http.ResponseWriter, user string) {
	if seen, ok := find[*statusRecorder](w); ok {
		seen.actor = user
	}
}

// find finds a writer of a kind among those that an answer passes through.
func find[W http.ResponseWriter](w http.ResponseWriter) (found W, ok bool) {
	for w != nil {
		if found, ok = w.(W); ok {
			return found, true
		}
		inner, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			break
		}
		w = inner.Unwrap()
	}
	return found, false
}

// WriteHeader records the first status.
func (w *statusRecorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write counts bytes.
func (w *statusRecorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets the kernel send a file without copying it through this process.
func (w *statusRecorder) ReadFrom(r io.Reader) (int64, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := io.Copy(w.ResponseWriter, r)
	w.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusRecorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ErrStorageFull is returned by a Need that works except that there is no space left to write.
var ErrStorageFull = errors.New("the storage is full")

// Need is something that the process depends on; Ready returns nil while it works.
type Need struct {
	Name  string // as shown by /readyz
	Ready func(context.Context) error
	// without it the process still serves: it is ready, but degraded
	Optional bool
}

// The paths that load balancers ask.
const healthPath, readyPath = "/healthz", "/readyz"

// checkedFor is how long the result of a check of the needs is used again: whoever may ask for it, asking often costs
// nothing.
const checkedFor = time.Second

// Health answers /healthz (the process is alive) and /readyz (its dependencies work, as they did within a second). Of a
// dependency that fails it shows only the name: the cause is in the log, once for as long as it fails. A process whose
// storage is full still serves reads, so it stays ready and reports that it is read-only.
func Health(mux *http.ServeMux, log *slog.Logger, needs ...Need) {
	mux.HandleFunc("GET "+healthPath,
		func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, health{Status: "ok"}) })
	var mu sync.Mutex
	var checked time.Time
	var last health
	mux.HandleFunc("GET "+readyPath, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(checked) >= checkedFor {
			last = check(context.WithoutCancel(r.Context()), log, needs, last.WaitsFor)
			checked = time.Now()
		}
		if last.Status == notReady {
			w.Header().Set("Retry-After", "5")
			say(w, http.StatusServiceUnavailable, last)
			return
		}
		say(w, http.StatusOK, last)
	})
}

// check asks each need whether it works; failing is the name of the one that did not the last time.
func check(ctx context.Context, log *slog.Logger, needs []Need, failing string) health {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	result := health{Status: "ready"}
	for _, need := range needs {
		switch err := need.Ready(ctx); {
		case errors.Is(err, ErrStorageFull):
			result.Status = "read only: " + ErrStorageFull.Error()
		case err != nil && need.Optional:
			if failing != need.Name {
				log.WarnContext(ctx, "degraded", "waits_for", need.Name, "error", err)
			}
			result.WaitsFor = need.Name
			if result.Status == "ready" {
				result.Status = "degraded"
			}
		case err != nil:
			if failing != need.Name {
				log.WarnContext(ctx, "not ready", "waits_for", need.Name, "error", err)
			}
			return health{Status: notReady, WaitsFor: need.Name}
		}
	}
	if failing != "" && result.WaitsFor == "" {
		log.InfoContext(ctx, "ready again", "waited_for", failing)
	}
	return result
}

const notReady = "not ready"

type health struct {
	Status   string `json:"status"`
	WaitsFor string `json:"waits_for,omitempty"`
}

func say(w http.ResponseWriter, status int, what health) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(what)
}
