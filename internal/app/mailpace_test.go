package app_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/request"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/store"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestMail_OnePersonCannotFloodAnother checks that ten messages an hour are mailed at once, and the rest of the hour as
// one more, however they are caused. Each is on the page at once, and mail that others cause is not delayed.
func TestMail_OnePersonCannotFloodAnother(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		first, second := m.ask(), m.ask()
		for i := range 30 {
			m.say(m.rosa, []int64{first, second}[i%2], fmt.Sprintf("Hello %d?", i))
		}
		m.say(m.ben, first, "I see.")
		m.work()
		if got := m.got("ada"); len(got) != mailing.PerHour {
			m.Errorf("%d messages came at once: %q", len(got), got)
		}
		if got := m.got("rosa"); len(got) != 1 {
			m.Errorf("the answer of the lab: %q", got)
		}
		unread, err := m.db.Read().Notifications.Unread(m.Context(), m.ada.ID)
		m.must(err)
		if unread != 32 {
			m.Errorf("%d notifications on the page, want 32", unread)
		}
		m.set("2026-03-02T09:59:59Z")
		m.say(m.rosa, second, "The last one.")
		m.work()
		if got := m.got("ada"); len(got) != mailing.PerHour {
			m.Errorf("within the hour: %q", got)
		}
		m.set("2026-03-02T10:00:00Z")
		m.work()
		got := m.got("ada")
		if len(got) != mailing.PerHour+1 || got[mailing.PerHour] != "23 more events" {
			m.Errorf("after the hour: %q", got)
		}
		if l := m.letterTo("ada"); !strings.Contains(l.Text, "The last one.") ||
			!strings.Contains(l.Text, "one person’s actions caused more messages") {
			m.Errorf("got %s", l.Text)
		}
		if states := m.mails(m.ada); slices.ContainsFunc(states,
			func(s mailing.State) bool { return s != mailing.Sent }) {
			m.Errorf("got %v, want all sent", states)
		}
		m.say(m.rosa, first, "A new hour.")
		m.work()
		if got := m.got("ada"); len(got) != mailing.PerHour+2 {
			m.Errorf("in the next hour: %q", got)
		}
	})
}

// TestMail_InvitationsTakenBackAndMadeAgainCannotFloodAnybody checks this for a user and for an address of no user.
func TestMail_InvitationsTakenBackAndMadeAgainCannotFloodAnybody(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		for i := range 20 {
			v := m.invite(lab.InvitationNew{RegistryID: exchange.Some("rosa")})
			m.work()
			if i < 19 {
				m.must(m.app.Labs.Withdraw(m.Context(), m.ada, m.lab, v.ID, nil))
			}
		}
		if got := m.got("rosa"); len(got) != mailing.PerHour {
			m.Errorf("%d invitations came at once", len(got))
		}
		m.set("2026-03-02T10:00:00Z")
		m.work()
		if l := m.letterTo("rosa"); len(m.got("rosa")) != mailing.PerHour+1 ||
			!strings.Contains(strings.Join(strings.Fields(l.Text), " "), "invited you to Mora lab.") {
			m.Errorf("%d came; the last one is %s", len(m.got("rosa")), l.Text)
		}

		v := m.inviteAddress("nora")
		at := *m.now.Load()
		for i := 1; ; i++ {
			at = at.Add(lab.InvitationPause)
			m.set(at.Format(time.RFC3339))
			_, err := m.app.Labs.Resend(m.Context(), m.ada, m.lab, v.ID)
			if exchange.CodeOf(err) == exchange.RateLimited && i == mailing.PerAddress &&
				strings.Contains(err.Error(), "2026-03-03T10:00:00") {
				break
			}
			if m.must(err); i >= mailing.PerAddress {
				m.Fatalf("resent %d times", i)
			}
		}
		m.work()
		if n := m.invitation(v.ID).Round; n != mailing.PerAddress {
			m.Errorf("round %d", n)
		}
		m.set("2026-03-03T10:00:00Z")
		_, err := m.app.Labs.Resend(m.Context(), m.ada, m.lab, v.ID)
		m.must(err)
	})
}

