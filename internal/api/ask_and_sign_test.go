package api_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestAskAndSign_ExecutesWithTheAcceptance where standing approvals cover the letter and the owner signed in advance.
func TestAskAndSign_ExecutesWithTheAcceptance(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.covered()
		s.signsAhead()
		asked := s.askAndSign(s.plasmid())
		accepted := s.member.want(200, "PATCH", asked, obj{"status": "APPROVED"})
		if accepted.Body["executed_mta_attachment"] == nil || accepted.Body["status"] != "APPROVED" {
			t.Errorf("accepted: %s", accepted.Raw)
		}
		letter := s.lettersOf()[0].(obj2)
		path := fmt.Sprintf("/agreements/%v", letter["id"])
		got := s.requester().want(200, "GET", path, nil)
		ways := map[string]any{}
		for _, one := range got.of("signatures").([]any) {
			signature := one.(obj2)
			ways[signature["role"].(string)] = signature["approval"]
		}
		if got.of("state") != "EXECUTED" || len(ways) != 4 || ways["PROVIDER_OFFICIAL"] == nil ||
			ways["RECIPIENT_OFFICIAL"] == nil || ways["PROVIDER_SCIENTIST"] != nil {
			t.Errorf("the letter: %s", got.Raw)
		}
		s.recordHolds()
	})
}

// TestAskAndSign_LeavesToPeopleWhatIsNotSignedInAdvance: without an approval, without the owner, or of another owner.
func TestAskAndSign_LeavesToPeopleWhatIsNotSignedInAdvance(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		provides, _ := s.covered()
		unsigned := func(name, want string) {
			t.Helper()
			s.member.want(200, "PATCH", s.askAndSign(s.plasmid()), obj{"status": "APPROVED"})
			newest := s.lettersOf()[0].(obj2)
			got := s.requester().want(200, "GET", fmt.Sprintf("/agreements/%v", newest["id"]), nil)
			if got.of("state") != "SENT" || fmt.Sprint(got.of("unsigned")) != want {
				t.Errorf("%s: %v, %v", name, got.of("state"), got.of("unsigned"))
			}
		}
		unsigned("nothing in advance", "[PROVIDER_SCIENTIST]")
		s.signsAhead()
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE organizations SET signs_ahead_by = $1 WHERE id = $2",
			s.member.ID, s.id); err != nil {
			t.Fatal(err)
		}
		unsigned("an earlier owner", "[PROVIDER_SCIENTIST]")
		s.signsAhead()
		s.owner.want(200, "PATCH", provides, obj{"withdrawn_on": time.Now().UTC().Format(time.DateOnly)})
		unsigned("no approval", "[PROVIDER_SCIENTIST PROVIDER_OFFICIAL]")
	})
}

// TestAskAndSign_IsRefusedAsAWhole where no letter can be signed; nothing is asked then.
func TestAskAndSign_IsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		material := s.plasmid()
		body := obj{"material": material, "quantity": "1 vial", "sign_agreement": true}
		s.unchanged("the requester is at the institution of the lab", func() {
			s.requester().refused(409, "CONFLICT", "POST", "/material-requests", body)
		})
		s.recipient()
		if _, err := s.sql.ExecContext(t.Context(), "DELETE FROM transfer_facts"); err != nil {
			t.Fatal(err)
		}
		s.unchanged("facts are missing", func() {
			s.requester().refused(409, "MISSING_FACTS", "POST", "/material-requests", body)
		})
		body["sign_agreement"] = false
		s.requester().want(201, "POST", "/material-requests", body)
	})
}

// TestAskAndSign_IsOneLetterForAGroup, executed once the lab has accepted all of it.
func TestAskAndSign_IsOneLetterForAGroup(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.covered()
		s.signsAhead()
		group := s.requester().want(201, "POST", "/request-groups", obj{"materials": []int64{s.plasmid(), s.plasmid()},
			"sign_agreement": true})
		if n := len(s.lettersOf()); n != 1 {
			t.Fatalf("%d letters", n)
		}
		s.member.want(200, "POST", fmt.Sprintf("/request-groups/%d/accept", group.id()), nil)
		if got := s.lettersOf()[0].(obj2); got["state"] != "EXECUTED" {
			t.Errorf("the letter: %v", got)
		}
	})
}

// TestAskAndSign_DoesNotWaitForOtherLetters of the same institutions; on SQLite, which has one writer, it comes
// afterwards.
func TestAskAndSign_DoesNotWaitForOtherLetters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.covered()
		s.signsAhead()
		plasmid := s.plasmid()
		execute := func() {
			s.member.want(200, "PATCH", s.askAndSign(plasmid), obj{"status": "APPROVED"})
			if got := s.lettersOf()[0].(obj2); got["state"] != "EXECUTED" {
				t.Errorf("the letter: %v", got)
			}
		}
		if err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			_, err := tx.Institutions.ForShare(ctx, s.institution().id)
			_, failed := tx.Institutions.ForShare(ctx, s.recipient())
			if db.Postgres() {
				execute()
			}
			return errors.Join(err, failed)
		}); err != nil {
			t.Fatal(err)
		}
		if !db.Postgres() {
			execute()
		}
	})
}

// signsAhead has the owner of the lab sign agreements in advance.
func (s *scene) signsAhead() {
	s.t.Helper()
	for _, until := range []any{nil, time.Now().UTC().AddDate(0, 6, 0).Format(time.DateOnly)} {
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"signs_ahead_until": until})
	}
}

// askAndSign requests a material and signs the agreement for it; it returns the path of the request.
func (s *scene) askAndSign(material int64) string {
	s.t.Helper()
	return fmt.Sprintf("/material-requests/%d", s.requester().want(201, "POST", "/material-requests",
		obj{"material": material, "quantity": "1 vial", "sign_agreement": true}).id())
}

// lettersOf lists the letters of the requester, the newest first.
func (s *scene) lettersOf() []any {
	s.t.Helper()
	return s.requester().want(200, "GET", "/agreements", nil).List
}
