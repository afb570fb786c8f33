package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/migration"
	"aliquot/internal/store/storetest"
)

// traces are the places, as table.column, where one of some texts stands in the database.
func (s *scene) traces(texts ...string) (found []string) {
	s.t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if s.db.Postgres() {
		query = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
	}
	for _, table := range s.query(query) {
		name := fmt.Sprint(table["name"])
		for _, row := range s.query("SELECT * FROM " + name) {
			if texts, ok := row["texts"].(string); ok && name == "chain_events" {
				delete(row, "texts")
				var fields map[string]any
				if err := json.Unmarshal([]byte(texts), &fields); err != nil {
					s.t.Fatal(err)
				}
				for field, value := range fields {
					row["texts/"+field] = value
				}
			}
			for column, value := range row {
				for _, text := range texts {
					if strings.Contains(strings.ToLower(fmt.Sprint(value)), strings.ToLower(text)) {
						found = append(found, fmt.Sprintf("%s.%s: %s in %.600v", name, column, text, value))
					}
				}
			}
		}
	}
	return found
}

// query reads the rows of a query by the names of its columns.
func (s *scene) query(query string) (list []map[string]any) {
	s.t.Helper()
	rows, err := s.sql.QueryContext(s.t.Context(), query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		err = rows.Scan(places...)
		row := map[string]any{}
		for i, value := range values {
			if b, ok := value.([]byte); ok {
				value = string(b)
			}
			row[columns[i]] = value
		}
		list = append(list, row)
	}
	if err := errors.Join(err, rows.Err()); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return list
}

// keptWords are the columns that may hold words of a person whose account is closed, and why.
var keptWords = map[string]string{
	"request_events.detail": "what people wrote in a request is part of the record of both sides, and goes " +
		"with its new format",
	"chain_events.texts/event.detail": "the same",
	"chain_events.texts/set.filename": "see attachments.filename",
	"request_words.words":             "by which that is found (PostgreSQL)",
	"request_words_data.block":        "the same (SQLite)",
	"attachments.filename":            "documents that a request holds keep their names",
	"attachments.filename_sort":       "the same",
	"user_words_data.block":           "SQLite drops the words of deleted rows when it merges; no search reads them",
	"organization_words_data.block":   "the same",
	"material_words_data.block":       "the same",
}

