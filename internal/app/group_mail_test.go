package app_test

import (
	"strings"
	"testing"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
)

// TestGroup_CausesOneNotificationAndOneMailForEachPerson, and one receipt for the requester.
func TestGroup_CausesOneNotificationAndOneMailForEachPerson(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		second, _, err := m.app.Materials.CreateMaterial(m.Context(), m.ben,
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("pBR322"),
				Organization: exchange.Some(exchange.Ref(m.lab))})
		m.must(err)
		form := transfer.NewRequest{Key: "1", Form: request.Form{Request: request.New{
			Submission: request.Submission{Note: exchange.Some("For a knockout screen.")}},
			Address: &person.AddressPatch{Name: exchange.Some("Rosa"), Line1: exchange.Some("1 Main St"),
				Locality: exchange.Some("Basel"), Country: exchange.Some("CH"), PostalCode: exchange.Some("4051")}}}
		group := request.NewGroup{Materials: exchange.Some([]exchange.Ref{exchange.Ref(m.material),
			exchange.Ref(second.ID)}), Quantities: exchange.Some(exchange.Names{"2 vials", ""})}
		sent, err := m.app.Groups.SubmitRequestGroup(m.Context(), m.rosa, form, group)
		m.must(err)
		again, err := m.app.Groups.SubmitRequestGroup(m.Context(), m.rosa, form, group)
		if err != nil || again.ID != sent.ID {
			m.Fatalf("the form sent twice made %d and %d, %v", sent.ID, again.ID, err)
		}
		m.work()
		for _, name := range []string{"ada", "ben", "rosa"} {
			got := m.got(name)
			if len(got) != 1 || got[0] != "2 requests: HeLa and 1 more" {
				m.Errorf("%s got %q", name, got)
			}
		}
		for _, who := range []exchange.Actor{m.ada, m.ben} {
			part, _, err := m.app.Notifications.Notifications(m.Context(), who, who.ID, notify.NotificationFilter{},
				exchange.Page{})
			m.must(err)
			if len(part.Items) != 1 || !strings.Contains(part.Items[0].Text(), "sent 2 requests") {
				m.Errorf("%s is notified of %+v", who.ID, part.Items)
			}
		}
		for _, letter := range m.server.Messages() {
			text := strings.Join(strings.Fields(letter.Text), " ")
			for _, want := range []string{"sent 2 requests for HeLa and 1 more", "HeLa, 2 vials > pBR322",
				"For a knockout screen."} {
				if !strings.Contains(text, want) {
					m.Errorf("mail to %s does not say %q: %s", letter.To, want, letter.Text)
				}
			}
		}
		for _, q := range sent.Requests {
			if q.Address == nil || q.Address.Locality != "Basel" || q.Group != sent.ID {
				m.Errorf("request %d has %+v, group %d", q.ID, q.Address, q.Group)
			}
		}
	})
}
