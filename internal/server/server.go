// Package server is the HTTP server around the API and the pages: listener, limits, request id, one log record per
// request, recovery from panics, health; and what both use to answer: compressed bodies and server-sent events.
package server

import (
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

// Serve answers on l until ctx ends; then it finishes the requests in progress. It trusts what proxies at the trusted
// addresses say about their clients.
func Serve(ctx context.Context, l net.Listener, h http.Handler, trusted []netip.Prefix, log *slog.Logger) error {
	s := &http.Server{
		Handler:           Clients(Record(h, log), trusted, log),
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

// Record gives every request an id, recovers from panics, and writes one log record per request.
func Record(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := rand.Text()
		w.Header()[requestID] = []string{id}
		seen := &statusRecorder{ResponseWriter: w}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it in this way
					panic(p)
				}
				log.ErrorContext(r.Context(), "panic", "request_id", id, "panic", p, "stack", string(debug.Stack()))
				if seen.status == 0 {
					internal(seen, id)
				}
			}
			end := time.Now()
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

func internal(w http.ResponseWriter, id string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"error":      "Something went wrong on our side; the error is logged under this request id.",
		"error_code": "INTERNAL",
		"request_id": id,
	})
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
	for w != nil {
		if seen, ok := w.(*statusRecorder); ok {
			seen.actor = user
			return
		}
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return
		}
		w = inner.Unwrap()
	}
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
}

// Health answers /healthz (the process is alive) and /readyz (its dependencies work). Of a dependency that fails it
// shows only the name: the cause is in the log. A process whose storage is full still serves reads, so it stays ready
// and reports that it is read-only.
func Health(mux *http.ServeMux, needs ...Need) {
	mux.HandleFunc("GET /healthz",
		func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, health{Status: "ok"}) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		status := "ready"
		for _, need := range needs {
			switch err := need.Ready(ctx); {
			case errors.Is(err, ErrStorageFull):
				status = "read only: " + ErrStorageFull.Error()
			case err != nil:
				w.Header().Set("Retry-After", "5")
				say(w, http.StatusServiceUnavailable, health{Status: "not ready", WaitsFor: need.Name})
				return
			}
		}
		say(w, http.StatusOK, health{Status: status})
	})
}

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