// TestCloseAccount_LeavesNothingOfThePersonAlone searches every column of every table for what was known of the person.
func TestCloseAccount_LeavesNothingOfThePersonAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		p, stranger, admin := s.person("quillfeather-id"), s.people["stranger"], s.people["admin"]
		user, lab := "/users/"+p.ID.String(), fmt.Sprintf("/organizations/%d", s.id)
		p.want(200, "PATCH", user,
			obj{"first_name": "Xaviera", "last_name": "Quillfeather", "email": "xaviera@secret.example"})
		own := fmt.Sprintf("/organizations/%d", p.Lab)
		p.want(200, "PATCH", own, obj{"name": "Quillfeather lab", "description": "Of Xaviera"})
		p.want(201, "POST", "/shipping-requirements",
			obj{"organization": p.Lab, "needs_payment": true, "accepted_payment_details": "FedEx 99887766"})
		p.want(201, "POST", own+"/webhooks", obj{"url": "https://quillfeather.example/"})
		mine := p.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "Mine", "organization_id": p.Lab}).id()
		home := address("Xaviera Quillfeather")
		home["address_line_1"] = "7 Hidden Lane"
		at := p.want(200, "POST", user+"/addresses", home).id()
		s.owner.want(201, "POST", lab+"/webhooks", obj{"url": "https://hooks.example.org/"})
		open := p.want(201, "POST", "/material-requests", obj{"material": s.material, "address": at,
			"payment_method": "SHIPPING_CODE", "payment_method_notes": "FedEx 99887766"}).id()
		request := fmt.Sprintf("/material-requests/%d", open)
		p.want(201, "POST", request+"/messages", obj{"text": "Greetings, Xaviera Quillfeather"})
		p.want(200, "PATCH", request, obj{"irb_attachment": p.upload("irb-quillfeather.pdf", pdf, nil).id()})
		p.upload("quillfeather.pdf", pdf, nil)
		p.want(204, "DELETE", fmt.Sprintf("/attachments/%d", p.upload("quillfeather-old.pdf", pdf, nil).id()), nil)
		p.want(201, "POST", user+"/saved-searches", obj{"search": "quillfeather"})
		p.want(201, "POST", user+"/tokens/", obj{"name": "Quillfeather laptop", "scopes": []string{"write"}})
		p.want(200, "POST", "/grants", obj{"title": "Quillfeather award", "funder_id": "R01"})
		p.callWith(map[string]string{"Idempotency-Key": "k"}, "POST", "/grants",
			obj{"title": "Quillfeather award 2", "funder_id": "R02"})
		p.want(201, "POST", fmt.Sprintf("/organizations/%d/join-requests", stranger.Lab), obj{"note": "Xaviera here"})
		p.want(201, "POST", fmt.Sprintf("/materials/%d/inquiries", s.newMaterial()),
			obj{"text": "Xaviera Quillfeather asks"})
		invited := s.owner.want(201, "POST", lab+"/invitations", obj{"registry_id": "id-quillfeather-id"}).id()
		p.want(200, "POST", fmt.Sprintf("%s/invitations/%d/accept", user, invited), nil)
		p.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material),
			obj{"contact_user_id": p.ID, "title": "Of a contact"})
		p.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", s.request), obj{"assigned_to": p.ID})
		s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/invitations", s.id),
			obj{"email": "xaviera@secret.example"})
		if found := s.traces("quillfeather"); len(found) < 20 {
			t.Fatalf("only in %d places before: %s", len(found), found)
		}
		p.want(204, "DELETE", user, nil)

		p.refused(401, "NOT_AUTHENTICATED", "GET", user, nil)
		shown := s.owner.want(200, "GET", user, nil)
		if shown.Body["last_name"] != "closed account" || shown.Body["first_name"] != "" ||
			shown.Body["registry_id"] != "closed:"+p.ID.String() {
			t.Errorf("%s", shown.Raw)
		}
		q := admin.want(200, "GET", request, nil)
		if q.Body["is_active"] != false || q.Body["status"] != "CANCELLED" {
			t.Errorf("the request is still open: %s", q.Raw)
		}
		if m := s.owner.want(200, "GET", fmt.Sprintf("/materials/%d", mine), nil); m.Body["is_archived"] != true {
			t.Errorf("%s", m.Raw)
		}
		assigned := s.owner.want(200, "GET", fmt.Sprintf("/material-requests/%d", s.request), nil)
		if assigned.Body["assigned_to"] == p.ID.String() || assigned.Body["is_active"] != true {
			t.Errorf("%s", assigned.Raw)
		}
		for _, path := range []string{request + "/events", lab + "/history",
			fmt.Sprintf("/materials/%d/history", s.material), lab + "/members", lab + "/events",
			fmt.Sprintf("/materials/%d/jsonld", s.material), "/users/" + s.owner.ID.String() + "/notifications"} {
			a := s.owner.want(200, "GET", path, nil)
			text := strings.ReplaceAll(string(a.Raw), "Greetings, Xaviera Quillfeather", "")
			if strings.Contains(text, "Quillfeather") || strings.Contains(text, "Xaviera") {
				t.Errorf("%s: %.2000s", path, text)
			}
		}
		if a := s.owner.want(200, "GET", "/search/users?search=closed", nil); a.Body["count"] != 0.0 {
			t.Errorf("the closed account is found: %s", a.Raw)
		}
		for _, place := range s.traces("xaviera", "quillfeather", "Hidden Lane", "99887766") {
			if column, _, _ := strings.Cut(place, ":"); keptWords[column] == "" {
				t.Errorf("left in %s", place)
			}
		}
		admin.want(204, "DELETE", user, nil) // again
		jobtest.Start(t, job.Config{DB: db, Handlers: s.app.Handlers()})
		jobtest.Poll(t, "every job is over", func() bool {
			var waiting int
			err := s.sql.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM jobs WHERE due_at IS NOT NULL AND kind "+
				"NOT LIKE 'sweep%' AND kind <> 'webhook'").Scan(&waiting)
			return err == nil && waiting == 0
		})
		admin.refused(409, "CONFLICT", "PATCH", user, obj{"last_name": "Quillfeather"})
		admin.refused(409, "CONFLICT", "POST", user+"/addresses", home)
		again := s.person("quillfeather-id")
		if a := again.want(200, "GET", "/users/me", nil); again.ID == p.ID ||
			len(a.Body["material_requests"].([]any)) != 0 {
			t.Errorf("who signs in again has what was closed: %s", a.Raw)
		}
		if r, err := s.app.Evidence.Verify(t.Context(), evidence.Verification{Files: true}); err != nil || len(r.Faults) != 0 {
			t.Errorf("Verify = %+v, %v", r, err)
		}
	})
}

func TestCloseAccount_SaysWhatHasToBeDoneFirst(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := "/users/" + s.owner.ID.String()
		s.unchanged("closing while a lab has other members", func() {
			a := s.owner.refused(409, "CONFLICT", "DELETE", path, nil)
			if labs, _ := a.Body["organizations"].([]any); len(labs) != 1 ||
				labs[0].(map[string]any)["id"] != float64(s.id) {
				t.Errorf("%s", a.Raw)
			}
		})
		p := s.person("alone")
		own := p.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "Mine", "organization_id": p.Lab}).id()
		asked := s.requester().want(201, "POST", "/material-requests", obj{"material": own}).id()
		s.unchanged("closing while a lab has open requests", func() {
			a := p.refused(409, "CONFLICT", "DELETE", "/users/"+p.ID.String(), nil)
			if list, _ := a.Body["requests"].([]any); len(list) != 1 ||
				list[0].(map[string]any)["id"] != float64(asked) {
				t.Errorf("%s", a.Raw)
			}
		})
		p.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", asked),
			obj{"status": "REJECTED", "rejection_reason": "No more of it"})
		p.want(204, "DELETE", "/users/"+p.ID.String(), nil)
	})
}

