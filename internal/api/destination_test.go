package api_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestDestinations_UnderAnEmbargoBlockRequestsAndAgreements, naming the list and its day.
func TestDestinations_UnderAnEmbargoBlockRequestsAndAgreements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		requester := s.requester()
		letter := s.newLetter()
		before := requester.want(201, "POST", "/material-requests", obj{"material": s.newMaterial()}).id()
		home := requester.want(200, "POST", s.user("/addresses"), obj{"name": "A", "address_line_1": "1 Main St",
			"locality": "Pyongyang", "country": "North Korea"}).id()
		s.app.Destinations = []requirement.Destinations{{Name: "UN", Published: "2020-01-31",
			Countries: []string{"KP"}}}
		blocked := func(a answer) {
			if !strings.Contains(string(a.Raw), "KP is on the list \\\"UN\\\" of 2020-01-31") {
				t.Errorf("it does not name the list: %s", a.Raw)
			}
		}
		s.unchanged("requests", func() {
			blocked(requester.refused(409, "CONFLICT", "POST", "/material-requests",
				obj{"material": s.material, "address": home}))
			blocked(requester.refused(409, "CONFLICT", "PATCH", fmt.Sprintf("/material-requests/%d", before),
				obj{"address": home}))
		})
		if owed := owedOf(requester, before); owed["DESTINATION"] != nil {
			t.Errorf("nobody knows where it goes: %v", owed)
		}
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE institutions SET country = 'KP' WHERE id = $1",
			s.receives); err != nil {
			t.Fatal(err)
		}
		s.unchanged("an agreement", func() { blocked(requester.refused(409, "CONFLICT", "POST", letter+"/send", nil)) })
		if owed := owedOf(requester, before); owed["DESTINATION"]["state"] != "BLOCKED" {
			t.Errorf("the requester's institution is there: %v", owed)
		}
		s.app.Destinations = nil
		requester.want(200, "POST", letter+"/send", nil)
		s.app.Destinations = []requirement.Destinations{{Name: "UN", Published: "2020-01-31",
			Countries: []string{"KP"}}}
		signature := s.signature(letter, "RECIPIENT_SCIENTIST")
		s.unchanged("its execution", func() {
			blocked(requester.refused(409, "CONFLICT", "POST", letter+"/signatures", signature))
		})
	})
}
