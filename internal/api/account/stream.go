package account

import (
	"errors"
	"net/http"
	"time"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/stream"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/server"
)

// Stream holds the position at which a stream begins.
type Stream struct {
	LastEventID *string `query:"last_event_id"`
}

// FollowNotifications streams a person's notifications until the client disconnects or does not read, the token
// expires, or the process stops.
func FollowNotifications(c *rest.Call, in Stream) (rest.None, error) {
	from, err := place(c, in)
	if err != nil {
		return rest.None{}, err
	}
	feed, err := c.App.Streams.Follow(c.Context(), c.Actor, c.User, from)
	if err != nil {
		return rest.None{}, err
	}
	defer feed.Close()
	news, err := feed.Read(c.Context())
	if err != nil {
		return rest.None{}, err
	}
	c.Written = true
	s := server.NewEvents(c.Writer)
	if c.Method == http.MethodHead {
		return rest.None{}, nil
	}
	s.Begin()
	for sendFeedUpdate(s, news) == nil &&
		(news.More || s.Await(c.Context(), feed.Fresh(), c.API.Stop, feed.Over(), c.API.Heartbeat)) {
		if news, err = feed.Read(c.Context()); err != nil { // a client that reconnects continues where this ended
			if c.Context().Err() == nil {
				c.API.Log.WarnContext(c.Context(), "stream broke off",
					"request_id", c.Writer.Header().Get(rest.RequestID), "error", err)
			}
			return rest.None{}, nil
		}
	}
	return rest.None{}, nil
}

// place returns the position at which a stream begins, nil for now.
func place(c *rest.Call, in Stream) (*notify.FeedPosition, error) {
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
		return rest.Encoded(data, func(raw []byte) error {
			s.Add(id, name, raw)
			return nil
		})
	}
	for _, item := range n.Items {
		if err := errors.Join(add(item.Place, "notification", shape.ShowNotification(item.Notification)),
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