func TestCloseAccount_TheLastAdminStays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		admin, second := s.people["admin"], s.person("second")
		a := admin.refused(409, "CONFLICT", "DELETE", "/users/"+admin.ID.String(), nil)
		if !strings.Contains(fmt.Sprint(a.Body["error"]), "only admin") {
			t.Errorf("%s", a.Raw)
		}
		if _, err := s.app.MakeAdmin(t.Context(), exchange.Actor{ID: admin.ID, Admin: true}, second.ID,
			true); err != nil {
			t.Fatal(err)
		}
		var done, refused int
		var mu sync.Mutex
		var both sync.WaitGroup
		for _, p := range []*testPerson{admin, second} { // at once
			both.Go(func() {
				a := p.call("DELETE", "/users/me", nil)
				mu.Lock()
				defer mu.Unlock()
				switch a.Status {
				case 204:
					done++
				case 409:
					refused++
				default:
					t.Errorf("%d %s", a.Status, a.Raw)
				}
			})
		}
		if both.Wait(); done != 1 || refused != 1 {
			t.Errorf("%d of two admins closed their accounts, %d were refused", done, refused)
		}
	})
}

func TestCloseAccount_EndsWhatTheirTokensMayDo(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		p, admin := s.person("guest"), s.people["admin"]
		me := "/users/" + p.ID.String()
		made := p.want(201, "POST", me+"/tokens/", obj{"name": "script", "scopes": []string{"write"}})
		program := *p
		program.Token = fmt.Sprint(made.Body["token"])
		program.refused(403, "SCOPE", "DELETE", me, nil)
		tag := p.want(200, "GET", me, nil).Header.Get("ETag")
		if a := p.callWith(map[string]string{"If-Match": `"x"`}, "DELETE", me, nil); a.Status != 412 {
			t.Errorf("%d %s", a.Status, a.Raw)
		}
		stream := p.own(s.streams(asItIs), "")
		if a := admin.callWith(map[string]string{"If-Match": tag}, "DELETE", me, nil); a.Status != 204 {
			t.Fatalf("%d %s", a.Status, a.Raw)
		}
		stream.over()
		program.refused(401, "NOT_AUTHENTICATED", "GET", "/users/me", nil)
		acts := admin.want(200, "GET", "/audit-events?action=user.close", nil)
		if list := string(acts.Raw); strings.Count(list, `"object":"user `+p.ID.String()) != 1 ||
			!strings.Contains(list, `"as_admin":true`) {
			t.Errorf("%s", list)
		}
		s.owner.refused(400, "INVALID_INPUT", "PATCH", fmt.Sprintf("/organizations/%d", s.id),
			obj{"members": []any{s.owner.ID, s.member.ID, p.ID}})
		s.owner.refused(400, "INVALID_INPUT", "PATCH", fmt.Sprintf("/materials/%d", s.material),
			obj{"contact_user_id": p.ID})
	})
}

func TestMigration_RemovesTheNamesOfClosedAccountsFromVersions(t *testing.T) {
	t.Parallel()
	file, err := fs.ReadFile(migration.Files, "00020_closing.sql")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/invitations", s.id),
			obj{"email": "oldname@secret.example"})
		path := fmt.Sprintf("/organizations/%d/history", s.id)
		before := s.owner.want(200, "GET", path, nil)
		statements := []string{`UPDATE audit_events SET state = REPLACE(state, '"FirstName":""', '"FirstName":"Oldname"') WHERE version IS NOT NULL`,
			`UPDATE audit_events SET state = '{"Email":"oldname@secret.example"}' WHERE action = 'invitation.write'`}
		text := regexp.MustCompile("(?m)^--.*$").ReplaceAllString(string(file), "")
		for statement := range strings.SplitSeq(text, ";") {
			if statement = strings.TrimSpace(statement); statement != "" && !strings.HasPrefix(statement, "CREATE") {
				statements = append(statements, statement)
			}
		}
		for _, statement := range statements {
			if _, err := s.sql.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.traces("Oldname")) < 2 {
			t.Fatal("there are no versions with names")
		}
		jobtest.Start(t, job.Config{DB: db, Handlers: s.app.Handlers()})
		jobtest.Poll(t, "the names are gone", func() bool {
			return !slices.ContainsFunc(s.traces("Oldname"),
				func(place string) bool { return strings.HasPrefix(place, "audit_events") })
		})
		if after := s.owner.want(200, "GET", path, nil); string(after.Raw) != string(before.Raw) {
			t.Errorf("the history became %s, was %s", after.Raw, before.Raw)
		}
	})
}
