package api

import (
	"errors"
	"net/http"
	"time"

	"aliquot/internal/app/stream"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/server"
)

// Stream holds the position at which a stream begins.
type Stream struct {
	LastEventID *string `query:"last_event_id"`
}

// followNotifications streams a person's notifications until the client disconnects or does not read, the token
// expires, or the process stops.
func followNotifications(c *Call, in Stream) (None, error) {
	from, err := c.place(in)
	if err != nil {
		return None{}, err
	}
	feed, err := c.App.Streams.Follow(c.Context(), c.Actor, c.user, from)
	if err != nil {
		return None{}, err
	}
	defer feed.Close()
	news, err := feed.Read(c.Context())
	if err != nil {
		return None{}, err
	}
	c.written = true
	s := server.NewEvents(c.w)
	if c.Method == http.MethodHead {
		return None{}, nil
	}
	s.Begin()
	for sendFeedUpdate(s, news) == nil &&
		(news.More || s.Await(c.Context(), feed.Fresh(), c.API.Stop, feed.Over(), c.API.Heartbeat)) {
		if news, err = feed.Read(c.Context()); err != nil { // a client that reconnects continues where this ended
			if c.Context().Err() == nil {
				c.API.Log.WarnContext(c.Context(), "stream broke off",
					"request_id", c.w.Header().Get(requestID), "error", err)
			}
			return None{}, nil
		}
	}
	return None{}, nil
}

// place returns the position at which a stream begins, nil for now.
func (c *Call) place(in Stream) (*notify.FeedPosition, error) {
	id := c.Header.Get(server.LastEventID)
	if id == "" && in.LastEventID != nil {
		id = *in.LastEventID
	}
	if id == "" {
		return nil, nil
	}
	place, ok := notify.ParseFeedPosition(id, time.Now())
	if !ok {
		return nil, exchange.FieldErrors{"last_event_id": {"must be the id of an event of this stream, or of a " +
			"notification"}}.Err()
	}
	return &place, nil
}

// UnreadCount is the data of the event unread.
type UnreadCount struct {
	Unread int64 `json:"unread"`
}

// sendFeedUpdate sends the pending updates, each event within its deadline.
func sendFeedUpdate(s *server.Events, n stream.FeedUpdate) error {
	add := func(id, name string, data any) error {
		return encoded(data, func(raw []byte) error {
			s.Add(id, name, raw)
			return nil
		})
	}
	for _, item := range n.Items {
		if err := errors.Join(add(item.Place, "notification", showNotification(item.Notification)),
			s.Send()); err != nil {
			return err
		}
	}
	if n.Unread != nil {
		if err := add(n.Place, "unread", UnreadCount{*n.Unread}); err != nil {
			return err
		}
	}
	return s.Send()
}
