package api_test

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

//go:embed testdata/specification.txt
var specificationText string

// specification returns the rows of each section of the data file.
func specification() map[string][][]string {
	rows, section := map[string][][]string{}, ""
	for line := range strings.Lines(specificationText) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "# "); ok {
			section = name
		} else if strings.Contains(line, " | ") && section != "" {
			rows[section] = append(rows[section], strings.Split(strings.ReplaceAll(line, " | | ", " |  | "), " | "))
		}
	}
	return rows
}

// endpoint is a row of "Endpoints".
type endpoint struct {
	methods, path   string // as the table of routes writes them: "PUT,PATCH", "/users/{id}"
	fields          []string
	optional        map[string]bool // those of fields that may be left out
	status          int
	answer, allowed string
}

func endpointOf(row []string) (e endpoint) {
	e.methods = strings.ReplaceAll(row[0], "/", ",")
	e.path = strings.TrimSuffix(row[1], "/")
	if rest, ok := strings.CutPrefix(e.path, "/users/:user-id/addresses"); ok {
		e.path = "/users/{id}/addresses" + strings.ReplaceAll(rest, ":id", "{address}")
	}
	e.path = strings.ReplaceAll(e.path, ":id", "{id}")
	e.optional = map[string]bool{}
	for _, field := range strings.Fields(row[2]) {
		name, optional := strings.CutSuffix(field, "?")
		e.fields = append(e.fields, name)
		e.optional[name] = optional
	}
	_, _ = fmt.Sscan(row[3], &e.status)
	_, e.answer, _ = strings.Cut(row[3], " ")
	e.allowed = row[4]
	return e
}

func (e endpoint) route() string { return e.methods + " " + e.path }

// answers are the bodies that the rows of "Endpoints" name, in the notation of contract_test.go.
var answers = map[string]string{
	"":      "",
	"login": signedFields, "attachment": attachmentFields, "material request": requestFields, "grant": grantFields,
	"material":            materialFields,
	"material of a grant": grantMaterialFields, "address (user as uuid)": addressFields + " user:uuid",
	"address (user as object)": addressFields + " user:{" + personFields + "}", "organization": organizationFields,
	"settings": settingsFields, "user": userFields, "array of attachments": attachmentFields,
	"array of material requests": requestFields, "array of materials of a grant": grantMaterialFields,
	"imported dataset": "organism:[string] " + grantMaterialFields, "imported protocol": grantMaterialFields,
}

// resources are the sections of fields, each with the bodies that show them.
var resources = map[string][]string{
	"Attachment": {attachmentFields}, "Material request": {requestFields}, "Grant": {grantFields},
	"Material, response side": {materialFields, grantMaterialFields},
	"Address":                 {answers["address (user as uuid)"], answers["address (user as object)"]},
	"Organization":            {organizationFields, grantOrganizationFields}, "User": {userFields},
	"Organization user settings": {settingsFields},
}

// types are the words of the specification for a type, in the notation of contract_test.go: one
// for each body of resources where they differ.
var types = map[string][]string{
	"int": {"int"}, "string": {"string"}, "bool": {"bool"}, "uuid": {"uuid"}, "timestamp": {"time"},
	"json object": {"object"}, "int[]": {"[int]"},
	"int or absent": {"int?"}, "string or absent": {"string?"}, "date or absent": {"date?"},
	"string[] or absent":        {"[string]?"},
	"material object or absent": {"{" + materialFields + "}?"}, "user object": {"{" + personFields + "}"},
	"array of organization objects":                                  {"[{" + grantOrganizationFields + "}]"},
	"array of material objects":                                      {"[{" + grantMaterialFields + "}]"},
	"user object (on material endpoints); uuid (inside a grant)":     {"{" + personFields + "}", "uuid"},
	"uuid (on create) or user object (on get and update)":            {"uuid", "{" + personFields + "}"},
	"user object (on organization endpoints); uuid (inside a grant)": {"{" + personFields + "}", "uuid"},
	"array of user objects; empty array inside a grant sample":       {"[{" + personFields + "}]"},
	"string (identifier issued by the identity provider)":            {"string"},
}

