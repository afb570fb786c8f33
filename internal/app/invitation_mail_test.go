package app_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// invite invites somebody to the lab as Ada.
func (m *mailWorld) invite(p lab.InvitationNew) lab.ShownInvitation {
	m.Helper()
	v, _, err := m.app.Labs.Invite(m.Context(), m.ada, m.lab, p)
	m.must(err)
	return v
}

func (m *mailWorld) inviteAddress(name string) lab.ShownInvitation {
	m.Helper()
	return m.invite(lab.InvitationNew{Email: exchange.Some(name + "@example.org")})
}

// invitation reads an invitation.
func (m *mailWorld) invitation(id int64) (v lab.ShownInvitation) {
	m.Helper()
	v, err := m.db.Read().Invitations.Get(m.Context(), id)
	m.must(err)
	return v
}

// token returns the token in a letter.
func (m *mailWorld) token(l mailtest.Letter) string {
	m.Helper()
	_, rest, ok := strings.Cut(l.Text, "https://aliquot.example.org/join?token=")
	if !ok || !strings.Contains(l.HTML, "https://aliquot.example.org/join?token=") {
		m.Fatalf("no link in %s", l.Text)
	}
	return strings.Fields(rest)[0]
}

func TestInvitationMail_SentOnceAndItsTokenAccepts(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		v := m.inviteAddress("nora")
		if v.Mail != mailing.Waiting {
			m.Errorf("got %s, want WAITING", v.Mail)
		}
		m.work()
		m.set("2026-03-02T10:00:00Z")
		m.work()
		want := []string{"ada invites you to join Mora lab as a member: please answer by 1 April 2026"}
		if got := m.got("nora"); !slices.Equal(got, want) || m.invitation(v.ID).Mail != mailing.Sent {
			m.Errorf("got %q, %s; want %q, SENT", got, m.invitation(v.ID).Mail, want)
		}
		_, err := m.app.Labs.Resend(m.Context(), m.ada, m.lab, v.ID)
		m.must(err)
		m.work()
		letters := m.server.Messages()
		if len(letters) != 2 || letters[0].Header.Get("Message-Id") == letters[1].Header.Get("Message-Id") ||
			letters[0].Header.Get("References") != letters[1].Header.Get("References") ||
			m.token(letters[0]) != m.token(letters[1]) {
			m.Errorf("got %d letters: %+v", len(letters), letters)
		}
		held, err := m.app.Labs.HeldInvitation(m.Context(), m.token(letters[0]))
		m.must(err)
		if held.ID != v.ID || held.Round != 2 {
			m.Errorf("held %+v", held)
		}
		_, err = m.app.Accounts.SignIn(m.Context(), identity.Person{RegistryID: "nora"},
			person.Registration{Invitation: exchange.Some(m.token(letters[0]))})
		m.must(err)
		m.work()
		if got := m.got("ada"); len(got) != 1 ||
			!strings.HasPrefix(got[0], "nora accepted your invitation to Mora lab") {
			m.Errorf("Ada got %q", got)
		}
	})
}

func TestInvitationMail_NotSentWhenTheInvitationEnded(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		v := m.inviteAddress("nora")
		m.must(m.app.Labs.Withdraw(m.Context(), m.ada, m.lab, v.ID, nil))
		known := m.invite(lab.InvitationNew{RegistryID: exchange.Some("rosa")})
		_, err := m.app.Labs.Answer(m.Context(), m.rosa, m.rosa.ID, known.ID, lab.InvitationDeclined)
		m.must(err)
		m.work()
		if got := append(m.got("nora"), m.got("rosa")...); len(got) != 0 ||
			m.invitation(v.ID).Mail != mailing.NotWanted {
			m.Errorf("got %q, %s", got, m.invitation(v.ID).Mail)
		}
	})
}

func TestInvitationMail_RefusedAddressIsShownToTheOwner(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.server.Answer(func(string) error { return mailtest.Reply(550, 5, 1, 1, "no such user here") })
		v := m.inviteAddress("nora")
		m.work()
		if got := m.invitation(v.ID).Mail; got != mailing.Refused {
			m.Errorf("got %s, want REFUSED", got)
		}
		m.server.Answer(nil)
		v = m.inviteAddress("nick")
		m.work()
		letters := m.server.Messages()
		b := mail.Bounce{MessageID: strings.Trim(letters[len(letters)-1].Header.Get("Message-Id"), "<>"),
			Recipient: "nick@example.org", Reason: "mailbox closed"}
		for _, c := range []struct {
			permanent bool
			recipient string
			want      string
			then      mailing.State
		}{
			{false, "nick@example.org", "", mailing.Sent},
			{true, "nora@example.org", "", mailing.Sent},
			{true, "Nick@example.org", "The invitation to Mora lab", mailing.Refused},
			{true, "nick@example.org", "", mailing.Refused},
		} {
			b.Permanent, b.Recipient = c.permanent, c.recipient
			refused, err := m.app.Notifications.Bounce(m.Context(), b)
			m.must(err)
			if got := m.invitation(v.ID).Mail; refused != c.want || got != c.then {
				m.Errorf("%+v: got %q, %s", c, refused, got)
			}
		}
	})
}

