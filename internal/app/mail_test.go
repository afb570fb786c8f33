package app_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/notice"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// mailing is a lab whose owner is Ada, with one more member, Ben, and Rosa, who requests its material, on a database
// whose clock stands still until it is set, and with a mail server.
type mailWorld struct {
	*testing.T
	db             *store.DB
	app            *app.App
	server         *mailtest.Server
	now            *atomic.Pointer[time.Time]
	ada, ben, rosa exchange.Actor
	lab, material  int64
}

func newMailing(t *testing.T, db *store.DB) *mailWorld {
	t.Helper()
	m := &mailWorld{T: t, db: db, server: mailtest.Start(t), now: &atomic.Pointer[time.Time]{}}
	m.set("2026-03-02T09:00:00Z")
	db.Clock = func() time.Time { return *m.now.Load() }
	log := slog.New(slog.DiscardHandler)
	post, err := mail.Open(m.server.URL, "Aliquot <aliquot@example.org>", log)
	m.must(err)
	words, err := notice.New("https://aliquot.example.org")
	m.must(err)
	m.app = app.New(app.Config{DB: db, PublicURL: "https://aliquot.example.org", Mail: post, Notice: words,
		Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: 1e6 * time.Hour, Reminders: request.Reminders{7}, Log: log})
	m.ada, m.ben, m.rosa = m.person("ada"), m.person("ben"), m.person("rosa")
	o, err := m.app.Labs.CreateOrganization(t.Context(), m.ada, lab.OrganizationPatch{Name: exchange.Some("Mora lab"),
		Owner: exchange.Some(exchange.UserRef(m.ada.ID)), Members: exchange.Some([]exchange.UserRef{})})
	m.must(err)
	m.lab = o.ID
	m.must(join(t.Context(), db, m.lab, m.ben.ID))
	m.ada, m.ben = m.person("ada"), m.person("ben") // reloaded with their lab
	s, _, err := m.app.Materials.CreateMaterial(t.Context(), m.ada,
		material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("HeLa"),
			Organization: exchange.Some(exchange.Ref(o.ID))})
	m.must(err)
	m.material = s.ID
	return m
}

func (m *mailWorld) set(now string) {
	m.Helper()
	at, err := time.Parse(time.RFC3339, now)
	m.must(err)
	m.now.Store(&at)
}

func (m *mailWorld) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func (m *mailWorld) person(name string) exchange.Actor {
	m.Helper()
	signed, err := m.app.Accounts.SignIn(m.Context(),
		identity.Person{RegistryID: name, GivenName: name, Email: name + "@example.org"}, person.Registration{})
	m.must(err)
	who, err := m.app.Accounts.Actor(m.Context(), signed.Token)
	m.must(err)
	return who
}

// ask requests the material as Rosa.
func (m *mailWorld) ask() int64 {
	m.Helper()
	q, err := m.app.Requests.CreateRequest(m.Context(), m.rosa,
		request.New{Material: exchange.Some(exchange.Ref(m.material))})
	m.must(err)
	return q.ID
}

func (m *mailWorld) say(who exchange.Actor, requestID int64, text string) {
	m.Helper()
	_, err := m.app.Requests.SendMessage(m.Context(), who, requestID, request.TextBody{Text: exchange.Some(text)})
	m.must(err)
}

func (m *mailWorld) wants(who exchange.Actor, p mailing.Patch) {
	m.Helper()
	_, err := m.app.Accounts.UpdateMailSettings(m.Context(), who, who.ID, p, nil)
	m.must(err)
}

// work runs due jobs until there are none.
func (m *mailWorld) work() {
	m.Helper()
	var handlers []job.Handler
	for _, h := range m.app.Handlers() {
		handlers = append(handlers, h.Every(0))
	}
	stop := jobtest.Start(m.T,
		job.Config{DB: m.db, Handlers: handlers, Lease: 1e6 * time.Hour, Log: slog.New(slog.DiscardHandler)})
	defer stop()
	jobtest.Poll(m.T, "nothing is due", func() bool {
		part, err := m.db.Read().Jobs.List(m.Context(), exchange.Page{Limit: 10_000}, nil, exchange.JobFilter{})
		m.must(err)
		return !slices.ContainsFunc(part.Items, func(j exchange.Job) bool {
			return j.DueAt != nil && (j.State == exchange.JobRunning || !j.DueAt.After(*m.now.Load()))
		})
	})
}