// TestSpecification_FieldsHaveTheirTypes compares the sections of fields with the
// bodies that TestSpecification_Endpoints holds real answers to.
func TestSpecification_FieldsHaveTheirTypes(t *testing.T) {
	t.Parallel()
	rows := specification()
	for section, bodies := range resources {
		if len(rows[section]) == 0 {
			t.Errorf("%s: no rows", section)
		}
		for _, row := range rows[section] {
			for name := range strings.SplitSeq(row[0], ", ") {
				for i, body := range bodies {
					got := members(body)[name]
					if section == "Attachment" && strings.HasPrefix(name, "owned_by_") {
						got = strings.TrimSuffix(got, "?") // one of the two owners may be absent
					}
					want := types[row[1]]
					if ok := want != nil && got == want[min(i, len(want)-1)] || row[1] == "arrays" &&
						strings.HasPrefix(got, "["); !ok {
						t.Errorf("%s.%s: shown as %q, the specification says %q", section, name, got, row[1])
					}
				}
			}
		}
	}
}

// allowed says in the signs of access what the access column means on the objects of visits,
// where access is open: there the specification holds to the letter.
var allowed = map[string]string{
	"Open":                        "++++++++",
	"Open (no token required)":    "++++++++",
	"Protected":                   "1+++++++",
	"see Authentication section":  "1+++++++",
	"Protected; admins only":      "1333333+",
	"Protected; grant owner only": "13+3333+",
	"Protected; owning user, members of the owning organization, admins":                      "13++3+3+",
	"Protected; members of the organization owning the requested material, and the requester": "13++++3+",
	"Protected; members of an organization with the active request, and the requester":        "13++++3+",
	// each sees their own, see TestRequests_AreListedOnlyToPartiesAndAdmins
	"Protected; members of the organization owning the requested material":                                             "1+++++++",
	"Protected; the user must own both the grant and the material":                                                     "13+3333+",
	"Protected; address owner only":                                                                                    "1333+33+",
	"Protected; same restriction as GET":                                                                               "13+3333+",
	"Protected; only the user the settings refer to, and only while that user is still in the referenced organization": "13+3333+",
	"Protected; the user must own the given grant and belong to the given organization":                                "13+3333+",
}

// narrowed are routes where contract.md decides who is meant.
var narrowed = map[string]string{"PUT,PATCH /users/{id}": "1333+33+", "POST /users/{id}/addresses": "1333+33+"}

// TestSpecification_Endpoints walks the rows of "Endpoints": each is called by who may,
// with every field of the request and with only those that it needs, and the answer has status,
// fields and what was sent. Who else may call it the sweep finds out over HTTP; here the table
// of the sweep is held to the access column.
func TestSpecification_Endpoints(t *testing.T) {
	t.Parallel()
	rows := specification()["Endpoints"]
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessOpen)
		s.fill()
		proven := map[string]bool{}
		for _, row := range rows {
			e := endpointOf(row)
			i := slices.IndexFunc(visits, func(c routeCase) bool { return c.route == e.route()+" ("+e.answer+")" })
			if i < 0 {
				i = slices.IndexFunc(visits, func(c routeCase) bool { return c.route == e.route() })
			}
			if i < 0 {
				t.Errorf("%s: no visit", e.route())
				continue
			}
			signs := allowed[e.allowed]
			if narrowed[e.route()] != "" {
				signs = narrowed[e.route()]
			}
			if got, _, _ := strings.Cut(access[e.route()], " "); got != signs || signs == "" {
				t.Errorf("%s: the sweep has %s, the specification says %s: %s", e.route(), got, signs, e.allowed)
			}
			if _, ok := answers[e.answer]; !ok {
				t.Errorf("%s: no fields for %q", e.route(), e.answer)
			}
			for method := range strings.SplitSeq(e.methods, ",") {
				s.prove(e, visits[i], method)
			}
			proven[e.route()] = true
		}
		for route := range full {
			if !proven[route] {
				t.Errorf("%s: a proof without a row", route)
			}
		}
	})
}

