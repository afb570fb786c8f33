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
	// LastEventID is the header in which a client that reconnects names the last event it received.
	LastEventID = "Last-Event-ID"

	heartbeat         = 15 * time.Second
	reconnectAfter    = 3 * time.Second  // after which a client that lost its stream reconnects
	eventWriteTimeout = 10 * time.Second // for one event; a client that reads more slowly is dropped
)

// Events writes server-sent events (WHATWG HTML, section 9.2).
type Events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	out     bytes.Buffer
}

// NewEvents answers with a stream. The read deadline is removed, so that the end of the connection is noticed.
func NewEvents(w http.ResponseWriter) *Events {
	s := &Events{w: w, control: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", EventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy must not buffer the stream
	h.Set("X-Content-Type-Options", "nosniff")
	_ = s.control.SetReadDeadline(time.Time{}) // fails only where a connection has no deadlines
	w.WriteHeader(http.StatusOK)
	return s
}

// Begin adds how soon a client that lost the stream reconnects.
func (s *Events) Begin() { fmt.Fprintf(&s.out, "retry: %d\n\n", reconnectAfter.Milliseconds()) }

// Add adds an event, whose data is one line.
func (s *Events) Add(id, name string, data []byte) {
	fmt.Fprintf(&s.out, "id: %s\nevent: %s\ndata: %s\n\n", id, name, bytes.TrimRight(data, "\n"))
}

// Send writes the added events.
func (s *Events) Send() error {
	if s.out.Len() == 0 {
		return nil
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(eventWriteTimeout)) // fails only where a connection has no deadlines
	_, err := s.w.Write(s.out.Bytes())
	s.out.Reset()
	if err == nil {
		err = s.control.Flush()
	}
	return err
}

// Await waits until there may be something new. It returns false if the stream has to end: ctx, the process or the
// right to read ended, or the client does not read. It sends a heartbeat at the interval every; 0: the default.
func (s *Events) Await(ctx context.Context, fresh, stop, over <-chan struct{}, every time.Duration) bool {
	defer Waits(s.w)()
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
