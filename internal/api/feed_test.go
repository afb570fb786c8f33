package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// kindsOf are the kinds of the events of a list.
func kindsOf(a answer) []string {
	list := []string{}
	for _, item := range a.List {
		list = append(list, item.(map[string]any)["kind"].(string))
	}
	return list
}

func TestOrganizationFeed_ListsTheEventsOfItsRequests(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		other := s.newMaterial()
		second := s.requester().want(201, "POST", "/material-requests", obj{"material": other}).id()
		elsewhere := s.people["stranger"].want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "Not ours", "organization_id": s.people["stranger"].Lab}).id()
		s.requester().want(201, "POST", "/material-requests", obj{"material": elsewhere})
		s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", second), obj{"status": "APPROVED"})
		feed := fmt.Sprintf("/organizations/%d/events", s.id)
		all := s.member.want(200, "GET", feed, nil)
		if got, want := kindsOf(all),
			[]string{"status_changed", "request_made", "document_added", "request_made"}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		first := all.List[0].(map[string]any)
		event := s.member.want(200, "GET", fmt.Sprintf("/material-requests/%d/events?limit=1", second),
			nil).List[0].(map[string]any)
		event["request"], event["material"], event["title"] = float64(second), float64(other), "A"
		if fmt.Sprint(first) != fmt.Sprint(event) {
			t.Errorf("got %v, want %v", first, event)
		}
		soon := url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(exchange.TimeLayout))
		for filter, want := range map[string][]string{
			"kind=request_made":                 {"request_made", "request_made"},
			fmt.Sprint("request=", second):      {"status_changed", "request_made"},
			fmt.Sprint("material=", s.material): {"document_added", "request_made"},
			fmt.Sprint("actor=", s.member.ID):   {"status_changed", "document_added"},
			"since=2020-05-11T14:13:39%2B0000":  kindsOf(all),
			"since=2020-05-11T14:13:39+0000":    kindsOf(all),
			"since=" + soon:                     {},
			"kind=message":                      {},
			"request=99":                        {},
			fmt.Sprintf("kind=request_made&material=%d&actor=%s&request=%d&since=2020-01-01T00:00:00Z", other,
				s.requester().ID, second): {"request_made"},
		} {
			if got := s.member.want(200, "GET", feed+"?"+filter, nil); !slices.Equal(kindsOf(got), want) ||
				got.Header.Get("X-Total-Count") != fmt.Sprint(len(want)) {
				t.Errorf("%s: got %v, want %v", filter, kindsOf(got), want)
			}
		}
		wrong := s.member.refused(400, "INVALID_INPUT", "GET", feed+
			"?kind=x&request=x&material=x&actor=x&since=yesterday", nil)
		for _, name := range []string{"kind", "request", "material", "actor", "since"} {
			if wrong.at("fields."+name) == nil {
				t.Errorf("%s is not named: %s", name, wrong.Raw)
			}
		}
		s.member.refused(404, "NOT_FOUND", "GET", "/organizations/999/events", nil)

		// A material takes what happened to it along, and a deleted request leaves that it was deleted.
		s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", second), obj{"status": "REJECTED"})
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", other), obj{"organization_id": s.member.Lab})
		s.people["admin"].want(204, "DELETE", s.req(""), nil)
		moved := s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/events", s.member.Lab), nil)
		if got, want := kindsOf(moved),
			[]string{"status_changed", "status_changed", "request_made"}; !slices.Equal(got, want) {
			t.Errorf("moved: got %v, want %v", got, want)
		}
		if got := kindsOf(s.member.want(200, "GET", feed, nil)); !slices.Equal(got, []string{"deleted"}) {
			t.Errorf("left: got %v, want that the other request was deleted", got)
		}
	})
}

func TestNotifications_FilterByEachField(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.requester().want(201, "POST", s.req("/messages"), obj{"text": "Hello"})
		second := s.newRequest()
		feed := fmt.Sprintf("/users/%s/notifications", s.owner.ID)
		all := s.owner.want(200, "GET", feed, nil)
		if got, want := kindsOf(all), []string{"request_made", "message", "request_made"}; !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		middle := idsOf(all.List)[1]
		s.owner.want(204, "POST", feed+"/read", obj{"until": middle})
		soon := url.QueryEscape(time.Now().Add(time.Hour).UTC().Format(exchange.TimeLayout))
		for filter, want := range map[string][]string{
			"unread=true":                            {"request_made"},
			"unread=false":                           {"message", "request_made"},
			"category=new_request_notif":             {"request_made", "request_made"},
			"category=reminder_notif":                {},
			"kind=message":                           {"message"},
			fmt.Sprint("request=", second):           {"request_made"},
			fmt.Sprint("organization=", s.id):        kindsOf(all),
			fmt.Sprint("organization=", s.owner.Lab): {},
			"since=2020-05-11T14:13:39%2B0000":       kindsOf(all),
			"since=" + soon:                          {},
			fmt.Sprintf("unread=false&kind=request_made&category=new_request_notif&organization=%d&request=%d", s.id,
				s.request): {"request_made"},
		} {
			got := s.owner.want(200, "GET", feed+"?"+filter, nil)
			if !slices.Equal(kindsOf(got), want) || got.Header.Get("X-Total-Count") != fmt.Sprint(len(want)) ||
				got.Header.Get("X-Unread-Count") != "1" {
				t.Errorf("%s: got %v, want %v", filter, kindsOf(got), want)
			}
		}
		wrong := s.owner.refused(400, "INVALID_INPUT", "GET", feed+
			"?unread=x&category=x&kind=x&request=x&organization=x&since=x", nil)
		for _, name := range []string{"unread", "category", "kind", "request", "organization", "since"} {
			if wrong.at("fields."+name) == nil {
				t.Errorf("%s is not named: %s", name, wrong.Raw)
			}
		}
	})
}
