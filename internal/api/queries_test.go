package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// statements is how many SQL statements each route runs, the caller's token included, whatever
// there is in the database. A number that grows here is a cost that every caller pays; lower it
// or say why.
var statements = map[string]int64{
	"GET /openapi.json":                   0,
	"POST /login":                         7,
	"POST /logout":                        2,
	"POST /users":                         7,
	"GET /users/{id}":                     10,
	"PUT,PATCH /users/{id}":               11,
	"GET /users/{id}/notifications":       4,
	"POST /users/{id}/notifications/read": 2,
	"PUT,PATCH /users/{id}/notifications/{notification}":                        2,
	"POST /users/{id}/addresses":                                                3,
	"GET /users/{id}/addresses":                                                 3,
	"GET /users/{id}/addresses/{address}":                                       3,
	"PUT,PATCH /users/{id}/addresses/{address}":                                 4,
	"DELETE /users/{id}/addresses/{address}":                                    2,
	"GET /users/{id}/tokens":                                                    3,
	"DELETE /users/{id}/tokens":                                                 2,
	"DELETE /users/{id}/tokens/{token}":                                         2,
	"POST /organizations":                                                       7,
	"GET /organizations":                                                        3,
	"GET /organizations/{id}":                                                   2,
	"PUT,PATCH /organizations/{id}":                                             8,
	"GET /organizations/{id}/members":                                           3,
	"GET /organizations/{id}/materials":                                         3,
	"POST /organizations/{id}/materials/bulk":                                   6,
	"GET /organizations/{id}/materials/bulk/{job}/report":                       3,
	"GET /organizations/{id}/materials/template":                                2,
	"GET /organizations/{id}/materials/export":                                  6,
	"GET /organizations/{id}/grants":                                            4,
	"GET /organizations/{id}/invitations":                                       4,
	"POST /organizations/{id}/invitations":                                      7,
	"DELETE /organizations/{id}/invitations/{invitation}":                       3,
	"POST /users/{id}/invitations/{invitation}/accept":                          9,
	"POST /users/{id}/invitations/{invitation}/decline":                         7,
	"GET /organizations/{id}/history":                                           5,
	"GET /organization-user-settings":                                           3,
	"GET /organization-user-settings/{id}":                                      2,
	"GET /organization-user-settings/{id} (of one who left)":                    3,
	"PUT,PATCH /organization-user-settings/{id}":                                3,
	"POST /shipping-requirements":                                               3,
	"GET /shipping-requirements":                                                2,
	"GET /shipping-requirements/{id}":                                           1,
	"PUT,PATCH /shipping-requirements/{id}":                                     3,
	"POST /materials":                                                           6,
	"GET /materials":                                                            2,
	"GET /materials/{id}":                                                       1,
	"PUT,PATCH /materials/{id}":                                                 6,
	"DELETE /materials/{id}":                                                    6,
	"POST /grants":                                                              4,
	"GET /grants":                                                               7,
	"GET /grants/{id}":                                                          6,
	"PUT,PATCH /grants/{id}":                                                    7,
	"GET /grants/{id}/materials":                                                4,
	"POST /grants/{id}/materials":                                               7,
	"POST /grants/{id}/materials (of another lab)":                              8,
	"DELETE /grants/{id}/materials/{material}":                                  7,
	"GET /materials/{id}/history":                                               5,
	"POST /attachments":                                                         2,
	"GET /attachments":                                                          4,
	"GET /attachments/{id}":                                                     3,
	"GET /attachments/{id} (of a request)":                                      3,
	"GET /attachments/{id} (the lab's, of a request)":                           3,
	"PUT,PATCH /attachments/{id}":                                               4,
	"DELETE /attachments/{id}":                                                  4,
	"GET /uploaded-file/{attachment}/{filename}":                                3,
	"GET /uploaded-file/{attachment}/{filename} (of a request)":                 3,
	"GET /uploaded-file/{attachment}/{filename} (the MTA of a listed material)": 2,
	"PUT /uploaded-file/{attachment}/{filename}":                                6,
	"POST /material-requests":                                                   10,
	"GET /material-requests":                                                    4,
	"GET /material-requests/{id}":                                               3,
	"PUT,PATCH /material-requests/{id}":                                         7,
	"DELETE /material-requests/{id}":                                            8,
	"GET /material-requests/{id}/events":                                        5,
	"GET /material-requests/{id}/messages":                                      5,
	"POST /material-requests/{id}/messages":                                     6,
	"GET /material-requests/{id}/issues":                                        5,
	"POST /material-requests/{id}/issues":                                       7,
	"POST /material-requests/{id}/issues/{issue}/close":                         8,
	"PUT,PATCH /material-requests/{id}/shipment":                                6,
	"POST /material-requests/{id}/documents/{document}/accept":                  7,
	"POST /material-requests/{id}/documents/{document}/accept (the lab's)":      7,
	"POST /material-requests/{id}/documents/{document}/return":                  7,
	"POST /material-requests/{id}/documents/{document}/return (the lab's)":      7,
	"GET /audit-events":                                                         5,
	"GET /jobs":                                                                 3,
	"GET /jobs/{id}":                                                            2,
	"GET /jobs/{id} (Aliquot's own)":                                            3,
	"POST /jobs/{id}/cancel":                                                    3,
	"POST /jobs/{id}/retry":                                                     4,
}

