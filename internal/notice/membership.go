package notice

import (
	"fmt"
	"strings"
	"time"

	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"
)

// Invitation invites a person, who may not know Aliquot, to an organization.
type Invitation struct {
	Organization string
	Inviter      string // display name
	Role         string // "member" or "owner"
	Expires      time.Time
	Link         string         // where it is answered
	Location     *time.Location // of the reader; nil: UTC
}

// Invitation writes to the invited person.
func (w *Writer) Invitation(i Invitation) (Text, error) {
	in := zone(i.Location)
	by, lab := glued(i.Inviter, maxName, "Someone"), glued(i.Organization, maxName, "a lab")
	asked := func(by, lab string) string {
		return fmt.Sprintf("%s invites you to join %s as %s", by, lab, withArticle(i.Role))
	}
	return w.write(page{
		Subject: asked(glued(i.Inviter, subjectName, "Someone"), glued(i.Organization, subjectName, "a lab")) +
			": please answer by " + day(i.Expires, in),
		Lead: asked(by, lab) + ".",
		Facts: []string{
			"Labs use Aliquot to share research materials such as cell lines and plasmids, and to follow each " +
				"request until the material arrives.",
			"You become a member only if you accept. The invitation is valid until " + moment(i.Expires, in) + ".",
		},
		Link: link{"Answer the invitation", i.Link},
		Why: "You get this e-mail from Aliquot because" + by +
			" invited you. If you do not know them, ignore it: nothing will happen.",
	})
}

// MembershipKind is what happened between a person and an organization.
type MembershipKind string

// All kinds that people are notified of.
const (
	JoinAsked          MembershipKind = "join_asked"          // to the owner
	JoinAccepted       MembershipKind = "join_accepted"       // to the person who asked
	JoinDeclined       MembershipKind = "join_declined"       // to the person who asked
	InvitationAccepted MembershipKind = "invitation_accepted" // to the inviter
	InvitationDeclined MembershipKind = "invitation_declined" // to the inviter
	WebhookOff         MembershipKind = "webhook_off"         // to the owner
	RecordFaulty       MembershipKind = "record_faulty"       // to admins
	InquiryMade        MembershipKind = "inquiry_made"        // to the contact of the material
	InquiryAnswered    MembershipKind = "inquiry_answered"    // to the person who asked
	ErasureAsked       MembershipKind = "erasure_asked"       // to the person who is to be erased
	AgreementSent      MembershipKind = "agreement_sent"      // to those who may sign it
	AgreementSigned    MembershipKind = "agreement_signed"    // to the parties, and to the officials who signed it
	AgreementDeclined  MembershipKind = "agreement_declined"  // to the same
	AgreementWithdrawn MembershipKind = "agreement_withdrawn" // to the same
	DutyDue            MembershipKind = "duty_due"            // to who owes it by an agreement
	PermitEnding       MembershipKind = "permit_ending"       // to whoever keeps or uses the permit
	FileInfected       MembershipKind = "file_infected"       // to whoever uploaded it
	PasskeyAdded       MembershipKind = "passkey_added"       // to the person whose passkey it is
	PasskeyRemoved     MembershipKind = "passkey_removed"     // to the same
	SignInLinked       MembershipKind = "sign_in_linked"      // to the person whose account it is
	SignInUnlinked     MembershipKind = "sign_in_unlinked"    // to the same
)

// MembershipKinds are all kinds.
var MembershipKinds = []MembershipKind{JoinAsked, JoinAccepted, JoinDeclined, InvitationAccepted, InvitationDeclined,
	WebhookOff, RecordFaulty, InquiryMade, InquiryAnswered, ErasureAsked, AgreementSent, AgreementSigned,
	AgreementDeclined, AgreementWithdrawn, DutyDue, PermitEnding, FileInfected, PasskeyAdded,
	PasskeyRemoved, SignInLinked, SignInUnlinked}

// Membership is what happened between a person and an organization, as reported to the other side.
type Membership struct {
	Kind MembershipKind
	// of an inquiry: the material; of an agreement: its number, and its lab; of a permit: its own; of a file: its name
	Organization string
	Person       string // display name of who did it
	Note         string // what they wrote; may be empty
	Link         string // where it is answered or shown
	Unsubscribe  string // address at which the reader unsubscribes from mail about it; "": none
}

