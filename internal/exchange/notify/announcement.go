package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// Announcement is one thing that happened outside of requests and that people are notified of. What happens to a
// request is an Event.
type Announcement struct {
	ID           int64
	Kind         AnnouncementKind
	Actor        uuid.UUID // uuid.Nil: Aliquot itself
	Organization int64     // 0: none
	At           time.Time
	Detail       AnnouncementDetail
}

// AnnouncementKind is the kind of an announcement.
type AnnouncementKind string

// The kinds of announcements.
const (
	Invited           AnnouncementKind = "invited"
	InvitationTaken   AnnouncementKind = "invitation_accepted"
	InvitationRefused AnnouncementKind = "invitation_declined"
	JoinAsked         AnnouncementKind = "join_asked"
	JoinTaken         AnnouncementKind = "join_accepted"
	JoinRefused       AnnouncementKind = "join_declined"
	WebhookOff        AnnouncementKind = "webhook_off"    // it was switched off because every delivery failed
	SearchMatched     AnnouncementKind = "search_matched" // new materials match a saved search
	RecordFaulty      AnnouncementKind = "record_faulty"  // the check of the record found faults; to admins
	InquiryMade       AnnouncementKind = "inquiry_made"   // to the contact of the material
	InquiryAnswered   AnnouncementKind = "inquiry_answered"
	ErasureAsked      AnnouncementKind = "erasure_asked" // to the person who is to be erased
	PasskeyAdded      AnnouncementKind = "passkey_added" // to the person whose passkey it is
	PasskeyRemoved    AnnouncementKind = "passkey_removed"
	SignInLinked      AnnouncementKind = "sign_in_linked" // to the person whose account it is
	SignInUnlinked    AnnouncementKind = "sign_in_unlinked"

	AgreementSent      AnnouncementKind = "agreement_sent"     // to those who may sign it
	AgreementSigned    AnnouncementKind = "agreement_signed"   // to the parties, and to the officials who signed it
	AgreementDeclined  AnnouncementKind = "agreement_declined" // to the same
	AgreementWithdrawn AnnouncementKind = "agreement_withdrawn"
	DutyDue            AnnouncementKind = "duty_due" // to who owes it by an agreement; overdue, also to who provided
	// to whoever keeps it, and whoever chose it for an open request
	PermitEnding AnnouncementKind = "permit_ending"
	FileInfected AnnouncementKind = "file_infected" // to whoever uploaded it
)

// AnnouncementKinds lists all kinds of announcements.
var AnnouncementKinds = []AnnouncementKind{Invited, InvitationTaken, InvitationRefused, JoinAsked, JoinTaken,
	JoinRefused,
	WebhookOff, SearchMatched, RecordFaulty, InquiryMade, InquiryAnswered, ErasureAsked, AgreementSent, AgreementSigned,
	AgreementDeclined, AgreementWithdrawn, DutyDue, PermitEnding, FileInfected, PasskeyAdded,
	PasskeyRemoved, SignInLinked, SignInUnlinked}

// AnnouncementDetail holds the details of an announcement; only those that apply are set.
type AnnouncementDetail struct {
	Invitation  int64    `json:"invitation,omitempty"`
	JoinRequest int64    `json:"join_request,omitempty"`
	Role        lab.Role `json:"role,omitempty"`
	// what the person wrote who asks to join; a question or its answer; why an agreement was declined or withdrawn
	Text    string `json:"text,omitempty"`
	Webhook int64  `json:"webhook,omitempty"`
	// why a request to join was declined, a webhook switched off or an erasure asked for; the first fault of a record;
	// what is owed by an agreement; what a permit is, and when it ends; the name of a virus
	Reason string `json:"reason,omitempty"`

	Inquiry     int64 `json:"inquiry,omitempty"`
	SavedSearch int64 `json:"saved_search,omitempty"`
	// of the saved search, of the material asked about, of the passkey, of the identity provider or of the file; of
	// the agreement or the permit: its number
	Name      string            `json:"name,omitempty"`
	Count     int               `json:"count,omitempty"`     // number of new materials, or of faults
	Materials []MaterialPayload `json:"materials,omitempty"` // the newest of them

	Agreement  int64  `json:"agreement,omitempty"`
	Duty       int64  `json:"duty,omitempty"`
	Permit     int64  `json:"permit,omitempty"`
	Attachment int64  `json:"attachment,omitempty"`
	Person     string `json:"person,omitempty"`   // who signed or declined it without an account
	As         string `json:"as,omitempty"`       // the role in which it was signed
	Executed   bool   `json:"executed,omitempty"` // everybody has signed it
}

