package app_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/mail/mailtest"
)

// propose has somebody request two plasmids of a lab, and sends one letter for both: of a family that is chosen, or the
// usual one. It returns the letter as it was drafted, and the institutions of the lab and of the requester.
func propose(t *testing.T, a *app.App, lab int64, admin, owner, asks exchange.Actor, choice exchange.Opt[string],
	arrange func(provider, recipient int64)) letters.View {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	var institutions []int64
	for _, name := range []string{"Mora University", "Rosa Institute"} {
		i, err := a.Institutions.Create(ctx, admin, patchOf[party.Institution](t, map[string]any{"legal_name": name,
			"country": "CH", "address": "Main Street 1, Bern", "kind": "NONPROFIT", "kind_evidence": "Statute",
			"kind_since": "2020-01-01", "confirmed": true}))
		must(err)
		institutions = append(institutions, i.ID)
	}
	entry, err := a.Institutions.Labs.Create(ctx, owner, institutions[0],
		patchOf[party.Lab](t, map[string]any{"organization": lab}))
	must(err)
	_, err = a.Institutions.Labs.Update(ctx, admin, institutions[0], entry.ID,
		patchOf[party.Lab](t, map[string]any{"confirmed": true}), nil)
	must(err)
	_, err = a.Institutions.Affiliations.Create(ctx, admin, institutions[1],
		patchOf[party.Affiliation](t, map[string]any{"person": asks.ID, "confirmed": true}))
	must(err)
	arrange(institutions[0], institutions[1])
	var ids []exchange.Ref
	for _, title := range []string{"pUC19", "pBR322"} {
		s, _, err := a.Materials.CreateMaterial(ctx, owner, material.Patch{Category: exchange.Some("PLASMID"),
			Title: exchange.Some(title), Organization: exchange.Some(exchange.Ref(lab))})
		must(err)
		p := requirement.Stating{Encumbrances: exchange.NullOf([]requirement.Encumbrance{})}
		for _, fact := range []string{"genetically_modified", "select_agent", "plant_genetic_resource", "export_class",
			"proprietary"} {
			*p.Others()[fact].(*exchange.Opt[string]) = exchange.Some("NO")
		}
		*p.Others()["bsl"].(*exchange.Opt[string]) = exchange.Some("1")
		_, err = a.Requirements.StateFacts(ctx, owner, s.ID, p, nil)
		must(err)
		q, err := a.Requests.CreateRequest(ctx, asks, request.New{Material: exchange.Some(exchange.Ref(s.ID)),
			Quantity: exchange.Some("1 vial")})
		must(err)
		ids = append(ids, exchange.Ref(q.ID))
	}
	v, err := a.Letters.Draft(ctx, asks, letter.DraftNew{Terms: letter.Terms{Requests: exchange.Some(ids),
		Choice: choice}})
	must(err)
	v, err = a.Letters.Send(ctx, asks, v.ID)
	must(err)
	return v
}

// execute has somebody request two plasmids of a lab and sign one letter for both, which is thereby executed.
func execute(t *testing.T, a *app.App, lab int64, admin, owner, asks exchange.Actor) {
	t.Helper()
	v := propose(t, a, lab, admin, owner, asks, exchange.Some("NONE"), func(_, _ int64) {})
	if v = signIn(t, a, asks, v, "RECIPIENT_SCIENTIST"); v.State != letter.Executed {
		t.Fatalf("the letter is %s", v.State)
	}
}

// signIn signs a letter as somebody who is signed in.
func signIn(t *testing.T, a *app.App, who exchange.Actor, v letters.View, role string) letters.View {
	t.Helper()
	v, err := a.Letters.SignIn(t.Context(), who, v.ID, letter.SignatureNew{Role: exchange.Some(role),
		Version: exchange.Some(int64(v.Letter.Version)), SHA256: exchange.Some(v.SHA256)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// patchOf returns the body with some fields.
func patchOf[T party.Described[T]](t *testing.T, values map[string]any) party.Patch[T] {
	t.Helper()
	p, err := party.PatchOf[T](values)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// keepFiles gives an app a folder for files.
func keepFiles(t *testing.T, a *app.App) {
	t.Helper()
	folder, err := files.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	a.Files = folder
}

// TestExecution_OfALetterForTwoRequestsIsToldOnce to each member of the lab, in one mail, and not to who signed.
func TestExecution_OfALetterForTwoRequestsIsToldOnce(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		keepFiles(m.T, m.app)
		m.app.Admins = []string{"admin"}
		execute(m.T, m.app, m.lab, m.person("admin"), m.ada, m.rosa)
		m.work()
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

// TestAgreementMail_AsksWhoSignsNext and leads to the agreement, but no longer once it was declined.
func TestAgreementMail_AsksWhoSignsNext(t *testing.T) {
	eachMailing(t, func(m *mailWorld) {
		keepFiles(m.T, m.app)
		m.app.Admins = []string{"admin"}
		v := propose(m.T, m.app, m.lab, m.person("admin"), m.ada, m.rosa, exchange.Opt[string]{}, func(_, _ int64) {})
		m.work()
		mails := func(name string) (list []mailtest.Letter) {
			for _, one := range m.server.Messages() {
				if one.To == name+"@example.org" && strings.Contains(one.Subject, "agreement A-") {
					list = append(list, one)
				}
			}
			return list
		}
		asked := mails("ada")
		if len(asked) != 1 || !strings.Contains(asked[0].Subject, "asks you to sign the agreement A-") ||
			!strings.Contains(asked[0].Text, fmt.Sprintf("https://aliquot.example.org/letters/%d", v.ID)) ||
			!strings.Contains(asked[0].Text, "Stop e-mail about agreements") {
			m.Errorf("the owner got %d: %q", len(asked), asked)
		}
		if got := mails("rosa"); len(got) != 0 {
			m.Errorf("who sent it got %+v", got)
		}
		signIn(m.T, m.app, m.rosa, v, "RECIPIENT_SCIENTIST")
		if _, err := m.app.Letters.Decline(m.Context(), m.ada, v.ID, "Ask the core facility."); err != nil {
			m.Fatal(err)
		}
		m.work()
		if got := mails("rosa"); len(got) != 1 || !strings.Contains(got[0].Text, "Ask the core facility.") {
			m.Errorf("the requester got %+v", got)
		}
	})
}