// memberships are the texts of each kind: what the person did, whose turn it is, the label of the link, and why the
// reader gets the message. %s is the organization, or the material of an inquiry, the passkey, the identity provider,
// the agreement, the permit or the file.
var memberships = map[MembershipKind]struct{ did, turn, open, why string }{
	JoinAsked: {"asks to join %s", "your decision needed", "Decide", "you own %s"},
	JoinAccepted: {"accepted your request to join %s", "you are now a member", "Open the lab",
		"you asked to join %s"},
	JoinDeclined: {"declined your request to join %s", "nothing to do", "Open the lab", "you asked to join %s"},
	InvitationAccepted: {"accepted your invitation to %s", "nothing to do", "Open the lab",
		"you sent an invitation to %s"},
	InvitationDeclined: {"declined your invitation to %s", "nothing to do", "Open the lab",
		"you sent an invitation to %s"},
	WebhookOff: {"switched off a webhook of %s", "the receiving system needs fixing", "Open its log",
		"you own %s"},
	RecordFaulty: {"found faults in the record", "something was altered or is damaged", "Open the check",
		"you are an admin of this installation"},
	InquiryMade: {"asks about %s", "your answer needed", "Answer", "you are the contact of %s"},
	InquiryAnswered: {"answered your inquiry about %s", "you can request it now", "Read the answer",
		"you asked about %s"},
	ErasureAsked: {"asked for the erasure of all that is stored about you",
		fmt.Sprintf("it is done after %d days, unless it is taken back", person.ErasureDays),
		"Look at it, or take it back", "it is about your account"},
	AgreementSent: {"asks you to sign the agreement %s", "your signature needed", "Read and sign",
		"you may sign the agreement %s"},
	AgreementSigned: {"signed the agreement %s", "see who is next", "Open the agreement",
		"you take part in the agreement %s"},
	AgreementDeclined: {"declined to sign the agreement %s", "it can be changed and sent again", "Open the agreement",
		"you take part in the agreement %s"},
	AgreementWithdrawn: {"withdrew the agreement %s", "nothing to do", "Open the agreement",
		"you take part in the agreement %s"},
	PasskeyAdded: {"added the passkey %s", "remove it if that was not you", "Your passkeys",
		"it is about your account"},
	PasskeyRemoved: {"removed your passkey %s", "it no longer signs", "Your passkeys", "it is about your account"},
	SignInLinked: {"linked a sign-in at %s", "unlink it if that was not you", "Your sign-ins",
		"it is about your account"},
	SignInUnlinked: {"unlinked your sign-in at %s", "it no longer opens your account", "Your sign-ins",
		"it is about your account"},
	DutyDue: {"reminds you of a duty to %s", "evidence needed, or a waiver", "Open the agreement",
		"you or your lab signed an agreement about a material of %s"},
	PermitEnding: {"reminds you that the permit %s ends soon", "add the one that replaces it", "Your permits",
		"you keep the permit %s or chose it for a request"},
	FileInfected: {"found a virus in your file %s", "nobody can open it; upload a clean version", "Your files",
		"you uploaded the file %s"},
}

// Membership writes to the other side about what a person did.
func (w *Writer) Membership(m Membership) (Text, error) {
	words, ok := memberships[m.Kind]
	if !ok {
		return Text{}, fmt.Errorf("no words for %q", m.Kind)
	}
	did := func(most int) string {
		return glued(m.Person, most, "Someone") + " " +
			strings.Replace(words.did, "%s", glued(m.Organization, most, "a lab"), 1)
	}
	p := page{
		Subject: did(subjectName) + ": " + words.turn,
		Lead:    did(maxName) + ".",
		Link:    link{words.open, m.Link},
		Why: "You get this e-mail from Aliquot because " +
			strings.Replace(words.why, "%s", glued(m.Organization, maxName, "a lab"), 1) + ".",
	}
	if l := lines(m.Note); len(l) > 0 {
		title := "Message:"
		switch m.Kind {
		case InquiryMade:
			title = "Question:"
		case InquiryAnswered:
			title = "Answer:"
		case JoinDeclined, InvitationDeclined, WebhookOff, ErasureAsked, AgreementDeclined, AgreementWithdrawn:
			title = "Reason:"
		case DutyDue:
			title = "What is owed:"
		case PermitEnding:
			title = "The permit:"
		case FileInfected:
			title = "The virus:"
		case RecordFaulty:
			title = "The first fault:"
		}
		p.Quotes = []quote{{title, l}}
	}
	if m.Unsubscribe != "" {
		p.Change = link{"Stop e-mail about " + mailing.AgreementNotif.Words(), m.Unsubscribe}
	}
	return w.write(p)
}

func withArticle(role string) string {
	if strings.HasPrefix(role, "o") {
		return "an " + role
	}
	return "a " + role
}
