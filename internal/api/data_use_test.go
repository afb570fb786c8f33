package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestDataUse_IsDecidedByTermsPurposeAndRecipient: what the terms allow is not owed, what they forbid says by which
// term, and the rest says what to answer.
func TestDataUse_IsDecidedByTermsPurposeAndRecipient(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		o := s.institution()
		m := s.member.want(201, "POST", "/materials", obj{"category": "DATASET", "title": "Reads",
			"organization_id": s.id}).id()
		request := s.requester().want(201, "POST", "/material-requests", obj{"material": m}).id()
		purpose := fmt.Sprintf("/material-requests/%d/purpose", request)
		terms := func(list ...string) {
			t.Helper()
			uses := []obj{}
			for _, one := range list {
				id, value, _ := strings.Cut(one, "=")
				uses = append(uses, obj{"id": id, "value": value})
			}
			s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d/transfer-facts", m), obj{"data_uses": uses})
		}
		check := func(when, state, why string, asks ...any) {
			t.Helper()
			got := owedOf(s.member, request)["DATA_USE"]
			var asked []any
			for _, l := range got["limits"].([]any) {
				asked = append(asked, l.(obj2)["asks"].([]any)...)
				if l.(obj2)["forbids"] == true {
					asked = append(asked, "forbids "+l.(obj2)["label"].(string))
				}
			}
			if got["state"] != state || !strings.Contains(got["why"].(string), why) || !slices.Equal(asked, asks) {
				t.Errorf("%s: %v, asks %v", when, got, asked)
			}
		}
		terms("DUO:0000042")
		check("general research", "DONE", "allow this use: general research use")
		terms("DUO:0000042", "DUO:0000046", "DUO:0000045", "DUO:0000022=DE", "DUO:0000021")
		check("nothing stated", "OWED", "limited", "commercial", "institution", "country", "approval")

		s.unchanged("what is not theirs, or wrong", func() {
			s.member.refused(403, "FORBIDDEN", "PATCH", purpose, obj{"commercial": "NO"})
			s.people["stranger"].refused(403, "FORBIDDEN", "GET", purpose, nil)
			s.requester().refused(400, "INVALID_INPUT", "PATCH", purpose, obj{"commercial": "PERHAPS"})
			s.requester().refused(400, "INVALID_INPUT", "PATCH", purpose, obj{"diseases": []string{"a cold"}})
		})
		s.requester().want(200, "PATCH", purpose, obj{"commercial": "YES"})
		check("commercial", "OWED", "do not allow this use: non-commercial use only", "forbids non-commercial use only",
			"institution", "country", "approval")
		s.requester().want(200, "PATCH", purpose, obj{"commercial": "NO"})
		check("an affiliation that nobody confirmed", "OWED", "limited", "institution", "country", "approval")
		s.owner.want(200, "PATCH", fmt.Sprintf("%s/affiliations/%d", o.path, o.affiliation), obj{"confirmed": true})
		check("a non-profit institution in Germany", "OWED", "limited", "approval")
		s.people["admin"].want(200, "PATCH", o.path, obj{"kind": "FOR_PROFIT"})
		check("a company", "OWED", "do not allow this use: not for profit organisation use only",
			"forbids not for profit organisation use only", "approval")
		s.people["admin"].want(200, "PATCH", o.path, obj{"kind": "GOVERNMENT"})
		permits := fmt.Sprintf("/material-requests/%d/permits", request)
		irb := s.newPermit(s.requester(), obj{})
		s.requester().want(201, "POST", permits, obj{"permit": irb})
		check("all that is asked", "DONE", "allow this use")
		s.requester().want(204, "DELETE", fmt.Sprintf("%s/%d", permits, irb), nil)
		check("without the approval", "OWED", "limited", "approval")
		s.requester().want(201, "POST", permits, obj{"permit": s.newPermit(s.requester(), obj{"regime": "DATA_USE"})})
		check("the committee granted access", "DONE", "limited")
		s.requester().want(200, "PATCH", fmt.Sprintf("/material-requests/%d", request), obj{"status": "CANCELLED"})
		s.requester().refused(409, "REQUEST_CLOSED", "PATCH", purpose, obj{"commercial": "YES"})
		s.recordHolds()
	})
}