// prove calls an endpoint with all fields, with only the required ones, and without each of these.
func (s *scene) prove(e endpoint, c routeCase, method string) {
	s.t.Helper()
	where := method + " " + e.path
	ask := func() (*testPerson, string, obj) {
		v := c.make(s, c.by)
		if full[e.route()] != nil {
			v = full[e.route()](s)
		}
		p := s.people[c.by]
		if v.as != nil {
			p = v.as
		}
		body, _ := v.body.(obj)
		return p, "/v1" + v.path + "/", body
	}
	p, path, body := ask()
	if got, want := slices.Sorted(maps.Keys(body)), slices.Sorted(slices.Values(e.fields)); !slices.Equal(got, want) {
		s.t.Errorf("%s: the proof sends %v, the row has %v", where, got, want)
	}
	send := func(status int, body obj) answer {
		a := p.call(method, path, anyOf(body, e))
		if a.Status != status {
			s.t.Errorf("%s %v: %d, want %d: %s", where, body, a.Status, status, a.Raw)
		}
		return a
	}
	a := send(e.status, body)
	s.matches(where, e, a)
	s.shows(where, body, a)
	if len(e.fields) == 0 {
		return
	}
	if place := a.Header.Get("Location"); place != "" {
		s.shows("GET "+place, body, p.want(200, "GET", place, nil))
	}
	if method == "PUT" || method == "PATCH" {
		if again := p.want(200, "GET", path, nil); string(again.Raw) != string(a.Raw) {
			s.t.Errorf("%s: answered %s, then GET %s", where, a.Raw, again.Raw)
		}
		if kept := send(e.status, obj{}); string(kept.Raw) != string(a.Raw) {
			s.t.Errorf("%s: {} made %s of %s", where, kept.Raw, a.Raw)
		}
		return
	}
	needed := func() obj {
		p, path, body = ask()
		maps.DeleteFunc(body, func(name string, _ any) bool { return e.optional[name] })
		return body
	}
	s.matches(where, e, send(e.status, needed()))
	for name := range needed() {
		less := maps.Clone(body)
		delete(less, name)
		if a := send(400, less); a.at("fields."+name) == nil {
			s.t.Errorf("%s without %s: %s", where, name, a.Raw)
		}
	}
}

// anyOf is no body at all where the row has no fields.
func anyOf(body obj, e endpoint) any {
	if len(e.fields) == 0 {
		return nil
	}
	return body
}

func (s *scene) matches(where string, e endpoint, a answer) {
	s.t.Helper()
	if e.status == 204 {
		if len(a.Raw) > 0 || a.Header.Get("Content-Type") != "" {
			s.t.Errorf("%s: 204 with a body", where)
		}
		return
	}
	if array := strings.HasPrefix(e.answer, "array "); array != (a.List != nil) || array && len(a.List) == 0 ||
		a.Header.Get("Content-Type") != "application/json" {
		s.t.Errorf("%s: got %s, want %s", where, a.Raw, e.answer)
	}
	for _, object := range a.List {
		mustMatch(s.t, where, "{"+answers[e.answer]+"}", object)
	}
	if a.Body != nil {
		mustMatch(s.t, where, "{"+answers[e.answer]+"}", any(a.Body))
	}
}

// shows fails unless an answer shows what was sent, under the name that responses have for it.
func (s *scene) shows(where string, body obj, a answer) {
	s.t.Helper()
	for name, sent := range body {
		got, there := a.Body[name]
		if !there {
			got, there = a.Body[strings.TrimSuffix(name, "_id")]
		}
		switch name {
		case "code", "origin_url", "accession", "protocol_doi":
			continue // of /login and import: what comes of them tests of their own tell
		case "material_id":
			got, there = a.Body["id"], true
		case "grant_id":
			sent, got, there = []any{sent}, a.Body["grants"], true
		}
		if !there || refs(got) != refs(sent) {
			s.t.Errorf("%s: %s was sent as %v and is shown as %v", where, name, sent, got)
		}
	}
}

// refs is a value with its objects reduced to their ids, lists in any order.
func refs(v any) string {
	switch v := v.(type) {
	case map[string]any:
		if v["id"] != nil {
			return fmt.Sprint(v["id"])
		}
	case []any:
		list := []string{}
		for _, item := range v {
			list = append(list, refs(item))
		}
		slices.Sort(list)
		return fmt.Sprint(list)
	case []string:
		return fmt.Sprint(slices.Sorted(slices.Values(v)))
	case obj:
		return refs(map[string]any(v))
	}
	return fmt.Sprint(v)
}

