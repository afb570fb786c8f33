package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// covered has both institutions sign standing approvals for plasmids under the letter of the UBMTA. It returns the paths
// of that of the lab's institution and of the other one.
func (s *scene) covered() (provides, receives string) {
	s.t.Helper()
	recipient := s.recipient()
	s.people["admin"].want(201, "POST", fmt.Sprintf("/institutions/%d/masters", recipient),
		obj{"family": "UBMTA", "version": "1995", "signed_on": "1996-01-01"})
	sign := func(officer *testPerson, institution int64, direction string) string {
		s.t.Helper()
		body := standing()
		body["direction"] = direction
		all := fmt.Sprintf("/institutions/%d/approvals", institution)
		one := fmt.Sprintf("%s/%d", all, officer.want(201, "POST", all, body).id())
		officer.want(200, "POST", one+"/sign", obj{"version": 1})
		return one
	}
	return sign(s.owner, s.institution().id, "PROVIDE"), sign(s.official, recipient, "RECEIVE")
}

// TestCovered_LettersAreSignedAndExecutedWithoutOfficials also checks what the signatures name.
func TestCovered_LettersAreSignedAndExecutedWithoutOfficials(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.covered()
		path := s.sendLetter(s.newPlasmid(), s.newPlasmid())
		sent := s.requester().want(200, "GET", path, nil)
		if sent.of("state") != "SENT" || len(sent.of("signatures").([]any)) != 2 || len(sent.of("approvals").([]any)) != 0 {
			t.Fatalf("when it is sent: %s", sent.Raw)
		}
		for _, one := range sent.of("signatures").([]any) {
			signature := one.(obj2)
			how := signature["evidence"].(obj2)
			if signature["approval"] == nil || signature["approval_version"] != 1.0 || signature["level"] != "SIGNED_IN" ||
				how["approval"] != signature["approval"] || how["officer"] != signature["signer"] ||
				how["approval_evidence"] != nil {
				t.Errorf("signature: %v", signature)
			}
		}
		s.requester().want(201, "POST", path+"/signatures", s.signature(path, "RECIPIENT_SCIENTIST"))
		done := s.owner.want(201, "POST", path+"/signatures", s.signature(path, "PROVIDER_SCIENTIST"))
		if done.of("state") != "EXECUTED" {
			t.Errorf("at the end: %s", done.Raw)
		}
		s.recordHolds()
	})
}

// TestCovered_SignaturesKeepTheProofOfAnApprovalThatAPasskeySigned beside which approval signed.
func TestCovered_SignaturesKeepTheProofOfAnApprovalThatAPasskeySigned(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		provides, _ := s.covered()
		s.owner.want(200, "PATCH", provides, obj{"withdrawn_on": time.Now().UTC().Format(time.DateOnly)})
		signed := s.signsApprovalWithPasskey(s.institution().path + "/approvals")
		sent := s.requester().want(200, "GET", s.sendLetter(s.newPlasmid()), nil)
		for _, one := range sent.of("signatures").([]any) {
			signature := one.(obj2)
			if signature["approval"] != signed.of("id") {
				continue
			}
			kept, _ := json.Marshal(signature["evidence"].(obj2)["approval_evidence"])
			if signature["level"] != "PASSKEY" || !sameJSON(kept, []byte(signed.of("evidence").(string))) {
				t.Errorf("signature: %v", signature)
			}
			return
		}
		t.Errorf("the approval did not sign: %s", sent.Raw)
	})
}

// sameJSON reports whether two texts are the same JSON.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// TestCovered_WhatIsOutsideGoesToPeopleWithTheReason for each way back to them.
func TestCovered_WhatIsOutsideGoesToPeopleWithTheReason(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		provides, receives := s.covered()
		exec := func(statement string) {
			t.Helper()
			if _, err := s.sql.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		today := time.Now().UTC().Format(time.DateOnly)
		for _, c := range []struct{ name, reason, role, before, after string }{
			{"the officer has no authority any more", "OFFICER_MAY_NOT", "PROVIDER_OFFICIAL",
				"UPDATE authorities SET largest_bsl = 0", "UPDATE authorities SET largest_bsl = 2"},
			{"it has ended", "LAPSED", "PROVIDER_OFFICIAL", "UPDATE approvals SET until_day = '" + today + "'",
				"UPDATE approvals SET until_day = '" + time.Now().UTC().AddDate(1, 0, 0).Format(time.DateOnly) + "'"},
			{"the text is another", "TEXT_CHANGED", "RECIPIENT_OFFICIAL", `UPDATE approvals SET texts = '["x"]'`,
				"UPDATE approvals SET texts = (SELECT texts FROM approvals_before b WHERE b.id = approvals.id)"},
			{"it is signed at a lower level than is asked for", "LEVEL_TOO_LOW", "PROVIDER_OFFICIAL",
				"UPDATE institutions SET least_level = 'PASSKEY'", "UPDATE institutions SET least_level = 'SIGNED_IN'"},
			{"only the requester says where they are", "NOT_IN_FORCE", "RECIPIENT_OFFICIAL",
				"UPDATE affiliations SET source = 'SELF'", "UPDATE affiliations SET source = 'OFFICER'"},
		} {
			exec("CREATE TABLE approvals_before AS SELECT id, texts FROM approvals")
			exec(c.before)
			path := s.sendLetter(s.newPlasmid())
			s.goesToPeople(c.name, path, c.role, c.reason)
			exec(c.after)
			exec("DROP TABLE approvals_before")
		}
		unknown := s.newPlasmid()
		exec("UPDATE transfer_facts SET bsl = '' WHERE material_id = (SELECT MAX(material_id) FROM transfer_facts)")
		s.goesToPeople("the biosafety level is unknown", s.sendLetter(unknown), "PROVIDER_OFFICIAL", "BSL_OUTSIDE")

		s.owner.want(200, "PATCH", provides, obj{"withdrawn_on": today})
		path := s.sendLetter(s.newPlasmid())
		s.goesToPeople("it was withdrawn", path, "PROVIDER_OFFICIAL", "WITHDRAWN")
		signed := s.owner.want(201, "POST", path+"/signatures", s.signature(path, "PROVIDER_OFFICIAL"))
		if fmt.Sprint(signed.of("unsigned")) != "[PROVIDER_SCIENTIST RECIPIENT_SCIENTIST]" {
			t.Errorf("the other approval still holds: %v", signed.of("unsigned"))
		}
		s.official.want(200, "PATCH", receives, obj{"withdrawn_on": today})
	})
}

// goesToPeople checks that no standing approval signed a letter in a role, and why.
func (s *scene) goesToPeople(name, path, role, reason string) {
	s.t.Helper()
	is := s.requester().want(200, "GET", path, nil)
	for _, one := range is.of("approvals").([]any) {
		if of := one.(obj2); of["role"] == role {
			for _, why := range of["why"].([]any) {
				if why.(obj2)["reason"] == reason && why.(obj2)["text"] != "" {
					return
				}
			}
		}
	}
	s.t.Errorf("%s: %s", name, is.Raw)
}
