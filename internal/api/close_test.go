package api_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// traces are the places, as table.column, where one of some texts stands in the database.
func (s *scene) traces(texts ...string) (found []string) {
	s.t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if s.db.Postgres() {
		query = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
	}
	var tables []string
	names, err := s.sql.QueryContext(s.t.Context(), query)
	if err != nil {
		s.t.Fatal(err)
	}
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			s.t.Fatal(err)
		}
		tables = append(tables, name)
	}
	if err := errors.Join(names.Err(), names.Close()); err != nil {
		s.t.Fatal(err)
	}
	for _, table := range tables {
		rows, err := s.sql.QueryContext(s.t.Context(), "SELECT * FROM "+table)
		if err != nil {
			s.t.Fatalf("%s: %v", table, err)
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			values, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				places[i] = &values[i]
			}
			if err := rows.Scan(places...); err != nil {
				s.t.Fatalf("%s: %v", table, err)
			}
			for i, v := range values {
				if b, ok := v.([]byte); ok {
					v = string(b)
				}
				for _, text := range texts {
					if strings.Contains(strings.ToLower(fmt.Sprint(v)), strings.ToLower(text)) {
						found = append(found, fmt.Sprintf("%s.%s: %s in %.600v", table, columns[i], text, v))
					}
				}
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			s.t.Fatal(err)
		}
	}
	return found
}

// TestAClosedAccountLeavesNothingThatIsTheirsAlone walks every table for what was known of the person.
func TestAClosedAccountLeavesNothingThatIsTheirsAlone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		p := s.person("quillfeather-id")
		user := "/users/" + p.ID.String()
		p.want(200, "PATCH", user, obj{"first_name": "Xaviera", "last_name": "Quillfeather", "email": "xaviera@secret.example"})
		p.want(200, "PATCH", fmt.Sprintf("/organizations/%d", p.Lab), obj{"name": "Quillfeather lab", "description": "Of Xaviera"})
		own := p.want(201, "POST", "/materials", obj{"category": "OTHER", "title": "Mine", "organization_id": p.Lab}).id()
		home := address("Xaviera Quillfeather")
		home["address_line_1"] = "7 Hidden Lane"
		at := p.want(200, "POST", user+"/addresses", home).id()
		open := p.want(201, "POST", "/material-requests", obj{"material": s.material, "address": at}).id()
		asked := s.people["stranger"].want(201, "POST", "/material-requests", obj{"material": own}).id()
		p.want(201, "POST", user+"/saved-searches", obj{"search": "quillfeather"})
		p.want(200, "POST", "/grants", obj{"title": "Quillfeather award", "funder_id": "R01"})
		p.upload("quillfeather.pdf", pdf, nil)
		p.want(201, "POST", fmt.Sprintf("/organizations/%d/join-requests", s.people["stranger"].Lab), obj{"note": "Xaviera here"})
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": []any{s.owner.ID, s.member.ID, s.assignee.ID}})
		s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/invitations", s.id), obj{"registry_id": "id-quillfeather-id"})
		p.want(204, "DELETE", user, nil)

		p.refused(401, "NOT_AUTHENTICATED", "GET", user, nil)
		shown := s.owner.want(200, "GET", user, nil)
		if shown.Body["last_name"] != "closed account" || shown.Body["first_name"] != "" || shown.Body["registry_id"] != "closed:"+p.ID.String() {
			t.Errorf("%s", shown.Raw)
		}
		for _, id := range []int64{open, asked} {
			q := s.people["admin"].want(200, "GET", fmt.Sprintf("/material-requests/%d", id), nil)
			if q.Body["is_active"] != false {
				t.Errorf("request %d is still open: %s", id, q.Raw)
			}
		}
		if m := s.owner.want(200, "GET", fmt.Sprintf("/materials/%d", own), nil); m.Body["is_archived"] != true {
			t.Errorf("%s", m.Raw)
		}
		for _, place := range s.traces("xaviera", "quillfeather", "Hidden Lane") {
			table, _, _ := strings.Cut(place, ":")
			name, _, _ := strings.Cut(table, ".")
			switch {
			case name == "attachments": // it is deleted, and goes with its content after the grace period
			case strings.Contains(name, "_index"), strings.Contains(name, "_words"): // until the job has indexed anew; SQLite merges its words later
			default:
				t.Errorf("left in %s", place)
			}
		}
		s.people["admin"].want(204, "DELETE", user, nil) // again
		again := s.person("quillfeather-id")
		if again.ID == p.ID {
			t.Error("who signs in again is the closed account")
		}
		if r, err := s.app.Verify(t.Context()); err != nil || len(r.Faults) != 0 {
			t.Errorf("Verify = %+v, %v", r, err)
		}
	})
}

func TestAnAccountThatOwnsALabOfOthersIsNotClosed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := "/users/" + s.owner.ID.String()
		s.unchanged("closing", func() {
			a := s.owner.refused(409, "CONFLICT", "DELETE", path, nil)
			if labs, _ := a.Body["organizations"].([]any); len(labs) != 1 || labs[0].(map[string]any)["id"] != float64(s.id) {
				t.Errorf("%s", a.Raw)
			}
		})
		// Who is assigned closes their account: the owner has their requests.
		s.assignee.want(204, "DELETE", "/users/"+s.assignee.ID.String(), nil)
		q := s.owner.want(200, "GET", fmt.Sprintf("/material-requests/%d", s.request), nil)
		if q.Body["assigned_to"] == s.assignee.ID.String() || q.Body["is_active"] != true {
			t.Errorf("%s", q.Raw)
		}
	})
}
