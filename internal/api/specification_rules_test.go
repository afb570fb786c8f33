package api_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// rules are the rows without fields of their own, by section and first cell, each with its proof.
var rules = map[string]func(*scene){
	"Conventions timestamps": func(s *scene) {
		for _, name := range []string{"created_at", "updated_at"} {
			mustMatch(s.t, name, "time", s.materialObject()[name])
		}
	},
	"Conventions ids": func(s *scene) { // of everything else the sections of fields tell
		mustMatch(s.t, "a user's id", "uuid", s.requester().want(200, "GET", s.user(""), nil).Body["id"])
	},
	"Conventions bodies": func(s *scene) {
		if a := s.owner.want(404, "GET", "/materials/999", nil); a.Header.Get("Content-Type") != "application/json" {
			s.t.Errorf("an error has the content type %q", a.Header.Get("Content-Type"))
		}
	},
	"States and transitions (new)": func(s *scene) {
		a := s.requester().want(201, "POST", "/material-requests/", obj{"material": s.material})
		if a.Body["status"] != "OPEN" || a.Body["is_active"] != true ||
			a.Body["assigned_to"] != s.assignee.ID.String() {
			s.t.Errorf("a new request: %s", a.Raw)
		}
	},
	"States and transitions any": func(s *scene) {
		s.heard(s.requester(), "change_in_request_status_notif", func() {
			a := s.member.want(200, "PUT", s.req(""), obj{"status": "FULFILLED", "override_reason": "sent already"})
			if a.Body["status"] != "FULFILLED" || a.Body["is_active"] != true {
				s.t.Errorf("status: %s", a.Raw)
			}
		})
		s.heard(s.member, "change_in_request_status_notif", func() {
			if a := s.requester().want(200, "PATCH", s.req(""),
				obj{"status": "VERIFIED_FULFILLED"}); a.Body["is_active"] != false {
				s.t.Errorf("a resolved request: %s", a.Raw)
			}
		})
	},
	"Authentication 1": func(s *scene) {
		bare := &testPerson{w: s.world}
		for header, want := range map[string]int{"Token " + s.member.Token: 200, "Token \t " + s.member.Token: 200,
			s.member.Token: 401, "Bearer " + s.member.Token: 200} {
			if a := bare.callWith(map[string]string{"Authorization": header}, "GET", s.req(""), nil); a.Status != want {
				s.t.Errorf("%q: %d, want %d", header, a.Status, want)
			}
		}
	},
	"Authentication 2": refusedWithToken,
	"Authentication 3": func(s *scene) {
		number := 5000 + s.next()
		sign := func(status int, path string) answer {
			return s.anonymous().want(status, "POST", path,
				obj{"code": demo(s.t).code(s.t, number), "origin_url": origin})
		}
		made, again := sign(201, "/users/"), sign(200, "/login")
		if made.Body["user_id"] != again.Body["user_id"] {
			s.t.Errorf("registered %s, then signed in %s", made.Raw, again.Raw)
		}
		for _, a := range []answer{made, again} {
			mustMatch(s.t, "the end of a token", "expiry", a.Body["expires"])
			s.holder(a).want(200, "GET", "/material-requests/", nil)
		}
	},
	"Authentication 4": func(s *scene) { // what each may, the access column and the sweep tell
		for _, role := range []string{"owner", "requester", "member", "admin"} {
			if !slices.Contains(roles, role) {
				s.t.Errorf("the sweep has no %s", role)
			}
		}
	},
	"Authentication 5": func(s *scene) {
		for _, route := range []string{"POST /materials", "GET /materials/{id}", "PUT,PATCH /materials/{id}",
			"POST /organizations", "GET /organizations/{id}", "PUT,PATCH /organizations/{id}"} {
			if !strings.HasPrefix(access[route], "++++++++") {
				s.t.Errorf("%s is not open", route)
			}
		}
	},
	"Events new_request_notif": func(s *scene) {
		s.heard(s.member, "new_request_notif",
			func() { s.requester().want(201, "POST", "/material-requests/", obj{"material": s.material}) })
	},
	"Events change_in_request_status_notif": func(s *scene) {
		s.heard(s.member, "change_in_request_status_notif",
			func() { s.requester().want(201, "POST", s.req("/messages"), obj{"text": "Hello"}) })
	},
	"Events request_approval_determined_notif": func(s *scene) {
		for _, status := range []string{"APPROVED", "REJECTED"} {
			id := s.newRequest()
			for _, p := range []*testPerson{s.requester(), s.owner} {
				s.heard(p, "request_approval_determined_notif", func() {
					s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", id),
						obj{"status": status, "rejection_reason": "no stock"})
				})
				id = s.newRequest()
			}
		}
	},
	"Events request_assigned_notif": func(s *scene) {
		s.heard(s.assignee, "request_assigned_notif",
			func() { s.requester().want(201, "POST", "/material-requests/", obj{"material": s.material}) })
	},
	"Events reminder_notif": func(s *scene) {
		id := s.requester().want(201, "POST", "/material-requests/", obj{"material": s.material}).id()
		s.heard(s.requester(), "reminder_notif", func() { s.wait(id, 7) }) // to write the abstract
		s.requester().want(200, "PATCH", fmt.Sprintf("/material-requests/%d", id),
			obj{"requester_abstract": "To map receptors."})
		s.heard(s.member, "reminder_notif", func() { s.wait(id, 7) }) // to decide
	},
	"Errors Missing or invalid authentication on a protected endpoint": refusedWithToken,
	"Errors POST /materials/ for a material already imported": func(s *scene) {
		body := obj{"category": "DATASET", "title": "A", "organization_id": s.id, "imported": true,
			"import_source": "GEO"}.meta(obj{"accession_code": "GSE2122"})
		first := s.member.want(201, "POST", "/materials/", body)
		again := s.member.want(200, "POST", "/materials/", body)
		if text, _ := again.Body["error"].(string); !strings.Contains(text, "GSE2122") ||
			again.Body["error_code"] != "ALREADY_IMPORTED" ||
			fmt.Sprint(again.Body["material"]) != fmt.Sprint(first.Body) || len(again.Body) != 3 {
			s.t.Errorf("%s", again.Raw)
		}
	},
}

