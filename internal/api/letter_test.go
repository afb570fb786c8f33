package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// of returns a member of an answer as JSON has it.
func (a answer) of(name string) any { return a.Body[name] }

// requestsOf are the ids of the requests of a letter.
func requestsOf(a answer) (ids []int64) {
	for _, id := range a.of("requests").([]any) {
		ids = append(ids, int64(id.(float64)))
	}
	return ids
}

// TestLetter_IsOneForAllRequestsOfARequesterToALab, and a request is in one letter at a time.
func TestLetter_IsOneForAllRequestsOfARequesterToALab(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		var ids []int64
		for range 27 {
			ids = append(ids, s.newProtocol())
		}
		made := s.member.want(201, "POST", "/agreements", s.draft(ids...))
		if !slices.Equal(requestsOf(made), ids) || made.of("state") != "DRAFT" || made.of("version") != 1.0 ||
			made.of("number") != fmt.Sprintf("A-%d", made.id()) {
			t.Errorf("drafted: %s", made.Raw)
		}
		path := fmt.Sprintf("/agreements/%d", made.id())
		second := s.draft(s.newProtocol(), ids[5])
		s.unchanged("a second letter", func() {
			again := s.requester().refused(409, "CONFLICT", "POST", "/agreements", second)
			if again.of("agreement") != float64(made.id()) {
				t.Errorf("which letter it is in: %s", again.Raw)
			}
		})
		for _, p := range []*testPerson{s.requester(), s.member, s.owner, s.people["admin"]} {
			if got := p.want(200, "GET", "/agreements?state=DRAFT", nil).List; len(got) != 1 {
				t.Errorf("%s sees %d letters", p.name, len(got))
			}
		}
		if got := s.people["stranger"].want(200, "GET", "/agreements", nil).List; len(got) != 0 {
			t.Errorf("a stranger sees %d letters", len(got))
		}
		s.requester().want(200, "POST", path+"/send", nil)
		s.requester().want(200, "PATCH", fmt.Sprintf("/material-requests/%d", ids[26]), obj{"status": "CANCELLED"})
		if left := s.requester().want(200, "GET", path, nil); !slices.Equal(requestsOf(left), ids[:26]) ||
			left.of("state") != "SENT" {
			t.Errorf("after one was cancelled: %s", left.Raw)
		}
		s.requester().want(200, "POST", path+"/withdraw", obj{"reason": "Not needed"})
		s.requester().refused(409, "CONFLICT", "POST", path+"/send", nil)
		s.requester().want(201, "POST", "/agreements", s.draft(ids[5]))
	})
}

// TestLetter_HasTheInstitutionsOfItsDay: the confirmed one of the lab, and one of the requester, which differ.
func TestLetter_HasTheInstitutionsOfItsDay(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		id := s.newProtocol()
		refused := func(code string, body obj) {
			t.Helper()
			status := map[string]int{"CONFLICT": 409, "NOT_IN_FORCE": 409, "INVALID_INPUT": 400, "FORBIDDEN": 403}[code]
			s.unchanged(fmt.Sprint(body), func() { s.requester().refused(status, code, "POST", "/agreements", body) })
		}
		refused("CONFLICT", obj{"requests": []int64{id}, "choice": "NONE"}) // the lab has no institution
		other := s.recipient()
		refused("INVALID_INPUT", obj{"requests": []int64{id}, "choice": "NONE"}) // which of two?
		refused("INVALID_INPUT", obj{"requests": []int64{id}, "recipient": 9999})
		refused("INVALID_INPUT", obj{"requests": []int64{9999}, "recipient": other})
		refused("NOT_IN_FORCE", obj{"requests": []int64{id}, "recipient": other, "choice": "NOBODYS"})
		refused("INVALID_INPUT", obj{"requests": []int64{id}, "recipient": other, "choice": "NONE",
			"fields": obj{"materials": "none"}})
		lab := s.institution().id
		refused("CONFLICT", obj{"requests": []int64{id}, "choice": "NONE", "recipient": lab})
		s.people["stranger"].refused(403, "FORBIDDEN", "POST", "/agreements", s.draft(id))
		made := s.requester().want(201, "POST", "/agreements", s.draft(id))
		if made.of("provider") != float64(lab) || made.of("recipient") != float64(other) {
			t.Errorf("between %v and %v, want %d and %d", made.of("provider"), made.of("recipient"), lab, other)
		}
	})
}

// TestLetter_SaysWhichFactsDecide, and why no instrument is valid.
func TestLetter_SaysWhichFactsDecide(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		body := obj{"requests": []int64{s.requester().want(201, "POST", "/material-requests",
			obj{"material": s.newMaterial()}).id()}, "recipient": s.recipient()}
		facts := s.requester().refused(409, "MISSING_FACTS", "POST", "/agreements", body)
		var asked []any
		for _, q := range facts.of("questions").([]any) {
			asked = append(asked, q.(obj2)["fact"])
		}
		if !slices.Contains(asked, any("human_derived")) || !slices.Contains(asked, any("export_class")) {
			t.Errorf("questions: %v", asked)
		}
		body = s.draft(s.newProtocol())
		body["choice"] = "UBMTA_LETTER"
		invalid := s.requester().refused(409, "NOT_IN_FORCE", "POST", "/agreements", body)
		for _, o := range invalid.of("obstacles").([]any) {
			if o.(obj2)["instrument"] != "UBMTA_LETTER" {
				t.Errorf("an obstacle of another than the chosen one: %v", o)
			}
		}
	})
}

