package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestSignature_TheLastOneExecutesTheLetter for all of its requests at once.
func TestSignature_TheLastOneExecutesTheLetter(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		var ids []int64
		for range 27 {
			ids = append(ids, s.newPlasmid())
		}
		path := s.sendLetter(ids...)
		signed := func(p *testPerson, role string) answer {
			t.Helper()
			return p.want(201, "POST", path+"/signatures", s.signature(path, role))
		}
		signed(s.requester(), "RECIPIENT_SCIENTIST")
		signed(s.owner, "PROVIDER_SCIENTIST")
		got := signed(s.official, "RECIPIENT_OFFICIAL")
		if got.of("state") != "SENT" || fmt.Sprint(got.of("unsigned")) != "[PROVIDER_OFFICIAL]" {
			t.Errorf("before the last: %v, %v", got.of("state"), got.of("unsigned"))
		}
		body := s.signature(path, "PROVIDER_OFFICIAL")
		before := db.Queries()
		got = s.owner.want(201, "POST", path+"/signatures", body)
		if n := db.Queries() - before; n > 27*12+100 {
			t.Errorf("%d statements for 27 requests", n)
		}
		if got.of("state") != "EXECUTED" || len(got.of("signatures").([]any)) != 4 || got.of("ended_at") == nil {
			t.Errorf("after the last: %s", got.Raw)
		}
		var document float64
		for _, id := range ids {
			r := s.requester().want(200, "GET", fmt.Sprintf("/material-requests/%d", id), nil)
			for _, need := range r.of("requirements").([]any) {
				if n := need.(obj2); strings.HasSuffix(n["name"].(string), "mta") && n["state"] != "done" {
					t.Errorf("request %d: %v", id, n)
				}
			}
			document = r.of("executed_mta_attachment").(float64)
			var kinds []string
			for _, e := range s.member.want(200, "GET", fmt.Sprintf("/material-requests/%d/events", id), nil).List {
				kinds = append(kinds, e.(obj2)["kind"].(string))
			}
			if slices.Index(kinds, "agreement_executed") != 0 || len(kinds) != 2 {
				t.Errorf("request %d: %v", id, kinds)
			}
		}
		file := s.requester().want(200, "GET", fmt.Sprintf("/attachments/%d", int64(document)), nil)
		s.requester().want(200, "GET", strings.TrimPrefix(file.of("download_url").(string), "/v1"), nil)
		s.requester().refused(409, "CONFLICT", "POST", path+"/withdraw", obj{})
		s.requester().want(200, "PATCH", fmt.Sprintf("/material-requests/%d", ids[0]), obj{"status": "CANCELLED"})
		if got := s.requester().want(200, "GET", path, nil); got.of("version") != 1.0 {
			t.Errorf("an executed letter got version %v", got.of("version"))
		}
	})
}

// TestInbox_HasWhatWaitsForTheCallersSignature, and nothing else: not before it is sent, nor after they signed, nor for
// who signs in the other direction.
func TestInbox_HasWhatWaitsForTheCallersSignature(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		q := s.newPlasmid()
		s.recipient()
		waits := func(when string, requester, owner, official int) {
			t.Helper()
			for p, want := range map[*testPerson]int{s.requester(): requester, s.owner: owner, s.official: official,
				s.member: 0, s.people["stranger"]: 0, s.people["admin"]: 0} {
				if got := p.want(200, "GET", "/agreements/inbox", nil).List; len(got) != want {
					t.Errorf("%s: %d letters wait for %s, want %d", when, len(got), p.name, want)
				}
			}
		}
		path := s.sendLetter(q)
		s.newLetter()                // a draft
		form := s.newLetter("/send") // one that its requester alone signs
		s.requester().want(200, "POST", form+"/withdraw", obj{})
		waits("sent", 1, 1, 1)
		sign := func(p *testPerson, role string) {
			t.Helper()
			p.want(201, "POST", path+"/signatures", s.signature(path, role))
		}
		sign(s.requester(), "RECIPIENT_SCIENTIST")
		waits("signed by the requester", 0, 1, 1)
		sign(s.owner, "PROVIDER_OFFICIAL")
		waits("signed for the provider", 0, 1, 1)
		sign(s.owner, "PROVIDER_SCIENTIST")
		waits("signed by the owner in both roles", 0, 0, 1)
		s.requester().want(200, "POST", path+"/versions", obj{"version": 1, "fields": obj{"provider_name": "U"}})
		waits("a draft again", 0, 0, 0)
		s.requester().want(200, "POST", path+"/send", nil)
		waits("sent again", 1, 1, 1)
		sign(s.official, "RECIPIENT_OFFICIAL")
		waits("signed for the recipient", 1, 1, 0)
	})
}