// TestMail_WhomOnePersonTurnsToFirstIsBounded checks the limit of new contacts a day; those beyond it get one message
// about it the day after.
func TestMail_WhomOnePersonTurnsToFirstIsBounded(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.must(m.db.Tx(m.Context(), func(ctx context.Context, tx store.Conn) error {
			people := make([]string, mailing.Contacts-1)
			for i := range people {
				people[i] = uuid.NewString()
			}
			_, err := tx.Mail.Count(ctx, m.rosa.ID, people, mailing.Hour, mailing.Day, true)
			return err
		}))
		m.set("2026-03-02T09:00:01Z")
		id := m.ask()
		m.work()
		if got := len(m.got("ada")) + len(m.got("ben")); got != 1 {
			m.Errorf("%d heard at once, want one", got)
		}
		m.say(m.rosa, id, "Hello?") // existing contacts get mail as usual
		m.work()
		if got := len(m.got("ada")) + len(m.got("ben")); got != 3 {
			m.Errorf("%d messages, want 3", got)
		}
		m.set("2026-03-03T09:00:01Z")
		m.work()
		if got := len(m.got("ada")) + len(m.got("ben")); got != 4 {
			m.Errorf("%d messages the day after, want 4", got)
		}
		for _, who := range []exchange.Actor{m.ada, m.ben} {
			if got := m.mails(who); !slices.Equal(got, []mailing.State{mailing.Sent, mailing.Sent}) {
				m.Errorf("got %v", got)
			}
		}
	})
}

// TestMail_ALabThatAcceptsManyRequestsMailsEachRequester checks that they get it at once, however many there are.
func TestMail_ALabThatAcceptsManyRequestsMailsEachRequester(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		for _, who := range []exchange.Actor{m.ada, m.ben} {
			m.wants(who, mailing.Patch{Delivery: exchange.Some("NEVER")})
		}
		const requesters = 40
		for i := range requesters {
			who := m.person(fmt.Sprintf("requester-%d", i))
			q, err := m.app.Requests.CreateRequest(m.Context(), who,
				request.New{Material: exchange.Some(exchange.Ref(m.material))})
			m.must(err)
			_, err = m.app.Requests.UpdateRequest(m.Context(), m.ada, q.ID,
				request.Patch{Status: exchange.Some(request.Approved)}, nil)
			m.must(err)
		}
		m.work()
		for i := range requesters {
			if got := m.got(fmt.Sprintf("requester-%d", i)); len(got) != 1 {
				m.Errorf("requester %d got %q", i, got)
			}
		}
	})
}

// TestMail_EveryNotificationIsInOneMessage checks the final result, whoever caused the mail, whenever, and whatever the
// mail server answered.
func TestMail_EveryNotificationIsInOneMessage(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("DAILY")})
		requests, said, at := []int64{m.ask(), m.ask()}, 2, *m.now.Load()
		people := []exchange.Actor{m.ada, m.ben, m.rosa}
		rapid.Check(m.T, func(r *rapid.T) {
			for range rapid.IntRange(0, 8).Draw(r, "messages") {
				who := rapid.SampledFrom(people).Draw(r, "who")
				m.say(who, rapid.SampledFrom(requests).Draw(r, "about"), fmt.Sprintf("word-%d.", said))
				said++
			}
			m.server.Answer(nil)
			if rapid.Bool().Draw(r, "put off") {
				m.server.Answer(func(string) error { return mailtest.Reply(451, 4, 7, 1, "later") })
			}
			m.work()
			at = at.Add(time.Duration(rapid.IntRange(0, 90).Draw(r, "minutes")) * time.Minute)
			m.set(at.Format(time.RFC3339))
		})
		m.server.Answer(nil)
		for range 4 {
			at = at.AddDate(0, 0, 1)
			m.set(at.Format(time.RFC3339))
			m.work()
		}
		of, twice := map[string]int{}, map[string]bool{} // notifications in all messages to an address
		for _, l := range m.server.Messages() {
			n := 1
			if found := thingsHappened.FindStringSubmatch(l.Subject); found != nil {
				var err error
				n, err = strconv.Atoi(found[1])
				m.must(err)
			}
			of[l.To] += n
			for _, word := range saidWord.FindAllString(l.Text, -1) {
				if twice[l.To+word] {
					m.Errorf("%s is in two messages to %s", word, l.To)
				}
				twice[l.To+word] = true
			}
		}
		for name, who := range map[string]exchange.Actor{"ada": m.ada, "ben": m.ben, "rosa": m.rosa} {
			states := m.mails(who)
			if slices.ContainsFunc(states, func(s mailing.State) bool { return s != mailing.Sent }) ||
				of[name+"@example.org"] != len(states) {
				m.Errorf("%s got %d notifications by mail of %d: %v", name, of[name+"@example.org"], len(states),
					states)
			}
		}
	})
}

var (
	thingsHappened = regexp.MustCompile(`^(\d+) (?:more )?events?\b`)
	saidWord       = regexp.MustCompile(`word-\d+\.`)
)
