package api_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// erasing is a scene whose clock the test sets.
func erasing(t *testing.T, db *store.DB) (*scene, func(time.Duration)) {
	var ahead atomic.Int64
	db.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	return newScene(t, db, exchange.AccessMembers), func(d time.Duration) { ahead.Add(int64(d)) }
}

// TestErasure_LeavesNoWordOfThePerson searches every column of every table for what a requester and a member of a lab
// wrote, and everything still verifies.
func TestErasure_LeavesNoWordOfThePerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, pass := erasing(t, db)
		p := s.person("quillfeather-id")
		user := "/users/" + p.ID.String()
		p.want(200, "PATCH", user, obj{"first_name": "Xaviera", "last_name": "Quillfeather",
			"email": "xaviera@secret.example"})
		id := p.want(201, "POST", "/material-requests", obj{"material": s.material, "note": "Quillfeather needs it"}).id()
		request := fmt.Sprintf("/material-requests/%d", id)
		p.want(201, "POST", request+"/messages", obj{"text": "Greetings, Xaviera Quillfeather"})
		s.owner.want(201, "POST", request+"/messages", obj{"text": "Words of the lab stay"})
		p.want(200, "PATCH", request, obj{"irb_attachment": p.upload("irb-quillfeather.pdf", pdf, nil).id()})
		p.upload("quillfeather.pdf", pdf, nil)
		s.reported(p, request, "Quillfeather found it thawed")
		// and as a member of a lab, who answers somebody else
		invited := s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/invitations", s.id),
			obj{"registry_id": "id-quillfeather-id"}).id()
		p.want(200, "POST", fmt.Sprintf("%s/invitations/%d/accept", user, invited), nil)
		p.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", s.request),
			obj{"status": "REJECTED", "rejection_reason": "Quillfeather says no"})
		if found := s.traces("quillfeather"); len(found) < 10 {
			t.Fatalf("only in %d places before: %s", len(found), found)
		}

		if a := p.want(200, "GET", user+"/erasure", nil); a.Body["state"] != "NONE" {
			t.Errorf("before: %s", a.Raw)
		}
		if a := p.want(200, "POST", user+"/erasure", obj{}); a.Body["state"] != "PENDING" {
			t.Errorf("asked: %s", a.Raw)
		}
		pass(person.ErasureGrace - time.Hour)
		s.erase(0)
		p = s.person("quillfeather-id") // the sessions of before are over
		p.want(200, "GET", user, nil)
		pass(2 * time.Hour)
		s.erase(1)
		p.refused(401, "NOT_AUTHENTICATED", "GET", user, nil)
		for _, place := range s.traces("xaviera", "quillfeather") {
			t.Errorf("left in %s", place)
		}
		if found := s.traces("Words of the lab stay"); len(found) == 0 {
			t.Error("what the lab wrote is gone")
		}
		admin := s.admin()
		if a := admin.want(200, "GET", request+"/events", nil); !strings.Contains(string(a.Raw), "Words of the lab stay") {
			t.Errorf("the events are %s", a.Raw)
		}
		if r, err := s.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true}); err != nil || r.FaultCount > 0 {
			t.Errorf("Verify = %+v, %v", r, err)
		}
		if a := admin.want(200, "GET", user+"/erasure", nil); a.Body["state"] != "DONE" || a.Body["done_at"] == nil {
			t.Errorf("after: %s", a.Raw)
		}
		admin.refused(409, "CONFLICT", "DELETE", user+"/erasure", nil)
		s.erase(0)

		// what was altered afterwards is found: of what was erased, and what looks as if it were
		for _, tc := range []struct{ change, want string }{
			{"UPDATE request_events SET kind = 'snoozed' WHERE detail LIKE '%\"erased\":true%' AND request_id = " +
				fmt.Sprint(s.request), fmt.Sprintf("request %d: event", s.request)},
			{"UPDATE request_events SET detail = '{\"erased\":true}' WHERE detail LIKE '%Words of the lab%'",
				fmt.Sprintf("request %d: event", id)},
			{fmt.Sprint("DELETE FROM erased_events WHERE request_id = ", s.request),
				fmt.Sprintf("request/%d", s.request)},
			{fmt.Sprint("INSERT INTO erased_events (request_id, seq, hash_left) SELECT request_id, 1, 'x' FROM "+
				"request_events WHERE seq = 1 AND request_id = ", id), fmt.Sprintf("request/%d", id)},
		} {
			before := s.faults()
			if _, err := s.sql.ExecContext(t.Context(), tc.change); err != nil {
				t.Fatal(err)
			}
			if got := s.faults(); strings.Contains(before, tc.want) || !strings.Contains(got, tc.want) {
				t.Errorf("%s: %q, before %q", tc.change, got, before)
			}
		}
	})
}