// send sends a request with the form, as Rosa.
func (m *mailWorld) send() int64 {
	m.Helper()
	q, err := m.app.Requests.SubmitRequest(m.Context(), m.rosa, transfer.NewRequest{Key: "1",
		Form: request.Form{Request: request.New{Material: exchange.Some(exchange.Ref(m.material)),
			Submission: request.Submission{Note: exchange.Some("For a knockout screen.")}},
			Address: &person.AddressPatch{Name: exchange.Some("Rosa"), Line1: exchange.Some("1 Main St"),
				Locality: exchange.Some("Basel"), Country: exchange.Some("CH"), PostalCode: exchange.Some("4051")}}})
	m.must(err)
	return q.ID
}

func TestReceipt_IsMailedOnceToTheRequesterOfAForm(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.rosa, mailing.Patch{Delivery: exchange.Some(string(mailing.Daily))})
		id := m.send()
		m.work()
		list := m.server.Messages()
		list = slices.DeleteFunc(list, func(l mailtest.Letter) bool { return l.To != "rosa@example.org" })
		if len(list) != 1 || list[0].Subject != fmt.Sprintf("Request %d: HeLa", id) {
			m.Fatalf("rosa got %+v", list)
		}
		for _, want := range []string{"You sent a request for HeLa.", "For a knockout screen.", "to Mora lab",
			"Stop e-mail about changes to requests"} {
			if !strings.Contains(strings.Join(strings.Fields(list[0].Text), " "), want) {
				m.Errorf("the receipt does not say %q: %s", want, list[0].Text)
			}
		}
		if part, _, err := m.app.Notifications.Notifications(m.Context(), m.rosa, m.rosa.ID, notify.NotificationFilter{},
			exchange.Page{}); err != nil || len(part.Items) != 0 {
			m.Errorf("rosa is notified of her own action: %+v, %v", part.Items, err)
		}
	})
}

func TestReceipt_IsNotSentToThoseWhoWantNoMail(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.rosa, mailing.Patch{Delivery: exchange.Some(string(mailing.Never))})
		m.send()
		m.work()
		if got := m.got("rosa"); len(got) != 0 {
			m.Errorf("rosa got %q", got)
		}
	})
}

func TestMail_OfAShipmentThatIsSentIsOne(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		id := m.ask()
		for _, to := range []request.Status{request.Approved, request.InFulfillment} {
			_, err := m.app.Requests.UpdateRequest(m.Context(), m.ada, id,
				request.Patch{Status: exchange.Some(to)}, nil)
			m.must(err)
		}
		m.work()
		before := len(m.got("rosa"))
		_, err := m.app.Schedule(m.Context(), m.ada, transfer.PendingAction{Request: id, Status: request.Fulfilled,
			From: request.InFulfillment, Shipment: &request.Shipment{Carrier: "DHL", Tracking: "JD0146"}}, nil)
		m.must(err)
		m.set("2026-03-02T09:01:00Z")
		m.work()
		if got := m.got("rosa")[before:]; len(got) != 1 {
			m.Fatalf("rosa got %q", got)
		}
		last := m.server.Messages()
		mails := slices.DeleteFunc(last, func(l mailtest.Letter) bool { return l.To != "rosa@example.org" })
		if text := mails[len(mails)-1].Text; !strings.Contains(text, "JD0146") {
			m.Errorf("the mail does not name the parcel: %s", text)
		}
		shipped, err := m.app.DB.Read().Events.List(m.Context(), id, request.ShipmentChanged, exchange.Page{})
		m.must(err)
		if len(shipped.Items) != 1 {
			m.Errorf("the record has %d events of the shipment", len(shipped.Items))
		}
	})
}

