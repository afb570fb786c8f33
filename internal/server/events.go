package server

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// EventStream is the media type of server-sent events.
	EventStream = "text/event-stream"
	// LastEventID is the header in which whoever comes again says what they have.
	LastEventID = "Last-Event-ID"

	heartbeat   = 15 * time.Second
	comeAgain   = 3 * time.Second  // after which a client that lost its stream comes again
	writeWithin = 10 * time.Second // one event; whoever takes longer to read is dropped
)

// Events writes server-sent events (WHATWG HTML, section 9.2).
type Events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	out     bytes.Buffer
}

// NewEvents answers with a stream. The connection may be read from for ever, to see its end.
func NewEvents(w http.ResponseWriter) *Events {
	s := &Events{w: w, control: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", EventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy hands on what it has
	h.Set("X-Content-Type-Options", "nosniff")
	_ = s.control.SetReadDeadline(time.Time{}) // fails only where a connection has no deadlines
	w.WriteHeader(http.StatusOK)
	return s
}

// Begin adds how soon a client that lost the stream comes again.
func (s *Events) Begin() { fmt.Fprintf(&s.out, "retry: %d\n\n", comeAgain.Milliseconds()) }

// Add adds an event, whose data is one line.
func (s *Events) Add(id, name string, data []byte) {
	fmt.Fprintf(&s.out, "id: %s\nevent: %s\ndata: %s\n\n", id, name, bytes.TrimRight(data, "\n"))
}

// Send writes what was added.
func (s *Events) Send() error {
	if s.out.Len() == 0 {
		return nil
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(writeWithin)) // fails only where a connection has no deadlines
	_, err := s.w.Write(s.out.Bytes())
	s.out.Reset()
	if err == nil {
		err = s.control.Flush()
	}
	return err
}

// Await waits until there may be something new; false: it is over, since ctx, the process or the right to read ended,
// or nobody reads. It sends a sign of life now and then; every 0: as often as is usual.
func (s *Events) Await(ctx context.Context, fresh, stop, over <-chan struct{}, every time.Duration) bool {
	beat := time.NewTicker(cmp.Or(every, heartbeat))
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-stop:
			return false
		case <-over:
			return false
		case <-fresh:
			return true
		case <-beat.C:
			s.out.WriteString(": \n\n")
			if s.Send() != nil {
				return false
			}
		}
	}
}
