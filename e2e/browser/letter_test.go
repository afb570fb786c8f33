package browser

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
)

// patch is the body of something of the register of an institution.
func patch[T party.Described[T]](s *site, values map[string]any) party.Patch[T] {
	s.Helper()
	p, err := party.PatchOf[T](values)
	s.must(err)
	return p
}

// providing makes the cell bank the lab of an institution for which somebody signs.
func (s *site) providing(signer map[string]any) {
	s.Helper()
	ctx, ada := s.Context(), s.actor("ada")
	i, err := s.app.Institutions.Create(ctx, ada, patch[party.Institution](s, map[string]any{
		"legal_name": "Provider Institute", "country": "GB", "address": "1 Lab Lane", "confirmed": true,
		"kind": "NONPROFIT", "kind_evidence": "Statute", "kind_since": "1990-01-01"}))
	s.must(err)
	_, err = s.app.Institutions.Labs.Create(ctx, ada, i.ID, patch[party.Lab](s, map[string]any{
		"organization": s.lab("Sample Cell Bank"), "from": "2020-01-01", "confirmed": true}))
	s.must(err)
	position, err := s.app.Institutions.Positions.Create(ctx, ada, i.ID, patch[party.Position](s,
		map[string]any{"title": "Head of Contracts"}))
	s.must(err)
	authority := map[string]any{"position": position.ID, "direction": "BOTH", "largest_bsl": 2, "from": "2020-01-01"}
	maps.Copy(authority, signer)
	_, err = s.app.Institutions.Authorities.Create(ctx, ada, i.ID, patch[party.Authority](s, authority))
	s.must(err)
}

// listed is a new plasmid of the cell bank, of which the lab has stated what decides.
func (s *site) listed(title string) int64 {
	s.Helper()
	ctx, olivia := s.Context(), s.actor("olivia")
	m, _, err := s.app.Materials.CreateMaterial(ctx, olivia, material.Patch{Category: exchange.Some("PLASMID"),
		Title: exchange.Some(title), NeedsMTA: exchange.Some(true),
		Organization: exchange.Some(exchange.Ref(s.lab("Sample Cell Bank")))})
	s.must(err)
	var facts requirement.Stating
	form := url.Values{"bsl": {"1"}, "export_class": {"NO"}, "proprietary": {"NO"}}
	for _, d := range requirement.FactFields {
		if d.Values != nil && !form.Has(d.Name) {
			form.Set(d.Name, requirement.Nothing)
		}
	}
	s.must(field.ReadForm(requirement.FactFields, form, &facts))
	facts.Encumbrances = exchange.NullOf([]requirement.Encumbrance{})
	_, err = s.app.Requirements.StateFacts(ctx, olivia, m.ID, facts, nil)
	s.must(err)
	return m.ID
}

// asked is a request of josiah for a new plasmid.
func (s *site) asked(title string) int64 {
	s.Helper()
	q, err := s.app.Requests.CreateRequest(s.Context(), s.actor("josiah"), request.New{
		Material: exchange.Some(exchange.Ref(s.listed(title))), Quantity: exchange.Some("1 vial")})
	s.must(err)
	return q.ID
}

// drafted is an agreement for a request of josiah.
func (s *site) drafted(of int64) letter.Agreement {
	s.Helper()
	v, err := s.app.Letters.Draft(s.Context(), s.actor("josiah"), letter.DraftNew{Terms: letter.Terms{
		Requests: exchange.Some([]exchange.Ref{exchange.Ref(of)})}})
	s.must(err)
	return v.Agreement
}

// sent is one that was sent to be signed.
func (s *site) sent(of int64) letter.Agreement {
	s.Helper()
	v, err := s.app.Letters.Send(s.Context(), s.actor("josiah"), s.drafted(of).ID)
	s.must(err)
	return v.Agreement
}