// got returns the subjects of the mail that somebody got, in order.
func (m *mailWorld) got(name string) (subjects []string) {
	m.Helper()
	for _, l := range m.server.Messages() {
		if l.To == name+"@example.org" {
			subjects = append(subjects, l.Subject)
		}
	}
	return subjects
}

// mails returns the states of the mail about somebody's notifications, the oldest first.
func (m *mailWorld) mails(who exchange.Actor) (states []mailing.State) {
	m.Helper()
	part, err := m.db.Read().Notifications.List(m.Context(), who.ID, notify.NotificationFilter{},
		exchange.Page{Limit: 10_000})
	m.must(err)
	for _, n := range slices.Backward(part.Items) {
		states = append(states, n.Mail)
	}
	return states
}

func eachMailing(t *testing.T, test func(m *mailWorld)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(newMailing(t, db)) })
}

func TestMail_GoesToWhoIsNotifiedAsOneConversation(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		id := m.ask()
		m.say(m.ben, id, "How much?")
		m.say(m.rosa, id, "Two vials.")
		m.work()
		// actors are not notified of their own actions
		for name, want := range map[string]int{"ada": 2, "ben": 2, "rosa": 1} {
			if got := m.got(name); len(got) != want {
				m.Errorf("%s got %q, want %d", name, got, want)
			}
		}
		ids := map[string]bool{}
		for _, l := range m.server.Messages() {
			ids[l.Header.Get("Message-Id")] = true
			if want := fmt.Sprintf("<request.%d@aliquot.example.org>", id); l.Header.Get("References") != want ||
				l.Header.Get("In-Reply-To") != want {
				m.Errorf("References %q, In-Reply-To %q, want %s", l.Header.Get("References"),
					l.Header.Get("In-Reply-To"), want)
			}
			if !strings.HasPrefix(l.Header.Get("List-Unsubscribe"),
				"<https://aliquot.example.org/unsubscribe?token=") ||
				l.Header.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
				m.Errorf("List-Unsubscribe %q %q", l.Header.Get("List-Unsubscribe"),
					l.Header.Get("List-Unsubscribe-Post"))
			}
			if want := fmt.Sprintf("Request %d: HeLa", id); l.Subject != want {
				m.Errorf("the subject is %q, want %q", l.Subject, want)
			}
			if l.Header.Get("List-Id") != "Aliquot <request.aliquot.example.org>" ||
				l.Header.Get("Reply-To") != "Replies are not read <aliquot@example.org>" {
				m.Errorf("List-Id %q, Reply-To %q", l.Header.Get("List-Id"), l.Header.Get("Reply-To"))
			}
			if !strings.Contains(l.Text, fmt.Sprintf("https://aliquot.example.org/requests/%d", id)) || l.HTML == "" {
				m.Errorf("no link to the request in %s", l.Text)
			}
		}
		if len(ids) != 5 {
			m.Errorf("%d ids of 5 messages", len(ids))
		}
		for _, who := range []exchange.Actor{m.ada, m.ben, m.rosa} {
			for _, state := range m.mails(who) {
				if state != mailing.Sent {
					m.Errorf("got %s, want SENT", state)
				}
			}
		}
	})
}

func TestMail_DeferredIsTriedAgain(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		tries := 0
		m.server.Answer(func(string) error {
			if tries++; tries <= 2 {
				return mailtest.Reply(451, 4, 7, 1, "greylisted, come back")
			}
			return nil
		})
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.ask()
		m.work()
		for _, now := range []string{"2026-03-02T09:30:00Z", "2026-03-02T10:30:00Z"} {
			if got := m.mails(m.ada); !slices.Equal(got, []mailing.State{mailing.Waiting}) ||
				len(m.got("ada")) != 0 {
				m.Errorf("got %v and %v, want it to wait", got, m.got("ada"))
			}
			m.set(now)
			m.work()
		}
		if got := m.mails(m.ada); !slices.Equal(got, []mailing.State{mailing.Sent}) ||
			len(m.got("ada")) != 1 {
			m.Errorf("got %v and %v, want it sent once", got, m.got("ada"))
		}
	})
}

