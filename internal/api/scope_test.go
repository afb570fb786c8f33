package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"
)

// scoped lists what tokens of programs may call of each route, of people who may themselves: + allowed, s refused with
// 403 SCOPE, 3 with 403 FORBIDDEN, since it is the requester's to do. The columns: a token that only reads; one that
// writes, of the lab that the object is of; one of another lab.
var scoped = map[string]string{
	"GET /openapi.json":                                                           "+++",
	"GET /log/checkpoint":                                                         "+++",
	"GET /log/keys":                                                               "+++",
	"GET /log/tile/{level}/{tile}":                                                "+++",
	"GET /material-requests/{id}/dossier":                                         "++s",
	"GET /material-requests/{id}/events/{seq}/proof":                              "++s",
	"POST /login":                                                                 "+++",
	"POST /logout":                                                                "+++",
	"POST /users":                                                                 "+++",
	"GET /users/{id}":                                                             "+++",
	"DELETE /users/{id}":                                                          "sss",
	"PUT,PATCH /users/{id}":                                                       "sss",
	"GET /users/{id}/notifications":                                               "+ss",
	"GET /users/{id}/notifications/stream":                                        "+ss",
	"POST /users/{id}/notifications/read":                                         "sss",
	"PUT,PATCH /users/{id}/notifications/{notification}":                          "sss",
	"GET /users/{id}/mail-settings":                                               "+ss",
	"PUT,PATCH /users/{id}/mail-settings":                                         "sss",
	"POST /users/{id}/mail-settings/retry":                                        "sss",
	"POST /users/{id}/saved-searches":                                             "sss",
	"GET /users/{id}/saved-searches":                                              "+ss",
	"GET /users/{id}/saved-searches/{saved_search}":                               "+ss",
	"PUT,PATCH /users/{id}/saved-searches/{saved_search}":                         "sss",
	"DELETE /users/{id}/saved-searches/{saved_search}":                            "sss",
	"POST /users/{id}/addresses":                                                  "sss",
	"GET /users/{id}/addresses":                                                   "+ss",
	"GET /users/{id}/addresses/{address}":                                         "+ss",
	"PUT,PATCH /users/{id}/addresses/{address}":                                   "sss",
	"DELETE /users/{id}/addresses/{address}":                                      "sss",
	"GET /users/{id}/tokens":                                                      "+ss",
	"POST /users/{id}/tokens":                                                     "sss",
	"DELETE /users/{id}/tokens":                                                   "sss",
	"DELETE /users/{id}/tokens/{token}":                                           "sss",
	"GET /users/{id}/passkeys":                                                    "+ss",
	"POST /users/{id}/passkeys/options":                                           "sss",
	"POST /users/{id}/passkeys":                                                   "sss",
	"DELETE /users/{id}/passkeys/{passkey}":                                       "sss",
	"POST /organizations (for somebody else)":                                     "sss",
	"POST /organizations":                                                         "sss",
	"GET /organizations":                                                          "+++",
	"GET /organizations/{id}":                                                     "+++",
	"PUT,PATCH /organizations/{id}":                                               "s+s",
	"GET /organizations/{id}/members":                                             "+++",
	"GET /organizations/{id}/materials":                                           "+++",
	"POST /organizations/{id}/materials/bulk":                                     "s+s",
	"GET /organizations/{id}/materials/bulk/{job}/report":                         "++s",
	"GET /organizations/{id}/materials/template":                                  "++s",
	"GET /organizations/{id}/materials/export":                                    "++s",
	"GET /organizations/{id}/grants":                                              "++s",
	"GET /organizations/{id}/storage":                                             "++s",
	"GET /users/{id}/erasure":                                                     "+ss",
	"POST /users/{id}/erasure":                                                    "sss",
	"DELETE /users/{id}/erasure":                                                  "sss",
	"GET /users/{id}/export":                                                      "+ss",
	"GET /users/{id}/storage":                                                     "+ss",
	"GET /organizations/{id}/invitations":                                         "++s",
	"POST /organizations/{id}/invitations":                                        "s+s",
	"DELETE /organizations/{id}/invitations/{invitation}":                         "s+s",
	"POST /organizations/{id}/invitations/{invitation}/resend":                    "s+s",
	"GET /invitations":                                                            "+++",
	"POST /invitations/accept":                                                    "sss",
	"POST /invitations/decline":                                                   "sss",
	"POST /organizations/{id}/join-requests":                                      "sss",
	"GET /organizations/{id}/join-requests":                                       "++s",
	"DELETE /organizations/{id}/join-requests/{join_request}":                     "sss",
	"POST /organizations/{id}/join-requests/{join_request}/accept":                "s+s",
	"POST /organizations/{id}/join-requests/{join_request}/decline":               "s+s",
	"GET /users/{id}/join-requests":                                               "+ss",
	"POST /users/{id}/invitations/{invitation}/accept":                            "sss",
	"POST /users/{id}/invitations/{invitation}/decline":                           "sss",
	"GET /organizations/{id}/history":                                             "++s",
	"GET /organizations/{id}/events":                                              "++s",
	"GET /organization-user-settings":                                             "+ss",
	"GET /organization-user-settings/{id}":                                        "+ss",
	"GET /organization-user-settings/{id} (of one who left)":                      "+ss",
	"PUT,PATCH /organization-user-settings/{id}":                                  "sss",
	"GET /organizations/{id}/webhooks":                                            "++s",
	"POST /organizations/{id}/webhooks":                                           "s+s",
	"GET /organizations/{id}/webhooks/{webhook}":                                  "++s",
	"PUT,PATCH /organizations/{id}/webhooks/{webhook}":                            "s+s",
	"DELETE /organizations/{id}/webhooks/{webhook}":                               "s+s",
	"POST /organizations/{id}/webhooks/{webhook}/rotate":                          "s+s",
	"POST /organizations/{id}/webhooks/{webhook}/ping":                            "s+s",
	"GET /organizations/{id}/webhooks/{webhook}/deliveries":                       "++s",
	"GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}":            "++s",
	"POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver": "s+s",
	"POST /materials/{id}/inquiries":                                              "sss",
	"GET /organizations/{id}/inquiries":                                           "++s",
	"GET /users/{id}/inquiries":                                                   "+ss",
	"GET /inquiries/{id}":                                                         "++s",
	"POST /inquiries/{id}/answer":                                                 "s+s",
	"POST /shipping-requirements":                                                 "s+s",
	"GET /shipping-requirements":                                                  "+++",
	"GET /shipping-requirements/{id}":                                             "+++",
	"PUT,PATCH /shipping-requirements/{id}":                                       "s+s",
	"POST /materials":                                                             "s+s",
	"GET /materials":                                                              "+++",
	"GET /materials/{id}":                                                         "+++",
	"GET /materials/{id}/jsonld":                                                  "+++",
	"GET /materials/{id}/citation":                                                "+++",
	"PUT,PATCH /materials/{id}":                                                   "s+s",
	"DELETE /materials/{id}":                                                      "s+s",
	"POST /materials/import":                                                      "sss",
	"POST /materials/import (imported protocol)":                                  "sss",
	"POST /materials/import (for another lab)":                                    "sss",
	"POST /materials/import/preview":                                              "+++",
	"POST /materials/imports":                                                     "sss",
	"POST /materials/imports (for another lab)":                                   "sss",
	"GET /publications":                                                           "+++",
	"POST /agreements":                                                            "sss",
	"GET /agreements/inbox":                                                       "+ss",
	"GET /agreements":                                                             "+ss",
	"GET /agreements/{id}":                                                        "+ss",
	"GET /permits":                                                                "+ss",
	"GET /permits (of a request)":                                                 "+ss",
	"POST /permits":                                                               "sss",
	"POST /permits (of a lab)":                                                    "sss",
	"POST /permits (of an institution)":                                           "sss",
	"GET /permits/{id}":                                                           "+ss",
	"PUT,PATCH /permits/{id}":                                                     "sss",
	"POST /material-requests/{id}/permits":                                        "sss",
	"DELETE /material-requests/{id}/permits/{permit}":                             "sss",
	"GET /agreements/{id}/versions":                                               "+ss",
	"POST /agreements/{id}/versions":                                              "sss",
	"POST /agreements/{id}/send":                                                  "sss",
	"POST /agreements/{id}/decline":                                               "sss",
	"POST /agreements/{id}/withdraw":                                              "sss",
	"POST /users/{id}/signatures/options":                                         "sss",
	"POST /users/{id}/signatures":                                                 "sss",
	"GET /agreements/{id}/duties":                                                 "+ss",
	"PUT,PATCH /agreements/{id}/duties/{duty}":                                    "sss",
	"POST /agreements/{id}/duties/{duty}/evidence":                                "sss",
	"POST /agreements/{id}/duties/{duty}/waive":                                   "sss",
	"GET /agreements/{id}/links":                                                  "+ss",
	"POST /agreements/{id}/links":                                                 "sss",
	"POST /agreements/{id}/signatures":                                            "sss",
	"GET /agreements/{id}/document":                                               "+ss",
	"POST /institutions":                                                          "sss",
	"POST /institutions (confirmed)":                                              "sss",
	"GET /institutions":                                                           "+++",
	"GET /institutions/signatories":                                               "+++",
	"POST /institutions/signatories":                                              "sss",
	"GET /institutions/{id}":                                                      "+++",
	"PUT,PATCH /institutions/{id}":                                                "sss",
	"PUT,PATCH /institutions/{id} (not confirmed)":                                "sss",
	"GET /institutions/{id}/labs":                                                 "+++",
	"POST /institutions/{id}/labs":                                                "sss",
	"PUT,PATCH /institutions/{id}/labs/{lab}":                                     "sss",
	"GET /institutions/{id}/affiliations":                                         "+ss",
	"POST /institutions/{id}/affiliations":                                        "sss",
	"POST /institutions/{id}/affiliations (another's)":                            "sss",
	"PUT,PATCH /institutions/{id}/affiliations/{affiliation}":                     "sss",
	"GET /institutions/{id}/positions":                                            "+ss",
	"POST /institutions/{id}/positions":                                           "sss",
	"PUT,PATCH /institutions/{id}/positions/{position}":                           "sss",
	"GET /institutions/{id}/authorities":                                          "+ss",
	"POST /institutions/{id}/authorities":                                         "sss",
	"PUT,PATCH /institutions/{id}/authorities/{authority}":                        "sss",
	"GET /institutions/{id}/stand-ins":                                            "+ss",
	"POST /institutions/{id}/stand-ins":                                           "sss",
	"PUT,PATCH /institutions/{id}/stand-ins/{stand_in}":                           "sss",
	"GET /instruments":                                                            "+++",
	"GET /instruments/{instrument}":                                               "+++",
	"GET /institutions/{id}/playbook":                                             "+ss",
	"PUT,PATCH /institutions/{id}/playbook":                                       "sss",
	"GET /institutions/{id}/playbook/conflicts":                                   "+ss",
	"GET /institutions/{id}/approvals":                                            "+ss",
	"POST /institutions/{id}/approvals":                                           "sss",
	"PUT,PATCH /institutions/{id}/approvals/{approval}":                           "sss",
	"POST /institutions/{id}/approvals/{approval}/sign":                           "sss",
	"POST /institutions/{id}/approvals/{approval}/sign/options":                   "sss",
	"GET /institutions/{id}/masters":                                              "+++",
	"POST /institutions/{id}/masters":                                             "sss",
	"PUT,PATCH /institutions/{id}/masters/{master}":                               "sss",
	"POST /grants":                                                                "sss",
	"GET /grants":                                                                 "+ss",
	"GET /grants/{id}":                                                            "+ss",
	"PUT,PATCH /grants/{id}":                                                      "sss",
	"GET /grants/{id}/materials":                                                  "+ss",
	"POST /grants/{id}/materials":                                                 "sss",
	"POST /grants/{id}/materials (of another lab)":                                "sss",
	"DELETE /grants/{id}/materials/{material}":                                    "sss",
	"GET /materials/{id}/transfer-facts":                                          "+++",
	"PUT,PATCH /materials/{id}/transfer-facts":                                    "s+s",
	"GET /materials/{id}/lineage":                                                 "++s",
	"PUT,PATCH /materials/{id}/lineage":                                           "s+s",
	"GET /materials/{id}/may-share":                                               "+++",
	"POST /agreements/resolve":                                                    "+++",
	"GET /material-requests/{id}/purpose":                                         "++s",
	"PUT,PATCH /material-requests/{id}/purpose":                                   "sss",
	"GET /material-requests/{id}/requirements":                                    "++s",
	"GET /material-requests/{id}/paper-findings":                                  "++s",
	"GET /materials/{id}/history":                                                 "++s",
	"POST /attachments":                                                           "sss",
	"GET /attachments":                                                            "+ss",
	"GET /attachments/{id}":                                                       "++s",
	"GET /attachments/{id} (of a request)":                                        "++s",
	"GET /attachments/{id} (the lab's, of a request)":                             "++s",
	"PUT,PATCH /attachments/{id}":                                                 "s+s",
	"DELETE /attachments/{id}":                                                    "s+s",
	"GET /attachments/{id} (filed by one who left)":                               "++s",
	"PUT,PATCH /attachments/{id} (filed by one who left)":                         "s+s",
	"DELETE /attachments/{id} (filed by one who left)":                            "s+s",
	"GET /attachments/{id}/versions/{version}":                                    "++s",
	"GET /attachments/{id}/versions/{version} (that a request was made under)":    "++s",
	"GET /uploaded-file/{attachment}/{filename} (filed by one who left)":          "++s",
	"PUT /uploaded-file/{attachment}/{filename} (filed by one who left)":          "s+s",
	"GET /uploaded-file/{attachment}/{filename}":                                  "++s",
	"GET /uploaded-file/{attachment}/{filename} (of a request)":                   "++s",
	"GET /uploaded-file/{attachment}/{filename} (the MTA of a listed material)":   "+++",
	"PUT /uploaded-file/{attachment}/{filename}":                                  "s+s",
	"POST /request-groups":                                                        "sss",
	"GET /request-groups/{id}":                                                    "++s",
	"POST /request-groups/{id}/accept":                                            "s+s",
	"POST /material-requests":                                                     "sss",
	"GET /material-requests":                                                      "+++",
	"GET /material-requests/{id}":                                                 "++s",
	"PUT,PATCH /material-requests/{id}":                                           "s+s",
	"DELETE /material-requests/{id}":                                              "sss",
	"GET /material-requests/{id}/events":                                          "++s",
	"GET /material-requests/{id}/messages":                                        "++s",
	"POST /material-requests/{id}/messages":                                       "s+s",
	"GET /material-requests/{id}/turns":                                           "++s",
	"POST /material-requests/{id}/snooze":                                         "s3s",
	"POST /material-requests/{id}/snooze (the lab's turn)":                        "s+s",
	"DELETE /material-requests/{id}/snooze":                                       "s3s",
	"DELETE /material-requests/{id}/snooze (the lab's turn)":                      "s+s",
	"GET /material-requests/{id}/issues":                                          "++s",
	"POST /material-requests/{id}/issues":                                         "s+s",
	"POST /material-requests/{id}/issues/{issue}/close":                           "s+s",
	"PUT,PATCH /material-requests/{id}/shipment":                                  "s+s",
	"POST /material-requests/{id}/documents/{document}/accept":                    "s+s",
	"POST /material-requests/{id}/documents/{document}/accept (the lab's)":        "s3s",
	"POST /material-requests/{id}/documents/{document}/return":                    "s+s",
	"POST /material-requests/{id}/documents/{document}/return (the lab's)":        "s3s",
	"GET /search/materials":                                                       "+++",
	"GET /search/materials/feed":                                                  "+++",
	"GET /search/organizations":                                                   "+++",
	"GET /search/users":                                                           "+++",
	"GET /search/suggest":                                                         "+++",
	"GET /audit-events":                                                           "+ss",
	"GET /jobs":                                                                   "+ss",
	"GET /jobs/{id}":                                                              "+ss",
	"GET /jobs/{id} (Aliquot's own)":                                              "+ss",
	"POST /jobs/{id}/cancel":                                                      "sss",
	"POST /jobs/{id}/undo":                                                        "s+s",
	"POST /jobs/{id}/retry":                                                       "sss",
}