// refusedWithToken: every protected row answers so without a token and with one that is not good.
func refusedWithToken(s *scene) {
	s.t.Helper()
	for _, row := range specification()["Endpoints"] {
		e := endpointOf(row)
		for method := range strings.SplitSeq(e.methods, ",") {
			path := strings.NewReplacer("{id}", "1", "{address}", "1").Replace(e.path)
			for _, p := range []*testPerson{s.anonymous(), {w: s.world, Token: "alq_unknown"}} {
				if a := p.call(method, path, nil); access[e.route()][0] == '1' &&
					(a.Status != 401 || a.Header.Get("WWW-Authenticate") != "Token") {
					s.t.Errorf("%s %s: %d %s", method, path, a.Status, a.Raw)
				}
			}
		}
	}
}

// heard fails unless someone is notified once of what is done, in that category.
func (s *scene) heard(p *testPerson, kind string, do func()) {
	s.t.Helper()
	count := func() (n int) {
		for _, item := range p.want(200, "GET", fmt.Sprintf("/users/%s/notifications?limit=200", p.ID), nil).List {
			if item.(map[string]any)["category"] == kind {
				n++
			}
		}
		return n
	}
	before := count()
	do()
	if count() != before+1 {
		s.t.Errorf("%s heard %d times of %s, want once", p.name, count()-before, kind)
	}
}

// TestSpecification_Rules walks the sections whose rows are rules.
func TestSpecification_Rules(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		rows, proven := specification(), map[string]bool{}
		for _, section := range []string{"Conventions", "States and transitions", "Authentication", "Events",
			"Errors"} {
			for _, row := range rows[section] {
				name := section + " " + row[0]
				if proven[name] = true; rules[name] == nil {
					t.Errorf("%s: no proof", name)
					continue
				}
				rules[name](s)
			}
		}
		for name := range rules {
			if !proven[name] {
				t.Errorf("%s: a proof without a row", name)
			}
		}
	})
}

// TestSpecification_FieldsOfAMaterialAndNullability walks "Material, request side".
func TestSpecification_FieldsOfAMaterialAndNullability(t *testing.T) {
	t.Parallel()
	wrong := map[string]any{"string": 7, "json object": 7, "boolean": "yes", "string[]": 7, "date": "soon",
		"integer": "x"}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		whole := s.wholeMaterial()
		for _, row := range specification()["Material, request side"] {
			field, kind, nullable := row[0], row[1], row[2] == "yes"
			if _, sent := whole[field]; !sent || wrong[kind] == nil {
				t.Errorf("%s: no proof of this field or of its type, %s", field, kind)
			}
			path := fmt.Sprintf("/materials/%d", s.newMaterial())
			a := s.member.call("PATCH", path, obj{field: nil})
			if want := map[bool]int{true: 200, false: 400}[nullable]; a.Status != want || !nullable &&
				a.at("fields."+field) == nil {
				t.Errorf("%s null: %d, want %d: %s", field, a.Status, want, a.Raw)
			}
			if a := s.member.refused(400, "INVALID_INPUT", "PATCH", path, obj{field: wrong[kind]}); a.at("fields."+
				field) == nil {
				t.Errorf("%s of a wrong type: %s", field, a.Raw)
			}
		}
	})
}

