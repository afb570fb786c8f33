package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/store"
)

// letterTo returns the last mail that somebody got.
func (m *mailWorld) letterTo(name string) mailtest.Letter {
	m.Helper()
	var last mailtest.Letter
	for _, l := range m.server.Messages() {
		if l.To == name+"@example.org" {
			last = l
		}
	}
	return last
}

// outdated makes a request as Rosa with an abstract, and then changes all of it before any mail is sent.
func (m *mailWorld) outdated() {
	m.Helper()
	_, err := m.app.Materials.UpdateMaterial(m.Context(), m.ada, m.material,
		material.Patch{NeedsAbstract: exchange.Some(true)}, nil)
	m.must(err)
	id := m.ask()
	m.set("2026-03-02T09:10:00Z")
	m.change(m.rosa, id, request.Patch{Abstract: exchange.Some("To map receptors.")})
	m.set("2026-03-02T09:20:00Z")
	m.change(m.rosa, id, request.Patch{Abstract: exchange.Some("To do something else.")})
	m.change(m.rosa, id, request.Patch{Status: exchange.Some(request.Cancelled)})
	_, err = m.app.Materials.UpdateMaterial(m.Context(), m.ada, m.material,
		material.Patch{Title: exchange.Some("Another title")}, nil)
	m.must(err)
}

func (m *mailWorld) change(who exchange.Actor, id int64, p request.Patch) {
	m.Helper()
	_, err := m.app.Requests.UpdateRequest(m.Context(), who, id, p, nil)
	m.must(err)
}

// TestMail_DescribesTheStateOfTheEvent checks that mail sent late describes the state at the time of its event.
func TestMail_DescribesTheStateOfTheEvent(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.outdated()
		m.work()
		said := ""
		for _, l := range m.server.Messages() {
			if l.To != "ada@example.org" {
				continue
			}
			if strings.Contains(l.Text+l.Subject, "Another title") {
				m.Errorf("it has a title that the material got later:\n%s", l.Text)
			}
			if strings.HasPrefix(l.Text, "rosa wrote the research abstract") &&
				strings.Contains(l.Text, "This happened on 2 March 2026, 09:10 UTC") {
				said = l.Text
			}
		}
		for _, want := range []string{"To map receptors.", "Your turn since 2 March 2026, 09:10 UTC: the decision.",
			"The request has changed since then"} {
			if !strings.Contains(strings.Join(strings.Fields(said), " "), want) {
				m.Errorf("the mail about the first abstract lacks %q:\n%s", want, said)
			}
		}
		if strings.Contains(said, "something else") {
			m.Errorf("it tells what was written later:\n%s", said)
		}
	})
}

func TestDigest_DescribesTheStateOfTheEvent(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.wants(m.ada, mailing.Patch{Delivery: exchange.Some("DAILY")})
		m.outdated()
		m.work()
		m.set("2026-03-03T12:00:00Z")
		m.work()
		text := strings.Join(strings.Fields(m.letterTo("ada").Text), " ")
		if !strings.Contains(text, "To map receptors.") || strings.Contains(text, "Another title") {
			m.Errorf("got %s", text)
		}
	})
}

// TestNotification_KeepsItsText checks that it names the material by its title at that time.
func TestNotification_KeepsItsText(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.outdated()
		part, err := m.db.Read().Notifications.List(m.Context(), m.ada.ID, notify.NotificationFilter{},
			exchange.Page{Limit: 10})
		m.must(err)
		for _, n := range part.Items {
			if !strings.Contains(n.Text(), "HeLa") || strings.Contains(n.Text(), "Another title") {
				m.Errorf("got %q", n.Text())
			}
		}
		if len(part.Items) != 4 {
			m.Errorf("%d notifications", len(part.Items))
		}
		_, _, err = m.app.Labs.AskToJoin(m.Context(), m.rosa, m.lab, lab.JoinNew{})
		m.must(err)
		_, err = m.app.Labs.UpdateOrganization(m.Context(), m.ada, m.lab,
			lab.OrganizationPatch{Name: exchange.Some("Park lab")}, nil)
		m.must(err)
		part, err = m.db.Read().Notifications.List(m.Context(), m.ada.ID, notify.NotificationFilter{},
			exchange.Page{Limit: 1})
		m.must(err)
		if !strings.Contains(part.Items[0].Text(), "Mora lab") {
			m.Errorf("got %q", part.Items[0].Text())
		}
	})
}

func TestEventFacts_AreKeptOnlyForMail(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		m.outdated()
		var ids []int64 // of all events; PostgreSQL leaves out those of transactions that were rolled back
		for id := range int64(50) {
			ids = append(ids, id+1)
		}
		if facts, err := m.db.Read().Events.Facts(m.Context(), ids); err != nil || len(facts) != 4 {
			m.Errorf("%d of 4, %v", len(facts), err)
		}
		m.must(m.db.Tx(m.Context(),
			func(ctx context.Context, tx store.Conn) error {
				return tx.Events.ForgetFacts(ctx, tx.Now.Add(time.Hour))
			}))
		if facts, err := m.db.Read().Events.Facts(m.Context(), ids); err != nil || len(facts) != 0 {
			m.Errorf("%d are left, %v", len(facts), err)
		}
	})
}
