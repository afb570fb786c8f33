package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// noted are the events that an admin finds with some filters, each as "actor action object refused times", the oldest
// first.
func (s *scene) noted(filters ...string) (list []string) {
	s.t.Helper()
	q := url.Values{"limit": {"200"}}
	for i := 0; i < len(filters); i += 2 {
		q.Set(filters[i], filters[i+1])
	}
	for _, e := range s.people["admin"].want(200, "GET", "/audit-events?"+q.Encode(), nil).List {
		e := e.(map[string]any)
		actor := "nobody"
		if by, ok := e["actor"].(map[string]any); ok {
			actor = by["first_name"].(string)
		}
		object := e["object"].(string)
		if i := strings.LastIndexByte(object, ' '); i > 0 {
			object = object[:i] // without the id
		}
		text := fmt.Sprint(actor, " ", e["action"], " ", object)
		if e["refused"] != nil {
			text += fmt.Sprint(" ", e["refused"], " ", e["times"])
		}
		list = append(list, text)
	}
	slices.Reverse(list)
	return list
}

func TestAudit_RecordsChangesOfTokensSettingsAndDocuments(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		p := s.person("newcomer")
		user := "/users/" + p.ID.String()
		token := p.want(201, "POST", user+"/tokens", obj{"name": "robot", "scopes": []any{"read"}}).id()
		p.want(204, "DELETE", fmt.Sprintf("%s/tokens/%d", user, token), nil)
		settings := p.want(200, "GET", "/organization-user-settings", nil).List[0].(map[string]any)["id"]
		p.want(200, "PATCH", fmt.Sprintf("/organization-user-settings/%v", settings), obj{"reminder_notif": false})
		p.want(200, "PATCH", user+"/mail-settings", obj{"delivery": "DAILY"})
		file := p.upload("a.pdf", pdf, obj{"owned_by_org": p.Lab})
		p.want(200, "PATCH", fmt.Sprintf("/attachments/%d", file.id()), obj{"description": "B"})
		p.want(200, "PATCH", fmt.Sprintf("/attachments/%d", file.id()), obj{"description": "B"}) // no change
		if a := p.send("PUT", file.Body["download_url"].(string), "application/pdf",
			strings.NewReader(string(pdf)+"\n")); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Raw)
		}
		p.want(204, "DELETE", fmt.Sprintf("/attachments/%d", file.id()), nil)
		p.want(204, "POST", "/logout", nil)
		want := []string{"newcomer organization.create organization", "newcomer login user",
			"newcomer token.create token", "newcomer token.revoke token",
			"newcomer settings.update settings", "newcomer mail-settings.write mail settings of",
			"newcomer attachment.create attachment",
			"newcomer attachment.update attachment", "newcomer attachment.replace attachment",
			"newcomer attachment.delete attachment", "newcomer logout user"}
		if got := s.noted("actor", p.ID.String()); !slices.Equal(got, want) {
			t.Errorf("noted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		s.member.want(200, "POST",
			fmt.Sprintf("/material-requests/%d/documents/requester_signed_mta/accept", s.request), nil)
		if got := s.noted("actor", s.member.ID.String(), "action", "request.update"); !slices.Equal(got,
			[]string{"member request.update request"}) {
			t.Errorf("a document accepted: %v", got)
		}
	})
}

func TestAudit_CountsRefusalsAndKeepsOneAnHour(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		stranger, path := s.people["stranger"], fmt.Sprintf("/organizations/%d", s.id)
		before := s.rows()
		for range 40 {
			stranger.refused(403, "FORBIDDEN", "PATCH", path, obj{"name": "Mine"})
			s.anonymous().refused(401, "NOT_AUTHENTICATED", "POST", path+"/join-requests", nil)
			(&testPerson{w: s.world, Token: "alq_unknown"}).refused(401, "NOT_AUTHENTICATED", "GET", "/materials", nil)
		}
		if diff := grew(before, s.rows()); diff != "" {
			t.Errorf("refusing wrote %s", diff)
		}
		s.anonymous().refused(400, "INVALID_CODE", "POST", "/login", obj{"code": "none", "origin_url": origin})
		want := []string{"nobody join.ask " + path + "/join-requests NOT_AUTHENTICATED 40",
			"nobody login somebody INVALID_CODE 1",
			"nobody material.read /materials NOT_AUTHENTICATED 40", "stranger organization.update " + path +
				" FORBIDDEN 40"}
		if got := slices.Sorted(slices.Values(s.noted("refused", "true"))); !slices.Equal(got, want) {
			t.Errorf("refused\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		stranger.refused(403, "FORBIDDEN", "PATCH", path, obj{"name": "Mine"})
		if got := s.noted("refused", "true", "actor", stranger.ID.String()); len(got) != 1 ||
			!strings.HasSuffix(got[0], " 41") {
			t.Errorf("once more within the hour: %v", got)
		}
		if got := s.noted("refused", "false", "action", "organization.update"); len(got) != 1 { // that somebody left
			t.Errorf("what was done: %v", got)
		}
		day := func(d int) string { return db.Read().Now.AddDate(0, 0, d).Format(time.DateOnly) }
		for _, c := range []struct {
			from, to string
			some     bool
		}{{day(0), day(0), true}, {day(-1), day(1), true}, {day(1), day(2), false}, {day(-2), day(-1), false}} {
			if got := s.noted("from", c.from, "to", c.to); len(got) > 0 != c.some {
				t.Errorf("from %s to %s: %d events", c.from, c.to, len(got))
			}
		}
		s.people["admin"].refused(400, "INVALID_INPUT", "GET", "/audit-events?from=yesterday", nil)
	})
}