// letterStates are the pages of agreements that no link leads to.
func (s *site) letterStates() []state {
	s.Helper()
	draft, sent := s.drafted(s.asked("pBR322")), s.sent(s.asked("pUC18"))
	late, path := fmt.Sprintf("/letters/%d", draft.ID), fmt.Sprintf("/letters/%d", sent.ID)
	desk := fmt.Sprintf("/offices/%d/letters", s.id("SELECT id FROM institutions WHERE legal_name = $1",
		"Sample University"))
	needs := strings.TrimSuffix(desk, "letters") + "requests"
	lettered := fmt.Sprint(sent.Letter.Requests[0].ID)
	first := fmt.Sprint(s.id("SELECT MIN(id) FROM agreements WHERE state = $1", "SENT"))
	facts := fmt.Sprintf("/catalog/%d/transfer", s.material("HT-29"))
	return []state{
		{"olivia", facts, sends(facts, "encumbered=YES"), 422},
		{"tomas", "/letters?state=EXPIRED", nil, 200},
		{"tomas", "/letters?state=SENT&after=999999", nil, 200},
		{"tomas", needs, nil, 200},
		{"tomas", needs, sends(needs, ""), 422},
		{"tomas", needs, sends(needs, "id="+lettered), 409},
		{"tomas", needs + "?side=receive&after=999999", nil, 200},
		{"tomas", desk + "?show=lab&with=999999", nil, 200},
		{"tomas", desk, nil, 200},
		{"tomas", desk + "?show=all&days=90", nil, 200},
		{"tomas", desk, sends(desk, "id="), 422},
		{"tomas", desk, sends(desk, "id="+first), 200},
		{"tomas", desk, then(sends(desk, "id="+first), sends(desk, "do=sign")), 200},
		{"josiah", late, sends(late, "version=9&purpose=RESEARCH&field_provider_name=Institute"), 409},
		{"josiah", late, sends(late+"/choice", "version=1&choice=OPEN_MTA"), 422},
		{"josiah", late, sends(late, "version=1&purpose=RESEARCH&field_provider_name=The Institute"), 200},
		{"josiah", late + "?version=2", nil, 200},
		{"olivia", path, sends(path+"/decline", "reason="), 422},
		{"josiah", path + "/sign?role=RECIPIENT_SCIENTIST", sends(path+"/sign",
			"role=RECIPIENT_OFFICIAL&version=1&sha256="+sent.SHA256), 403},
		{"josiah", path + "/sign?role=RECIPIENT_SCIENTIST", sends(path+"/sign",
			"role=RECIPIENT_SCIENTIST&version=1&sha256="+sent.SHA256), 200},
		{"olivia", path, sends(path+"/decline", "reason=The name is wrong."), 200},
		{"olivia", path, sends(path+"/withdraw", "reason=Not needed"), 200},
	}
}

// finds opens a material by the search.
func (t *tab) finds(title string) {
	t.Helper()
	t.visit("/catalog?q=" + title)
	t.followIn("main", title)
}

// sendsLetter requests the material of the page, and sends an agreement for it.
func (t *tab) sendsLetter(title string) {
	t.Helper()
	t.followIn("main", "Request "+title)
	t.followIn("main", "Send request")
	t.followIn("#agreement", "Draft the agreement")
	t.followIn("main", "Send to be signed")
}

// TestLetters_FromTheSearchToTheExecutedAgreement of two labs of two institutions, through the offices of both, by pages
// alone, with script and without.
func TestLetters_FromTheSearchToTheExecutedAgreement(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*tab){
		"with script":    func(*tab) {},
		"without script": func(tab *tab) { tab.scriptless() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.providing(map[string]any{"holder": s.actor("olivia").ID})
			s.listed("pLetter7")
			josiah, olivia, tomas := s.open("josiah"), s.open("olivia"), s.open("tomas")
			for _, tab := range []*tab{josiah, olivia, tomas} {
				set(tab)
			}
			office := func(name string) string {
				return fmt.Sprintf("/offices/%d", s.id("SELECT id FROM institutions WHERE legal_name = $1", name))
			}
			tomas.visit(office("Sample University") + "/authority")
			tomas.followIn("main", "Confirm Josiah Carberry")

			josiah.finds("pLetter7")
			josiah.says("Most institutions get this under: Simple letter")
			josiah.sendsLetter("pLetter7")
			josiah.followIn("main", "Read and sign as scientist")
			number := letter.Number(s.letterID())
			josiah.says("I sign version 1 of " + number)
			josiah.followIn("main", "Sign")

			olivia.visit("/")
			olivia.followIn("main", "Agreement "+number)
			olivia.followIn("main", "Read and sign as scientist")
			olivia.followIn("main", "Sign")
			for _, desk := range []struct {
				*tab
				office string
			}{{olivia, office("Provider Institute")}, {tomas, office("Sample University")}} {
				desk.visit(desk.office + "/letters")
				desk.click("the letter", fmt.Sprintf(`document.querySelector("[name=id][value='%d']")`, s.letterID()))
				desk.followIn("main", "Sign the chosen ones")
				desk.followIn("main", "Sign them all")
				desk.says("1 agreement signed")
			}
			josiah.visit(s.newestLetter())
			josiah.says("Executed")
			josiah.followIn("main", fmt.Sprintf("Request %d", s.id("SELECT MAX(id) FROM material_requests WHERE quantity <> $1",
				"-")))
			josiah.says("Executed")
			s.recordHolds()
		})
	}
}