func TestInvitationMail_DeferredIsRetriedUncertainIsNot(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.server.Answer(func(string) error { return mailtest.Reply(451, 4, 7, 1, "greylisted, come back") })
		late, lost := m.inviteAddress("late"), m.inviteAddress("lost")
		m.work()
		if got := m.invitation(late.ID).Mail; got != mailing.Waiting {
			m.Errorf("got %s, want WAITING", got)
		}
		// The process dies while it sends.
		_, err := storetest.SQL(m.T, m.db).ExecContext(m.Context(),
			"UPDATE invitations SET mail = 'SENDING' WHERE id = $1", lost.ID)
		m.must(err)
		m.server.Answer(nil)
		m.set("2026-03-03T09:00:00Z")
		m.work()
		if len(m.got("late")) != 1 || len(m.got("lost")) != 0 || m.invitation(lost.ID).Mail != mailing.InDoubt {
			m.Errorf("got %q and %q, %s", m.got("late"), m.got("lost"), m.invitation(lost.ID).Mail)
		}
	})
}

func TestMembershipMail_IsSentAtOnceDespiteDigests(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ada, mailing.Patch{Delivery: exchange.Some("WEEKLY")})
		ask := func() int64 {
			v, _, err := m.app.Labs.AskToJoin(m.Context(), m.rosa, m.lab,
				lab.JoinNew{Note: exchange.Some("I start in May")})
			m.must(err)
			return v.ID
		}
		id := ask()
		m.work()
		if got := m.got("ada"); len(got) != 1 || got[0] != "rosa asks to join Mora lab: your decision needed" {
			m.Errorf("Ada got %q", got)
		}
		if l := m.server.Messages()[0]; !strings.Contains(l.Text, "I start in May") ||
			!strings.Contains(l.Text, fmt.Sprintf("https://aliquot.example.org/labs/%d/people", m.lab)) ||
			!strings.Contains(l.Header.Get("List-Unsubscribe"), "https://aliquot.example.org/unsubscribe?token=") {
			m.Errorf("got %v %s", l.Header, l.Text)
		}
		_, err := m.app.Labs.AnswerJoin(m.Context(), m.ada, m.lab, id, lab.JoinDeclined,
			lab.JoinDecline{Reason: exchange.Some("No bench is free")})
		m.must(err)
		m.work()
		m.set("2026-03-04T09:00:00Z")
		m.wants(m.ada, mailing.Patch{Muted: exchange.Some([]mailing.Category{mailing.MembershipNotif})})
		_, err = m.app.Labs.AnswerJoin(m.Context(), m.ada, m.lab, ask(), lab.JoinAccepted, lab.JoinDecline{})
		m.must(err)
		m.work()
		want := []string{"ada declined your request to join Mora lab: nothing to do",
			"ada accepted your request to join Mora lab: you are now a member"}
		if got := m.got("rosa"); !slices.Equal(got, want) ||
			!strings.Contains(m.server.Messages()[1].Text, "No bench is free") {
			m.Errorf("Rosa got %q, want %q", got, want)
		}
		if got := m.got("ada"); len(got) != 1 || m.mails(m.ada)[1] != mailing.NotWanted {
			m.Errorf("Ada, who wants no more, got %q", got)
		}
	})
}

func TestInvitation_OfAKnownPersonFollowsTheirSettings(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		v := m.invite(lab.InvitationNew{Email: exchange.Some("Rosa@example.org"),
			Role: exchange.Some(lab.OwnerRole)})
		if v.Mail != "" {
			m.Errorf("got %s, want no mail of its own", v.Mail)
		}
		m.work()
		want := []string{"ada invites you to join Mora lab as an owner: please answer by 1 April 2026"}
		if got := m.got("rosa"); !slices.Equal(got, want) {
			m.Fatalf("got %q, want %q", got, want)
		}
		_, err := m.app.Labs.AnswerHeld(m.Context(), m.rosa,
			lab.InvitationToken{Token: exchange.Some(m.token(m.server.Messages()[0]))},
			lab.InvitationAccepted)
		m.must(err)
		o, err := m.app.Labs.Organization(m.Context(), m.lab)
		m.must(err)
		if o.Owner != m.rosa.ID {
			m.Errorf("the owner is %v", o.Owner)
		}
	})
}

// TestInvitationMail_TokenOpensOnlyItsInvitation: the token is bound to the invitation and its addressee.
func TestInvitationMail_TokenOpensOnlyItsInvitation(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		v := m.inviteAddress("nora")
		readdressed := v.Invitation
		readdressed.Email = "eve@example.org"
		for i, want := range map[*lab.Invitation]exchange.Code{&v.Invitation: "", &readdressed: exchange.NotFound,
			{ID: v.ID + 7, Email: v.Email}: exchange.NotFound} {
			var link string
			m.must(m.db.Tx(m.Context(), func(ctx context.Context, tx store.Conn) (err error) {
				link, err = m.app.Notifications.InvitationLink(ctx, tx, *i)
				return err
			}))
			_, token, _ := strings.Cut(link, "token=")
			if _, err := m.app.Labs.HeldInvitation(m.Context(), token); (err != nil || want != "") &&
				exchange.CodeOf(err) != want {
				m.Errorf("%+v: got %v, want %q", *i, err, want)
			}
		}
	})
}
