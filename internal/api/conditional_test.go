package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// singles are the routes whose GET shows one object, as the document says: it can answer 304.
func singles(t *testing.T) (list []routeCase) {
	t.Helper()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range visits {
		if methods, path := c.methods(); methods[0] == "GET" &&
			document.Paths.Value(path).Get.Responses.Status(304) != nil {
			list = append(list, c)
		}
	}
	return list
}

func TestIfNoneMatch_AnswersNotModified(t *testing.T) {
	t.Parallel()
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for _, c := range singles(t) {
			v, p := c.make(s, c.by), s.people[c.by]
			tag := v.call(p, "GET").Header.Get("ETag")
			if len(tag) < 10 || !strings.HasPrefix(tag, `"`) {
				t.Errorf("%s: ETag %q", c.route, tag)
			}
			for header, want := range map[string]int{
				tag: 304, "W/" + tag: 304, "*": 304, `"x"`: 200, `"x", W/"y,z" , ` + tag: 304,
				strings.Trim(tag, `"`): 200, "": 200, `"`: 200,
			} {
				a := p.callWith(map[string]string{"If-None-Match": header}, "GET", v.path, nil)
				if a.Status != want || want == 304 && (len(a.Raw) > 0 || a.Header.Get("ETag") != tag) {
					t.Errorf("%s, If-None-Match %s: %d with %d bytes, ETag %s; want %d", c.route, header, a.Status,
						len(a.Raw), a.Header.Get("ETag"), want)
				}
			}
			for header, want := range map[string]int{tag: 200, "*": 200, `"x",` + tag: 200, "W/" + tag: 412, `"x"`: 412,
				"": 412} {
				if a := p.callWith(map[string]string{"If-Match": header}, "GET", v.path, nil); a.Status != want &&
					header != "" {
					t.Errorf("%s, If-Match %s: %d, want %d", c.route, header, a.Status, want)
				}
			}
		}
	})
}

// changes are the routes that change one object, with the path that shows it.
func (s *scene) changes() []routeCase {
	var list []routeCase
	for _, c := range visits {
		methods, path := c.methods()
		if methods[0] == "PUT" || methods[0] == "DELETE" {
			if slices.Contains(api.Paths(), "GET "+strings.TrimSuffix(path, "/shipment")) &&
				!strings.HasSuffix(path, "/tokens") {
				list = append(list, c)
			}
		}
	}
	return list
}

func TestIfMatch_RefusesAChangeOfAnotherVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for _, c := range s.changes() {
			methods, _ := c.methods()
			for _, method := range methods {
				v, p := c.make(s, c.by), s.people[c.by]
				if v.as != nil {
					p = v.as
				}
				shown := strings.TrimSuffix(v.path, "/shipment")
				before := p.want(200, "GET", shown, nil)
				tag := before.Header.Get("ETag")
				for _, stale := range []string{`"x"`, "W/" + tag, `"x", "y"`} {
					a := p.callWith(map[string]string{"If-Match": stale}, method, v.path, v.body)
					if a.Status != 412 || a.Body["error_code"] != "PRECONDITION_FAILED" {
						t.Errorf("%s %s, If-Match %s: %d %s", method, c.route, stale, a.Status, a.Raw)
					}
				}
				if after := p.want(200, "GET", shown, nil); string(after.Raw) != string(before.Raw) {
					t.Errorf("%s %s: 412 changed %s to %s", method, c.route, before.Raw, after.Raw)
				}
				if a := p.callWith(map[string]string{"If-Match": `"x", ` + tag}, method, v.path,
					v.body); a.Status >= 300 {
					t.Errorf("%s %s, If-Match of what GET shows: %d %s", method, c.route, a.Status, a.Raw)
				}
			}
		}
		mine := fmt.Sprintf("%s/%d", s.user("/notifications"), s.notification())
		for header, want := range map[string]int{"*": 204, `"x"`: 412} {
			if a := s.requester().callWith(map[string]string{"If-Match": header}, "PUT", mine,
				obj{"read": true}); a.Status != want {
				t.Errorf("a notification, If-Match %s: %d, want %d", header, a.Status, want)
			}
		}
		admin := s.people["admin"] // who sees another user whole
		tag := admin.want(200, "GET", s.user(""), nil).Header.Get("ETag")
		if a := admin.callWith(map[string]string{"If-Match": tag}, "PATCH", s.user(""),
			obj{"last_name": "Z"}); a.Status != 200 {
			t.Errorf("an admin with the tag of a user: %d %s", a.Status, a.Raw)
		}
	})
}

// TestIfMatch_OneOfManyChangesToAVersionSucceeds sends each change eight times at once.
func TestIfMatch_OneOfManyChangesToAVersionSucceeds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		home := fmt.Sprintf("%s/%d", s.user("/addresses"), s.newAddress())
		for path, change := range map[string]struct {
			by    *testPerson
			field string
		}{
			fmt.Sprintf("/materials/%d", s.material):                            {s.member, "title"},
			fmt.Sprintf("/organizations/%d", s.id):                              {s.owner, "description"},
			fmt.Sprintf("/shipping-requirements/%d", s.shipping):                {s.member, "restrictions"},
			fmt.Sprintf("/attachments/%d", s.newAttachment().id()):              {s.owner, "description"},
			fmt.Sprintf("/organization-user-settings/%d", s.settings(s.member)): {s.member, ""},
			s.user("/mail-settings"):                                            {s.requester(), "time_zone"},
			s.user(""):                                                          {s.requester(), "first_name"},
			home:                                                                {s.requester(), "state"},
			s.req(""): {s.requester(),
				"payment_method_notes"},
		} {
			tag := change.by.want(200, "GET", path, nil).Header.Get("ETag")
			var done, refused atomic.Int32
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					body := obj{change.field: fmt.Sprint("no. ", i)}
					if change.field == "time_zone" {
						body["time_zone"] = "Europe/Amsterdam"
					}
					if change.field == "" {
						body = obj{"reminder_notif": false}
					}
					switch a := change.by.callWith(map[string]string{"If-Match": tag}, "PATCH", path, body); a.Status {
					case 200:
						done.Add(1)
					case 412:
						refused.Add(1)
					default:
						t.Errorf("%s: %d %s", path, a.Status, a.Raw)
					}
				})
			}
			all.Wait()
			if done.Load() != 1 || refused.Load() != 7 {
				t.Errorf("%s: %d succeeded, %d were refused", path, done.Load(), refused.Load())
			}
		}
	})
}