// faults are those that a check of the record finds.
func (s *scene) faults() string {
	s.t.Helper()
	r, err := s.app.Evidence.Verify(s.t.Context(), evidence.Verification{})
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(r.Faults, "\n")
}

// reported has a requester get a material, report a problem with it, and the lab resolve that.
func (s *scene) reported(p *testPerson, request, text string) {
	s.t.Helper()
	s.owner.want(200, "PATCH", request, obj{"status": "APPROVED"})
	s.owner.want(200, "PATCH", request, obj{"status": "FULFILLED", "override_reason": "in person"})
	issue := p.want(201, "POST", request+"/issues", obj{"text": text}).id()
	s.owner.want(200, "POST", fmt.Sprintf("%s/issues/%d/close", request, issue), nil)
}

// erase runs the job that erases people, who are n.
func (s *scene) erase(n int) {
	s.t.Helper()
	if got, err := s.app.Accounts.EraseDue(context.Background()); err != nil || got != n {
		s.t.Errorf("%d people were erased, want %d: %v", got, n, err)
	}
}

func TestErasure_IsAskedForAndTakenBack(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, pass := erasing(t, db)
		p, admin := s.person("somebody"), s.people["admin"]
		path := "/users/" + p.ID.String() + "/erasure"
		s.requester().refused(403, "FORBIDDEN", "POST", path, obj{})
		admin.refused(400, "INVALID_INPUT", "POST", path, obj{})
		admin.refused(400, "INVALID_INPUT", "POST", path, obj{"reason": strings.Repeat("x", 5000)})
		asked := admin.want(200, "POST", path, obj{"reason": "They asked by letter"})
		if asked.Body["state"] != "PENDING" || asked.Body["reason"] != "They asked by letter" {
			t.Errorf("asked: %s", asked.Raw)
		}
		if again := admin.want(200, "POST", path, obj{"reason": "again"}); again.Body["due_at"] != asked.Body["due_at"] {
			t.Errorf("asked again: %s", again.Raw)
		}
		p.want(204, "DELETE", path, nil)
		p.want(204, "DELETE", path, nil)
		if a := p.want(200, "GET", path, nil); a.Body["state"] != "NONE" || a.Body["asked_at"] != nil {
			t.Errorf("taken back: %s", a.Raw)
		}
		pass(person.FreshSignIn + time.Minute)
		p.refused(403, "FORBIDDEN", "POST", path, obj{})
		pass(2 * person.ErasureGrace)
		s.erase(0)
		admin = s.admin()

		// an owner of a lab with others is told what to do first
		owner := "/users/" + s.owner.ID.String() + "/erasure"
		if a := admin.refused(409, "CONFLICT", "POST", owner, obj{"reason": "They asked"}); a.Body["organizations"] == nil {
			t.Errorf("%s", a.Raw)
		}
		if a := admin.want(200, "GET", owner, nil); a.Body["first"] == "" {
			t.Errorf("%s", a.Raw)
		}
	})
}