func TestMail_RefusedAddressGetsNoneUntilThePersonSaysSo(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.server.Answer(func(to string) error {
			if to == "ada@example.org" {
				return mailtest.Reply(550, 5, 1, 1, "no such user here")
			}
			return nil
		})
		id := m.ask()
		m.work()
		m.say(m.rosa, id, "Hello?")
		m.work()
		s, err := m.app.Accounts.MailSettings(m.Context(), m.ada, m.ada.ID)
		m.must(err)
		if s.Refused == nil || s.Refused.Address != "ada@example.org" ||
			!strings.Contains(s.Refused.Reason, "no such user here") {
			m.Errorf("got %+v, want what the mail server said", s.Refused)
		}
		m.server.Answer(nil)
		m.say(m.rosa, id, "Hello??")
		m.work()
		_, err = m.app.Accounts.RetryMail(m.Context(), m.ada, m.ada.ID)
		m.must(err)
		m.say(m.rosa, id, "Hello???")
		m.work()
		want := []mailing.State{mailing.Refused, mailing.NoAddress, mailing.NoAddress,
			mailing.Sent}
		if got := m.mails(m.ada); !slices.Equal(got, want) {
			m.Errorf("got %v, want %v", got, want)
		}
		if got := m.got("ben"); len(got) != 4 {
			m.Errorf("the colleague got %v, want all four", got)
		}
	})
}

func TestMail_ThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.server.AnswerMessage(func(mailtest.Letter) error { return mailtest.ErrDrop })
		m.ask()
		m.work()
		m.set("2026-03-03T09:00:00Z")
		m.work()
		if got := m.mails(m.ada); !slices.Equal(got, []mailing.State{mailing.InDoubt}) ||
			len(m.got("ada")) != 1 {
			m.Errorf("got %v, %d messages, want it in doubt and sent once", got, len(m.got("ada")))
		}
	})
}

func TestMail_OfAProcessThatDiedIsNotSentAgain(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.server.Answer(func(string) error { return mailtest.Reply(451, 4, 3, 0, "later") })
		m.ask()
		m.work()
		_, err := storetest.SQL(m.T, m.db).ExecContext(m.Context(),
			"UPDATE notifications SET mail = 'SENDING' WHERE mail = 'WAITING'")
		m.must(err)
		m.server.Answer(nil)
		m.set("2026-03-03T09:00:00Z")
		m.work()
		if got := m.mails(m.ada); !slices.Equal(got, []mailing.State{mailing.InDoubt}) ||
			len(m.got("ada")) != 0 {
			m.Errorf("got %v, %d messages, want it in doubt and not sent", got, len(m.got("ada")))
		}
	})
}

func TestMail_OfAProcessThatDiedWhileItToldIsNotSentAgain(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.ask()
		db := storetest.SQL(m.T, m.db)
		_, err := db.ExecContext(m.Context(), "UPDATE notifications SET mail = 'SENDING' WHERE user_id = $1", m.ada.ID)
		m.must(err)
		_, err = db.ExecContext(m.Context(), `UPDATE jobs SET checkpoint = '{"event": 1, "sending": ' ||
			CAST((SELECT id FROM notifications WHERE mail = 'SENDING') AS TEXT) || '}' WHERE kind = 'tell'`)
		m.must(err)
		m.work()
		if got := m.mails(m.ada); !slices.Equal(got, []mailing.State{mailing.InDoubt}) || len(m.got("ada")) != 0 {
			m.Errorf("got %v, %d messages, want it in doubt and not sent", got, len(m.got("ada")))
		}
	})
}

