package app_test

import (
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
)

// TestInquiry_NotifiesTheContactAndWhoAsked, once each and nobody else; mail about a question that was answered
// meanwhile is not sent.
func TestInquiry_NotifiesTheContactAndWhoAsked(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		say := func(text string) request.TextBody { return request.TextBody{Text: exchange.Some(text)} }
		first, err := m.app.Inquiries.Ask(m.Context(), m.rosa, m.material, say("Which passage?"))
		m.must(err)
		m.work()
		_, err = m.app.Inquiries.Answer(m.Context(), m.ada, first.ID, say("Passage 12."))
		m.must(err)
		m.work()
		second, err := m.app.Inquiries.Ask(m.Context(), m.rosa, m.material, say("And which lot?"))
		m.must(err)
		_, err = m.app.Inquiries.Answer(m.Context(), m.ben, second.ID, say("Lot 7."))
		m.must(err)
		m.work()
		contact := map[bool]string{true: "ada", false: "ben"}[len(m.got("ada")) > 0]
		if got := m.got(contact); len(got) != 1 || got[0] != "rosa asks about HeLa: your answer needed" {
			m.Errorf("%s got %q", contact, got)
		}
		answered := "ada answered your inquiry about HeLa: you can request it now"
		if got := m.got("rosa"); !slices.Contains(got, answered) || len(got) != 2 {
			m.Errorf("Rosa got %q", got)
		}
		if got := len(m.server.Messages()); got != 3 {
			m.Errorf("%d messages were sent", got)
		}
		for _, l := range m.server.Messages() {
			if !strings.Contains(l.Text, "https://aliquot.example.org/inquiry/") {
				m.Errorf("no link in %s", l.Text)
			}
		}
		part, _, err := m.app.Notifications.Notifications(m.Context(), m.rosa, m.rosa.ID, notify.NotificationFilter{},
			exchange.Page{})
		m.must(err)
		if len(part.Items) != 2 || part.Items[1].Text() != "ada answered your inquiry to Mora lab about HeLa." {
			m.Errorf("Rosa is notified of %+v", part.Items)
		}
	})
}
