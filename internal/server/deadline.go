package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// requestTime is how long a request may take, from its head on. It is less than writeTime, so that the refusal can
// still be written.
const requestTime = 45 * time.Second

var errDeadline = errors.New("the request took longer than the server allows")

// TimedOut reports whether the context of a request ended because the request took too long.
func TimedOut(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errDeadline) }

// Deadline ends the context of a request after a time. A handler that extends the deadlines of its connection, for a
// file or a stream, extends this one to the same time.
func Deadline(next http.Handler, after time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		d := &deadlineWriter{ResponseWriter: w, at: time.Now().Add(after)}
		d.timer = time.AfterFunc(after, func() { cancel(errDeadline) })
		defer d.timer.Stop()
		bounded := r.WithContext(ctx)
		defer func() { r.Pattern = bounded.Pattern }() // for whoever watches the request
		next.ServeHTTP(d, bounded)
	})
}

// deadlineWriter is an answer to a request with a deadline.
type deadlineWriter struct {
	http.ResponseWriter

	mu    sync.Mutex
	at    time.Time // zero: never
	timer *time.Timer
}

// SetReadDeadline sets that of the connection.
func (w *deadlineWriter) SetReadDeadline(at time.Time) error {
	w.extend(at)
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(at)
}

// SetWriteDeadline sets that of the connection.
func (w *deadlineWriter) SetWriteDeadline(at time.Time) error {
	w.extend(at)
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(at)
}

// extend puts the end of the context off.
func (w *deadlineWriter) extend(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.at.IsZero():
	case at.IsZero():
		w.at = at
		w.timer.Stop()
	case at.After(w.at):
		w.at = at
		w.timer.Reset(time.Until(at))
	}
}

// ReadFrom lets the kernel send a file without copying it through this process.
func (w *deadlineWriter) ReadFrom(r io.Reader) (int64, error) { return io.Copy(w.ResponseWriter, r) }

// Unwrap lets http.ResponseController reach the connection.
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
