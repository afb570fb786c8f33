package api_test

import (
	"fmt"
	"slices"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// statements is how many SQL statements each route runs, the caller's token included, whatever
// there is in the database. Each that changes something reads the caller twice: before the body, and as they are
// in the transaction. A number that grows here is a cost that every caller pays; lower it
// or say why.
var statements = map[string]int64{
	"GET /openapi.json":            0,
	"GET /log/checkpoint":          1,
	"GET /log/keys":                1,
	"GET /log/tile/{level}/{tile}": 1,
	"POST /login":                  12,
	"POST /logout":                 4,
	"POST /users":                  12,
	"GET /users/{id}":              11,
	// what is kept about a person is in many tables
	"DELETE /users/{id}":                                  63,
	"PUT,PATCH /users/{id}":                               17,
	"GET /users/{id}/notifications":                       4,
	"GET /users/{id}/storage":                             5,
	"GET /users/{id}/erasure":                             8,
	"POST /users/{id}/erasure":                            16,
	"DELETE /users/{id}/erasure":                          17,
	"GET /users/{id}/export":                              43,
	"GET /users/{id}/mail-settings":                       2,
	"PUT,PATCH /users/{id}/mail-settings":                 7,
	"POST /users/{id}/mail-settings/retry":                4,
	"GET /users/{id}/notifications/stream":                5,
	"POST /users/{id}/notifications/read":                 4, // the last one notifies the streams
	"PUT,PATCH /users/{id}/notifications/{notification}":  4,
	"POST /users/{id}/saved-searches":                     6,
	"GET /users/{id}/saved-searches":                      3,
	"GET /users/{id}/saved-searches/{saved_search}":       2,
	"PUT,PATCH /users/{id}/saved-searches/{saved_search}": 6,
	"DELETE /users/{id}/saved-searches/{saved_search}":    4,
	"POST /users/{id}/addresses":                          4,
	"GET /users/{id}/addresses":                           3,
	"GET /users/{id}/addresses/{address}":                 3,
	"PUT,PATCH /users/{id}/addresses/{address}":           5,
	"DELETE /users/{id}/addresses/{address}":              3,
	"GET /users/{id}/tokens":                              3,
	"POST /users/{id}/tokens":                             6,
	"DELETE /users/{id}/tokens":                           4,
	"DELETE /users/{id}/tokens/{token}":                   4,
	"GET /users/{id}/passkeys":                            3,
	"POST /users/{id}/passkeys/options":                   6,
	"POST /users/{id}/passkeys":                           12,
	"DELETE /users/{id}/passkeys/{passkey}":               7,
	"POST /organizations":                                 10,
	"POST /organizations (for somebody else)":             10,
	"GET /organizations":                                  3,
	"GET /organizations/{id}":                             2,
	"PUT,PATCH /organizations/{id}":                       12,
	"GET /organizations/{id}/members":                     3,
	"GET /organizations/{id}/materials":                   3,
	// the spreadsheet counts for the quota at once
	"POST /organizations/{id}/materials/bulk":                       10,
	"GET /organizations/{id}/materials/bulk/{job}/report":           4,
	"GET /organizations/{id}/materials/template":                    2,
	"GET /organizations/{id}/materials/export":                      6,
	"GET /organizations/{id}/storage":                               5,
	"GET /organizations/{id}/grants":                                4,
	"GET /organizations/{id}/invitations":                           4,
	"POST /organizations/{id}/invitations":                          9,
	"DELETE /organizations/{id}/invitations/{invitation}":           6,
	"POST /organizations/{id}/invitations/{invitation}/resend":      7,
	"GET /invitations":                                              2,
	"POST /invitations/accept":                                      17,
	"POST /invitations/decline":                                     13,
	"POST /organizations/{id}/join-requests":                        13,
	"GET /organizations/{id}/join-requests":                         4,
	"DELETE /organizations/{id}/join-requests/{join_request}":       6,
	"POST /organizations/{id}/join-requests/{join_request}/accept":  13,
	"POST /organizations/{id}/join-requests/{join_request}/decline": 9,
	"GET /users/{id}/join-requests":                                 3,
	"POST /users/{id}/invitations/{invitation}/accept":              15,
	"POST /users/{id}/invitations/{invitation}/decline":             11,
	"GET /organizations/{id}/history":                               5,
	"GET /organizations/{id}/events":                                4,
	"GET /organization-user-settings":                               3,
	"GET /organization-user-settings/{id}":                          2,
	"GET /organization-user-settings/{id} (of one who left)":        3,
	"PUT,PATCH /organization-user-settings/{id}":                    5,
	"POST /shipping-requirements":                                   4,
	"GET /shipping-requirements":                                    2,
	"GET /shipping-requirements/{id}":                               1,
	"PUT,PATCH /shipping-requirements/{id}":                         4,
	"POST /materials":                                               12,
	"GET /materials":                                                2,
	"GET /materials/{id}":                                           1,
	"GET /materials/{id}/jsonld":                                    2, // the name of the organization
	"GET /materials/{id}/citation":                                  2,
	"PUT,PATCH /materials/{id}":                                     9,
	"DELETE /materials/{id}":                                        12,
	"POST /materials/import":                                        19,
	"POST /materials/import (imported protocol)":                    19,
	"POST /materials/import (for another lab)":                      20,
	"POST /materials/import/preview":                                2,
	"POST /materials/imports":                                       6,
	"POST /materials/imports (for another lab)":                     7,
	"GET /publications":                                             1,
	"POST /agreements":                                              54,
	"GET /agreements/inbox":                                         6,
	"GET /agreements":                                               6,
	"GET /agreements/{id}":                                          31,
	"GET /permits":                                                  7,
	"POST /permits":                                                 10,
	"GET /permits (of a request)":                                   5,
	"POST /permits (of a lab)":                                      10,
	"POST /permits (of an institution)":                             10,
	"GET /permits/{id}":                                             7,
	"PUT,PATCH /permits/{id}":                                       10,
	"POST /material-requests/{id}/permits":                          18,
	"DELETE /material-requests/{id}/permits/{permit}":               18,
	"GET /agreements/{id}/versions":                                 7,
	"POST /agreements/{id}/versions":                                52,
	"POST /agreements/{id}/send":                                    64,
	"POST /agreements/{id}/decline":                                 22,
	"POST /agreements/{id}/withdraw":                                13,
	"POST /agreements/{id}/signatures":                              51,
	"POST /users/{id}/signatures/options":                           36,
	"POST /users/{id}/signatures":                                   50,
	"GET /agreements/{id}/duties":                                   6,
	"PUT,PATCH /agreements/{id}/duties/{duty}":                      11,
	"POST /agreements/{id}/duties/{duty}/evidence":                  11,
	"POST /agreements/{id}/duties/{duty}/waive":                     11,
	"GET /agreements/{id}/links":                                    7,
	"POST /agreements/{id}/links":                                   37,
	"GET /agreements/{id}/document":                                 6,
	"POST /institutions":                                            6,
	"POST /institutions (confirmed)":                                6,
	"GET /institutions":                                             2,
	"GET /institutions/signatories":                                 1,
	"POST /institutions/signatories":                                6,
	"GET /institutions/{id}":                                        1,
	"PUT,PATCH /institutions/{id}":                                  7,
	"PUT,PATCH /institutions/{id} (not confirmed)":                  7,
	"GET /institutions/{id}/labs":                                   3,
	"POST /institutions/{id}/labs":                                  10,
	"PUT,PATCH /institutions/{id}/labs/{lab}":                       9,
	"GET /institutions/{id}/affiliations":                           6,
	"POST /institutions/{id}/affiliations":                          12,
	"POST /institutions/{id}/affiliations (another's)":              12,
	"PUT,PATCH /institutions/{id}/affiliations/{affiliation}":       9,
	"GET /institutions/{id}/positions":                              6,
	"POST /institutions/{id}/positions":                             9,
	"PUT,PATCH /institutions/{id}/positions/{position}":             9,
	"GET /institutions/{id}/authorities":                            6,
	"POST /institutions/{id}/authorities":                           10,
	"PUT,PATCH /institutions/{id}/authorities/{authority}":          11,
	"GET /institutions/{id}/stand-ins":                              6,
	"POST /institutions/{id}/stand-ins":                             10,
	"PUT,PATCH /institutions/{id}/stand-ins/{stand_in}":             10,
	"GET /instruments":                                              1,
	"GET /instruments/{instrument}":                                 1,
	"GET /institutions/{id}/playbook":                               4,
	"PUT,PATCH /institutions/{id}/playbook":                         10,
	"GET /institutions/{id}/playbook/conflicts":                     6,
	"GET /institutions/{id}/approvals":                              6,
	"POST /institutions/{id}/approvals":                             10,
	"PUT,PATCH /institutions/{id}/approvals/{approval}":             10,
	"POST /institutions/{id}/approvals/{approval}/sign":             12,
	"POST /institutions/{id}/approvals/{approval}/sign/options":     13,
	"GET /institutions/{id}/masters":                                3,
	"POST /institutions/{id}/masters":                               9,
	"PUT,PATCH /institutions/{id}/masters/{master}":                 9,
	"POST /grants":                                                  5,
	"GET /grants":                                                   7,
	"GET /grants/{id}":                                              6,
	"PUT,PATCH /grants/{id}":                                        8,
	"GET /grants/{id}/materials":                                    4,
	"POST /grants/{id}/materials":                                   8,
	"POST /grants/{id}/materials (of another lab)":                  9,
	"DELETE /grants/{id}/materials/{material}":                      8,
	"GET /materials/{id}/transfer-facts":                            2,
	"PUT,PATCH /materials/{id}/transfer-facts":                      10,
	"GET /materials/{id}/lineage":                                   3,
	"PUT,PATCH /materials/{id}/lineage":                             8,
	"GET /materials/{id}/may-share":                                 4,
	"POST /agreements/resolve":                                      10,
	"GET /material-requests/{id}/requirements":                      10,
	"GET /material-requests/{id}/purpose":                           4,
	"PUT,PATCH /material-requests/{id}/purpose":                     7,
	"GET /material-requests/{id}/paper-findings":                    5,
	"GET /materials/{id}/history":                                   5,
	"POST /attachments":                                             4,
	// one for the materials of sequence maps
	"GET /attachments":                                                          5,
	"GET /attachments/{id}":                                                     3,
	"GET /attachments/{id} (of a request)":                                      3,
	"GET /attachments/{id} (the lab's, of a request)":                           3,
	"PUT,PATCH /attachments/{id}":                                               6,
	"DELETE /attachments/{id}":                                                  6,
	"GET /attachments/{id} (filed by one who left)":                             3,
	"PUT,PATCH /attachments/{id} (filed by one who left)":                       6,
	"DELETE /attachments/{id} (filed by one who left)":                          6,
	"GET /attachments/{id}/versions/{version}":                                  3,
	"GET /attachments/{id}/versions/{version} (that a request was made under)":  4,
	"GET /uploaded-file/{attachment}/{filename} (filed by one who left)":        3,
	"PUT /uploaded-file/{attachment}/{filename} (filed by one who left)":        6,
	"GET /uploaded-file/{attachment}/{filename}":                                3,
	"GET /uploaded-file/{attachment}/{filename} (of a request)":                 3,
	"GET /uploaded-file/{attachment}/{filename} (the MTA of a listed material)": 2,
	"PUT /uploaded-file/{attachment}/{filename}":                                6,
	"POST /material-requests":                                                   15,
	"POST /materials/{id}/inquiries":                                            12,
	"GET /organizations/{id}/inquiries":                                         4,
	"GET /users/{id}/inquiries":                                                 3,
	"GET /inquiries/{id}":                                                       2,
	"POST /inquiries/{id}/answer":                                               7,
	"POST /request-groups":                                                      30,
	"GET /request-groups/{id}":                                                  3,
	"POST /request-groups/{id}/accept":                                          22,
	"GET /material-requests":                                                    5,
	"GET /material-requests/{id}":                                               3,
	"PUT,PATCH /material-requests/{id}":                                         11,
	"DELETE /material-requests/{id}":                                            16,
	"GET /material-requests/{id}/events":                                        5,
	"GET /material-requests/{id}/messages":                                      5,
	"POST /material-requests/{id}/messages":                                     9,
	"GET /material-requests/{id}/turns":                                         5,
	"GET /material-requests/{id}/events/{seq}/proof":                            9,
	"GET /material-requests/{id}/dossier":                                       20,
	"POST /material-requests/{id}/snooze":                                       8,
	"POST /material-requests/{id}/snooze (the lab's turn)":                      8,
	"DELETE /material-requests/{id}/snooze":                                     8,
	"DELETE /material-requests/{id}/snooze (the lab's turn)":                    8,
	"GET /material-requests/{id}/issues":                                        5,
	"POST /material-requests/{id}/issues":                                       10,
	"POST /material-requests/{id}/issues/{issue}/close":                         10,
	"PUT,PATCH /material-requests/{id}/shipment":                                10,
	"POST /material-requests/{id}/documents/{document}/accept":                  10,
	"POST /material-requests/{id}/documents/{document}/accept (the lab's)":      10,
	"POST /material-requests/{id}/documents/{document}/return":                  10,
	"POST /material-requests/{id}/documents/{document}/return (the lab's)":      10,
	"GET /search/materials":                                                     3,
	"GET /search/materials/feed":                                                4,
	"GET /search/organizations":                                                 3,
	"GET /search/users":                                                         3,
	"GET /search/suggest":                                                       4,
	"GET /audit-events":                                                         5,
	"GET /jobs":                                                                 3,
	"GET /jobs/{id}":                                                            2,
	"GET /jobs/{id} (Aliquot's own)":                                            3,
	"POST /jobs/{id}/cancel":                                                    4,
	"POST /jobs/{id}/undo":                                                      9,
	"POST /jobs/{id}/retry":                                                     5,
	"GET /organizations/{id}/webhooks":                                          4,
	// the secret is sealed for the id, which is known when the row is there
	"POST /organizations/{id}/webhooks":                                           7,
	"GET /organizations/{id}/webhooks/{webhook}":                                  2,
	"PUT,PATCH /organizations/{id}/webhooks/{webhook}":                            5,
	"DELETE /organizations/{id}/webhooks/{webhook}":                               5,
	"POST /organizations/{id}/webhooks/{webhook}/rotate":                          5,
	"POST /organizations/{id}/webhooks/{webhook}/ping":                            6,
	"GET /organizations/{id}/webhooks/{webhook}/deliveries":                       4,
	"GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}":            4,
	"POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver": 6,
}

// onPostgres is statements where PostgreSQL needs another number: it has the words of a thing in the row
// of its index, SQLite beside it; it is asked for the first hits part by part; and in a transaction it plans again how to
// read materials by a list of ids, which takes two settings.
var onPostgres = map[string]int64{
	"PUT,PATCH /materials/{id}/lineage":          10,
	"DELETE /users/{id}":                         62,
	"POST /login":                                10,
	"POST /users":                                10,
	"PUT,PATCH /users/{id}":                      16,
	"POST /organizations":                        9,
	"POST /organizations (for somebody else)":    9,
	"PUT,PATCH /organizations/{id}":              11,
	"POST /materials":                            11,
	"PUT,PATCH /materials/{id}":                  8,
	"DELETE /materials/{id}":                     10,
	"POST /materials/import":                     18,
	"POST /materials/import (imported protocol)": 18,
	"POST /materials/import (for another lab)":   19,
	"POST /agreements":                           58,
	"POST /agreements/{id}/versions":             56,
	"POST /agreements/{id}/send":                 68,
	"POST /agreements/{id}/signatures":           53,
	"GET /search/materials":                      4,
	"GET /search/materials/feed":                 5,
	"GET /search/organizations":                  4,
	"GET /search/users":                          4,
	"GET /search/suggest":                        6,
	"POST /agreements/{id}/links":                39,
	"PUT,PATCH /materials/{id}/transfer-facts":   9,
	"POST /users/{id}/signatures":                52,
	"POST /users/{id}/signatures/options":        38,
}

func statementsOf(db *store.DB, route string) int64 {
	if n, other := onPostgres[route]; other && db.Postgres() {
		return n
	}
	return statements[route]
}

func TestStatements_OfEachRouteAreCounted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		s.fill()
		ofRecord := newRecordCost(t, db)
		for _, c := range visits {
			methods, _ := c.methods()
			for _, method := range methods {
				v := c.make(s, c.by)
				ofRecord.next()
				before := db.Queries()
				a := v.call(s.people[c.by], method)
				got := db.Queries() - before - ofRecord.next()
				if got == statementsOf(db, c.route)+1 && method != "GET" {
					got-- // the record looked, and nothing that it has was changed
				}
				if c.route == "DELETE /users/{id}" { // the record forgets what each event has of the person
					got = min(got, statementsOf(db, c.route))
				}
				if want := statementsOf(db, c.route); a.Status >= 300 || got != want {
					t.Errorf("%s %s: %d statements, want %d: %d", method, c.route, got, want, a.Status)
				}
			}
		}
	})
}