// Category returns the notification category of a kind. These categories have no switch: people are always notified.
func (k AnnouncementKind) Category() mailing.Category {
	switch k {
	case WebhookOff:
		return mailing.WebhookNotif
	case SearchMatched:
		return mailing.SearchNotif
	case InquiryMade, InquiryAnswered:
		return mailing.InquiryNotif
	case AgreementSent, AgreementSigned, AgreementDeclined, AgreementWithdrawn, DutyDue, PermitEnding:
		return mailing.AgreementNotif
	default:
		return mailing.MembershipNotif
	}
}

// aboutAccount reports whether it is about a person's own account, of which they are notified even if they did it: who
// is signed in need not be the person.
func (k AnnouncementKind) aboutAccount() bool {
	return slices.Contains([]AnnouncementKind{ErasureAsked, PasskeyAdded, PasskeyRemoved, SignInLinked,
		SignInUnlinked}, k)
}

// DescribeAnnouncement returns one sentence about what happened, for the people who are notified.
func DescribeAnnouncement(n Announcement, actor, organization string) string {
	owner := n.Detail.Role == lab.OwnerRole
	actor = cmp.Or(n.Detail.Person, actor)
	if n.Kind.aboutAccount() && n.Actor == uuid.Nil {
		actor = "You"
	}
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
		return fmt.Sprintf("%s accepted your request to join %s.", actor, organization)
	case InquiryMade:
		return fmt.Sprintf("%s asks %s about %s.", actor, organization, cmp.Or(n.Detail.Name, "a material"))
	case InquiryAnswered:
		return fmt.Sprintf("%s answered your inquiry to %s about %s.", actor, organization,
			cmp.Or(n.Detail.Name, "a material"))
	case AgreementSent:
		return fmt.Sprintf("%s asks you to sign the agreement %s about materials of %s.", actor, n.Detail.Name,
			organization)
	case AgreementSigned:
		return fmt.Sprintf("%s signed the agreement %s about materials of %s%s.", actor, n.Detail.Name, organization,
			executed(n.Detail))
	case AgreementDeclined:
		return fmt.Sprintf("%s declined to sign the agreement %s about materials of %s.", actor, n.Detail.Name,
			organization)
	case AgreementWithdrawn:
		return fmt.Sprintf("%s withdrew the agreement %s about materials of %s.", actor, n.Detail.Name, organization)
	case SearchMatched:
		return describeMatch(n.Detail)
	case RecordFaulty:
		return fmt.Sprintf("The nightly check of the record found faults: %d. The first: %s.", n.Detail.Count,
			strings.TrimSuffix(n.Detail.Reason, "."))
	case PasskeyAdded:
		return fmt.Sprintf("%s added the passkey %s, which signs agreements for you. Remove it if that was not you.",
			actor, n.Detail.Name)
	case PasskeyRemoved:
		return fmt.Sprintf("%s removed your passkey %s, which no longer signs anything.", actor, n.Detail.Name)
	case SignInLinked:
		return fmt.Sprintf("%s linked a sign-in at %s to your account. Unlink it if that was not you.", actor,
			n.Detail.Name)
	case SignInUnlinked:
		return fmt.Sprintf("%s unlinked your sign-in at %s, which no longer opens your account.", actor,
			n.Detail.Name)
	case ErasureAsked:
		return fmt.Sprintf("%s asked for the erasure of all that is stored about you. It is done after %d days, "+
			"unless it is taken back.", actor, person.ErasureDays)
	case DutyDue:
		return fmt.Sprintf("%s reminds you of what is owed to %s by agreement %s: %s.", actor, organization,
			n.Detail.Name, n.Detail.Reason)
	case PermitEnding:
		return fmt.Sprintf("%s reminds you that the permit %s ends soon: %s.", actor, n.Detail.Name, n.Detail.Reason)
	case FileInfected:
		return fmt.Sprintf("A virus was found in your file %s (%s), so nobody can open it. Upload a clean version, "+
			"and delete this one if you can.", n.Detail.Name, n.Detail.Reason)
	case WebhookOff:
		return fmt.Sprintf("%s switched off a webhook of %s: %s.", actor, organization,
			strings.TrimSuffix(n.Detail.Reason, "."))
	default:
		return fmt.Sprintf("%s declined your request to join %s.", actor, organization)
	}
}

// executed says that a signature was the last one.
func executed(d AnnouncementDetail) string {
	if d.Executed {
		return ", which is executed now"
	}
	return ""
}
