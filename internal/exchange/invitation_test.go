package exchange_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

var invitedAt = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// invitation returns one as it is after Ada's answer, sent at invitedAt and valid for 30 days.
func invitation(status exchange.InvitationStatus) exchange.Invitation {
	i := exchange.Invitation{ID: 7, Email: "ada@example.org", Role: exchange.MemberRole, Status: status, Round: 1,
		SentAt:    invitedAt,
		ExpiresAt: invitedAt.Add(exchange.InvitationLifetime)}
	if status == exchange.InvitationAccepted || status == exchange.InvitationDeclined {
		i.AnsweredBy, i.AnsweredAt = &requesterID, &invitedAt
	}
	return i
}

func TestAnInvitationNamesOnePersonInOneWay(t *testing.T) {
	t.Parallel()
	some := exchange.Some[string]
	end := func(d time.Duration) exchange.Opt[exchange.Instant] {
		return exchange.Some(exchange.Instant(invitedAt.Add(d)))
	}
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		p     exchange.InvitationNew
		wrong []string
	}{
		"by id":           {exchange.InvitationNew{RegistryID: some("0000-0002-1825-0097")}, nil},
		"by address":      {exchange.InvitationNew{Email: some(" Ada@Example.org ")}, nil},
		"for ninety days": {exchange.InvitationNew{Email: some("a@b.org"), ExpiresAt: end(90 * day)}, nil},
		"as owner": {exchange.InvitationNew{Email: some("a@b.org"), Role: exchange.Some(exchange.OwnerRole)},
			nil},
		"nobody":        {exchange.InvitationNew{}, []string{"registry_id"}},
		"in two ways":   {exchange.InvitationNew{RegistryID: some("x"), Email: some("a@b.org")}, []string{"email"}},
		"a name before": {exchange.InvitationNew{Email: some("Ada <a@b.org>")}, []string{"email"}},
		"two addresses": {exchange.InvitationNew{Email: some("a@b.org, c@d.org")}, []string{"email"}},
		"a header":      {exchange.InvitationNew{Email: some("a@b.org\r\nBcc: c@d.org")}, []string{"email"}},
		"over at once": {exchange.InvitationNew{Email: some("a@b.org"), ExpiresAt: end(0)},
			[]string{"expires_at"}},
		"for too long": {exchange.InvitationNew{Email: some("a@b.org"), ExpiresAt: end(90*day + time.Second)},
			[]string{"expires_at"}},
		"as something else": {exchange.InvitationNew{Email: some("a@b.org"),
			Role: exchange.Some(exchange.Role("ADMIN"))}, []string{"role"}},
		"all wrong": {exchange.InvitationNew{Email: some("x"), Role: exchange.Some(exchange.Role("")),
			ExpiresAt: end(-day)}, []string{"email", "expires_at", "role"}},
	} {
		i, err := c.p.Create(invitedAt, false)
		var fields []string
		if e, ok := errors.AsType[*exchange.Error](err); ok {
			fields = slices.Sorted(maps.Keys(e.Fields))
		}
		if !slices.Equal(fields, c.wrong) {
			t.Errorf("%s: got %v, want faults of %v", name, err, c.wrong)
		}
		if err == nil && (i.Status != exchange.InvitationPending || i.Round != 1 ||
			i.Email != strings.ToLower(i.Email) || !i.ExpiresAt.After(invitedAt)) {
			t.Errorf("%s: got %+v", name, i)
		}
	}
}

// TestAnInvitationByIDHasAnIDOfTheRegistry in any form that people paste; the error says how to correct another one.
func TestAnInvitationByIDHasAnIDOfTheRegistry(t *testing.T) {
	t.Parallel()
	const josiah = "0000-0002-1825-0097"
	for _, c := range []struct {
		byORCID     bool
		given, want string // "": refused
	}{
		{true, josiah, josiah}, {true, "0000000218250097", josiah}, {true, "https://orcid.org/" + josiah, josiah},
		{true, " orcid.org/" + josiah + "/ ", josiah},
		{true, "bob", ""}, {true, "0000-0002-1825-0098", ""}, {true, "0000-0002-1825", ""},
		{true, "Josiah Carberry", ""},
		{false, "bob", "bob"}, {false, "0000000218250097", "0000000218250097"},
		{false, "https://orcid.org/" + josiah, josiah},
		{false, "Josiah Carberry", ""}, {false, "jösiah", ""},
	} {
		i, err := exchange.InvitationNew{RegistryID: exchange.Some(c.given)}.Create(invitedAt, c.byORCID)
		e, wrong := errors.AsType[*exchange.Error](err)
		switch {
		case c.want != "" && (err != nil || i.RegistryID != c.want):
			t.Errorf("%q becomes %q, %v", c.given, i.RegistryID, err)
		case c.want == "" && (!wrong || len(e.Fields["registry_id"]) != 1 ||
			!strings.Contains(e.Fields["registry_id"][0], "e-mail address")):
			t.Errorf("%q is taken, or not told how to mend: %v", c.given, err)
		}
	}
}