func TestMail_WaitsForTheEndOfQuietHours(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{TimeZone: exchange.Some("Europe/Amsterdam"),
			QuietFrom: exchange.NullOf("09:00"), QuietUntil: exchange.NullOf("12:00")})
		m.ask()
		m.work()
		if len(m.got("ada")) != 1 || len(m.got("ben")) != 0 {
			m.Errorf("Ada got %v and Ben %v, want it for Ada alone", m.got("ada"), m.got("ben"))
		}
		m.wants(m.ben, mailing.Patch{QuietUntil: exchange.NullOf("13:00")}) // extended while mail waits
		m.set("2026-03-02T11:00:00Z")
		if m.work(); len(m.got("ben")) != 0 {
			m.Errorf("at eleven, which is quiet now: %v", m.got("ben"))
		}
		m.set("2026-03-02T12:00:00Z")
		if m.work(); len(m.got("ben")) != 1 {
			m.Errorf("at noon: %v, want it", m.got("ben"))
		}
	})
}

func TestDigest_ListsEventsAndTasksOnce(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ada, mailing.Patch{Delivery: exchange.Some("DAILY"), DigestAt: exchange.Some("17:00")})
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("WEEKLY"),
			DigestDay: exchange.Some("FRIDAY")})
		id := m.ask()
		m.say(m.rosa, id, "Please.")
		m.work()
		m.set("2026-03-02T16:59:00Z")
		m.work()
		if got := append(m.got("ada"), m.got("ben")...); len(got) != 0 {
			m.Errorf("before the digest is due: %v", got)
		}
		m.set("2026-03-02T17:00:00Z")
		m.work()
		if got := m.got("ada"); len(got) != 1 || got[0] != "2 events in 1 request; 1 is waiting for you" {
			m.Errorf("got %q", got)
		}
		m.say(m.rosa, id, "Please!")
		m.work()
		m.set("2026-03-06T08:00:00Z")
		m.work()
		if got := m.got("ada"); len(got) != 2 || got[1] != "1 event in 1 request; 1 is waiting for you" {
			m.Errorf("got %q", got)
		}
		if got := m.got("ben"); len(got) != 1 || got[0] != "3 events in 1 request; none is waiting for you" {
			m.Errorf("the weekly one: %q", got)
		}
		sent := []mailing.State{mailing.Sent, mailing.Sent, mailing.Sent}
		if !slices.Equal(m.mails(m.ada), sent) || !slices.Equal(m.mails(m.ben), sent) {
			m.Errorf("got %v and %v, want all sent", m.mails(m.ada), m.mails(m.ben))
		}
	})
}

func TestDigest_DeferredIsSentOnceLater(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.wants(m.ada, mailing.Patch{Delivery: exchange.Some("DAILY")})
		m.server.Answer(func(string) error { return mailtest.Reply(421, 4, 3, 2, "going down") })
		m.ask()
		m.work()
		m.set("2026-03-03T08:00:00Z")
		m.work()
		if got := m.mails(m.ada); !slices.Equal(got, []mailing.State{mailing.ForDigest}) {
			m.Errorf("got %v, want it to wait", got)
		}
		m.server.Answer(nil)
		m.set("2026-03-03T09:30:00Z")
		m.work()
		m.set("2026-03-04T09:30:00Z")
		m.work()
		if got := m.got("ada"); len(got) != 1 {
			m.Errorf("got %q, want one digest", got)
		}
	})
}

func TestDigest_ComesWhenThePersonWantsIt(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.wants(m.ada, mailing.Patch{Delivery: exchange.Some("WEEKLY")})
		m.ask()
		m.work()
		m.wants(m.ada, mailing.Patch{Delivery: exchange.Some("AT_ONCE")})
		m.work()
		if got := m.got("ada"); len(got) != 1 {
			m.Errorf("got %q, want it at once", got)
		}
	})
}