// TestLetter_IsChangedByWhoSawItsNewestVersion, and is a draft then.
func TestLetter_IsChangedByWhoSawItsNewestVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := s.newLetter("/send")
		first := s.requester().want(200, "GET", path, nil)
		document := s.member.want(200, "GET", path+"/document", nil)
		if again := s.requester().want(200, "GET", path+"/document", nil); !bytes.Equal(document.Raw, again.Raw) ||
			!bytes.HasPrefix(again.Raw, []byte("%PDF-")) {
			t.Error("the PDF of a version is not the same bytes")
		}
		named := obj{"fields": obj{"provider_name": "The University"}, "version": 1}
		s.unchanged("no version", func() {
			s.member.refused(400, "INVALID_INPUT", "POST", path+"/versions", obj{"fields": obj{}})
			s.member.refused(409, "STALE_VERSION", "POST", path+"/versions", obj{"version": 2})
		})
		s.member.want(200, "POST", path+"/versions", obj{"version": 1}) // nothing differs
		second := s.member.want(200, "POST", path+"/versions", named)
		if second.of("version") != 2.0 || second.of("state") != "DRAFT" || second.of("sha256") == first.of("sha256") ||
			second.of("fields").(obj2)["provider_name"] != "The University" {
			t.Errorf("changed: %s", second.Raw)
		}
		s.requester().refused(409, "STALE_VERSION", "POST", path+"/versions", named)
		versions := s.requester().want(200, "GET", path+"/versions", nil).List
		if len(versions) != 2 || versions[1].(obj2)["sha256"] != first.of("sha256") {
			t.Errorf("versions: %v", versions)
		}
		s.owner.want(200, "POST", path+"/send", nil)
		s.owner.refused(400, "INVALID_INPUT", "POST", path+"/decline", obj{"reason": " "})
		s.owner.want(200, "POST", path+"/decline", obj{"reason": "The name is wrong."})
		s.owner.refused(409, "CONFLICT", "POST", path+"/send", nil)
		third := s.requester().want(200, "POST", path+"/versions", obj{"version": 2, "fields": obj{}})
		if third.of("state") != "DRAFT" || third.of("reason") != "" || third.of("version") != 3.0 {
			t.Errorf("after it was declined: %s", third.Raw)
		}
	})
}

// TestLetter_LosesRequestsThatNeedItNoMore: closed, or with an agreement on paper. The others get a new version.
func TestLetter_LosesRequestsThatNeedItNoMore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		ids := []int64{s.newProtocol(), s.newProtocol(), s.newProtocol()}
		path := fmt.Sprintf("/agreements/%d", s.requester().want(201, "POST", "/agreements", s.draft(ids...)).id())
		s.requester().want(200, "POST", path+"/send", nil)
		request := func(n int) string { return fmt.Sprintf("/material-requests/%d", ids[n]) }
		left := func(state string, version float64, want ...int64) {
			t.Helper()
			got := s.requester().want(200, "GET", path, nil)
			if got.of("state") != state || got.of("version") != version || !slices.Equal(requestsOf(got), want) {
				t.Errorf("%v, version %v of %v; want %s, %v of %v", got.of("state"), got.of("version"),
					got.of("requests"), state, version, want)
			}
		}
		s.requester().want(200, "PATCH", request(1), obj{"status": "CANCELLED"})
		left("SENT", 2, ids[0], ids[2])
		paper := s.member.want(201, "POST", "/attachments", obj{"filename": "executed.pdf"}).id()
		s.member.want(200, "PATCH", request(0), obj{"executed_mta_attachment": paper})
		left("SENT", 3, ids[2])
		s.people["admin"].want(204, "DELETE", request(2), nil)
		left("WITHDRAWN", 3, ids[2])
		s.requester().refused(409, "CONFLICT", "POST", "/agreements", s.draft(ids[0]))
	})
}

// TestLetter_ExpiresWhenNobodyChangesIt for half a year; its requests are free then.
func TestLetter_ExpiresWhenNobodyChangesIt(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		idle, fresh := s.newLetter("/send"), s.newLetter()
		var id int64
		if _, err := fmt.Sscanf(idle, "/agreements/%d", &id); err != nil {
			t.Fatal(err)
		}
		s.past("agreements", id, 181*24*time.Hour, "updated_at")
		if err := db.Tx(t.Context(), letters.ExpireIdle); err != nil {
			t.Fatal(err)
		}
		gone := s.requester().want(200, "GET", idle, nil)
		if gone.of("state") != "EXPIRED" || gone.of("ended_at") == nil {
			t.Errorf("after half a year: %s", gone.Raw)
		}
		s.requester().want(201, "POST", "/agreements", s.draft(requestsOf(gone)...))
		if got := s.requester().want(200, "GET", fresh, nil); got.of("state") != "DRAFT" {
			t.Errorf("a new one: %v", got.of("state"))
		}
	})
}
