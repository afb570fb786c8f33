package exchange

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// News is one thing that happened outside of requests and that people are told of. What is told of a
// request is its Event.
type Announcement struct {
	ID           int64
	Kind         AnnouncementKind
	Actor        uuid.UUID // uuid.Nil: Aliquot itself
	Organization int64     // 0: of none
	At           time.Time
	Detail       AnnouncementDetail
}

// AnnouncementKind says what happened.
type AnnouncementKind string

// Everything that is told outside of requests.
const (
	Invited           AnnouncementKind = "invited"
	InvitationTaken   AnnouncementKind = "invitation_accepted"
	InvitationRefused AnnouncementKind = "invitation_declined"
	JoinAsked         AnnouncementKind = "join_asked"
	JoinTaken         AnnouncementKind = "join_accepted"
	JoinRefused       AnnouncementKind = "join_declined"
	WebhookOff        AnnouncementKind = "webhook_off"    // it is switched off, since nothing gets through
	SearchMatched     AnnouncementKind = "search_matched" // something is new in a saved search
)

// NewsKinds are all of them.
var NewsKinds = []AnnouncementKind{Invited, InvitationTaken, InvitationRefused, JoinAsked, JoinTaken, JoinRefused,
	WebhookOff, SearchMatched}

// AnnouncementDetail is what news tell beside their kind; only what applies is there.
type AnnouncementDetail struct {
	Invitation  int64  `json:"invitation,omitempty"`
	JoinRequest int64  `json:"join_request,omitempty"`
	Role        Role   `json:"role,omitempty"`
	Text        string `json:"text,omitempty"` // what the asker wrote
	Webhook     int64  `json:"webhook,omitempty"`
	Reason      string `json:"reason,omitempty"` // why it was declined, or switched off

	SavedSearch int64             `json:"saved_search,omitempty"`
	Name        string            `json:"name,omitempty"`      // of the saved search
	Count       int               `json:"count,omitempty"`     // of what is new in it
	Materials   []MaterialPayload `json:"materials,omitempty"` // the newest of them
}

// Category is the one that news of a kind belong to. There is no switch for it: they are always told.
func (k AnnouncementKind) Category() Category {
	switch k {
	case WebhookOff:
		return WebhookNotif
	case SearchMatched:
		return SearchNotif
	default:
		return MembershipNotif
	}
}

// DescribeAnnouncement says in one sentence what happened, for the people who hear of it.
func DescribeAnnouncement(n Announcement, actor, organization string) string {
	owner := n.Detail.Role == OwnerRole
	switch n.Kind {
	case Invited:
		if owner {
			return fmt.Sprintf("%s asked you to become the owner of %s.", actor, organization)
		}
		return fmt.Sprintf("%s invited you to %s.", actor, organization)
	case InvitationTaken:
		if owner {
			return fmt.Sprintf("%s accepted the invitation and is the owner of %s now.", actor, organization)
		}
		return fmt.Sprintf("%s accepted the invitation to %s.", actor, organization)
	case InvitationRefused:
		return fmt.Sprintf("%s declined the invitation to %s.", actor, organization)
	case JoinAsked:
		return fmt.Sprintf("%s asked to join %s.", actor, organization)
	case JoinTaken:
		return fmt.Sprintf("%s took you into %s, as you asked.", actor, organization)
	case SearchMatched:
		return describeMatch(n.Detail)
	case WebhookOff:
		return fmt.Sprintf("%s switched off a webhook of %s: %s.", actor, organization,
			strings.TrimSuffix(n.Detail.Reason, "."))
	default:
		return fmt.Sprintf("%s declined to take you into %s.", actor, organization)
	}
}

// NotificationKind is what a notification tells of: an EventKind or a AnnouncementKind.
type NotificationKind string

// NotificationKinds are all of them.
var NotificationKinds = func() (kinds []NotificationKind) {
	for _, k := range EventKinds {
		kinds = append(kinds, NotificationKind(k))
	}
	for _, k := range NewsKinds {
		kinds = append(kinds, NotificationKind(k))
	}
	return kinds
}()
