package server

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// LoadLimit bounds how many requests a process works on at once, so that when more come than it can answer, some are
// refused at once and the others are answered in time. A request is not worked on while its client sends its body or
// reads the answer: slow clients keep nobody out.
type LoadLimit struct {
	most  int           // worked on at once
	queue int           // that may wait for their turn
	wait  time.Duration // for that long, in a queue that was empty a moment ago
	brief time.Duration // for that long, in one that was not: longer waiting would only make all answers late
	open  int           // admitted at once, with those whose clients are slow

	mu       sync.Mutex
	working  int
	admitted int
	waiting  []chan struct{} // the oldest first; closed when its turn has come
	since    time.Time       // since when some have been waiting
	shed     int64
}

// NewLoadLimit returns the limit for a machine with so many processors.
func NewLoadLimit(processors int) *LoadLimit {
	return &LoadLimit{most: 16 * processors, queue: 128 * processors, wait: 250 * time.Millisecond,
		brief: 50 * time.Millisecond, open: 8192}
}

// Figures returns how many requests are worked on and wait, and how many were refused so far.
func (l *LoadLimit) Figures() (working, waiting int, shed int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.working, len(l.waiting), l.shed
}

// enter reports whether a request is admitted, after it waited for its turn.
func (l *LoadLimit) enter(done <-chan struct{}) bool {
	l.mu.Lock()
	if l.admitted < l.open && l.working < l.most {
		l.admitted++
		l.working++
		l.mu.Unlock()
		return true
	}
	if l.admitted >= l.open || len(l.waiting) >= l.queue {
		l.shed++
		l.mu.Unlock()
		return false
	}
	if len(l.waiting) == 0 {
		l.since = time.Now()
	}
	wait := l.wait
	if time.Since(l.since) > l.wait {
		wait = l.brief
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()
	patience := time.NewTimer(wait)
	defer patience.Stop()
	select {
	case <-turn:
		return true
	case <-done:
	case <-patience.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, turn)
	if i < 0 { // its turn came at the last moment
		return true
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	l.shed++
	return false
}

// pause ends the work on an admitted request for a while, and lets the next one work.
func (l *LoadLimit) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.working--
	l.next()
}

// resume continues the work on an admitted request, even if there is more than enough to do: it is not refused halfway.
func (l *LoadLimit) resume() {
	l.mu.Lock()
	l.working++
	l.mu.Unlock()
}

// leave ends an admitted request; rests reports whether its work rests, as after a panic while something was awaited.
func (l *LoadLimit) leave(rests bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !rests {
		l.working--
	}
	l.admitted--
	l.next()
}

// next admits those whose turn has come.
func (l *LoadLimit) next() {
	for len(l.waiting) > 0 && l.working < l.most && l.admitted < l.open {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		l.working++
		l.admitted++
	}
}

// maxBuffered is the size up to which a body is awaited before its request is admitted; larger ones are read as their
// handlers want them.
const maxBuffered = 16 << 10

// Shed passes requests to next, and answers those that are refused with 503. It exempts the checks of
// load balancers, which have to be answered most of all when there is much to do.
func (l *LoadLimit) Shed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == healthPath || r.URL.Path == readyPath {
			next.ServeHTTP(w, r)
			return
		}
		work := &limitedWork{limit: l}
		if r.ContentLength > 0 && r.ContentLength <= maxBuffered {
			body := make([]byte, r.ContentLength)
			n, _ := io.ReadFull(r.Body, body) // the handler gets the error from the body itself
			r.Body = bufferedBody{io.MultiReader(bytes.NewReader(body[:n]), r.Body), r.Body}
		} else if r.ContentLength != 0 {
			r.Body = limitedBody{r.Body, work}
		}
		if !l.enter(r.Context().Done()) {
			busy(w, r)
			return
		}
		defer func() { l.leave(work.awaited.Load() > 0) }()
		next.ServeHTTP(&limitedWriter{w, work}, r)
	})
}

// bufferedBody is a body that was read before, at least in part.
type bufferedBody struct {
	io.Reader
	io.Closer
}

// limitedWork is the work on an admitted request. It rests while at least one thing is awaited.
type limitedWork struct {
	limit   *LoadLimit
	awaited atomic.Int32
}

// await has the work rest until the function that it returns is called.
func (k *limitedWork) await() (until func()) {
	if k.awaited.Add(1) == 1 {
		k.limit.pause()
	}
	return func() {
		if k.awaited.Add(-1) == 0 {
			k.limit.resume()
		}
	}
}

// Waits marks a request as one that waits for something other than this process, or has a queue of its own, until the
// function that it returns is called: others may be worked on meanwhile.
func Waits(w http.ResponseWriter) (until func()) {
	if limited, ok := find[*limitedWriter](w); ok {
		return limited.work.await()
	}
	return func() {}
}

// limitedBody is a body whose request is not worked on while its client sends it.
type limitedBody struct {
	io.ReadCloser
	work *limitedWork
}

// Read reads when the client has sent something.
func (b limitedBody) Read(p []byte) (int, error) {
	defer b.work.await()()
	return b.ReadCloser.Read(p)
}

// limitedWriter is an answer whose request is not worked on while its client reads it.
type limitedWriter struct {
	http.ResponseWriter
	work *limitedWork
}

// Write writes when the client has read enough.
func (w *limitedWriter) Write(b []byte) (int, error) {
	defer w.work.await()()
	return w.ResponseWriter.Write(b)
}

// ReadFrom lets the kernel send a file without copying it through this process.
func (w *limitedWriter) ReadFrom(r io.Reader) (int64, error) {
	defer w.work.await()()
	return io.Copy(w.ResponseWriter, r)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *limitedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// busyRetry is the Retry-After, in seconds, of a request that was refused.
const busyRetry = "2"

// busyPage is what people see in place of a page that was refused.
const busyPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Try again in a moment</title>
<h1>Try again in a moment</h1><p>The server has more to do than it can. Nothing was changed.</p></html>
`

// busy answers a request that was refused, in the shape of contract.md section 2, or with a page.
func busy(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Retry-After", busyRetry)
	h.Set("Cache-Control", "no-store")
	if r.ContentLength < 0 || r.ContentLength > maxBuffered {
		h.Set("Connection", "close") // otherwise net/http waits for the rest of the body
	}
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, busyPage)
		return
	}
	fail(w, http.StatusServiceUnavailable, "UNAVAILABLE",
		"The server has more to do than it can. Nothing was changed; try again in "+busyRetry+" s.")
}