// TestStatements_DoNotGrowWithThePage in every list, in any order; and so do
// objects that hold two hundred others.
func TestStatements_DoNotGrowWithThePage(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, 200)
		ofRecord := newRecordCost(t, db)
		measure := func(route, path string, by *testPerson) answer {
			want := statements[route]
			if slices.ContainsFunc(visits, func(v routeCase) bool { return v.route == route && v.by == "anonymous" }) {
				want++ // for the token
			}
			ofRecord.next()
			before := db.Queries()
			a := by.want(200, "GET", path, nil)
			if got := db.Queries() - before - ofRecord.next(); got > want {
				t.Errorf("GET %s: %d statements, want %d", path, got, want)
			}
			return a
		}
		lists := c.lists()
		for route := range api.ListFields() {
			list := lists[route]
			for ordering := range list.orders {
				measure(route, list.path+"?limit=200&ordering="+ordering, list.by)
			}
			if a := measure(route, list.path+"?limit=200", list.by); len(a.List) != 200 {
				t.Errorf("%s lists %d only", route, len(a.List))
			}
		}
		user := measure("GET /users/{id}", c.user(""), c.requester())
		organization := measure("GET /organizations/{id}", fmt.Sprintf("/organizations/%d", c.owner.Lab), c.owner)
		grant := measure("GET /grants/{id}", fmt.Sprintf("/grants/%d", c.grant), c.member)
		assignee := measure("GET /users/{id}", fmt.Sprintf("/users/%s", c.assignee.ID), c.assignee)
		member := measure("GET /users/{id}", fmt.Sprintf("/users/%s", c.member.ID), c.member)
		for name, inside := range map[string]any{
			"addresses": user.Body["addresses"], "requests": user.Body["material_requests"],
			"members":   organization.Body["members"],
			"materials": grant.Body["materials"], "assignments": assignee.Body["assignments"],
			"grants":        member.Body["grants"],
			"organizations": member.Body["organizations"],
		} {
			if list, _ := inside.([]any); len(list) < 200 {
				t.Errorf("only %d %s are inside", len(list), name)
			}
		}
	})
}