// TestSignature_ThatDoesNotCountChangesNothing: of another version, twice, or without authority.
func TestSignature_ThatDoesNotCountChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := s.sendLetter(s.newPlasmid())
		draft := s.newLetter()
		s.requester().want(201, "POST", path+"/signatures", s.signature(path, "RECIPIENT_SCIENTIST"))
		as := func(role string, more obj) obj {
			body := s.signature(path, role)
			for name, value := range more {
				body[name] = value
			}
			return body
		}
		refused := func(p *testPerson, status int, code, path string, body obj) {
			t.Helper()
			s.unchanged(fmt.Sprint(code, body), func() { p.refused(status, code, "POST", path+"/signatures", body) })
		}
		refused(s.member, 403, "NO_AUTHORITY", path, as("PROVIDER_OFFICIAL", nil))
		refused(s.official, 403, "NO_AUTHORITY", path, as("PROVIDER_OFFICIAL", nil))
		refused(s.owner, 403, "NO_AUTHORITY", path, as("RECIPIENT_OFFICIAL", nil))
		refused(s.member, 403, "NO_AUTHORITY", path, as("PROVIDER_SCIENTIST", nil))
		refused(s.people["stranger"], 404, "NOT_FOUND", path, as("PROVIDER_OFFICIAL", nil))
		refused(s.owner, 409, "STALE_VERSION", path, as("PROVIDER_OFFICIAL", obj{"version": 2}))
		refused(s.owner, 409, "STALE_VERSION", path, as("PROVIDER_OFFICIAL", obj{"sha256": strings.Repeat("0", 64)}))
		refused(s.requester(), 409, "CONFLICT", path, as("RECIPIENT_SCIENTIST", nil))
		refused(s.requester(), 409, "CONFLICT", draft, s.signature(draft, "RECIPIENT_SCIENTIST"))
		s.institutionIs("least_level", "PASSKEY")
		refused(s.owner, 403, "LEVEL_TOO_LOW", path, as("PROVIDER_OFFICIAL", nil))
		s.institutionIs("least_level", "SIGNED_IN")
		s.institutionIs("kind", "FOR_PROFIT")
		refused(s.owner, 409, "NOT_IN_FORCE", path, as("PROVIDER_OFFICIAL", nil))
		s.institutionIs("kind", "NONPROFIT")
		s.institutionIs("withdrawn", "2026-01-01")
		refused(s.owner, 409, "NOT_IN_FORCE", path, as("PROVIDER_OFFICIAL", nil))
	})
}

// institutionIs sets a field of the institution of the lab.
func (s *scene) institutionIs(column, value string) {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE institutions SET "+column+" = $1 WHERE id = $2", value,
		s.institution().id); err != nil {
		s.t.Fatal(err)
	}
}

// TestSignature_ExecutesNothingForSomebodyWhoSaysThemselvesWhereTheyWork: that has to be known from others.
func TestSignature_ExecutesNothingForSomebodyWhoSaysThemselvesWhereTheyWork(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := s.newLetter("/send")
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE affiliations SET source = 'SELF', confirmed = "+
			"FALSE"); err != nil {
			t.Fatal(err)
		}
		s.unchanged("by their own word", func() {
			s.requester().refused(409, "NOT_IN_FORCE", "POST", path+"/signatures",
				s.signature(path, "RECIPIENT_SCIENTIST"))
		})
	})
}