func TestTheNumberOfStatementsOfEachRouteIsKnown(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.fill()
		for _, c := range visits {
			methods, _ := c.methods()
			for _, method := range methods {
				v := c.make(s, c.by)
				before := db.Queries()
				a := v.call(s.people[c.by], method)
				if got := db.Queries() - before; a.Status >= 300 || got != statements[c.route] {
					t.Errorf("%s %s: %d statements, want %d: %d", method, c.route, got, statements[c.route], a.Status)
				}
			}
		}
	})
}

// TestListsOfFiftyNeedAsManyStatementsAsListsOfOne also holds what is inside of a user.
func TestListsOfFiftyNeedAsManyStatementsAsListsOfOne(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		grant := s.newGrant()
		lists := map[string]*person{
			s.user(""): s.requester(), s.user("/addresses"): s.requester(), s.user("/notifications"): s.member, "/materials": s.member,
			"/organizations": s.member, fmt.Sprintf("/organizations/%d/history", s.id): s.member,
			fmt.Sprintf("/materials/%d/history", s.material): s.member, "/audit-events": s.people["admin"], "/organization-user-settings": s.owner, "/shipping-requirements": s.member,
			"/attachments": s.people["admin"], "/material-requests": s.member, s.req("/events"): s.member, s.req("/messages"): s.member,
			s.req("/issues"): s.member, "/grants": s.member, fmt.Sprintf("/grants/%d", grant): s.member, fmt.Sprintf("/grants/%d/materials", grant): s.member,
			"/jobs": s.requester(), "/jobs?all=true": s.people["admin"],
			fmt.Sprintf("/organizations/%d", s.id): s.member, fmt.Sprintf("/users/%s", s.assignee.ID): s.assignee,
		}
		lists[fmt.Sprintf("/users/%s/notifications", s.member.ID)] = s.member
		delete(lists, s.user("/notifications"))
		for _, part := range []string{"members", "materials", "grants", "invitations"} {
			lists[fmt.Sprintf("/organizations/%d/%s", s.id, part)] = s.member
		}
		lists[fmt.Sprintf("/users/%s/tokens", s.assignee.ID)] = s.assignee
		measure := func() map[string]int64 {
			counts := map[string]int64{}
			for path, by := range lists {
				before := db.Queries()
				by.want(200, "GET", path, nil)
				counts[path] = db.Queries() - before
			}
			return counts
		}
		more := func() {
			s.newJob(job.Order{User: &s.requester().ID})
			s.requester().want(201, "POST", s.req("/messages"), obj{"text": "Hello"})
			s.newIssue()
			s.newAddress()
			s.newRequest()
			s.member.want(201, "POST", fmt.Sprintf("/grants/%d/materials", grant), obj{"material_id": s.newMaterial()})
			s.newGrant()
			s.newInvitation(fmt.Sprint("id-guest", s.next()))
			s.again("assignee")
			s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"title": fmt.Sprint("No. ", s.next())})
			s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"description": fmt.Sprint("No. ", s.next())})
			s.owner.want(201, "POST", "/organizations", obj{"owner": s.owner.ID, "members": []any{s.member.ID}})
			s.member.want(201, "POST", "/shipping-requirements", obj{"organization": s.id})
		}
		more()
		one := measure()
		for range 49 {
			more()
		}
		members := []any{s.member.ID, s.assignee.ID}
		for range 48 {
			members = append(members, s.person(fmt.Sprint("guest", s.next())).ID)
		}
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": members})
		for path, count := range measure() {
			if count != one[path] {
				t.Errorf("%s: %d statements for one, %d for fifty", path, one[path], count)
			}
		}
		for path, by := range lists {
			if a := by.want(200, "GET", path, nil); a.List != nil && len(a.List) < 50 && path != "/organization-user-settings" {
				t.Errorf("%s lists %d only", path, len(a.List))
			}
		}
	})
}
