package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/signing/signingtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestPasskey_IsRegisteredOnceAndKeptAfterItIsRemoved(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, pass := erasing(t, db)
		device := signingtest.New(t)
		body := s.passkey(s.requester(), device)
		made := s.requester().want(201, "POST", s.user("/passkeys"), body)
		if made.Body["public_key"] != signingtest.Encoded(device.Public) || made.Body["removed_at"] != nil ||
			made.Body["identified"] == "" {
			t.Errorf("made %s", made.Raw)
		}
		s.requester().want(409, "POST", s.user("/passkeys"), body)                                              // its challenge was used
		s.requester().want(409, "POST", s.user("/passkeys"), s.passkey(s.requester(), device))                  // it is registered
		s.member.want(409, "POST", fmt.Sprintf("/users/%s/passkeys", s.member.ID), s.passkey(s.member, device)) // by somebody else too
		one := fmt.Sprintf("%s/%d", s.user("/passkeys"), made.id())
		s.requester().want(204, "DELETE", one, nil)
		s.requester().want(404, "DELETE", one, nil)
		list := s.requester().want(200, "GET", s.user("/passkeys"), nil).List
		if kept, ok := list[0].(map[string]any); !ok || len(list) != 1 || kept["removed_at"] == nil ||
			kept["public_key"] != signingtest.Encoded(device.Public) {
			t.Errorf("kept %v", list)
		}
		late := s.passkey(s.requester(), signingtest.New(t))
		pass(6 * time.Minute)
		s.requester().want(409, "POST", s.user("/passkeys"), late)
		pass(10 * time.Minute)
		s.requester().want(403, "POST", s.user("/passkeys/options"), nil) // after signing in, not any time
	})
}

// TestPasskey_IsAnnouncedToItsUser, whoever added or removed it.
func TestPasskey_IsAnnouncedToItsUser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, _ := erasing(t, db)
		add := func() string {
			made := s.requester().want(201, "POST", s.user("/passkeys"), s.passkey(s.requester(), signingtest.New(t)))
			return fmt.Sprintf("%s/%d", s.user("/passkeys"), made.id())
		}
		own, others := add(), add()
		s.requester().want(204, "DELETE", own, nil)
		s.people["admin"].want(204, "DELETE", others, nil)
		var kinds, texts []string
		for _, n := range s.requester().want(200, "GET", s.user("/notifications"), nil).List {
			n := n.(map[string]any)
			if kind := fmt.Sprint(n["kind"]); strings.HasPrefix(kind, "passkey_") {
				kinds, texts = append(kinds, kind), append(texts, fmt.Sprint(n["text"]))
			}
		}
		if got := strings.Join(kinds, " "); got != "passkey_removed passkey_removed passkey_added passkey_added" {
			t.Errorf("notified of %q", got)
		} else if !strings.HasPrefix(texts[1], "You removed") || strings.HasPrefix(texts[0], "You") {
			t.Errorf("who did it: %q", texts)
		}
	})
}

func TestPasskey_AnswersTheChallengeOfItsOwnUser(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		stolen := s.passkey(s.member, signingtest.New(t))
		s.requester().refused(400, "INVALID_INPUT", "POST", s.user("/passkeys"), stolen)
		weak := signingtest.New(t)
		weak.Flags = 1
		s.requester().refused(400, "INVALID_INPUT", "POST", s.user("/passkeys"), s.passkey(s.requester(), weak))
	})
}

func TestPasskey_LosesItsNameWithTheAccountAndKeepsItsKey(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, "members")
		s.newPasskey()
		s.requester().want(204, "DELETE", s.user(""), nil)
		var name, identified, key string
		var removed bool
		if err := s.sql.QueryRowContext(t.Context(), "SELECT name, identified, public_key, removed_at IS NOT NULL FROM "+
			"passkeys").Scan(&name, &identified, &key, &removed); err != nil || name+identified != "" || key == "" || !removed {
			t.Errorf("%q %q %q %v: %v", name, identified, key, removed, err)
		}
	})
}