// TestSignature_OfSeveralAtOnceOneCounts, and the letter is executed once.
func TestSignature_OfSeveralAtOnceOneCounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := s.newLetter("/send")
		body := s.signature(path, "RECIPIENT_SCIENTIST")
		answers := make([]answer, 6)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() { answers[i] = s.requester().call("POST", path+"/signatures", body) })
		}
		group.Wait()
		count := map[int]int{}
		for _, a := range answers {
			count[a.Status]++
		}
		if count[201] != 1 || count[409] != len(answers)-1 {
			t.Errorf("answers by status: %v", count)
		}
		if got := s.requester().want(200, "GET", path, nil); got.of("state") != "EXECUTED" ||
			len(got.of("signatures").([]any)) != 1 {
			t.Errorf("after all: %s", got.Raw)
		}
	})
}

// TestSignature_OneTouchOfAPasskeySignsManyLetters or, if one of them cannot be signed any more, none.
func TestSignature_OneTouchOfAPasskeySignsManyLetters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		device := s.device(s.requester())
		paths := []string{s.sendLetter(s.newPlasmid()), s.sendLetter(s.newPlasmid(), s.newPlasmid())}
		answer := s.touch(s.requester(), device, "RECIPIENT_SCIENTIST", paths...)
		signed := s.requester().want(201, "POST", s.user("/signatures"), answer)
		if len(signed.of("agreements").([]any)) != 2 {
			t.Errorf("signed %s", signed.Raw)
		}
		for _, path := range paths {
			is := s.requester().want(200, "GET", path, nil)
			made := is.of("signatures").([]any)[0].(obj2)
			evidence := made["evidence"].(obj2)
			if made["level"] != "PASSKEY" || !strings.Contains(evidence["statement"].(string), is.of("sha256").(string)) {
				t.Errorf("%s: %v", path, made)
			}
		}
		s.unchanged("an answer once more", func() {
			s.requester().refused(409, "CONFLICT", "POST", s.user("/signatures"), answer)
		})
		s.institutionIs("least_level", "PASSKEY")
		officer := s.device(s.owner)
		as := fmt.Sprintf("/users/%s/signatures", s.owner.ID)
		s.owner.want(201, "POST", as, s.touch(s.owner, officer, "PROVIDER_OFFICIAL", paths...))
		s.institutionIs("least_level", "QUALIFIED")
		s.owner.refused(403, "LEVEL_TOO_LOW", "POST", as+"/options", obj{"role": "PROVIDER_SCIENTIST",
			"agreements": []int64{s.requester().want(200, "GET", paths[0], nil).id()}})
		s.institutionIs("least_level", "MAILED_LINK")

		third, fourth := s.sendLetter(s.newPlasmid()), s.sendLetter(s.newPlasmid())
		stale := s.touch(s.requester(), device, "RECIPIENT_SCIENTIST", third, fourth)
		s.requester().want(200, "POST", fourth+"/versions", obj{"version": 1, "fields": obj{"provider_name": "U"}})
		s.requester().want(200, "POST", fourth+"/send", nil)
		s.unchanged("one of two has a newer version", func() {
			s.requester().refused(409, "STALE_VERSION", "POST", s.user("/signatures"), stale)
		})
		ask := obj{"role": "RECIPIENT_SCIENTIST", "agreements": []int64{s.requester().want(200, "GET", third, nil).id()}}
		stranger := s.people["stranger"]
		s.device(stranger)
		stranger.refused(400, "INVALID_INPUT", "POST", fmt.Sprintf("/users/%s/signatures/options", stranger.ID), ask)
		stolen := s.touch(s.requester(), device, "RECIPIENT_SCIENTIST", third)
		stranger.refused(400, "INVALID_INPUT", "POST", fmt.Sprintf("/users/%s/signatures", stranger.ID), stolen)
		s.requester().want(204, "DELETE", s.user(fmt.Sprintf("/passkeys/%v", s.requester().want(200, "GET",
			s.user("/passkeys"), nil).List[0].(obj2)["id"])), nil)
		s.unchanged("with a passkey that was removed", func() {
			s.requester().refused(400, "INVALID_INPUT", "POST", s.user("/signatures"), stolen)
		})
		s.requester().refused(409, "CONFLICT", "POST", s.user("/signatures/options"), ask) // without a passkey
		s.recordHolds()
	})
}
