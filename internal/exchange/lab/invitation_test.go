package lab_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

var invitedAt = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// invitation returns one as it is after Ada's answer, sent at invitedAt and valid for 30 days.
func invitation(status lab.InvitationStatus) lab.Invitation {
	i := lab.Invitation{ID: 7, Email: "ada@example.org", Role: lab.MemberRole, Status: status, Round: 1,
		SentAt:    invitedAt,
		ExpiresAt: invitedAt.Add(lab.InvitationLifetime)}
	if status == lab.InvitationAccepted || status == lab.InvitationDeclined {
		i.AnsweredBy, i.AnsweredAt = &exchangetest.RequesterID, &invitedAt
	}
	return i
}

func TestInvitation_NamesOnePersonInOneWay(t *testing.T) {
	t.Parallel()
	some := exchange.Some[string]
	end := func(d time.Duration) exchange.Opt[exchange.Instant] {
		return exchange.Some(exchange.Instant(invitedAt.Add(d)))
	}
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		p     lab.InvitationNew
		wrong []string
	}{
		"by id":           {lab.InvitationNew{RegistryID: some("0000-0002-1825-0097")}, nil},
		"by address":      {lab.InvitationNew{Email: some(" Ada@Example.org ")}, nil},
		"for ninety days": {lab.InvitationNew{Email: some("a@b.org"), ExpiresAt: end(90 * day)}, nil},
		"as owner": {lab.InvitationNew{Email: some("a@b.org"), Role: exchange.Some(lab.OwnerRole)},
			nil},
		"nobody":        {lab.InvitationNew{}, []string{"registry_id"}},
		"in two ways":   {lab.InvitationNew{RegistryID: some("x"), Email: some("a@b.org")}, []string{"email"}},
		"a name before": {lab.InvitationNew{Email: some("Ada <a@b.org>")}, []string{"email"}},
		"two addresses": {lab.InvitationNew{Email: some("a@b.org, c@d.org")}, []string{"email"}},
		"a header":      {lab.InvitationNew{Email: some("a@b.org\r\nBcc: c@d.org")}, []string{"email"}},
		"over at once": {lab.InvitationNew{Email: some("a@b.org"), ExpiresAt: end(0)},
			[]string{"expires_at"}},
		"for too long": {lab.InvitationNew{Email: some("a@b.org"), ExpiresAt: end(90*day + time.Second)},
			[]string{"expires_at"}},
		"as something else": {lab.InvitationNew{Email: some("a@b.org"),
			Role: exchange.Some(lab.Role("ADMIN"))}, []string{"role"}},
		"all wrong": {lab.InvitationNew{Email: some("x"), Role: exchange.Some(lab.Role("")),
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
		if err == nil && (i.Status != lab.InvitationPending || i.Round != 1 ||
			i.Email != strings.ToLower(i.Email) || !i.ExpiresAt.After(invitedAt)) {
			t.Errorf("%s: got %+v", name, i)
		}
	}
}

// TestInvitation_TakesEveryFormOfAnORCID in any form that people paste; the error states how to correct another one.
func TestInvitation_TakesEveryFormOfAnORCID(t *testing.T) {
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
		i, err := lab.InvitationNew{RegistryID: exchange.Some(c.given)}.Create(invitedAt, c.byORCID)
		e, wrong := errors.AsType[*exchange.Error](err)
		switch {
		case c.want != "" && (err != nil || i.RegistryID != c.want):
			t.Errorf("%q becomes %q, %v", c.given, i.RegistryID, err)
		case c.want == "" && (!wrong || len(e.Fields["registry_id"]) != 1 ||
			!strings.Contains(e.Fields["registry_id"][0], "e-mail address")):
			t.Errorf("%q is taken, or not told how to correct it: %v", c.given, err)
		}
	}
}

func TestInvitation_Transitions(t *testing.T) {
	t.Parallel()
	late := invitedAt.Add(lab.InvitationLifetime)
	other := uuid.MustParse("018f0000-0000-7000-8000-00000000abcd")
	outcome := func(i lab.Invitation, err error) string {
		if err != nil {
			return string(exchange.CodeOf(err))
		}
		return string(i.Status)
	}
	// accepted and declined by Ada, accepted by someone else, sent again, withdrawn
	for status, want := range map[lab.InvitationStatus][5]string{
		lab.InvitationPending:   {"ACCEPTED", "DECLINED", "ACCEPTED", "PENDING", "WITHDRAWN"},
		lab.InvitationExpired:   {"CONFLICT", "CONFLICT", "CONFLICT", "PENDING", "WITHDRAWN"},
		lab.InvitationAccepted:  {"ACCEPTED", "CONFLICT", "CONFLICT", "CONFLICT", "NOT_FOUND"},
		lab.InvitationDeclined:  {"CONFLICT", "DECLINED", "CONFLICT", "CONFLICT", "NOT_FOUND"},
		lab.InvitationWithdrawn: {"NOT_FOUND", "NOT_FOUND", "NOT_FOUND", "CONFLICT", "NOT_FOUND"},
	} {
		i := invitation(status)
		got := [5]string{outcome(i.Answer(lab.InvitationAccepted, exchangetest.RequesterID, late)),
			outcome(i.Answer(lab.InvitationDeclined, exchangetest.RequesterID, late)),
			outcome(i.Answer(lab.InvitationAccepted, other, late)), outcome(i.Resend(late)), outcome(i.Withdraw())}
		if got != want {
			t.Errorf("%s: got %v, want %v", status, got, want)
		}
	}
	i := invitation(lab.InvitationPending)
	if i.At(late.Add(-1)).Status != lab.InvitationPending || i.At(late).Status != lab.InvitationExpired {
		t.Error("it expires at its end")
	}
	if _, err := i.Resend(invitedAt.Add(lab.InvitationPause - time.Millisecond)); exchange.CodeOf(err) != exchange.RateLimited {
		t.Errorf("sent again too early: %v", err)
	}
	again, err := i.Resend(invitedAt.Add(lab.InvitationPause))
	if err != nil || again.Round != 2 || again.ExpiresAt.Sub(again.SentAt) != lab.InvitationLifetime {
		t.Errorf("sent again: %+v, %v", again, err)
	}
}

func TestInvitation_IsForItsAddressee(t *testing.T) {
	t.Parallel()
	named := lab.Invitation{RegistryID: "0000-0002-1825-0097"}
	mailed := lab.Invitation{Email: "ada@example.org"}
	for name, c := range map[string]struct {
		i       lab.Invitation
		u       person.User
		holding bool
		want    bool
	}{
		"the same id":               {named, person.User{RegistryID: named.RegistryID}, false, true},
		"another id":                {named, person.User{RegistryID: "x"}, false, false},
		"another id with the token": {named, person.User{RegistryID: "x"}, true, false},
		"a verified address": {mailed, person.User{RegistryID: "x", VerifiedEmail: "Ada@example.org"},
			false, true},
		"an address that is only claimed": {mailed, person.User{RegistryID: "x", Email: "ada@example.org"}, false,
			false},
		"whoever has the token":            {mailed, person.User{RegistryID: "x"}, true, true},
		"a person without id or address":   {named, person.User{}, false, false},
		"an address, by nobody's verified": {mailed, person.User{}, false, false},
	} {
		if got := c.i.For(c.u, c.holding); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
