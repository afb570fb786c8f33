package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestApproval_IsSignedByAnOfficerWithinTheirAuthority also checks that a signed one is only withdrawn.
func TestApproval_IsSignedByAnOfficerWithinTheirAuthority(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		all := s.institution().path + "/approvals"
		made := s.owner.want(201, "POST", all, standing())
		one := fmt.Sprintf("%s/%d", all, made.id())
		sign := func(version int) obj { return obj{"version": version} }
		if got := s.owner.want(200, "PATCH", one, obj{"categories": []string{"PLASMID", "CELL_LINE"}}); got.Body["version"] != 2.0 {
			t.Errorf("after a change: %v", got.Body)
		}
		s.owner.refused(409, "STALE_VERSION", "POST", one+"/sign", sign(1))
		s.people["admin"].refused(403, "NO_AUTHORITY", "POST", one+"/sign", sign(2))
		s.people["admin"].refused(403, "NO_AUTHORITY", "POST", all, standing())
		s.owner.refused(403, "NO_AUTHORITY", "PATCH", one, obj{"largest_bsl": 4}) // they may sign up to 3

		s.people["admin"].want(200, "PATCH", s.institution().path, obj{"least_level": "PASSKEY"})
		s.owner.refused(403, "LEVEL_TOO_LOW", "POST", one+"/sign", sign(2))
		s.signsApprovalWithPasskey(all)
		s.people["admin"].want(200, "PATCH", s.institution().path, obj{"least_level": "SIGNED_IN"})

		signed := s.owner.want(200, "POST", one+"/sign", sign(2))
		today := time.Now().UTC().Format(time.DateOnly)
		texts, _ := signed.Body["texts"].([]any)
		if signed.Body["signed_on"] != today || signed.Body["level"] != "SIGNED_IN" || len(texts) == 0 ||
			signed.Body["officer"] != s.owner.ID.String() || signed.Body["identified"] == "" {
			t.Errorf("signed: %v", signed.Body)
		}
		s.owner.refused(409, "CONFLICT", "POST", one+"/sign", sign(2))
		s.owner.refused(409, "CONFLICT", "PATCH", one, obj{"largest_bsl": 2})
		yesterday := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
		s.owner.refused(400, "INVALID_INPUT", "PATCH", one, obj{"withdrawn_on": yesterday})
		s.owner.want(200, "PATCH", one, obj{"withdrawn_on": today})
		s.owner.refused(409, "CONFLICT", "PATCH", one, obj{"withdrawn_on": nil})
	})
}

func TestApproval_RefusesWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for field, value := range map[string]any{"families": []string{"NOTHING"}, "categories": []string{},
			"members": []any{s.owner.ID}, "counterparties": []int64{999999}, "until": "2050-01-01",
			"direction": "BOTH", "human": "IDENTIFIABLE"} {
			body := standing()
			body[field] = value
			refused := s.owner.want(400, "POST", s.institution().path+"/approvals", body)
			if fields, _ := refused.Body["fields"].(map[string]any); len(fields) != 1 || fields[field] == nil {
				t.Errorf("%s: %v", field, refused.Body)
			}
		}
		body := standing()
		body["members"] = []any{s.requester().ID}
		s.owner.want(201, "POST", s.institution().path+"/approvals", body)
	})
}

// signsApprovalWithPasskey drafts an approval, and has the owner sign it with a passkey, which proves what was signed.
func (s *scene) signsApprovalWithPasskey(all string) answer {
	s.t.Helper()
	one := fmt.Sprintf("%s/%d", all, s.owner.want(201, "POST", all, standing()).id())
	device := s.device(s.owner)
	touched := func(version int) obj {
		s.forgetStatements()
		options, err := json.Marshal(s.owner.want(200, "POST", one+"/sign/options", obj{"version": version}).Body["options"])
		if err != nil {
			s.t.Fatal(err)
		}
		return obj{"version": version, "credential": json.RawMessage(device.Get(s.t, options, publicURL))}
	}
	s.owner.refused(409, "STALE_VERSION", "POST", one+"/sign/options", obj{"version": 2})
	first := touched(1)
	s.owner.refused(400, "INVALID_INPUT", "POST", fmt.Sprintf("/users/%s/signatures", s.owner.ID),
		obj{"credential": first["credential"]})
	s.owner.want(200, "PATCH", one, obj{"largest_bsl": 2})
	first["version"] = 2
	s.owner.refused(400, "INVALID_INPUT", "POST", one+"/sign", first)
	signed := s.owner.want(200, "POST", one+"/sign", touched(2))
	var kept struct {
		Document json.RawMessage
		Passkey  signing.Evidence
	}
	err := json.Unmarshal([]byte(signed.of("evidence").(string)), &kept)
	site, _ := url.Parse(publicURL)
	statement, wrong := kept.Passkey.Verify(device.Passkey(s.owner.ID.String()),
		signing.Site{ID: site.Hostname(), Origin: publicURL})
	if sum := sha256.Sum256(kept.Document); err != nil || wrong != nil || signed.of("level") != "PASSKEY" ||
		!strings.Contains(string(kept.Document), `"largest_bsl":2`) || statement.Documents[0] != (signing.Document{
		Letter: fmt.Sprintf("Standing approval %d", signed.id()), Version: 2, SHA256: hex.EncodeToString(sum[:])}) {
		s.t.Errorf("signed with a passkey: %v %v %v", signed.Body, err, wrong)
	}
	return signed
}
