package api_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/getkin/kin-openapi/openapi3"
)

// noFilters are numbers that name no object, and copies of objects.
var noFilters = []string{"size", "version", "seq", "times", "tries", "failures", "last_status", "open_issues",
	"decide_days", "countersign_days", "ship_days", "recheck_days", "largest_bsl", "address", "state",
	"waiting_on", "shipment"}

// filterable reports whether a field of a list's objects is a flag, a word of a list, an id or a date.
func filterable(name string, s *openapi3.Schema) bool {
	for _, one := range s.AnyOf {
		if filterable(name, one.Value) {
			return true
		}
	}
	if slices.Contains(noFilters, name) || s.Type == nil {
		return false
	}
	return len(s.Enum) > 0 || s.Type.Includes("boolean") || s.Type.Includes("integer") || s.Format == "uuid" ||
		s.Format == "date" ||
		s.Type.Includes("object") && s.Properties["id"] != nil
}

// TestFilters_WorkForEveryFieldOfAList takes from the document which filters a list has, and asks each for every value
// that its objects show: the answer has those objects and no other, on one page as on many.
func TestFilters_WorkForEveryFieldOfAList(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.fill()
		asked := s.differing()
		narrowed := map[string]int{}
		for _, c := range visits {
			methods, path := c.methods()
			op := document.Paths.Value(path).GetOperation(methods[0])
			content := op.Responses.Status(200)
			if methods[0] != "GET" || content == nil || content.Value.Content["application/json"] == nil {
				continue
			}
			list := content.Value.Content["application/json"].Schema.Value
			if list.Type == nil || !list.Type.Is("array") {
				continue
			}
			v := c.make(s, c.by)
			if strings.Contains(v.path, "?") {
				v.path += "&"
			} else {
				v.path += "?"
			}
			caller := s.people[c.by]
			all := caller.want(200, "GET", v.path+"limit=200", nil).List
			for _, name := range slices.Sorted(maps.Keys(list.Items.Value.Properties)) {
				if !filterable(name, list.Items.Value.Properties[name].Value) {
					continue
				}
				if op.Parameters.GetByInAndName("query", name) == nil {
					t.Errorf("%s: no parameter %s", path, name)
					continue
				}
				counts := map[string]int{}
				for _, item := range all {
					counts[valueOf(item.(obj2)[name])]++
				}
				delete(counts, "") // null, which nothing asks for
				for value, want := range counts {
					query := v.path + name + "=" + url.QueryEscape(value)
					got := caller.want(200, "GET", query+"&limit=200", nil)
					for _, item := range got.List {
						if valueOf(item.(obj2)[name]) != value {
							t.Errorf("%s has one of %v", query, item.(obj2)[name])
						}
					}
					if path == "/audit-events" { // to look at them is an event
						want = max(want, len(got.List))
					}
					if len(got.List) != want || got.Header.Get("X-Total-Count") != fmt.Sprint(want) {
						t.Errorf("%s: %d of %s, want %d", query, len(got.List), got.Header.Get("X-Total-Count"), want)
					}
					if want > 1 {
						first := caller.want(200, "GET", query+"&limit=1", nil)
						next, _, _ := strings.Cut(strings.TrimPrefix(first.Header.Get("Link"), "<"), ">")
						if second := caller.want(200, "GET", next, nil); len(second.List) != 1 ||
							valueOf(second.List[0].(obj2)[name]) != value {
							t.Errorf("%s, the second page: %s", query, second.Raw)
						}
					}
					if want < len(all) {
						narrowed[name]++
					}
				}
			}
		}
		requester := s.requester()
		all := requester.want(200, "GET", "/material-requests?limit=200", nil).List
		for organization, want := range map[int64]int{s.people["stranger"].Lab: 1, s.id: len(all) - 1,
			requester.Lab: 0} {
			got := requester.want(200, "GET", fmt.Sprintf("/material-requests?limit=200&organization=%d", organization),
				nil).List
			if len(got) != want || want == 1 && valueOf(got[0]) != fmt.Sprint(asked) {
				t.Errorf("of organization %d: %d requests, want %d", organization, len(got), want)
			}
		}
		if got := s.people["stranger"].want(200, "GET", fmt.Sprintf("/material-requests?organization=%d", s.id),
			nil).List; len(got) != 0 {
			t.Errorf("a stranger sees %d requests of the lab", len(got))
		}
		for _, name := range []string{"organization", "status", "needs_mta", "category", "is_archived", "is_active",
			"material"} {
			if narrowed[name] == 0 {
				t.Errorf("no list was narrowed by %s", name)
			}
		}
		t.Logf("narrowed by %v", narrowed)
	})
}

// differing adds objects of which lists show different values, and returns a request of the requester to another lab.
func (s *scene) differing() int64 {
	s.t.Helper()
	for _, more := range []obj{{"needs_mta": true}, {"needs_irb": true, "embargo_date": "2020-01-01"},
		{"needs_abstract": true, "embargo_date": "2021-01-01"}} {
		body := obj{"category": "OTHER", "title": "A", "organization_id": s.id}
		maps.Copy(body, more)
		s.member.want(201, "POST", "/materials", body)
	}
	s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", s.newMaterial()), nil)
	rejected := s.newRequest()
	s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", rejected),
		obj{"status": "REJECTED", "rejection_reason": "None is left"})
	stranger := s.people["stranger"]
	other := stranger.want(201, "POST", "/materials",
		obj{"category": "PROTOCOL", "title": "B", "organization_id": stranger.Lab}).id()
	return s.requester().want(201, "POST", "/material-requests", obj{"material": other}).id()
}

// obj2 is an object of an answer.
type obj2 = map[string]any

// valueOf is a value of a field as a filter has it: of an object its id.
func valueOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case obj2:
		return valueOf(v["id"])
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(v)
}

func TestFilters_RefuseWrongValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	p := w.person("ada")
	for _, query := range []string{
		"materials?needs_irb=maybe", "materials?needs_irb=", "materials?contact_user=7", "materials?embargo_date=soon",
		"materials?embargo_date=2026-02-30",
		"materials?id=0", "materials?shipping_requirements=x", "material-requests?organization=mine",
		"material-requests?payment_method=GOLD",
		"shipping-requirements?needs_payment=2", "organizations?owner=me%00",
	} {
		_, name, _ := strings.Cut(query, "?")
		name, _, _ = strings.Cut(name, "=")
		if a := p.refused(400, "INVALID_INPUT", "GET", "/"+query, nil); a.at("fields."+name) == nil {
			t.Errorf("%s: %s", query, a.Raw)
		}
	}
	// A filter does not show what the list hides.
	p.want(200, "GET", "/material-requests?organization=1", nil)
}
