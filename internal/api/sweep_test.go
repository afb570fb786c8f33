package api_test

import (
	"slices"
	"strings"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// access lists who may call each route: one sign for each of roles, + allowed, 1 refused with 401,
// 3 refused with 403, 4 with 404 as if there were no such object. The second word is for the access setting members, where it differs.
// The columns: anonymous, stranger, member, owner, requester, assignee, former, admin
var access = map[string]string{
	"GET /openapi.json":                                   "++++++++",
	"POST /login":                                         "++++++++",
	"POST /logout":                                        "1+++++++",
	"POST /users":                                         "++++++++",
	"GET /users/{id}":                                     "1+++++++",
	"DELETE /users/{id}":                                  "1333+33+",
	"PUT,PATCH /users/{id}":                               "1333+33+",
	"GET /users/{id}/erasure":                             "1333+33+",
	"POST /users/{id}/erasure":                            "1333+33+",
	"DELETE /users/{id}/erasure":                          "1333+33+",
	"GET /users/{id}/export":                              "1333+33+",
	"GET /users/{id}/notifications":                       "1333+33+",
	"GET /users/{id}/notifications/stream":                "1333+33+",
	"POST /users/{id}/notifications/read":                 "1333+33+",
	"PUT,PATCH /users/{id}/notifications/{notification}":  "1333+33+",
	"GET /users/{id}/storage":                             "1333+33+",
	"GET /users/{id}/mail-settings":                       "1333+33+",
	"PUT,PATCH /users/{id}/mail-settings":                 "1333+33+",
	"POST /users/{id}/mail-settings/retry":                "1333+33+",
	"POST /users/{id}/saved-searches":                     "1333+33+",
	"GET /users/{id}/saved-searches":                      "1333+33+",
	"GET /users/{id}/saved-searches/{saved_search}":       "1333+33+",
	"PUT,PATCH /users/{id}/saved-searches/{saved_search}": "1333+33+",
	"DELETE /users/{id}/saved-searches/{saved_search}":    "1333+33+",
	"POST /users/{id}/addresses":                          "1333+33+",
	"GET /users/{id}/addresses":                           "1333+33+",
	"GET /users/{id}/addresses/{address}":                 "1333+33+",
	"PUT,PATCH /users/{id}/addresses/{address}":           "1333+33+",
	"DELETE /users/{id}/addresses/{address}":              "1333+33+",

	"GET /users/{id}/tokens":                "1333+33+",
	"POST /users/{id}/tokens":               "1333+333",
	"DELETE /users/{id}/tokens":             "1333+33+",
	"DELETE /users/{id}/tokens/{token}":     "1333+33+",
	"GET /users/{id}/passkeys":              "1333+33+",
	"POST /users/{id}/passkeys/options":     "1333+333",
	"POST /users/{id}/passkeys":             "1333+333",
	"DELETE /users/{id}/passkeys/{passkey}": "1333+33+",

	"POST /organizations":                                                         "++++++++ 1+++++++",
	"POST /organizations (for somebody else)":                                     "++++++++ 1333333+",
	"GET /organizations":                                                          "++++++++",
	"GET /organizations/{id}":                                                     "++++++++",
	"PUT,PATCH /organizations/{id}":                                               "++++++++ 133+333+",
	"GET /organizations/{id}/members":                                             "++++++++",
	"GET /organizations/{id}/materials":                                           "++++++++",
	"POST /organizations/{id}/materials/bulk":                                     "13++3+3+",
	"GET /organizations/{id}/materials/bulk/{job}/report":                         "13++3+3+",
	"GET /organizations/{id}/materials/template":                                  "13++3+3+",
	"GET /organizations/{id}/materials/export":                                    "13++3+3+",
	"GET /organizations/{id}/grants":                                              "13++3+3+",
	"GET /organizations/{id}/storage":                                             "13++3+3+",
	"GET /organizations/{id}/invitations":                                         "13++3+3+",
	"POST /organizations/{id}/invitations":                                        "133+333+",
	"DELETE /organizations/{id}/invitations/{invitation}":                         "133+333+",
	"POST /organizations/{id}/invitations/{invitation}/resend":                    "133+333+",
	"GET /invitations":                                                            "++++++++",
	"POST /invitations/accept":                                                    "1+++++++",
	"POST /invitations/decline":                                                   "1+++++++",
	"POST /organizations/{id}/join-requests":                                      "1+++++++",
	"GET /organizations/{id}/join-requests":                                       "133+333+",
	"DELETE /organizations/{id}/join-requests/{join_request}":                     "1333+33+",
	"POST /organizations/{id}/join-requests/{join_request}/accept":                "133+333+",
	"POST /organizations/{id}/join-requests/{join_request}/decline":               "133+333+",
	"GET /users/{id}/join-requests":                                               "1333+33+",
	"POST /users/{id}/invitations/{invitation}/accept":                            "1333+33+",
	"POST /users/{id}/invitations/{invitation}/decline":                           "1333+33+",
	"GET /organizations/{id}/history":                                             "13++3+3+",
	"GET /organizations/{id}/events":                                              "13++3+3+",
	"GET /organization-user-settings":                                             "1+++++++",
	"GET /organization-user-settings/{id}":                                        "13+3333+",
	"GET /organization-user-settings/{id} (of one who left)":                      "1333333+",
	"PUT,PATCH /organization-user-settings/{id}":                                  "13+3333+",
	"GET /organizations/{id}/webhooks":                                            "13++3+3+",
	"POST /organizations/{id}/webhooks":                                           "133+333+",
	"GET /organizations/{id}/webhooks/{webhook}":                                  "13++3+3+",
	"PUT,PATCH /organizations/{id}/webhooks/{webhook}":                            "133+333+",
	"DELETE /organizations/{id}/webhooks/{webhook}":                               "133+333+",
	"POST /organizations/{id}/webhooks/{webhook}/rotate":                          "133+333+",
	"POST /organizations/{id}/webhooks/{webhook}/ping":                            "133+333+",
	"GET /organizations/{id}/webhooks/{webhook}/deliveries":                       "13++3+3+",
	"GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}":            "13++3+3+",
	"POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver": "133+333+",

	"POST /materials/{id}/inquiries":    "1+++++++",
	"GET /organizations/{id}/inquiries": "13++3+3+",
	"GET /users/{id}/inquiries":         "1333+33+",
	"GET /inquiries/{id}":               "13++++3+",
	"POST /inquiries/{id}/answer":       "13++3+3+",

	"POST /shipping-requirements":           "13++3+3+",
	"GET /shipping-requirements":            "++++++++",
	"GET /shipping-requirements/{id}":       "++++++++",
	"PUT,PATCH /shipping-requirements/{id}": "13++3+3+",

	"POST /materials":              "++++++++ 13++3+3+",
	"GET /materials":               "++++++++",
	"GET /materials/{id}":          "++++++++",
	"GET /materials/{id}/jsonld":   "++++++++",
	"GET /materials/{id}/citation": "++++++++",
	"PUT,PATCH /materials/{id}":    "++++++++ 13++3+3+",
	"DELETE /materials/{id}":       "13++3+3+",

	"POST /materials/import":                     "13+3333+",
	"POST /materials/import (imported protocol)": "13+3333+",
	"POST /materials/import (for another lab)":   "1333333+",
	"POST /materials/import/preview":             "1+++++++",
	"POST /materials/imports":                    "13+3333+",
	"POST /materials/imports (for another lab)":  "1333333+",
	"GET /publications":                          "1+++++++",

	"POST /institutions":                                        "1+++++++",
	"POST /institutions (confirmed)":                            "1333333+",
	"GET /institutions":                                         "++++++++",
	"GET /institutions/signatories":                             "++++++++",
	"POST /institutions/signatories":                            "1333333+",
	"GET /institutions/{id}":                                    "++++++++",
	"PUT,PATCH /institutions/{id}":                              "133+333+",
	"PUT,PATCH /institutions/{id} (not confirmed)":              "1333+33+",
	"GET /institutions/{id}/labs":                               "++++++++",
	"POST /institutions/{id}/labs":                              "133+333+",
	"PUT,PATCH /institutions/{id}/labs/{lab}":                   "133+333+",
	"GET /institutions/{id}/affiliations":                       "1+++++++",
	"POST /institutions/{id}/affiliations":                      "1+++++++",
	"POST /institutions/{id}/affiliations (another's)":          "133+333+",
	"PUT,PATCH /institutions/{id}/affiliations/{affiliation}":   "133++33+",
	"GET /institutions/{id}/positions":                          "133+333+",
	"POST /institutions/{id}/positions":                         "133+333+",
	"PUT,PATCH /institutions/{id}/positions/{position}":         "133+333+",
	"GET /institutions/{id}/authorities":                        "133+333+",
	"POST /institutions/{id}/authorities":                       "133+333+",
	"PUT,PATCH /institutions/{id}/authorities/{authority}":      "133+333+",
	"GET /institutions/{id}/stand-ins":                          "133+333+",
	"POST /institutions/{id}/stand-ins":                         "133+333+",
	"PUT,PATCH /institutions/{id}/stand-ins/{stand_in}":         "133+333+",
	"GET /instruments":                                          "++++++++",
	"GET /instruments/{instrument}":                             "++++++++",
	"GET /institutions/{id}/approvals":                          "133+333+",
	"POST /institutions/{id}/approvals":                         "133+3333",
	"PUT,PATCH /institutions/{id}/approvals/{approval}":         "133+3333",
	"POST /institutions/{id}/approvals/{approval}/sign":         "133+3333",
	"POST /institutions/{id}/approvals/{approval}/sign/options": "133+3333",
	"GET /institutions/{id}/masters":                            "++++++++",
	"POST /institutions/{id}/masters":                           "133+333+",
	"PUT,PATCH /institutions/{id}/masters/{master}":             "133+333+",
	"GET /institutions/{id}/playbook":                           "133+333+",
	"PUT,PATCH /institutions/{id}/playbook":                     "133+333+",
	"GET /institutions/{id}/playbook/conflicts":                 "133+333+",

	"POST /agreements":                                "13++++3+",
	"GET /agreements/inbox":                           "1+++++++",
	"GET /agreements":                                 "1+++++++",
	"GET /agreements/{id}":                            "14++++4+",
	"GET /permits":                                    "1+++++++",
	"GET /permits (of a request)":                     "13++++3+",
	"POST /permits":                                   "1+++++++",
	"POST /permits (of a lab)":                        "13++3+3+",
	"POST /permits (of an institution)":               "133+333+",
	"GET /permits/{id}":                               "14++++4+",
	"PUT,PATCH /permits/{id}":                         "14++4+4+",
	"POST /material-requests/{id}/permits":            "13++++3+",
	"DELETE /material-requests/{id}/permits/{permit}": "13++++3+",
	"GET /agreements/{id}/versions":                   "14++++4+",
	"POST /agreements/{id}/versions":                  "14++++4+",
	"POST /agreements/{id}/send":                      "14++++4+",
	"POST /agreements/{id}/decline":                   "14++++4+",
	"POST /agreements/{id}/withdraw":                  "14++++4+",
	"POST /agreements/{id}/signatures":                "1433+343",
	"GET /agreements/{id}/document":                   "14++++4+",
	"POST /users/{id}/signatures/options":             "1333+333",
	"POST /users/{id}/signatures":                     "1333+333",
	"GET /agreements/{id}/links":                      "14++++4+",
	"POST /agreements/{id}/links":                     "14++++4+",
	"GET /agreements/{id}/duties":                     "14++++4+",
	"PUT,PATCH /agreements/{id}/duties/{duty}":        "14++3+4+",
	"POST /agreements/{id}/duties/{duty}/evidence":    "14++++4+",
	"POST /agreements/{id}/duties/{duty}/waive":       "14++3+4+",

	"POST /grants":                                 "1+++++++",
	"GET /grants":                                  "1+++++++",
	"GET /grants/{id}":                             "13+3333+",
	"PUT,PATCH /grants/{id}":                       "13+3333+",
	"GET /grants/{id}/materials":                   "13+3333+",
	"POST /grants/{id}/materials":                  "13+3333+",
	"POST /grants/{id}/materials (of another lab)": "1333333+",
	"DELETE /grants/{id}/materials/{material}":     "13+3333+",
	"GET /materials/{id}/transfer-facts":           "++++++++",
	"PUT,PATCH /materials/{id}/transfer-facts":     "13++3+3+",
	"GET /materials/{id}/lineage":                  "13++3+3+",
	"PUT,PATCH /materials/{id}/lineage":            "13++3+3+",
	"GET /materials/{id}/may-share":                "++++++++",
	"POST /agreements/resolve":                     "++++++++",
	"GET /material-requests/{id}/requirements":     "13++++3+",
	"GET /material-requests/{id}/purpose":          "13++++3+",
	"PUT,PATCH /material-requests/{id}/purpose":    "1333+33+",
	"GET /material-requests/{id}/paper-findings":   "13++++3+",
	"GET /materials/{id}/history":                  "13++3+3+",

	"POST /attachments":                                                         "1+++++++",
	"GET /attachments":                                                          "1333333+",
	"GET /attachments/{id}":                                                     "13++3+3+",
	"GET /attachments/{id} (of a request)":                                      "13++++3+",
	"GET /attachments/{id} (the lab's, of a request)":                           "13++++3+",
	"PUT,PATCH /attachments/{id}":                                               "13++3+3+",
	"DELETE /attachments/{id}":                                                  "13++3+3+",
	"GET /attachments/{id} (filed by one who left)":                             "13++3+3+",
	"PUT,PATCH /attachments/{id} (filed by one who left)":                       "13++3+3+",
	"DELETE /attachments/{id} (filed by one who left)":                          "13++3+3+",
	"GET /attachments/{id}/versions/{version}":                                  "13++3+3+",
	"GET /attachments/{id}/versions/{version} (that a request was made under)":  "13++++3+",
	"GET /uploaded-file/{attachment}/{filename} (filed by one who left)":        "13++3+3+",
	"PUT /uploaded-file/{attachment}/{filename} (filed by one who left)":        "13++3+3+",
	"GET /uploaded-file/{attachment}/{filename}":                                "13++3+3+",
	"GET /uploaded-file/{attachment}/{filename} (of a request)":                 "13++++3+",
	"GET /uploaded-file/{attachment}/{filename} (the MTA of a listed material)": "++++++++",
	"PUT /uploaded-file/{attachment}/{filename}":                                "13++3+3+",

	"POST /material-requests":                                              "1+++++++",
	"GET /material-requests":                                               "1+++++++",
	"GET /material-requests/{id}":                                          "13++++3+",
	"PUT,PATCH /material-requests/{id}":                                    "13++++3+",
	"DELETE /material-requests/{id}":                                       "1333333+",
	"POST /request-groups":                                                 "1+++++++",
	"GET /request-groups/{id}":                                             "13++++3+",
	"POST /request-groups/{id}/accept":                                     "13++3+3+",
	"GET /material-requests/{id}/events":                                   "13++++3+",
	"GET /material-requests/{id}/messages":                                 "13++++3+",
	"POST /material-requests/{id}/messages":                                "13++++3+",
	"GET /material-requests/{id}/turns":                                    "13++++3+",
	"GET /material-requests/{id}/dossier":                                  "13++++3+",
	"GET /material-requests/{id}/events/{seq}/proof":                       "13++++3+",
	"POST /material-requests/{id}/snooze":                                  "1333+33+",
	"POST /material-requests/{id}/snooze (the lab's turn)":                 "13++3+3+",
	"DELETE /material-requests/{id}/snooze":                                "1333+33+",
	"DELETE /material-requests/{id}/snooze (the lab's turn)":               "13++3+3+",
	"GET /material-requests/{id}/issues":                                   "13++++3+",
	"POST /material-requests/{id}/issues":                                  "13++++3+",
	"POST /material-requests/{id}/issues/{issue}/close":                    "13++++3+",
	"PUT,PATCH /material-requests/{id}/shipment":                           "13++3+3+",
	"POST /material-requests/{id}/documents/{document}/accept":             "13++3+3+",
	"POST /material-requests/{id}/documents/{document}/accept (the lab's)": "1333+33+",
	"POST /material-requests/{id}/documents/{document}/return":             "13++3+3+",
	"POST /material-requests/{id}/documents/{document}/return (the lab's)": "1333+33+",

	"GET /search/materials":      "++++++++",
	"GET /search/materials/feed": "++++++++",
	"GET /search/organizations":  "++++++++",
	"GET /search/users":          "++++++++",
	"GET /search/suggest":        "++++++++",

	"GET /log/checkpoint":          "++++++++",
	"GET /log/keys":                "++++++++",
	"GET /log/tile/{level}/{tile}": "++++++++",

	"GET /audit-events": "1333333+",

	"GET /jobs":                      "1+++++++",
	"GET /jobs/{id}":                 "1333+33+",
	"GET /jobs/{id} (Aliquot's own)": "1333333+",
	"POST /jobs/{id}/cancel":         "1333+33+",
	"POST /jobs/{id}/undo":           "13++3+3+",
	"POST /jobs/{id}/retry":          "1333333+",
}

func TestAccess_TableNamesEveryRoute(t *testing.T) {
	t.Parallel()
	visited := map[string]bool{}
	for _, c := range visits {
		methods, path := c.methods()
		for _, method := range methods {
			visited[method+" "+path] = true
		}
		words := strings.Fields(access[c.route])
		if len(words) != 1 && len(words) != 2 {
			t.Errorf("%s: the table of access has %d words, want one, or one for each setting", c.route, len(words))
		}
		for _, signs := range words {
			if len(signs) != len(roles) || strings.Trim(signs, "+134") != "" {
				t.Errorf("%s: %q, want one of +134 for each of %d roles", c.route, signs, len(roles))
			}
		}
	}
	for _, path := range api.Paths() {
		if !visited[path] {
			t.Errorf("%s is never visited", path)
		}
		delete(visited, path)
	}
	for path := range visited {
		t.Errorf("%s is no route", path)
	}
	if len(access) != len(visits) {
		t.Errorf("%d lines of access for %d visits", len(access), len(visits))
	}
}

// underBothSettings runs test, as parallel subtests, once for each setting of who sees what: where there is PostgreSQL,
// open on SQLite and members on PostgreSQL, since the setting changes nothing about what a database does.
func underBothSettings(t *testing.T, test func(t *testing.T, db *store.DB, setting exchange.Access)) {
	t.Helper()
	kinds := storetest.Kinds()
	for i, setting := range []exchange.Access{exchange.AccessOpen, exchange.AccessMembers} {
		t.Run(string(setting), func(t *testing.T) {
			t.Parallel()
			test(t, storetest.Open(t, kinds[i%len(kinds)]), setting)
		})
	}
}

func TestAccess_OfEachRouteAndRole(t *testing.T) {
	t.Parallel()
	underBothSettings(t, func(t *testing.T, db *store.DB, setting exchange.Access) {
		s := newScene(t, db, setting)
		for _, c := range visits {
			words := strings.Fields(access[c.route])
			want := words[0]
			if setting == exchange.AccessMembers {
				want = words[len(words)-1]
			}
			for i, role := range roles {
				s.probe(c, role, want[i])
			}
		}
	})
}

// probe calls a route as a role. A refused call changes nothing.
func (s *scene) probe(c routeCase, role string, want byte) {
	s.t.Helper()
	methods, _ := c.methods()
	for _, method := range methods {
		v := c.make(s, role)
		var before map[string]int
		if want != '+' {
			before = s.rows()
		}
		a := v.call(s.people[role], method)
		got := byte('?')
		switch {
		case a.Status >= 200 && a.Status < 300:
			got = '+'
		case a.Status == 401 && a.Body["error_code"] == "NOT_AUTHENTICATED":
			got = '1'
		case a.Status == 403 && slices.Contains([]any{"FORBIDDEN", "FIELD_FORBIDDEN", "NO_AUTHORITY"}, a.Body["error_code"]):
			got = '3'
		case a.Status == 404 && a.Body["error_code"] == "NOT_FOUND":
			got = '4'
		}
		if got != want {
			s.t.Errorf("%s %s by %s: %c, want %c: %d %s", method, c.route, role, got, want, a.Status, a.Raw)
		}
		if got != '+' && before != nil {
			if diff := grew(before, s.rows()); diff != "" {
				s.t.Errorf("%s %s by %s was refused and changed %s", method, c.route, role, diff)
			}
		}
	}
}

// TestAccess_InvalidTokenIsRefusedEverywhere holds for open routes too: who presents a token means to be
// known, and shall learn that they are not.
func TestAccess_InvalidTokenIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	underBothSettings(t, func(t *testing.T, db *store.DB, setting exchange.Access) {
		newScene(t, db, setting).refuseWrongTokens()
	})
}

func (s *scene) refuseWrongTokens() {
	s.t.Helper()
	expired := s.signIn("stranger")
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE tokens SET expires_at = $1 WHERE hash = $2",
		s.db.Read().Now.Add(-1), hash(expired.Token)); err != nil {
		s.t.Fatal(err)
	}
	revoked := s.signIn("stranger")
	revoked.want(204, "POST", "/logout", nil)
	for name, token := range map[string]string{"unknown": "alq_unknown", "expired": expired.Token,
		"revoked": revoked.Token} {
		s.unchanged(name, func() {
			for _, c := range visits {
				methods, path := c.methods()
				path = strings.NewReplacer("{id}", "1", "{attachment}", "attachment_1").Replace(path)
				for _, method := range methods {
					p := &testPerson{w: s.world, Token: token}
					if a := p.call(method, path, nil); a.Status != 401 || a.Body["error_code"] != "NOT_AUTHENTICATED" {
						s.t.Errorf("%s %s with an %s token: %d %s", method, path, name, a.Status, a.Raw)
					}
				}
			}
		})
	}
}
