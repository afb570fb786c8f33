package browser

import (
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
)

// mailing is a site whose mail a test reads.
func mailing(t *testing.T) *site {
	t.Helper()
	server := mailtest.Start(t)
	post, err := mail.Open(server.URL, "Aliquot <aliquot@example.org>", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := newStrangeSite(t, strange{mail: post})
	s.letters = server
	return s
}

// mailed waits for the newest mail to an address that has a pattern, and returns what the pattern finds.
func (s *site) mailed(to, pattern string) (found string) {
	s.Helper()
	jobtest.Poll(s.T, "a mail to "+to, func() bool {
		found = ""
		for _, l := range s.letters.Messages() {
			if text := regexp.MustCompile(pattern).FindString(l.Subject + "\n" + l.Text); l.To == to && text != "" {
				found = text
			}
		}
		return found != ""
	})
	return found
}

// TestSign_AnOfficialWithoutAnAccountExecutesAnAgreement of two labs of two institutions: one official signs at the desk
// of their office, the other by a link and a code that are mailed to them.
func TestSign_AnOfficialWithoutAnAccountExecutesAnAgreement(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*tab){
		"with script":    func(*tab) {},
		"without script": func(tab *tab) { tab.scriptless() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailing(t)
			const dana = "dana@provider.example"
			s.providing(map[string]any{"name": "Dana Director", "title": "Director", "mail": dana})
			s.listed("pLetter8")
			s.confirmJosiah()
			josiah, olivia, tomas, nobody := s.open("josiah"), s.open("olivia"), s.open("tomas"), s.open("")
			for _, tab := range []*tab{josiah, olivia, tomas, nobody} {
				set(tab)
			}
			josiah.finds("pLetter8")
			josiah.sendsLetter("pLetter8")
			josiah.says("A link was mailed to Dana Director")
			josiah.followIn("main", "Read and sign as scientist")
			josiah.followIn("main", "Sign")
			for _, one := range []struct {
				*tab
				as string
			}{{olivia, "scientist"}, {tomas, "official"}} {
				one.visit(s.newestLetter())
				one.followIn("main", "Read and sign as "+one.as)
				one.followIn("main", "Sign")
			}

			number := letter.Number(s.letterID())
			nobody.visit(strings.TrimPrefix(s.mailed(dana, `http\S+/sign\?token=\S+`), s.url))
			nobody.says("Dana Director")
			nobody.followIn("main", "Send a code to d…@provider.example")
			nobody.fill("The code from the e-mail", "000000x")
			nobody.followIn("main", "Sign "+number)
			nobody.says("this code is wrong")
			nobody.fill("The code from the e-mail", s.mailed(dana, `[0-9]{6}`))
			nobody.followIn("main", "Sign "+number)
			nobody.says("The agreement is executed")
			josiah.visit(s.newestLetter())
			josiah.says("Executed")
			s.recordHolds()
		})
	}
}

// confirmJosiah confirms that josiah is at Sample University.
func (s *site) confirmJosiah() {
	s.Helper()
	_, err := s.app.Institutions.Affiliations.Create(s.Context(), s.actor("ada"), s.institution("Sample University"),
		patch[party.Affiliation](s, map[string]any{"person": s.actor("josiah").ID, "confirmed": true}))
	s.must(err)
}

// approve signs a standing approval for letters in simple form about plasmids, as an officer of an institution.
func (s *site) approve(officer, institution string, direction string, counterparty string) {
	s.Helper()
	who, id := s.actor(officer), s.institution(institution)
	today := exchange.DayOf(time.Now())
	until, _ := today.Begin()
	made, err := s.app.Institutions.Approvals.Create(s.Context(), who, id, patch[approval.Approval](s, map[string]any{
		"direction": direction, "families": []string{"SIMPLE_LETTER"}, "categories": []string{"PLASMID"},
		"largest_bsl": 1, "human": "NO", "counterparties": []int64{s.institution(counterparty)}, "from": today,
		"until": exchange.DayOf(until.AddDate(0, 6, 0))}))
	s.must(err)
	_, err = s.app.Institutions.SignApproval(s.Context(), who, id, made.ID, approval.SignNew{Version: exchange.Some(int64(1))})
	s.must(err)
}

func (s *site) institution(name string) int64 {
	s.Helper()
	return s.id("SELECT id FROM institutions WHERE legal_name = $1", name)
}

// TestSign_WithStandingApprovalsOneClickOfEachExecutesAnAgreement: the requester asks and signs, the lab accepts.
func TestSign_WithStandingApprovalsOneClickOfEachExecutesAnAgreement(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.providing(map[string]any{"holder": s.actor("olivia").ID})
	s.listed("pLetter9")
	s.confirmJosiah()
	s.approve("olivia", "Provider Institute", "PROVIDE", "Sample University")
	s.approve("tomas", "Sample University", "RECEIVE", "Provider Institute")
	ahead := exchange.DayOf(time.Now().AddDate(0, 6, 0))
	var change lab.OrganizationPatch
	*change.Others()["signs_ahead_until"].(*exchange.Null[exchange.Date]) = exchange.NullOf(ahead)
	_, err := s.app.Labs.UpdateOrganization(s.Context(), s.actor("olivia"), s.lab("Sample Cell Bank"), change, nil)
	s.must(err)

	josiah, olivia := s.open("josiah"), s.open("olivia")
	josiah.finds("pLetter9")
	josiah.followIn("main", "Request pLetter9")
	josiah.fill("Ask and sign", "yes")
	josiah.followIn("main", "Send request")
	josiah.says(letter.Number(s.letterID()))
	olivia.visit(fmt.Sprintf("/requests/%d", s.id("SELECT MAX(id) FROM material_requests WHERE quantity <> $1", "-")))
	olivia.followIn("#next", "Accept")
	josiah.visit(s.newestLetter())
	josiah.again("Executed")
	josiah.says("by standing approval")
	s.recordHolds()
}

// letterID returns the id of the newest letter.
func (s *site) letterID() int64 {
	s.Helper()
	return s.id("SELECT MAX(id) FROM agreements WHERE state <> $1", "")
}

func (s *site) newestLetter() string {
	s.Helper()
	return fmt.Sprintf("/letters/%d", s.letterID())
}

// recordHolds verifies the whole record, as aliquot verify does.
func (s *site) recordHolds() {
	s.Helper()
	report, err := s.app.Evidence.Verify(s.Context(), evidence.Verification{Files: true})
	s.must(err)
	if report.Requests == 0 || report.FaultCount > 0 {
		s.Errorf("of %d requests, the record has %d faults: %v", report.Requests, report.FaultCount, report.Faults)
	}
}
