// Package notify holds the rules of who is notified of what, in their feed and by webhooks.
package notify

import (
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// FailedMail is a notification whose mail did not arrive, as far as is known.
type FailedMail struct {
	Notification
	To      person.User
	Refused *mailing.Rejection // why that person's address is refused; nil: it is not refused
}

// NotificationKind is what a notification is about: a request.EventKind or an AnnouncementKind.
type NotificationKind string

// NotificationKinds lists all of them.
var NotificationKinds = func() (kinds []NotificationKind) {
	for _, k := range request.EventKinds {
		kinds = append(kinds, NotificationKind(k))
	}
	for _, k := range AnnouncementKinds {
		kinds = append(kinds, NotificationKind(k))
	}
	return kinds
}()

// Notification is one entry in a person's feed: about an event of a request, or an announcement.
type Notification struct {
	ID               int64
	User             uuid.UUID // whose feed
	Category         mailing.Category
	Event            request.Event // the zero Event for an announcement
	Material         int64         // 0 for an announcement
	Title            string        // of the material
	Announcement     *Announcement // nil for an event
	Organization     int64         // of the material or the announcement; 0: none
	OrganizationName string
	Actor            *person.User // nil: Aliquot itself
	CreatedAt        time.Time
	ReadAt           *time.Time
	Mail             mailing.State
}

// NotificationFilter narrows a list of notifications.
type NotificationFilter struct {
	Unread       *bool             `query:"unread" help:"Only those that are unread, or that were read."`
	Category     *mailing.Category `query:"category"`
	Kind         *NotificationKind `query:"kind"`
	Request      *int64            `query:"request"`
	Organization *int64            `query:"organization"`
	Since        *exchange.Instant `query:"since" help:"Only those from this moment on."`
}

// Text describes the notification in one sentence.
func (n Notification) Text() string {
	actor := "Aliquot"
	if n.Actor != nil {
		actor = n.Actor.Name()
	}
	if n.Announcement != nil {
		return DescribeAnnouncement(*n.Announcement, actor, n.OrganizationName)
	}
	return request.DescribeEvent(n.Event, actor, n.Title)
}

// FirstContact reports whether k is a way to contact people whom one may not know yet.
func (k NotificationKind) FirstContact() bool {
	switch k {
	case NotificationKind(request.Made), NotificationKind(Invited), NotificationKind(JoinAsked),
		NotificationKind(InquiryMade), NotificationKind(AgreementSent):
		return true
	}
	return false
}
