package notify_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"

	"github.com/google/uuid"
)

func TestNews_SayWhoDidWhat(t *testing.T) {
	t.Parallel()
	for _, role := range lab.OrganizationRoles {
		said := map[string]bool{}
		for _, kind := range notify.AnnouncementKinds {
			switch kind {
			case notify.SearchMatched, notify.RecordFaulty, notify.ErasureAsked, notify.PasskeyAdded,
				notify.PasskeyRemoved,
				notify.SignInLinked, notify.SignInUnlinked, notify.PermitEnding, notify.FileInfected:
				continue // they have no lab
			}
			text := notify.DescribeAnnouncement(notify.Announcement{Kind: kind,
				Detail: notify.AnnouncementDetail{Role: role}}, "Ada", "Mora lab")
			if !strings.HasPrefix(text, "Ada ") || !strings.Contains(text, "Mora lab") ||
				!strings.HasSuffix(text, ".") || said[text] {
				t.Errorf("%s: %q", kind, text)
			}
			said[text] = true
			want := mailing.MembershipNotif
			switch kind {
			case notify.WebhookOff:
				want = mailing.WebhookNotif
			case notify.InquiryMade, notify.InquiryAnswered:
				want = mailing.InquiryNotif
			case notify.AgreementSent, notify.AgreementSigned, notify.AgreementDeclined, notify.AgreementWithdrawn,
				notify.DutyDue:
				want = mailing.AgreementNotif
			}
			if kind.Category() != want {
				t.Errorf("%s is of %s", kind, kind.Category())
			}
		}
	}
	for actor, want := range map[uuid.UUID]string{uuid.Nil: "You asked ", exchangetest.AdminID: "Ada asked "} {
		text := notify.DescribeAnnouncement(notify.Announcement{Kind: notify.ErasureAsked, Actor: actor}, "Ada", "")
		if !strings.HasPrefix(text, want) || !strings.Contains(text, "14 days") {
			t.Errorf("of an erasure: %q, want %q", text, want)
		}
	}
	s := mailing.Default(exchangetest.RequesterID)
	s.Delivery = mailing.Weekly
	if got := s.MailFor(mailing.MembershipNotif, "a@b.org"); got != mailing.Waiting {
		t.Errorf("mail about a membership: %s, want it at once", got)
	}
}