func TestScope_EveryRouteAndToken(t *testing.T) {
	t.Parallel()
	for _, setting := range []exchange.Access{exchange.AccessOpen, exchange.AccessMembers} {
		t.Run(string(setting), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, storetest.Open(t, storetest.SQLite), setting)
			for _, c := range visits {
				if len(scoped[c.route]) != 3 {
					t.Errorf("%s: the table of scopes has %q", c.route, scoped[c.route])
					continue
				}
				for i, body := range []obj{
					{"name": "reads", "scopes": []string{"read"}},
					{"name": "this lab", "scopes": []string{"write"}, "organization": s.id},
					{"name": "another lab", "scopes": []string{"read", "write"}},
				} {
					s.tryScope(c, body, scoped[c.route][i])
				}
			}
		})
	}
	if len(scoped) != len(visits) {
		t.Errorf("%d lines for %d visits", len(scoped), len(visits))
	}
}

// tryScope calls a route with a token that somebody makes who may call it. What is refused changes nothing.
func (s *scene) tryScope(c routeCase, token obj, want byte) {
	s.t.Helper()
	methods, _ := c.methods()
	for _, method := range methods {
		role := c.by
		if role == "anonymous" {
			role = "owner"
		}
		if token["name"] == "this lab" && role != "member" {
			role = "owner"
		}
		v := c.make(s, role)
		who := s.people[role]
		guest := v.as != nil // who is in no lab but their own
		if guest {
			who, v.as = v.as, nil
		}
		if token["name"] == "another lab" || guest && token["name"] == "this lab" {
			token["organization"] = s.labBeside(who)
		}
		program := s.program(who, token)
		before := s.rows()
		a := v.call(program, method)
		got := byte('?')
		switch {
		case a.Status >= 200 && a.Status < 300:
			got = '+'
		case a.Status == 403 && a.Body["error_code"] == "SCOPE":
			got = 's'
		case a.Status == 403 && a.Body["error_code"] == "FORBIDDEN":
			got = '3'
		}
		if got != want {
			s.t.Errorf("%s %s by %s with a token that is %v: %c, want %c: %d %.300s", method, c.route, role,
				token["name"], got, want, a.Status, a.Raw)
		}
		if got != '+' {
			if diff := grew(before, s.rows()); diff != "" {
				s.t.Errorf("%s %s with a token that is %v was refused and changed %s", method, c.route, token["name"],
					diff)
			}
		}
	}
}

// labBeside is a lab that somebody is in and that is not the scene's.
func (s *scene) labBeside(p *testPerson) int64 {
	s.t.Helper()
	labs, err := s.db.Read().Organizations.OfUser(s.t.Context(), p.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, lab := range labs {
		if lab.ID != s.id {
			return lab.ID
		}
	}
	s.t.Fatalf("%s is in no other lab", p.name)
	return 0
}

// program makes a token of somebody who has no other one for a program.
func (s *scene) program(of *testPerson, token obj) *testPerson {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "DELETE FROM tokens WHERE scope <> ''"); err != nil {
		s.t.Fatal(err)
	}
	made := of.want(201, "POST", fmt.Sprintf("/users/%s/tokens/", of.ID), token)
	return &testPerson{w: s.world, name: of.name, ID: of.ID, Token: made.Body["token"].(string), Lab: of.Lab}
}
