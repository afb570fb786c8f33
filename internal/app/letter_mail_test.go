package app_test

import (
	"testing"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
)

// agreed has Rosa request two plasmids and sign one letter for both, which is thereby executed.
func (m *mailWorld) agreed() (ids []exchange.Ref) {
	m.Helper()
	m.app.Admins = []string{"admin"}
	ctx, admin := m.Context(), m.person("admin")
	var institutions []int64
	for _, name := range []string{"Mora University", "Rosa Institute"} {
		body, err := party.PatchOf[party.Institution](map[string]any{"legal_name": name, "country": "CH",
			"kind": "NONPROFIT", "kind_evidence": "Statute", "kind_since": "2020-01-01", "confirmed": true})
		m.must(err)
		i, err := m.app.Institutions.Create(ctx, admin, body)
		m.must(err)
		institutions = append(institutions, i.ID)
	}
	of, err := party.PatchOf[party.Lab](map[string]any{"organization": m.lab})
	m.must(err)
	entry, err := m.app.Institutions.Labs.Create(ctx, m.ada, institutions[0], of)
	m.must(err)
	confirmed, err := party.PatchOf[party.Lab](map[string]any{"confirmed": true})
	m.must(err)
	_, err = m.app.Institutions.Labs.Update(ctx, admin, institutions[0], entry.ID, confirmed, nil)
	m.must(err)
	at, err := party.PatchOf[party.Affiliation](map[string]any{"person": m.rosa.ID, "confirmed": true})
	m.must(err)
	_, err = m.app.Institutions.Affiliations.Create(ctx, admin, institutions[1], at)
	m.must(err)
	for _, title := range []string{"pUC19", "pBR322"} {
		s, _, err := m.app.Materials.CreateMaterial(ctx, m.ada, material.Patch{Category: exchange.Some("PLASMID"),
			Title: exchange.Some(title), Organization: exchange.Some(exchange.Ref(m.lab))})
		m.must(err)
		p := requirement.Stating{Encumbrances: exchange.NullOf([]requirement.Encumbrance{})}
		for _, fact := range []string{"export_class", "proprietary"} {
			*p.Others()[fact].(*exchange.Opt[string]) = exchange.Some("NO")
		}
		_, err = m.app.Requirements.StateFacts(ctx, m.ada, s.ID, p, nil)
		m.must(err)
		q, err := m.app.Requests.CreateRequest(ctx, m.rosa,
			request.New{Material: exchange.Some(exchange.Ref(s.ID))})
		m.must(err)
		ids = append(ids, exchange.Ref(q.ID))
	}
	m.work()
	v, err := m.app.Letters.Draft(ctx, m.rosa, letter.DraftNew{Terms: letter.Terms{Requests: exchange.Some(ids),
		Choice: exchange.Some("NONE")}})
	m.must(err)
	_, err = m.app.Letters.Send(ctx, m.rosa, v.ID)
	m.must(err)
	v, err = m.app.Letters.SignIn(ctx, m.rosa, v.ID, letter.SignatureNew{Role: exchange.Some("RECIPIENT_SCIENTIST"),
		Version: exchange.Some(int64(v.Letter.Version)), SHA256: exchange.Some(v.SHA256)})
	m.must(err)
	if v.State != letter.Executed {
		m.Fatalf("the letter is %s", v.State)
	}
	m.work()
	return ids
}

// TestExecution_OfALetterForTwoRequestsIsToldOnce to each member of the lab, in one mail, and not to who signed.
func TestExecution_OfALetterForTwoRequestsIsToldOnce(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		folder, err := files.OpenFolder(m.TempDir())
		m.must(err)
		defer func() { m.must(folder.Close()) }()
		m.app.Files = folder
		m.agreed()
		for _, who := range []struct {
			name  string
			actor exchange.Actor
			want  int
		}{{"ada", m.ada, 1}, {"ben", m.ben, 1}, {"rosa", m.rosa, 0}} {
			part, _, err := m.app.Notifications.Notifications(m.Context(), who.actor, who.actor.ID,
				notify.NotificationFilter{}, exchange.Page{})
			m.must(err)
			got := 0
			for _, n := range part.Items {
				if n.Event.Kind == request.AgreementExecuted {
					got++
				}
			}
			if got != who.want {
				m.Errorf("%s is notified of %d executed agreements, not %d", who.name, got, who.want)
			}
			if got := m.got(who.name); len(got) != 3*who.want { // and of two requests
				m.Errorf("%s got %q", who.name, got)
			}
		}
	})
}
