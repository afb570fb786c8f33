package account

import (
	"encoding/json"
	"net/http"
	"time"

	"aliquot/internal/app/stream"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/server"
	"aliquot/internal/web/ui"
)

// streamedNotification is the message to a page about a notification.
type streamedNotification struct {
	ID      int64  `json:"id"`
	Text    string `json:"text"`
	Address string `json:"address"`
}

// noticeStream sends the visitor's notifications to open pages, until the browser disconnects, the session ends, or
// the process does.
func (v *noticeRequest) noticeStream() (ui.Response, error) {
	var from *notify.FeedPosition
	if id := v.Header.Get(server.LastEventID); id != "" {
		// otherwise from now on: a page has no use for an error
		if place, ok := notify.ParseFeedPosition(id, time.Now()); ok {
			from = &place
		}
	}
	feed, err := v.App.Streams.Follow(v.Context(), v.Who.Actor, v.Who.ID, from)
	if err != nil {
		return ui.Response{}, err
	}
	news, err := feed.Read(v.Context())
	if err != nil {
		feed.Close()
		return ui.Response{}, err
	}
	return ui.Response{Serve: func(w http.ResponseWriter, _ *http.Request) {
		defer feed.Close()
		s := server.NewEvents(w)
		s.Begin()
		for tellPage(s, news) == nil && (news.More || s.Await(v.Context(), feed.Fresh(), v.Stop, feed.Over(), 0)) {
			if news, err = feed.Read(v.Context()); err != nil { // the browser reconnects and continues where this ended
				if v.Context().Err() == nil {
					v.App.Log.WarnContext(v.Context(), "stream broke off", "error", err)
				}
				return
			}
		}
	}}, nil
}

// tellPage sends what is new.
func tellPage(s *server.Events, n stream.FeedUpdate) error {
	for _, item := range n.Items {
		i := ui.NoticeItemOf(item.Notification)
		data, err := json.Marshal(streamedNotification{item.ID, i.Head, i.Address})
		if err != nil {
			return err
		}
		s.Add(item.Place, "notification", data)
		if err := s.Send(); err != nil {
			return err
		}
	}
	if n.Unread != nil {
		data, err := json.Marshal(map[string]int64{"unread": *n.Unread})
		if err != nil {
			return err
		}
		s.Add(n.Place, "unread", data)
	}
	return s.Send()
}