// TestSpecification_MetadataKeys walks "additional_metadata": the keys to the letter, each with a
// field in its category.
func TestSpecification_MetadataKeys(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for _, row := range specification()["additional_metadata"] {
			fields := map[string]category.Field{}
			c, _ := category.Get(row[0])
			for _, f := range c.Fields {
				fields[f.Key] = f
			}
			sent := obj{}
			for key := range strings.SplitSeq(row[1], ", ") {
				key, integer := strings.CutSuffix(key, " (int)")
				f, known := fields[key]
				if !known || integer != (f.Type == "integer") {
					t.Errorf("%s.%s: has no field of its type in the category", row[0], key)
				}
				switch {
				case integer:
					sent[key] = 12.0
				case f.Vocabulary == "accession":
					sent[key] = "GSE2122"
				case len(f.Options) > 0:
					sent[key] = f.Options[0].Value
				default:
					sent[key] = "as written"
				}
			}
			a := s.member.want(201, "POST", "/materials",
				obj{"category": row[0], "title": "A", "organization_id": s.id, "additional_metadata": sent})
			if got := a.Body["additional_metadata"].(map[string]any); !maps.Equal(got, map[string]any(sent)) {
				t.Errorf("%s: sent %v, kept %v", row[0], sent, got)
			}
		}
	})
}

// TestSpecification_HasEveryRow compares the data file with docs/specification.md.
func TestSpecification_HasEveryRow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "specification.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, part, section, previous, numbered := specification(), "", "", []string(nil), 0
	compared := map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			part = line[3:]
			section = part
		case strings.HasPrefix(line, "### "):
			section = line[4:]
		case part == "Authentication" && regexp.MustCompile(`^\d+\. `).MatchString(line):
			if numbered++; len(rows[part]) < numbered || !strings.HasPrefix(line, rows[part][numbered-1][0]+". ") {
				t.Errorf("missing: %s", line)
			}
		case strings.HasPrefix(line, "- `") && section == "Material":
			keys, _ := strings.CutSuffix(strings.Replace(line[3:], "`: ", " | ", 1), ".")
			compared["keys"] += has(t, rows["additional_metadata"], strings.Split(keys, " | "))
		case strings.HasPrefix(line, "Response-side fields seen: "):
			for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
				if name[1] != "organism" { // the same field in a dataset's import
					compared["shown"] += has(t, rows["Material, response side"], name[1:])
				}
			}
		case !strings.HasPrefix(line, "|"):
			previous = nil
		case strings.HasPrefix(line, "|---"):
			previous = []string{}
		default:
			if previous == nil { // the head of a table
				continue
			}
			row := strings.Split(strings.Trim(line, "|"), "|")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			switch compared[part]++; part {
			case "Resources and their fields":
				most, name := 2, section
				if section == "Material" {
					most, name = 3, "Material, request side"
				}
				has(t, rows[name], row[:most])
			case "Endpoints":
				hasEndpoint(t, rows[part], row)
			default:
				has(t, rows[part], row)
			}
		}
	}
	for what, least := range map[string]int{"Resources and their fields": 80, "Endpoints": 30,
		"States and transitions": 2, "Events": 5, "Errors": 2, "keys": 4, "shown": 24} {
		if compared[what] < least {
			t.Errorf("%s: compared %d rows, want %d", what, compared[what], least)
		}
	}
}

// has counts one row of the data file that begins with the same cells.
func has(t *testing.T, rows [][]string, cells []string) int {
	t.Helper()
	for _, row := range rows {
		if len(row) >= len(cells) && slices.Equal(row[:len(cells)], cells) {
			return 1
		}
	}
	t.Errorf("missing: %s", strings.Join(cells, " | "))
	return 0
}

// hasEndpoint compares a row of the specification: method, path, request, response, access.
func hasEndpoint(t *testing.T, rows [][]string, want []string) {
	t.Helper()
	i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == want[0] && row[1] == want[1] })
	if i < 0 {
		t.Errorf("missing: %s %s", want[0], want[1])
		return
	}
	got, e := rows[i], endpointOf(rows[i])
	status := regexp.MustCompile(`^\d+`).FindString(want[3])
	if status != "" && status != fmt.Sprint(e.status) || got[4] != slices.Concat(want, []string{"Open"})[4] {
		t.Errorf("%s %s: %s %s, the specification says %s", want[0], want[1], got[3], got[4], want[3:])
	}
	if strings.Contains(want[2], "fields") || want[2] == "see below" {
		return // they stand elsewhere
	}
	for _, name := range e.fields {
		if !strings.Contains(want[2], name) {
			t.Errorf("%s %s has no field %s", want[0], want[1], name)
		}
	}
	for piece := range strings.SplitSeq(want[2], ", ") {
		name := regexp.MustCompile("^`?([a-z][a-z_0-9]*)`?(?: \\(|:|;|$)").FindStringSubmatch(piece)
		if name != nil && !slices.Contains(e.fields, name[1]) &&
			!slices.Contains([]string{"none", "optional"}, name[1]) {
			t.Errorf("%s %s: missing: field %s", want[0], want[1], name[1])
		}
	}
}