// full are visits with every field of the request, where those of visits have fewer.
var full = map[string]func(*scene) visit{
	"POST /attachments": func(s *scene) visit {
		return at("/attachments",
			obj{"filename": "map.gb", "description": "a sequence map", "owned_by_org": s.id,
				"sequence_map_for": s.materialObject()})
	},
	"PUT,PATCH /attachments/{id}": func(s *scene) visit {
		return atf("/attachments/%d",
			s.newAttachment().id()).with(obj{"filename": "map.gb", "description": "a sequence map",
			"owned_by_user": s.member.ID, "owned_by_org": s.member.Lab, "sequence_map_for": s.materialObject()})
	},
	"POST /material-requests": func(s *scene) visit {
		return at("/material-requests",
			obj{"material": s.material, "requester_signed_mta_attachment": s.paper(s.requester()),
				"irb_attachment": s.paper(s.requester())})
	},
	"PUT,PATCH /material-requests/{id}": func(s *scene) visit {
		return atf("/material-requests/%d",
			s.newRequest()).with(obj{"status": "APPROVED", "is_active": true, "irb_attachment": s.paper(s.member),
			"requester_signed_mta_attachment": s.paper(s.member), "executed_mta_attachment": s.paper(s.member)})
	},
	"PUT,PATCH /grants/{id}": func(s *scene) visit {
		return atf("/grants/%d", s.newGrant()).with(obj{"title": "Colon and rectum", "funder_id": "R02"})
	},
	"POST /materials": func(s *scene) visit { return at("/materials", s.wholeMaterial()) },
	"PUT,PATCH /materials/{id}": func(s *scene) visit {
		return atf("/materials/%d", s.newMaterial()).with(s.wholeMaterial())
	},
	"POST /users/{id}/addresses": func(s *scene) visit { return at(s.user("/addresses"), wholeAddress()) },
	"PUT,PATCH /users/{id}/addresses/{address}": func(s *scene) visit {
		return atf("%s/%d", s.user("/addresses"), s.newAddress()).with(wholeAddress())
	},
	"POST /organizations": func(s *scene) visit {
		return at("/organizations", obj{"owner": s.owner.ID, "members": []any{s.owner.ID, s.member.ID}})
	},
	"PUT,PATCH /organizations/{id}": func(s *scene) visit {
		id := s.owner.want(201, "POST", "/organizations", obj{"owner": s.owner.ID, "members": []any{}}).id()
		v := atf("/organizations/%d", id).with(obj{"owner": s.member.ID, "members": []any{s.assignee.ID, s.member.ID}})
		v.as = s.people["admin"] // who may go on when the owner is another one
		return v
	},
	"PUT,PATCH /organization-user-settings/{id}": func(s *scene) visit {
		on := other(s, false, true)
		return atf("/organization-user-settings/%d",
			s.settings(s.member)).with(obj{"new_request_notif": on, "change_in_request_status_notif": on,
			"request_approval_determined_notif": on, "request_assigned_notif": on, "reminder_notif": on})
	},
	"PUT,PATCH /users/{id}": func(s *scene) visit {
		n := s.next()
		return at(s.user(""), obj{"first_name": fmt.Sprint("N", n), "last_name": fmt.Sprint("L", n),
			"email": fmt.Sprintf("n%d@example.org", n)})
	},
}

// materialObject is the lab's material as a GET shows it.
func (s *scene) materialObject() map[string]any {
	s.t.Helper()
	return s.member.want(200, "GET", s.paths("material"), nil).Body
}

// paper is a new document of someone.
func (s *scene) paper(p *testPerson) int64 {
	s.t.Helper()
	return p.want(201, "POST", "/attachments", obj{"filename": "paper.pdf"}).id()
}

func (s *scene) wholeMaterial() obj {
	s.t.Helper()
	return obj{"category": "OTHER", "title": "Organoids", "url": "https://example.org/organoids",
		"pubmed_id":           "32416070",
		"additional_metadata": obj{"anything": "else"}, "needs_mta": true, "needs_irb": true, "needs_abstract": true,
		"imported":      true,
		"import_source": "elsewhere", "organisms": []string{"Homo sapiens", "Mus musculus"}, "publication_title": "A",
		"pre_print_doi":   "10.1101/2020.05.11.088500",
		"pre_print_title": "B", "citation": "C", "additional_info": "D", "embargo_date": "2020-01-02",
		"contact_user_id":   s.assignee.ID,
		"mta_attachment_id": s.newAttachment().id(), "organization_id": s.id, "shipping_requirements_id": s.shipping}
}

func wholeAddress() obj {
	return obj{"name": "J. Carberry", "institution": "Brown", "address_line_1": "1 Waterman St",
		"address_line_2": "Floor 2", "locality": "Providence",
		"state": "RI", "country": "US", "postal_code": "02912", "saved_for_reuse": true}
}
