package api

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
)

const (
	eventStream = "text/event-stream"
	lastEventID = "Last-Event-ID"
	heartbeat   = 15 * time.Second
	comeAgain   = 3 * time.Second  // after which a client that lost its stream comes again
	writeWithin = 10 * time.Second // one event; whoever takes longer to read is dropped
)

// Stream is what a call says of where a stream begins.
type Stream struct {
	LastEventID *string `query:"last_event_id" help:"The same as the header Last-Event-ID, for clients that cannot send it."`
}

// followNotifications streams a person's notifications until the caller hangs up or does not read,
// the token ends, or the process does.
func (a *API) followNotifications(c *Call, in Stream) (None, error) {
	id, err := c.pathUser()
	if err != nil {
		return None{}, err
	}
	from, err := c.place(in)
	if err != nil {
		return None{}, err
	}
	feed, err := a.App.Follow(c.Context(), c.Actor, id, from)
	if err != nil {
		return None{}, err
	}
	defer feed.Close()
	news, err := feed.Read(c.Context())
	if err != nil {
		return None{}, err
	}
	c.written = true
	s := newEventWriter(c.w)
	if c.Method == http.MethodHead {
		return None{}, nil
	}
	s.text("retry: %d\n\n", comeAgain.Milliseconds())
	for s.news(news) == nil && (news.More || a.await(c, feed, s)) {
		if news, err = feed.Read(c.Context()); err != nil { // whoever comes again goes on where this ended
			if c.Context().Err() == nil {
				a.Log.WarnContext(c.Context(), "stream broke off", "request_id", c.w.Header().Get(requestID), "error", err)
			}
			return None{}, nil
		}
	}
	return None{}, nil
}

// await waits until there may be something new; false: it is over.
func (a *API) await(c *Call, feed *app.Feed, s *eventWriter) bool {
	beat := time.NewTicker(cmp.Or(a.Heartbeat, heartbeat))
	defer beat.Stop()
	for {
		select {
		case <-c.Context().Done():
			return false
		case <-a.Stop:
			return false
		case <-feed.Over():
			return false
		case <-feed.Fresh():
			return true
		case <-beat.C:
			s.text(": \n\n")
			if s.send() != nil {
				return false
			}
		}
	}
}

// place is where a stream begins, nil for the present.
func (c *Call) place(in Stream) (*exchange.Place, error) {
	id := c.Header.Get(lastEventID)
	if id == "" && in.LastEventID != nil {
		id = *in.LastEventID
	}
	if id == "" {
		return nil, nil
	}
	place, ok := exchange.ParsePlace(id, time.Now())
	if !ok {
		return nil, exchange.Faults{"last_event_id": {"must be the id of an event of this stream, or of a notification"}}.Err()
	}
	return &place, nil
}

// eventWriter writes server-sent events (WHATWG HTML, section 9.2).
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	out     bytes.Buffer
}

// newEventWriter answers with a stream. The connection may be read from for ever, to see its end.
func newEventWriter(w http.ResponseWriter) *eventWriter {
	s := &eventWriter{w: w, control: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy hands on what it has
	h.Set("X-Content-Type-Options", "nosniff")
	_ = s.control.SetReadDeadline(time.Time{}) // fails only where a connection has no deadlines
	w.WriteHeader(http.StatusOK)
	return s
}

func (s *eventWriter) text(format string, args ...any) { fmt.Fprintf(&s.out, format, args...) }

// event adds an event whose data is one line of JSON.
func (s *eventWriter) event(id, name string, data any) error {
	return encoded(data, func(raw []byte) error {
		s.text("id: %s\nevent: %s\ndata: %s\n", id, name, raw) // raw ends in a line break
		return nil
	})
}

// UnreadCount is the data of the event unread.
type UnreadCount struct {
	Unread int64 `json:"unread"`
}

// news sends what there is to tell, each event within its time.
func (s *eventWriter) news(n app.News) error {
	for _, item := range n.Items {
		if err := s.event(item.Place, "notification", showNotification(item.Notification)); err != nil {
			return err
		}
		if err := s.send(); err != nil {
			return err
		}
	}
	if n.Unread != nil {
		if err := s.event(n.Place, "unread", UnreadCount{*n.Unread}); err != nil {
			return err
		}
	}
	return s.send()
}

// send writes what was added.
func (s *eventWriter) send() error {
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