func TestUnsubscribe_OneClickStopsACategoryAndIsUndone(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		id := m.ask()
		m.work()
		m.say(m.rosa, id, "one")
		m.work()
		last := m.server.Messages()[1]
		_, token, _ := strings.Cut(strings.Trim(last.Header.Get("List-Unsubscribe"), "<>"), "token=")
		s, err := m.app.Notifications.Subscription(m.Context(), token)
		m.must(err)
		if s.User.ID != m.ada.ID || s.Category != mailing.StatusNotif || !s.On {
			m.Errorf("got %+v", s)
		}
		for _, on := range []bool{false, false, true} {
			s, err = m.app.Notifications.Subscribe(m.Context(), token, on)
			m.must(err)
			if s.On != on {
				m.Errorf("got %+v after %v", s, on)
			}
			m.say(m.rosa, id, "more")
			m.work()
		}
		if got := m.got("ada"); len(got) != 3 {
			m.Errorf("got %q, want the request, the first and the last message", got)
		}
		if _, err := m.app.Notifications.Subscribe(m.Context(), token+"x", false); exchange.CodeOf(err) != exchange.NotFound {
			m.Errorf("a token that was changed: %v, want NOT_FOUND", err)
		}
	})
}

func TestMail_FormerMembersGetNone(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.server.Answer(func(string) error { return mailtest.Reply(451, 4, 7, 1, "later") })
		m.ask()
		m.work()
		_, err := m.app.Labs.UpdateOrganization(m.Context(), m.ada, m.lab,
			lab.OrganizationPatch{Members: exchange.Some([]exchange.UserRef{})}, nil)
		m.must(err)
		m.server.Answer(nil)
		m.set("2026-03-03T09:00:00Z")
		m.work()
		if got := m.mails(m.ben); !slices.Equal(got, []mailing.State{mailing.NotWanted}) ||
			len(m.got("ben")) != 0 {
			m.Errorf("got %v and %v, want nothing", got, m.got("ben"))
		}
		if len(m.got("ada")) != 1 {
			m.Errorf("Ada, who is there still, got %v", m.got("ada"))
		}
	})
}

func TestMail_OfADeletedRequestIsTheLast(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		id := m.ask()
		m.must(m.app.Accounts.SetAdmin(m.Context(), "ben", true))
		m.must(m.app.Requests.DeleteRequest(m.Context(), m.person("ben"), id, nil))
		m.work()
		if l := m.letterTo("rosa"); len(m.got("rosa")) != 1 || !strings.Contains(l.Text, "deleted") {
			m.Errorf("the requester got %q", l.Text)
		}
		for _, l := range m.server.Messages() {
			if !strings.Contains(l.Text, "deleted") {
				m.Errorf("got %q about a request that is gone", l.Text)
			}
		}
	})
}

func TestBounce_CountsOnlyForOurMailToThatAddress(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ben, mailing.Patch{Delivery: exchange.Some("NEVER")})
		m.ask()
		m.work()
		id := strings.Trim(m.server.Messages()[0].Header.Get("Message-Id"), "<>")
		good := mail.Bounce{Recipient: "ADA@example.org", Permanent: true, Reason: "mailbox closed", MessageID: id}
		for _, c := range []struct {
			change func(*mail.Bounce)
			code   exchange.Code
		}{
			{func(b *mail.Bounce) { b.MessageID = "x" + b.MessageID }, exchange.NotFound},
			{func(b *mail.Bounce) { b.MessageID = "" }, exchange.NotFound},
			{func(b *mail.Bounce) { b.Recipient = "rosa@example.org" }, ""},
			{func(b *mail.Bounce) { b.Permanent = false }, ""},
		} {
			b := good
			c.change(&b)
			who, err := m.app.Notifications.Bounce(m.Context(), b)
			if who != "" || c.code == "" && err != nil || c.code != "" && exchange.CodeOf(err) != c.code {
				m.Errorf("%+v: got %v, %v, want %q", b, who, err, c.code)
			}
		}
		who, err := m.app.Notifications.Bounce(m.Context(), good)
		m.must(err)
		s, err := m.app.Accounts.MailSettings(m.Context(), m.ada, m.ada.ID)
		m.must(err)
		if who != "ada" || s.Refused == nil || s.Refused.Reason != "mailbox closed" {
			m.Errorf("got %+v and %+v, want the address refused", who, s.Refused)
		}
		if who, err := m.app.Notifications.Bounce(m.Context(), good); who != "" || err != nil {
			m.Errorf("the same again: got %v, %v, want nothing to do", who, err)
		}
	})
}