func TestWhatCanBecomeOfAnInvitation(t *testing.T) {
	t.Parallel()
	late := invitedAt.Add(exchange.InvitationLifetime)
	other := uuid.MustParse("018f0000-0000-7000-8000-00000000abcd")
	outcome := func(i exchange.Invitation, err error) string {
		if err != nil {
			return string(exchange.CodeOf(err))
		}
		return string(i.Status)
	}
	// accepted and declined by Ada, accepted by someone else, sent again, withdrawn
	for status, want := range map[exchange.InvitationStatus][5]string{
		exchange.InvitationPending:   {"ACCEPTED", "DECLINED", "ACCEPTED", "PENDING", "WITHDRAWN"},
		exchange.InvitationExpired:   {"CONFLICT", "CONFLICT", "CONFLICT", "PENDING", "WITHDRAWN"},
		exchange.InvitationAccepted:  {"ACCEPTED", "CONFLICT", "CONFLICT", "CONFLICT", "NOT_FOUND"},
		exchange.InvitationDeclined:  {"CONFLICT", "DECLINED", "CONFLICT", "CONFLICT", "NOT_FOUND"},
		exchange.InvitationWithdrawn: {"NOT_FOUND", "NOT_FOUND", "NOT_FOUND", "CONFLICT", "NOT_FOUND"},
	} {
		i := invitation(status)
		got := [5]string{outcome(i.Answer(exchange.InvitationAccepted, requesterID, late)),
			outcome(i.Answer(exchange.InvitationDeclined, requesterID, late)),
			outcome(i.Answer(exchange.InvitationAccepted, other, late)), outcome(i.Resend(late)), outcome(i.Withdraw())}
		if got != want {
			t.Errorf("%s: got %v, want %v", status, got, want)
		}
	}
	i := invitation(exchange.InvitationPending)
	if i.At(late.Add(-1)).Status != exchange.InvitationPending || i.At(late).Status != exchange.InvitationExpired {
		t.Error("it expires at its end")
	}
	if _, err := i.Resend(invitedAt.Add(exchange.InvitationPause - time.Millisecond)); exchange.CodeOf(err) != exchange.RateLimited {
		t.Errorf("sent again too early: %v", err)
	}
	again, err := i.Resend(invitedAt.Add(exchange.InvitationPause))
	if err != nil || again.Round != 2 || again.ExpiresAt.Sub(again.SentAt) != exchange.InvitationLifetime {
		t.Errorf("sent again: %+v, %v", again, err)
	}
}

func TestAnInvitationIsForWhoProvesToBeItsAddressee(t *testing.T) {
	t.Parallel()
	named := exchange.Invitation{RegistryID: "0000-0002-1825-0097"}
	mailed := exchange.Invitation{Email: "ada@example.org"}
	for name, c := range map[string]struct {
		i       exchange.Invitation
		u       exchange.User
		holding bool
		want    bool
	}{
		"the same id":               {named, exchange.User{RegistryID: named.RegistryID}, false, true},
		"another id":                {named, exchange.User{RegistryID: "x"}, false, false},
		"another id with the token": {named, exchange.User{RegistryID: "x"}, true, false},
		"a verified address": {mailed, exchange.User{RegistryID: "x", VerifiedEmail: "Ada@example.org"},
			false, true},
		"an address that is only claimed": {mailed, exchange.User{RegistryID: "x", Email: "ada@example.org"}, false,
			false},
		"whoever has the token":            {mailed, exchange.User{RegistryID: "x"}, true, true},
		"a person without id or address":   {named, exchange.User{}, false, false},
		"an address, by nobody's verified": {mailed, exchange.User{}, false, false},
	} {
		if got := c.i.For(c.u, c.holding); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestWhatCanBecomeOfAJoinRequest(t *testing.T) {
	t.Parallel()
	for _, status := range exchange.JoinStatuses {
		for _, to := range exchange.JoinStatuses[1:] {
			j, err := exchange.JoinRequest{Status: status}.Answer(to, "why", invitedAt)
			switch {
			case status == to && (err != nil || j.AnsweredAt != nil):
				t.Errorf("%s again: %+v, %v", to, j, err)
			case status == exchange.JoinPending &&
				(err != nil || j.Status != to || j.AnsweredAt == nil || j.Reason != "why"):
				t.Errorf("%s: %+v, %v", to, j, err)
			case status != to && status != exchange.JoinPending && exchange.CodeOf(err) != exchange.Conflict:
				t.Errorf("%s after %s: %v", to, status, err)
			}
		}
		j := exchange.JoinRequest{Status: status, CreatedAt: invitedAt}
		if early := j.Again(invitedAt.Add(23 * time.Hour)); (early == nil) != (status == exchange.JoinAccepted) ||
			j.Again(invitedAt.Add(24*time.Hour)) != nil {
			t.Errorf("anew after %s: %v", status, early)
		}
	}
}

func TestNewsSayWhoDidWhat(t *testing.T) {
	t.Parallel()
	for _, role := range exchange.OrganizationRoles {
		said := map[string]bool{}
		for _, kind := range exchange.NewsKinds {
			if kind == exchange.SearchMatched { // it has no actor and no lab
				continue
			}
			text := exchange.DescribeAnnouncement(exchange.Announcement{Kind: kind,
				Detail: exchange.AnnouncementDetail{Role: role}}, "Ada", "Mora lab")
			if !strings.HasPrefix(text, "Ada ") || !strings.Contains(text, "Mora lab") ||
				!strings.HasSuffix(text, ".") || said[text] {
				t.Errorf("%s: %q", kind, text)
			}
			said[text] = true
			if want := map[bool]exchange.Category{false: exchange.MembershipNotif,
				true: exchange.WebhookNotif}[kind == exchange.WebhookOff]; kind.Category() != want {
				t.Errorf("%s is of %s", kind, kind.Category())
			}
		}
	}
	s := exchange.DefaultMail(requesterID)
	s.Delivery = exchange.Weekly
	if got := s.MailFor(exchange.MembershipNotif, "a@b.org"); got != exchange.MailWaiting {
		t.Errorf("mail about a membership: %s, want it at once", got)
	}
}
