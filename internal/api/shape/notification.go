package shape

import (
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
)

// Matches are the new results of a saved search.
type Matches struct {
	Count     int                      `json:"count"`
	Materials []notify.MaterialPayload `json:"materials"` // the newest
}

// Notification is one entry of a person's feed: an event of a request, or an announcement.
type Notification struct {
	ID           int64                   `json:"id"`
	Category     mailing.Category        `json:"category"`
	Kind         notify.NotificationKind `json:"kind"`
	Text         string                  `json:"text"`
	Request      *int64                  `json:"request"`
	Material     *int64                  `json:"material"`
	Event        *int64                  `json:"event"`
	Organization *int64                  `json:"organization"`
	Invitation   *int64                  `json:"invitation"`
	JoinRequest  *int64                  `json:"join_request"`
	Webhook      *int64                  `json:"webhook"`
	SavedSearch  *int64                  `json:"saved_search"`
	Inquiry      *int64                  `json:"inquiry"`
	Agreement    *int64                  `json:"agreement"`
	Permit       *int64                  `json:"permit"`
	Attachment   *int64                  `json:"attachment"`
	Matches      *Matches                `json:"matches"`
	Actor        *Person                 `json:"actor"` // null: Aliquot itself
	CreatedAt    Time                    `json:"created_at"`
	Read         bool                    `json:"read"`
	ReadAt       *Time                   `json:"read_at"`
	Mail         mailing.State           `json:"mail"`
}

// ShowNotification returns the JSON form of its argument.
func ShowNotification(n notify.Notification) Notification {
	out := Notification{ID: n.ID, Category: n.Category, Kind: notify.NotificationKind(n.Event.Kind), Text: n.Text(),
		Request:  idOrNull(n.Event.RequestID),
		Material: idOrNull(n.Material), Event: idOrNull(n.Event.ID), Organization: idOrNull(n.Organization),
		Actor:     showActor(n.Actor),
		CreatedAt: Time(n.CreatedAt), Read: n.ReadAt != nil, ReadAt: timeOf(n.ReadAt), Mail: n.Mail}
	if n.Announcement != nil {
		d := n.Announcement.Detail
		out.Kind, out.Invitation, out.JoinRequest, out.Webhook = notify.NotificationKind(n.Announcement.Kind),
			idOrNull(d.Invitation), idOrNull(d.JoinRequest), idOrNull(d.Webhook)
		out.Inquiry, out.Agreement, out.Permit = idOrNull(d.Inquiry), idOrNull(d.Agreement), idOrNull(d.Permit)
		out.Attachment = idOrNull(d.Attachment)
		if out.SavedSearch = idOrNull(d.SavedSearch); out.SavedSearch != nil {
			out.Matches = &Matches{d.Count, d.Materials}
		}
	}
	return out
}

// idOrNull returns an id, or null for 0.
func idOrNull(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}