// TestErasure_OfTheListIsDoneAgain: who was erased after a backup was taken, and is there again after it was restored.
func TestErasure_OfTheListIsDoneAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, pass := erasing(t, db)
		s.app.ErasedList = filepath.Join(t.TempDir(), "erased.txt")
		first, back := s.person("first"), s.person("back")
		first.want(200, "POST", "/users/me/erasure", obj{})
		pass(person.ErasureGrace)
		s.erase(1)
		list, err := os.ReadFile(s.app.ErasedList)
		if err != nil || strings.Count(string(list), "\n") != 1 || !strings.Contains(string(list), first.ID.String()) {
			t.Errorf("the list is %q, %v", list, err)
		}
		stranger := uuid.New()
		lines := fmt.Sprintf("%s2026-11-24T10:00:00Z %s\n2026-11-24T10:00:00Z %s\n", list, back.ID, stranger)
		if err := os.WriteFile(s.app.ErasedList, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		s.erase(1)
		s.erase(0)
		if a := s.admin().want(200, "GET", "/users/"+back.ID.String()+"/erasure", nil); a.Body["state"] != "DONE" {
			t.Errorf("%s", a.Raw)
		}
		if again, err := os.ReadFile(s.app.ErasedList); err != nil || string(again) != lines {
			t.Errorf("the list became %q, %v", again, err)
		}
		if err := os.WriteFile(s.app.ErasedList, []byte(lines+"nobody\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.app.Accounts.EraseDue(t.Context()); err == nil || !strings.Contains(err.Error(), "line 4") {
			t.Errorf("a list that is damaged: %v", err)
		}
	})
}

func TestErasure_OneThatFailsKeepsNobodyElseWaiting(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, pass := erasing(t, db)
		s.app.ErasedList = filepath.Join(t.TempDir(), "erased.txt")
		if err := os.WriteFile(s.app.ErasedList, []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		damaged, sound := s.person("damaged"), s.person("sound")
		damaged.want(201, "POST", "/material-requests", obj{"material": s.material})
		for _, p := range []*testPerson{damaged, sound} {
			p.want(200, "POST", "/users/me/erasure", obj{})
			pass(time.Second) // in this order
		}
		if _, err := s.sql.ExecContext(t.Context(), "UPDATE request_events SET detail = '{' WHERE actor_id = $1",
			damaged.ID); err != nil {
			t.Fatal(err)
		}
		pass(person.ErasureGrace)
		n, err := s.app.Accounts.EraseDue(t.Context())
		if n != 1 || err == nil || !strings.Contains(err.Error(), damaged.ID.String()) ||
			!strings.Contains(err.Error(), "line 1") {
			t.Errorf("%d are erased, %v", n, err)
		}
		admin := s.admin()
		for id, state := range map[uuid.UUID]string{damaged.ID: "PENDING", sound.ID: "DONE"} {
			if a := admin.want(200, "GET", "/users/"+id.String()+"/erasure", nil); a.Body["state"] != state {
				t.Errorf("%s: %s", state, a.Raw)
			}
		}
	})
}

// TestExportAccount_HasWhatThePersonDid, and not what others did who quote them.
func TestExportAccount_HasWhatThePersonDid(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		p := s.person("reporter")
		request := fmt.Sprintf("/material-requests/%d",
			p.want(201, "POST", "/material-requests", obj{"material": s.material}).id())
		p.want(201, "POST", request+"/messages", obj{"text": "Words of theirs"})
		s.reported(p, request, "It was thawed")
		events := unzip(t, p.want(200, "GET", "/users/me/export", nil).Raw)["events.json"]
		if !strings.Contains(events, "Words of theirs") || strings.Contains(events, s.owner.ID.String()) {
			t.Errorf("%s", events)
		}
	})
}

func TestExportAccount_IsReadableAndWhole(t *testing.T) {
	t.Parallel()
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	p := s.requester()
	p.want(200, "PATCH", "/users/"+p.ID.String(), obj{"last_name": "<b>O’Neill</b>"})
	file := p.upload("counts.pdf", pdf, nil).id()
	a := p.want(200, "GET", "/users/"+p.ID.String()+"/export", nil)
	all := unzip(t, a.Raw)
	if page := all["profile.html"]; !strings.Contains(page, "&lt;b&gt;O’Neill&lt;/b&gt;") || !strings.Contains(page, "Last name") {
		t.Errorf("the profile is %s", page)
	}
	if got := all[fmt.Sprintf("files/%d counts.pdf", file)]; got != string(pdf) {
		t.Errorf("the file is %q", got)
	}
	for name := range all {
		base, isJSON := strings.CutSuffix(name, ".json")
		if isJSON && all[base+".html"] == "" {
			t.Errorf("%s has no page for reading", name)
		}
	}
	if len(all) < 20 {
		t.Errorf("only %d files", len(all))
	}
}

// unzip returns the files of a ZIP by name.
func unzip(t testing.TB, raw []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	return files
}
