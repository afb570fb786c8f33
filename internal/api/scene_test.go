package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/signing/signingtest"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/mail"
	"aliquot/internal/store"
)

// scene is a world with a lab and one person of each role. Its objects: the requester's user
// record with everything in it, a lab's material, documents and settings, and requests.
type scene struct {
	*world
	testLab
	people  map[string]*testPerson
	n       int
	turn    bool
	request int64 // one of the requester

	supplier *testPerson         // of a lab of their own; nil: none yet
	office   *office             // of an institution whose officer is the owner; nil: none yet
	letter   string              // the path of one of the requester's; "": none yet
	owed     string              // the path of an executed one with a duty; "": none yet
	official *testPerson         // who signs for that institution
	receives int64               // the institution of the requester that letters name; 0: none yet
	key      *signingtest.Device // with a passkey of the requester; nil: none yet
}

// roles are the callers of the sweep, in the order of the columns of its table.
var roles = []string{"anonymous", "stranger", "member", "owner", "requester", "assignee", "former", "admin"}

func newScene(t testing.TB, db *store.DB, access exchange.Access) *scene {
	t.Helper()
	post, err := mail.Open("file:"+t.TempDir(), "aliquot@example.org", slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldWith(t, db, func(c *app.Config) { c.Access, c.Identity, c.Mail = access, demo(t).client, post })
	l := w.lab()
	s := &scene{world: w, testLab: l, people: map[string]*testPerson{
		"anonymous": w.anonymous(), "stranger": w.person("stranger"), "member": l.member, "owner": l.owner,
		"requester": w.person("requester"), "assignee": l.assignee, "former": l.former, "admin": w.admin(),
	}}
	s.request = s.newRequest()
	return s
}

func (s *scene) requester() *testPerson { return s.people["requester"] }

// next is a number that was not used before.
func (s *scene) next() int {
	s.n++
	return s.n
}

// other is one of two things, the other one each time.
func other[T any](s *scene, a, b T) T {
	if s.turn = !s.turn; s.turn {
		return a
	}
	return b
}

// newRequest makes a request of the requester, with a signed MTA, and an executed MTA of the lab.
func (s *scene) newRequest() int64 {
	s.t.Helper()
	signed := s.requester().want(201, "POST", "/attachments", obj{"filename": "signed.pdf"}).id()
	executed := s.member.want(201, "POST", "/attachments", obj{"filename": "executed.pdf"}).id()
	id := s.requester().want(201, "POST", "/material-requests",
		obj{"material": s.material, "requester_signed_mta_attachment": signed}).id()
	s.member.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", id), obj{"executed_mta_attachment": executed})
	return id
}

func (s *scene) newMaterial() int64 {
	s.t.Helper()
	return s.member.want(201, "POST", "/materials",
		obj{"category": "OTHER", "title": "A", "organization_id": s.id}).id()
}

// foreignMaterial makes a material of a lab that none of the people are in.
func (s *scene) foreignMaterial() int64 {
	s.t.Helper()
	if s.supplier == nil {
		s.supplier = s.person("supplier")
	}
	return s.supplier.want(201, "POST", "/materials",
		obj{"category": "OTHER", "title": "F", "organization_id": s.supplier.Lab}).id()
}

// newGroup makes a group of two requests of the requester.
func (s *scene) newGroup() answer {
	s.t.Helper()
	return s.requester().want(201, "POST", "/request-groups",
		obj{"materials": []int64{s.newMaterial(), s.newMaterial()}})
}

// newInquiry has a guest ask about a new material of the lab, who stands for the requester.
func (s *scene) newInquiry(role, how string) visit {
	s.t.Helper()
	guest := s.person(fmt.Sprint("guest", s.next()))
	v := atf("/inquiries/%d%s", guest.want(201, "POST", fmt.Sprintf("/materials/%d/inquiries", s.newMaterial()),
		obj{"text": "Which passage?"}).id(), how)
	if role == "requester" {
		v.as = guest
	}
	return v
}

// geo asks for a series that nobody imported.
func (s *scene) geo(body obj) obj {
	body["import_source"], body["accession"] = "GEO", fmt.Sprint("GSE", s.next())
	return body
}

// newAttachment makes one of the owner, shared with the lab.
func (s *scene) newAttachment() answer {
	s.t.Helper()
	return s.owner.upload("map.pdf", pdf, obj{"owned_by_org": s.id})
}

// filed makes an attachment that a former member filed for the lab.
func (s *scene) filed() answer {
	s.t.Helper()
	made := s.newAttachment()
	if _, err := s.sql.ExecContext(s.t.Context(), "UPDATE attachments SET owned_by_user = $1 WHERE id = $2",
		s.former.ID, made.id()); err != nil {
		s.t.Fatal(err)
	}
	return made
}

// agreed makes an MTA under which the requester asked for a material, and which has a newer version since.
func (s *scene) agreed() int64 {
	s.t.Helper()
	material := s.newMaterial()
	made := s.newAttachment()
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", material), obj{"mta_attachment_id": made.id()})
	s.requester().want(201, "POST", "/material-requests", obj{"material": material})
	s.member.put(s.t, 200, made.Body["download_url"].(string), []byte("%PDF-1.4 newer"))
	return made.id()
}

// newGrant makes a grant of the member, which names the lab's material.
func (s *scene) newGrant() int64 {
	s.t.Helper()
	id := s.member.want(200, "POST", "/grants", obj{"title": "Colon", "funder_id": "R01"}).id()
	s.member.want(201, "POST", fmt.Sprintf("/grants/%d/materials", id), obj{"material_id": s.material})
	return id
}

// newInvitation asks someone into the lab.
func (s *scene) newInvitation(registryID string) int64 {
	s.t.Helper()
	return s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/invitations", s.id),
		obj{"registry_id": registryID}).id()
}

// answer invites a guest, who stands for the requester, and answers.
func (s *scene) answer(role, how string) visit {
	guest := s.person(fmt.Sprint("guest", s.next()))
	v := atf("/users/%s/invitations/%d/%s", guest.ID, s.newInvitation("id-"+guest.name), how)
	if role == "requester" {
		v.as = guest
	}
	return v
}

// held has a guest invite somebody by mail to their own lab, and returns the token that opens the invitation.
func (s *scene) held() string {
	s.t.Helper()
	guest := s.person(fmt.Sprint("guest", s.next()))
	return s.token(guest.want(201, "POST", fmt.Sprintf("/organizations/%d/invitations", guest.Lab),
		obj{"email": "ada@example.org"}).id())
}

// token is the one in the mail of an invitation.
func (s *scene) token(invitation int64) (token string) {
	s.t.Helper()
	err := s.db.Tx(s.t.Context(), func(ctx context.Context, tx store.Conn) error {
		i, err := tx.Invitations.Get(ctx, invitation)
		if err != nil {
			return err
		}
		link, err := s.app.Notifications.InvitationLink(ctx, tx, i.Invitation)
		if err != nil {
			return err
		}
		address, err := url.Parse(link)
		token = address.Query().Get("token")
		return err
	})
	if err != nil || token == "" {
		s.t.Fatalf("token %q: %v", token, err)
	}
	return token
}

// past moves moments of a row back.
func (s *scene) past(table string, id int64, by time.Duration, columns ...string) {
	s.t.Helper()
	for _, column := range columns {
		var at time.Time
		if err := s.sql.QueryRowContext(s.t.Context(), fmt.Sprintf("SELECT %s FROM %s WHERE id = $1", column, table),
			id).Scan(&at); err != nil {
			s.t.Fatal(err)
		}
		if _, err := s.sql.ExecContext(s.t.Context(), fmt.Sprintf("UPDATE %s SET %s = $1 WHERE id = $2", table, column),
			at.Add(-by), id); err != nil {
			s.t.Fatal(err)
		}
	}
}

// newJoin has a guest ask to join the lab, who stands for the requester.
func (s *scene) newJoin(role, how string) visit {
	s.t.Helper()
	guest := s.person(fmt.Sprint("guest", s.next()))
	id := guest.want(201, "POST", fmt.Sprintf("/organizations/%d/join-requests", s.id),
		obj{"note": "I am new here"}).id()
	v := atf("/organizations/%d/join-requests/%d%s", s.id, id, how)
	if role == "requester" {
		v.as = guest
	}
	return v
}

// newWebhook creates a webhook of the lab that no worker sends anything to.
func (s *scene) newWebhook() string {
	s.t.Helper()
	s.dropWebhooks()
	return fmt.Sprintf("/organizations/%d/webhooks/%d", s.id,
		s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", s.id),
			obj{"url": "http://127.0.0.1:9/"}).id())
}

// dropWebhooks keeps the lab's webhooks fewer than it may have.
func (s *scene) dropWebhooks() {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "DELETE FROM webhooks"); err != nil {
		s.t.Fatal(err)
	}
}

// newDelivery makes one to a webhook; it returns the paths of both.
func (s *scene) newDelivery() (hook, delivery string) {
	s.t.Helper()
	hook = s.newWebhook()
	return hook, fmt.Sprintf("%s/deliveries/%d", hook, s.owner.want(202, "POST", hook+"/ping", nil).id())
}

// newSavedSearch makes one of the requester, who has few.
func (s *scene) newSavedSearch() string {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "DELETE FROM saved_searches"); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s/%d", s.user("/saved-searches"),
		s.requester().want(201, "POST", s.user("/saved-searches"), obj{"search": "HeLa"}).id())
}

func (s *scene) newAddress() int64 {
	s.t.Helper()
	return s.requester().want(200, "POST", s.user("/addresses"), address("home")).id()
}

// newBulk sends a spreadsheet whose job no worker takes.
func (s *scene) newBulk() int64 {
	s.t.Helper()
	v := atf("/organizations/%d/materials/bulk", s.id).with([]byte("category,title\nOTHER,A\n"))
	a := v.call(s.member, "POST")
	if a.Status != 202 {
		s.t.Fatalf("%d %s", a.Status, a.Raw)
	}
	return a.id()
}

// newImport is a spreadsheet whose job is done and has listed one material.
func (s *scene) newImport() int64 {
	s.t.Helper()
	id := s.newBulk()
	for _, query := range []string{"UPDATE jobs SET state = 'DONE', due_at = NULL, ended_at = created_at WHERE id = $1",
		fmt.Sprintf("UPDATE materials SET listed_by = $1 WHERE id = %d", s.newMaterial())} {
		if _, err := s.sql.ExecContext(s.t.Context(), query, id); err != nil {
			s.t.Fatal(err)
		}
	}
	return id
}

// newTurn makes a request in which it is the turn of the requester, or of the lab.
func (s *scene) newTurn(labs bool) string {
	s.t.Helper()
	body := obj{"material": s.material}
	if labs {
		body["requester_abstract"] = "To map receptors."
	}
	return fmt.Sprintf("/material-requests/%d/snooze", s.requester().want(201, "POST", "/material-requests", body).id())
}

// snoozed is newTurn with a snooze.
func (s *scene) snoozed(labs bool, by *testPerson) string {
	s.t.Helper()
	path := s.newTurn(labs)
	by.want(200, "POST", path, snooze(7))
	return path
}

// snooze is the body of a snooze of so many days.
func snooze(days int) obj {
	return obj{"until": time.Now().UTC().AddDate(0, 0, days).Format(time.DateOnly)}
}

func (s *scene) newIssue() int64 {
	s.t.Helper()
	return s.requester().want(201, "POST", s.sent("/issues"), obj{"text": "it thawed"}).id()
}

// sent is req of the request once a parcel is on its way.
func (s *scene) sent(rest string) string {
	s.t.Helper()
	s.member.want(200, "PATCH", s.req("/shipment"), obj{"carrier": "DHL"})
	return s.req(rest)
}

// notification is one of the requester's.
func (s *scene) notification() int64 {
	s.t.Helper()
	list := s.requester().want(200, "GET", s.user("/notifications?limit=1"), nil).List
	return int64(list[0].(map[string]any)["id"].(float64))
}

// forgetStatements removes what is pending for passkeys, of which a person has few at once.
func (s *scene) forgetStatements() {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), "DELETE FROM signing_statements"); err != nil {
		s.t.Fatal(err)
	}
}

// passkey asks to register the passkey of a device, and returns the body that registers it.
func (s *scene) passkey(p *testPerson, device *signingtest.Device) obj {
	s.t.Helper()
	s.forgetStatements()
	options, err := json.Marshal(p.want(200, "POST", fmt.Sprintf("/users/%s/passkeys/options", p.ID), nil).Body["options"])
	if err != nil {
		s.t.Fatal(err)
	}
	return obj{"name": "Laptop", "credential": json.RawMessage(device.Create(s.t, options, publicURL))}
}

// newPasskey registers a passkey of the requester.
func (s *scene) newPasskey() int64 {
	s.t.Helper()
	return s.requester().want(201, "POST", s.user("/passkeys"), s.passkey(s.requester(), signingtest.New(s.t))).id()
}

// settings is someone's record in the lab, also after they left.
func (s *scene) settings(p *testPerson) int64 {
	s.t.Helper()
	var id int64
	err := s.sql.QueryRowContext(s.t.Context(),
		"SELECT id FROM memberships WHERE organization_id = $1 AND user_id = $2", s.id, p.ID).Scan(&id)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *scene) user(rest string) string { return fmt.Sprintf("/users/%s%s", s.requester().ID, rest) }
func (s *scene) req(rest string) string {
	return fmt.Sprintf("/material-requests/%d%s", s.request, rest)
}

func address(name string) obj {
	return obj{"name": name, "address_line_1": "1 Waterman St", "locality": "Providence", "country": "US"}
}

// visit is one call of a route: path without a slash at its end, body, and who calls where it is
// not simply the role.
type visit struct {
	path string
	body any
	as   *testPerson
}

func (v visit) call(p *testPerson, method string) answer {
	p.w.t.Helper()
	if v.as != nil {
		p = v.as
	}
	if raw, ok := v.body.([]byte); ok {
		return p.send(method, v.path, "application/octet-stream", bytes.NewReader(raw))
	}
	return p.call(method, v.path, v.body)
}

// routeCase is one way to call a route of the table of routes with success.
type routeCase struct {
	route string // as "PUT,PATCH /path"; behind it, in brackets, which object where that matters
	by    string // a role that may
	make  func(s *scene, role string) visit
}

// methods and path of the route.
func (c routeCase) methods() ([]string, string) {
	methods, rest, _ := strings.Cut(c.route, " ")
	path, _, _ := strings.Cut(rest, " ")
	return strings.Split(methods, ","), path
}

func at(path string, body any) visit { return visit{path: path, body: body} }

func atf(format string, args ...any) visit { return visit{path: fmt.Sprintf(format, args...)} }

func (v visit) with(body any) visit {
	v.body = body
	return v
}

// visits call every route of the contract, each on an object that is fresh where calls use it up.
// The sweep checks that none is missing.
var visits = []routeCase{
	{"POST /login", "anonymous", func(s *scene, _ string) visit {
		return at("/login", obj{"code": demo(s.t).code(s.t, s.next()), "origin_url": origin})
	}},
	{"POST /logout", "stranger", func(s *scene, role string) visit {
		v := at("/logout", nil)
		if role != "anonymous" {
			v.as = s.again(role)
		}
		return v
	}},
	{"POST /users", "anonymous", func(s *scene, _ string) visit {
		return at("/users", obj{"code": demo(s.t).code(s.t, 1000+s.next()), "origin_url": origin})
	}},
	{"GET /users/{id}", "requester", func(s *scene, _ string) visit { return at(s.user(""), nil) }},
	{"DELETE /users/{id}", "requester", func(s *scene, role string) visit {
		guest := s.person(fmt.Sprint("guest", s.next())) // who stands for the requester
		v := atf("/users/%s", guest.ID)
		if role == "requester" {
			v.as = guest
		}
		return v
	}},
	{"PUT,PATCH /users/{id}", "requester", func(s *scene, _ string) visit {
		return at(s.user(""), obj{"first_name": fmt.Sprint("N", s.next())})
	}},
	{"GET /users/{id}/notifications", "requester",
		func(s *scene, _ string) visit { return at(s.user("/notifications"), nil) }},
	{"GET /users/{id}/notifications/stream", "requester",
		func(s *scene, _ string) visit { return at(s.user("/notifications/stream"), nil) }},
	{"POST /users/{id}/notifications/read", "requester",
		func(s *scene, _ string) visit { return at(s.user("/notifications/read"), obj{"until": 1 << 40}) }},
	{"PUT,PATCH /users/{id}/notifications/{notification}", "requester", func(s *scene, _ string) visit {
		return atf("%s/%d", s.user("/notifications"), s.notification()).with(obj{"read": true})
	}},
	{"GET /users/{id}/erasure", "requester", func(s *scene, _ string) visit { return at(s.user("/erasure"), nil) }},
	{"POST /users/{id}/erasure", "requester", func(s *scene, _ string) visit {
		return at(s.user("/erasure"), obj{"reason": "They asked by letter"})
	}},
	{"DELETE /users/{id}/erasure", "requester", func(s *scene, _ string) visit { return at(s.user("/erasure"), nil) }},
	{"GET /users/{id}/export", "requester", func(s *scene, _ string) visit { return at(s.user("/export"), nil) }},
	{"GET /users/{id}/storage", "requester", func(s *scene, _ string) visit { return at(s.user("/storage"), nil) }},
	{"GET /users/{id}/mail-settings", "requester",
		func(s *scene, _ string) visit { return at(s.user("/mail-settings"), nil) }},
	{"PUT,PATCH /users/{id}/mail-settings", "requester", func(s *scene, _ string) visit {
		return at(s.user("/mail-settings"), obj{"digest_day": other(s, "FRIDAY", "MONDAY")})
	}},
	{"POST /users/{id}/mail-settings/retry", "requester",
		func(s *scene, _ string) visit { return at(s.user("/mail-settings/retry"), nil) }},
	{"POST /users/{id}/saved-searches", "requester", func(s *scene, _ string) visit {
		s.newSavedSearch()
		return at(s.user("/saved-searches"), obj{"search": "HeLa"})
	}},
	{"GET /users/{id}/saved-searches", "requester", func(s *scene, _ string) visit {
		s.newSavedSearch()
		return at(s.user("/saved-searches"), nil)
	}},
	{"GET /users/{id}/saved-searches/{saved_search}", "requester",
		func(s *scene, _ string) visit { return at(s.newSavedSearch(), nil) }},
	{"PUT,PATCH /users/{id}/saved-searches/{saved_search}", "requester", func(s *scene, _ string) visit {
		return at(s.newSavedSearch(), obj{"search": fmt.Sprint("HeLa ", s.next())})
	}},
	{"DELETE /users/{id}/saved-searches/{saved_search}", "requester",
		func(s *scene, _ string) visit { return at(s.newSavedSearch(), nil) }},
	{"POST /users/{id}/addresses", "requester",
		func(s *scene, _ string) visit { return at(s.user("/addresses"), address("x")) }},
	{"GET /users/{id}/addresses", "requester", func(s *scene, _ string) visit { return at(s.user("/addresses"), nil) }},
	{"GET /users/{id}/addresses/{address}", "requester", func(s *scene, _ string) visit {
		return atf("%s/%d", s.user("/addresses"), s.newAddress())
	}},
	{"PUT,PATCH /users/{id}/addresses/{address}", "requester", func(s *scene, _ string) visit {
		return atf("%s/%d", s.user("/addresses"), s.newAddress()).with(obj{"state": "RI"})
	}},
	{"DELETE /users/{id}/addresses/{address}", "requester", func(s *scene, _ string) visit {
		return atf("%s/%d", s.user("/addresses"), s.newAddress())
	}},

	{"GET /users/{id}/tokens", "requester", func(s *scene, _ string) visit { return at(s.user("/tokens"), nil) }},
	{"POST /users/{id}/tokens", "requester", func(s *scene, _ string) visit {
		return at(s.user("/tokens"), obj{"name": "freezer", "scopes": []string{"read"}})
	}},
	{"DELETE /users/{id}/tokens", "requester", func(s *scene, role string) visit {
		guest := s.person(fmt.Sprint("guest", s.next())) // who stands for the requester, whose tokens are needed
		v := atf("/users/%s/tokens", guest.ID)
		if role == "requester" {
			v.as = guest
		}
		return v
	}},
	{"DELETE /users/{id}/tokens/{token}", "requester", func(s *scene, _ string) visit {
		s.again("requester")
		newest := s.requester().want(200, "GET", s.user("/tokens"), nil).List
		return atf("%s/%d", s.user("/tokens"), idsOf(newest)[0])
	}},

	{"GET /users/{id}/passkeys", "requester", func(s *scene, _ string) visit {
		s.newPasskey()
		return at(s.user("/passkeys"), nil)
	}},
	{"POST /users/{id}/passkeys/options", "requester", func(s *scene, _ string) visit {
		s.forgetStatements()
		return at(s.user("/passkeys/options"), nil)
	}},
	{"POST /users/{id}/passkeys", "requester", func(s *scene, _ string) visit {
		return at(s.user("/passkeys"), s.passkey(s.requester(), signingtest.New(s.t)))
	}},
	{"DELETE /users/{id}/passkeys/{passkey}", "requester", func(s *scene, _ string) visit {
		return atf("%s/%d", s.user("/passkeys"), s.newPasskey())
	}},

	{"POST /organizations", "owner", func(s *scene, role string) visit {
		owner := s.people[role]
		if role == "" || role == "anonymous" {
			owner = s.owner
		}
		return at("/organizations", obj{"owner": owner.ID, "members": []any{}})
	}},
	{"POST /organizations (for somebody else)", "admin", func(s *scene, _ string) visit {
		return at("/organizations", obj{"owner": s.person(fmt.Sprint("guest", s.next())).ID, "members": []any{}})
	}},
	{"GET /organizations", "anonymous", func(*scene, string) visit { return at("/organizations", nil) }},
	{"GET /organizations/{id}", "anonymous", func(s *scene, _ string) visit { return atf("/organizations/%d", s.id) }},
	{"PUT,PATCH /organizations/{id}", "owner", func(s *scene, _ string) visit {
		return atf("/organizations/%d", s.id).with(obj{"description": fmt.Sprint("No. ", s.next())})
	}},
	{"GET /organizations/{id}/members", "anonymous",
		func(s *scene, _ string) visit { return atf("/organizations/%d/members", s.id) }},
	{"GET /organizations/{id}/materials", "anonymous",
		func(s *scene, _ string) visit { return atf("/organizations/%d/materials", s.id) }},
	{"POST /organizations/{id}/materials/bulk", "member", func(s *scene, _ string) visit {
		return atf("/organizations/%d/materials/bulk",
			s.id).with([]byte(fmt.Sprintf("reference,category,title\nR%d,OTHER,A\n", s.next())))
	}},
	{"GET /organizations/{id}/materials/bulk/{job}/report", "member", func(s *scene, _ string) visit {
		return atf("/organizations/%d/materials/bulk/%d/report", s.id, s.newBulk())
	}},
	{"GET /organizations/{id}/materials/template", "member", func(s *scene, _ string) visit {
		return atf("/organizations/%d/materials/template", s.id)
	}},
	{"GET /organizations/{id}/materials/export", "member", func(s *scene, _ string) visit {
		return atf("/organizations/%d/materials/export", s.id)
	}},
	{"GET /organizations/{id}/grants", "owner", func(s *scene, _ string) visit {
		s.newGrant()
		return atf("/organizations/%d/grants", s.id)
	}},
	{"GET /organizations/{id}/invitations", "member", func(s *scene, _ string) visit {
		s.newInvitation(fmt.Sprint("id-guest", s.next()))
		return atf("/organizations/%d/invitations", s.id)
	}},
	{"POST /organizations/{id}/invitations", "owner", func(s *scene, _ string) visit {
		return atf("/organizations/%d/invitations", s.id).with(obj{"registry_id": fmt.Sprint("id-guest", s.next())})
	}},
	{"DELETE /organizations/{id}/invitations/{invitation}", "owner", func(s *scene, _ string) visit {
		return atf("/organizations/%d/invitations/%d", s.id, s.newInvitation(fmt.Sprint("id-guest", s.next())))
	}},
	{"POST /organizations/{id}/invitations/{invitation}/resend", "owner", func(s *scene, _ string) visit {
		id := s.newInvitation(fmt.Sprint("id-guest", s.next()))
		s.past("invitations", id, time.Hour, "sent_at")
		return atf("/organizations/%d/invitations/%d/resend", s.id, id)
	}},
	{"GET /invitations", "anonymous",
		func(s *scene, _ string) visit { return at("/invitations?token="+s.held(), nil) }},
	{"POST /invitations/accept", "stranger",
		func(s *scene, _ string) visit { return at("/invitations/accept", obj{"token": s.held()}) }},
	{"POST /invitations/decline", "stranger",
		func(s *scene, _ string) visit { return at("/invitations/decline", obj{"token": s.held()}) }},
	{"POST /organizations/{id}/join-requests", "stranger", func(s *scene, _ string) visit {
		return atf("/organizations/%d/join-requests",
			s.person(fmt.Sprint("guest", s.next())).Lab).with(obj{"note": "I am new here"})
	}},
	{"GET /organizations/{id}/join-requests", "owner", func(s *scene, _ string) visit {
		s.newJoin("", "")
		return atf("/organizations/%d/join-requests", s.id)
	}},
	{"DELETE /organizations/{id}/join-requests/{join_request}", "requester",
		func(s *scene, role string) visit { return s.newJoin(role, "") }},
	{"POST /organizations/{id}/join-requests/{join_request}/accept", "owner",
		func(s *scene, _ string) visit { return s.newJoin("", "/accept") }},
	{"POST /organizations/{id}/join-requests/{join_request}/decline", "owner", func(s *scene, _ string) visit {
		return s.newJoin("", "/decline").with(obj{"reason": "No bench is free"})
	}},
	{"GET /users/{id}/join-requests", "requester", func(s *scene, _ string) visit {
		s.requester().want(201, "POST",
			fmt.Sprintf("/organizations/%d/join-requests", s.person(fmt.Sprint("guest", s.next())).Lab), obj{})
		return at(s.user("/join-requests"), nil)
	}},
	{"POST /users/{id}/invitations/{invitation}/accept", "requester",
		func(s *scene, role string) visit { return s.answer(role, "accept") }},
	{"POST /users/{id}/invitations/{invitation}/decline", "requester",
		func(s *scene, role string) visit { return s.answer(role, "decline") }},
	{"GET /organizations/{id}/storage", "member",
		func(s *scene, _ string) visit { return atf("/organizations/%d/storage", s.id) }},
	{"GET /organizations/{id}/history", "member",
		func(s *scene, _ string) visit { return atf("/organizations/%d/history", s.id) }},
	{"GET /organizations/{id}/events", "member",
		func(s *scene, _ string) visit { return atf("/organizations/%d/events", s.id) }},
	{"GET /organizations/{id}/webhooks", "member", func(s *scene, _ string) visit {
		s.newWebhook()
		return atf("/organizations/%d/webhooks", s.id)
	}},
	{"POST /organizations/{id}/webhooks", "owner", func(s *scene, _ string) visit {
		s.dropWebhooks()
		return atf("/organizations/%d/webhooks", s.id).with(obj{"url": "http://127.0.0.1:9/"})
	}},
	{"GET /organizations/{id}/webhooks/{webhook}", "member", func(s *scene, _ string) visit {
		return at(s.newWebhook(), nil)
	}},
	{"PUT,PATCH /organizations/{id}/webhooks/{webhook}", "owner", func(s *scene, _ string) visit {
		return at(s.newWebhook(), obj{"description": fmt.Sprint("No. ", s.next())})
	}},
	{"DELETE /organizations/{id}/webhooks/{webhook}", "owner", func(s *scene, _ string) visit {
		return at(s.newWebhook(), nil)
	}},
	{"POST /organizations/{id}/webhooks/{webhook}/rotate", "owner", func(s *scene, _ string) visit {
		return at(s.newWebhook()+"/rotate", nil)
	}},
	{"POST /organizations/{id}/webhooks/{webhook}/ping", "owner", func(s *scene, _ string) visit {
		return at(s.newWebhook()+"/ping", nil)
	}},
	{"GET /organizations/{id}/webhooks/{webhook}/deliveries", "member", func(s *scene, _ string) visit {
		hook, _ := s.newDelivery()
		return at(hook+"/deliveries", nil)
	}},
	{"GET /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}", "member", func(s *scene, _ string) visit {
		_, delivery := s.newDelivery()
		return at(delivery, nil)
	}},
	{"POST /organizations/{id}/webhooks/{webhook}/deliveries/{delivery}/redeliver", "owner",
		func(s *scene, _ string) visit {
			_, delivery := s.newDelivery()
			return at(delivery+"/redeliver", nil)
		}},
	{"GET /organization-user-settings", "member",
		func(*scene, string) visit { return at("/organization-user-settings", nil) }},
	{"GET /organization-user-settings/{id}", "member", func(s *scene, _ string) visit {
		return atf("/organization-user-settings/%d", s.settings(s.member))
	}},
	{"GET /organization-user-settings/{id} (of one who left)", "admin", func(s *scene, _ string) visit {
		return atf("/organization-user-settings/%d", s.settings(s.former))
	}},
	{"PUT,PATCH /organization-user-settings/{id}", "member", func(s *scene, _ string) visit {
		return atf("/organization-user-settings/%d",
			s.settings(s.member)).with(obj{"reminder_notif": other(s, false, true)})
	}},

	{"POST /shipping-requirements", "member", func(s *scene, _ string) visit {
		return at("/shipping-requirements", obj{"organization": s.id})
	}},
	{"GET /shipping-requirements", "anonymous",
		func(*scene, string) visit { return at("/shipping-requirements", nil) }},
	{"GET /shipping-requirements/{id}", "anonymous",
		func(s *scene, _ string) visit { return atf("/shipping-requirements/%d", s.shipping) }},
	{"PUT,PATCH /shipping-requirements/{id}", "member", func(s *scene, _ string) visit {
		return atf("/shipping-requirements/%d", s.shipping).with(obj{"restrictions": fmt.Sprint("No. ", s.next())})
	}},

	{"POST /materials", "member", func(s *scene, _ string) visit {
		return at("/materials", obj{"category": "PROTOCOL", "title": "B", "organization_id": s.id})
	}},
	{"POST /materials/import", "member", func(s *scene, _ string) visit {
		return at("/materials/import", s.geo(obj{"organization_id": s.id, "grant_id": s.newGrant()}))
	}},
	{"POST /materials/import (imported protocol)", "member", func(s *scene, _ string) visit {
		return at("/materials/import",
			obj{"import_source": "PROTOCOLS_REPOSITORY",
				"protocol_doi":    fmt.Sprint("10.17504/protocols.io.p", s.next()),
				"organization_id": s.id, "grant_id": s.newGrant()})
	}},
	{"POST /materials/import (for another lab)", "admin", func(s *scene, _ string) visit {
		return at("/materials/import", s.geo(obj{"organization_id": s.people["admin"].Lab, "grant_id": s.newGrant()}))
	}},
	{"POST /materials/import/preview", "stranger", func(s *scene, _ string) visit {
		return at("/materials/import/preview", s.geo(obj{}))
	}},
	{"POST /materials/imports", "member", func(s *scene, _ string) visit {
		return at("/materials/imports",
			obj{"identifiers": []string{fmt.Sprint("GSE", s.next())}, "organization_id": s.id,
				"grant_id": s.newGrant()})
	}},
	{"POST /materials/imports (for another lab)", "admin", func(s *scene, _ string) visit {
		return at("/materials/imports",
			obj{"identifiers": []string{"GSE1"}, "organization_id": s.people["admin"].Lab, "grant_id": s.newGrant()})
	}},
	{"GET /publications", "stranger", func(*scene, string) visit { return at("/publications?pubmed_id=13052", nil) }},
	{"GET /materials", "anonymous", func(*scene, string) visit { return at("/materials", nil) }},
	{"GET /materials/{id}", "anonymous", func(s *scene, _ string) visit { return atf("/materials/%d", s.material) }},
	{"GET /materials/{id}/jsonld", "anonymous",
		func(s *scene, _ string) visit { return atf("/materials/%d/jsonld", s.material) }},
	{"GET /materials/{id}/citation", "anonymous",
		func(s *scene, _ string) visit { return atf("/materials/%d/citation", s.material) }},
	{"PUT,PATCH /materials/{id}", "member", func(s *scene, _ string) visit {
		return atf("/materials/%d", s.material).with(obj{"title": fmt.Sprint("HT-29 no. ", s.next())})
	}},
	{"DELETE /materials/{id}", "member",
		func(s *scene, _ string) visit { return atf("/materials/%d", s.newMaterial()) }},

	{"POST /institutions", "requester", func(s *scene, _ string) visit {
		s.confirmAll()
		return at("/institutions", obj{"legal_name": fmt.Sprint("University ", s.next()), "country": "DE"})
	}},
	{"POST /institutions (confirmed)", "admin", func(s *scene, _ string) visit {
		return at("/institutions", obj{"legal_name": fmt.Sprint("University ", s.next()), "country": "DE",
			"confirmed": true})
	}},
	{"GET /institutions", "anonymous", func(s *scene, _ string) visit {
		s.institution()
		return at("/institutions", nil)
	}},
	{"GET /institutions/signatories", "anonymous", func(s *scene, _ string) visit {
		s.institution()
		return at("/institutions/signatories", nil)
	}},
	{"POST /institutions/signatories", "admin", func(s *scene, _ string) visit {
		return at("/institutions/signatories", []byte(fmt.Sprintf(
			"institution,country,family,signed_on\nCollege %d,FR,UBMTA,2001-01-01\n", s.next())))
	}},
	{"GET /institutions/{id}", "anonymous", func(s *scene, _ string) visit { return at(s.institution().path, nil) }},
	{"PUT,PATCH /institutions/{id}", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path, obj{"address": fmt.Sprint("Street ", s.next())})
	}},
	{"PUT,PATCH /institutions/{id} (not confirmed)", "requester", func(s *scene, _ string) visit {
		s.confirmAll()
		made := s.requester().want(201, "POST", "/institutions",
			obj{"legal_name": fmt.Sprint("Institute ", s.next()), "country": "DE"})
		return at(fmt.Sprintf("/institutions/%d", made.id()), obj{"address": fmt.Sprint("Street ", s.next())})
	}},
	{"GET /institutions/{id}/labs", "anonymous",
		func(s *scene, _ string) visit { return at(s.institution().path+"/labs", nil) }},
	{"POST /institutions/{id}/labs", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path+"/labs", obj{"organization": s.id})
	}},
	{"PUT,PATCH /institutions/{id}/labs/{lab}", "owner", func(s *scene, _ string) visit {
		return atf("%s/labs/%d", s.institution().path, s.institution().lab).with(obj{"from": s.day()})
	}},
	{"GET /institutions/{id}/affiliations", "requester",
		func(s *scene, _ string) visit { return at(s.institution().path+"/affiliations", nil) }},
	{"POST /institutions/{id}/affiliations", "requester", func(s *scene, _ string) visit {
		return at(s.institution().path+"/affiliations", obj{"from": s.day(), "expires": s.day()})
	}},
	{"POST /institutions/{id}/affiliations (another's)", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path+"/affiliations", obj{"person": s.person(fmt.Sprint("guest", s.next())).ID})
	}},
	{"PUT,PATCH /institutions/{id}/affiliations/{affiliation}", "requester", func(s *scene, _ string) visit {
		return atf("%s/affiliations/%d", s.institution().path, s.institution().affiliation).with(obj{"from": s.day()})
	}},
	{"GET /institutions/{id}/positions", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/positions", nil) }},
	{"POST /institutions/{id}/positions", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/positions", obj{"title": "Deputy"}) }},
	{"PUT,PATCH /institutions/{id}/positions/{position}", "owner", func(s *scene, _ string) visit {
		return atf("%s/positions/%d", s.institution().path, s.institution().position).
			with(obj{"title": fmt.Sprint("Director ", s.next())})
	}},
	{"GET /institutions/{id}/authorities", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/authorities", nil) }},
	{"POST /institutions/{id}/authorities", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path+"/authorities", s.authority(s.institution().position))
	}},
	{"PUT,PATCH /institutions/{id}/authorities/{authority}", "owner", func(s *scene, _ string) visit {
		return atf("%s/authorities/%d", s.institution().path, s.institution().authority).
			with(obj{"delegation": fmt.Sprint("Letter ", s.next())})
	}},
	{"GET /institutions/{id}/stand-ins", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/stand-ins", nil) }},
	{"POST /institutions/{id}/stand-ins", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path+"/stand-ins", standIn(s.institution().authority))
	}},
	{"PUT,PATCH /institutions/{id}/stand-ins/{stand_in}", "owner", func(s *scene, _ string) visit {
		return atf("%s/stand-ins/%d", s.institution().path, s.institution().standIn).
			with(obj{"reason": fmt.Sprint("Leave ", s.next())})
	}},
	{"GET /instruments", "anonymous", func(s *scene, _ string) visit {
		s.anonymous().want(200, "GET", "/instruments/UBMTA_LETTER", nil) // afterwards they are in memory
		return at("/instruments", nil)
	}},
	{"GET /instruments/{instrument}", "anonymous",
		func(*scene, string) visit { return at("/instruments/UBMTA_LETTER", nil) }},
	{"GET /institutions/{id}/playbook", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/playbook", nil) }},
	{"PUT,PATCH /institutions/{id}/playbook", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path+"/playbook", obj{"provide": []obj{{"categories": []string{"PLASMID"},
			"counterparties": []int64{s.recipient()}, "families": []string{"SIMPLE_LETTER"}}}, "accept": []string{},
			"clauses": []obj{{"term": "NON_COMMERCIAL", "provide": "REQUIRED", "receive": "ACCEPTED",
				"note": fmt.Sprint("Policy ", s.next())}}})
	}},
	{"GET /institutions/{id}/playbook/conflicts", "owner", func(s *scene, _ string) visit {
		return atf("%s/playbook/conflicts?with=%d", s.institution().path, s.recipient())
	}},
	{"GET /institutions/{id}/approvals", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/approvals", nil) }},
	{"POST /institutions/{id}/approvals", "owner",
		func(s *scene, _ string) visit { return at(s.institution().path+"/approvals", standing()) }},
	{"PUT,PATCH /institutions/{id}/approvals/{approval}", "owner", func(s *scene, _ string) visit {
		return atf("%s/approvals/%d", s.institution().path, s.institution().approval).
			with(obj{"until": exchange.DayOf(time.Now().AddDate(0, 0, 1+s.next()%300))}) // another day each time
	}},
	{"POST /institutions/{id}/approvals/{approval}/sign/options", "owner", func(s *scene, _ string) visit {
		made := s.owner.want(201, "POST", s.institution().path+"/approvals", standing()).id()
		s.device(s.owner)
		s.forgetStatements()
		return atf("%s/approvals/%d/sign/options", s.institution().path, made).with(obj{"version": 1})
	}},
	{"POST /institutions/{id}/approvals/{approval}/sign", "owner", func(s *scene, _ string) visit {
		made := s.owner.want(201, "POST", s.institution().path+"/approvals", standing()).id()
		return atf("%s/approvals/%d/sign", s.institution().path, made).with(obj{"version": 1})
	}},
	{"GET /institutions/{id}/masters", "anonymous",
		func(s *scene, _ string) visit { return at(s.institution().path+"/masters", nil) }},
	{"POST /institutions/{id}/masters", "owner", func(s *scene, _ string) visit {
		return at(s.institution().path+"/masters", obj{"family": "UBMTA", "signed_on": "1995-06-01"})
	}},
	{"PUT,PATCH /institutions/{id}/masters/{master}", "owner", func(s *scene, _ string) visit {
		return atf("%s/masters/%d", s.institution().path, s.institution().master).
			with(obj{"evidence": fmt.Sprint("List ", s.next())})
	}},

	{"POST /grants", "requester",
		func(*scene, string) visit { return at("/grants", obj{"title": "Colon", "funder_id": "R01"}) }},
	{"GET /grants", "member", func(s *scene, _ string) visit {
		s.newGrant()
		return at("/grants", nil)
	}},
	{"GET /grants/{id}", "member", func(s *scene, _ string) visit { return atf("/grants/%d", s.newGrant()) }},
	{"PUT,PATCH /grants/{id}", "member", func(s *scene, _ string) visit {
		return atf("/grants/%d", s.newGrant()).with(obj{"title": "Colon and rectum"})
	}},
	{"GET /grants/{id}/materials", "member",
		func(s *scene, _ string) visit { return atf("/grants/%d/materials", s.newGrant()) }},
	{"POST /grants/{id}/materials", "member", func(s *scene, _ string) visit {
		return atf("/grants/%d/materials", s.newGrant()).with(obj{"material_id": fmt.Sprint(s.newMaterial())})
	}},
	{"POST /grants/{id}/materials (of another lab)", "admin", func(s *scene, _ string) visit {
		id := s.requester().want(200, "POST", "/grants", obj{"title": "Colon", "funder_id": "R01"}).id()
		return atf("/grants/%d/materials", id).with(obj{"material_id": s.material})
	}},
	{"DELETE /grants/{id}/materials/{material}", "member", func(s *scene, _ string) visit {
		return atf("/grants/%d/materials/%d", s.newGrant(), s.material)
	}},
	{"GET /materials/{id}/transfer-facts", "anonymous",
		func(s *scene, _ string) visit { return atf("/materials/%d/transfer-facts", s.material) }},
	{"POST /agreements/resolve", "requester", func(s *scene, _ string) visit {
		return at("/agreements/resolve", obj{"material": s.material, "recipient": s.institution().id})
	}},
	{"GET /material-requests/{id}/requirements", "requester",
		func(s *scene, _ string) visit { return at(s.req("/requirements"), nil) }},
	{"GET /material-requests/{id}/purpose", "requester",
		func(s *scene, _ string) visit { return at(s.req("/purpose"), nil) }},
	{"PUT,PATCH /material-requests/{id}/purpose", "requester", func(s *scene, _ string) visit {
		return at(s.req("/purpose"), obj{"biomedical": "YES",
			"diseases": []string{fmt.Sprintf("MONDO:%07d", s.next())}})
	}},
	{"GET /material-requests/{id}/paper-findings", "requester",
		func(s *scene, _ string) visit { return at(s.req("/paper-findings"), nil) }},
	{"PUT,PATCH /materials/{id}/transfer-facts", "member", func(s *scene, _ string) visit {
		return atf("/materials/%d/transfer-facts", s.material).with(obj{"origin_country": "DE", "proprietary": "NO",
			"encumbrances": []obj{{"holder": fmt.Sprint("Institute ", s.next()), "terms": []string{"ATTRIBUTION"},
				"document": "MTA 7"}}, "data_uses": []obj{{"id": []string{"DUO:0000042", "DUO:0000046"}[s.next()/2%2]}}})
	}},
	{"GET /materials/{id}/lineage", "member",
		func(s *scene, _ string) visit { return atf("/materials/%d/lineage", s.material) }},
	{"PUT,PATCH /materials/{id}/lineage", "member", func(s *scene, _ string) visit {
		return atf("/materials/%d/lineage", s.newMaterial()).with(obj{"origins": []obj{{"relation": "PROGENY",
			"material": s.material, "request": nil}}})
	}},
	{"GET /materials/{id}/may-share", "anonymous", func(s *scene, _ string) visit {
		return atf("/materials/%d/may-share?to=%d", s.material, s.institution().id)
	}},
	{"GET /materials/{id}/history", "member",
		func(s *scene, _ string) visit { return atf("/materials/%d/history", s.material) }},

	{"POST /attachments", "member", func(*scene, string) visit { return at("/attachments", obj{"filename": "a.pdf"}) }},
	{"GET /attachments", "admin", func(*scene, string) visit { return at("/attachments", nil) }},
	{"GET /attachments/{id}", "member",
		func(s *scene, _ string) visit { return atf("/attachments/%d", s.newAttachment().id()) }},
	{"GET /attachments/{id} (of a request)", "requester", func(s *scene, _ string) visit {
		return atf("/attachments/%d", s.linked("requester_signed_mta_attachment").id())
	}},
	{"GET /attachments/{id} (the lab's, of a request)", "requester", func(s *scene, _ string) visit {
		return atf("/attachments/%d", s.linked("executed_mta_attachment").id())
	}},
	{"PUT,PATCH /attachments/{id}", "member", func(s *scene, _ string) visit {
		return atf("/attachments/%d", s.newAttachment().id()).with(obj{"description": "of the plasmid"})
	}},
	{"DELETE /attachments/{id}", "member",
		func(s *scene, _ string) visit { return atf("/attachments/%d", s.newAttachment().id()) }},
	{"GET /attachments/{id} (filed by one who left)", "member",
		func(s *scene, _ string) visit { return atf("/attachments/%d", s.filed().id()) }},
	{"PUT,PATCH /attachments/{id} (filed by one who left)", "member", func(s *scene, _ string) visit {
		return atf("/attachments/%d", s.filed().id()).with(obj{"description": "of the plasmid"})
	}},
	{"DELETE /attachments/{id} (filed by one who left)", "member",
		func(s *scene, _ string) visit { return atf("/attachments/%d", s.filed().id()) }},
	{"GET /attachments/{id}/versions/{version}", "member", func(s *scene, _ string) visit {
		return atf("/attachments/%d/versions/1", s.filed().id())
	}},
	{"GET /attachments/{id}/versions/{version} (that a request was made under)", "requester",
		func(s *scene, _ string) visit {
			return atf("/attachments/%d/versions/1", s.agreed())
		}},
	{"GET /uploaded-file/{attachment}/{filename} (filed by one who left)", "member", func(s *scene, _ string) visit {
		return atf("/uploaded-file/attachment_%d/map.pdf", s.filed().id())
	}},
	{"PUT /uploaded-file/{attachment}/{filename} (filed by one who left)", "member", func(s *scene, _ string) visit {
		return atf("/uploaded-file/attachment_%d/map.pdf", s.filed().id()).with(pdf)
	}},
	{"GET /uploaded-file/{attachment}/{filename}", "member", func(s *scene, _ string) visit {
		return atf("/uploaded-file/attachment_%d/map.pdf", s.newAttachment().id())
	}},
	{"GET /uploaded-file/{attachment}/{filename} (of a request)", "requester", func(s *scene, _ string) visit {
		return at(strings.TrimPrefix(s.linked("irb_attachment").Body["download_url"].(string), "/v1"), nil)
	}},
	{"GET /uploaded-file/{attachment}/{filename} (the MTA of a listed material)", "anonymous",
		func(s *scene, _ string) visit {
			made := s.newAttachment()
			s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.newMaterial()),
				obj{"mta_attachment_id": made.id()})
			return atf("/uploaded-file/attachment_%d/map.pdf", made.id())
		}},
	{"PUT /uploaded-file/{attachment}/{filename}", "member", func(s *scene, _ string) visit {
		return atf("/uploaded-file/attachment_%d/map.pdf", s.newAttachment().id()).with(pdf)
	}},

	{"POST /material-requests", "requester",
		func(s *scene, _ string) visit { return at("/material-requests", obj{"material": s.material}) }},
	{"GET /material-requests", "requester", func(*scene, string) visit { return at("/material-requests", nil) }},
	{"GET /material-requests/{id}", "requester", func(s *scene, _ string) visit { return at(s.req(""), nil) }},
	{"PUT,PATCH /material-requests/{id}", "member", func(s *scene, role string) visit {
		if role == "requester" {
			return at(s.req(""), obj{"payment_method_notes": fmt.Sprint("No. ", s.next())})
		}
		return at(s.req(""), obj{"assigned_to": other(s, s.member, s.assignee).ID})
	}},
	{"DELETE /material-requests/{id}", "admin",
		func(s *scene, _ string) visit { return atf("/material-requests/%d", s.newRequest()) }},
	{"POST /materials/{id}/inquiries", "requester", func(s *scene, _ string) visit {
		return atf("/materials/%d/inquiries", s.foreignMaterial()).with(obj{"text": "Which passage?"})
	}},
	{"GET /organizations/{id}/inquiries", "member", func(s *scene, _ string) visit {
		s.newInquiry("", "")
		return atf("/organizations/%d/inquiries", s.id)
	}},
	{"GET /users/{id}/inquiries", "requester", func(s *scene, _ string) visit {
		s.requester().want(201, "POST", fmt.Sprintf("/materials/%d/inquiries", s.newMaterial()), obj{"text": "Which lot?"})
		return at(s.user("/inquiries"), nil)
	}},
	{"GET /inquiries/{id}", "member", func(s *scene, role string) visit { return s.newInquiry(role, "") }},
	{"POST /inquiries/{id}/answer", "member", func(s *scene, role string) visit {
		return s.newInquiry(role, "/answer").with(obj{"text": "Passage 12."})
	}},
	{"POST /request-groups", "requester", func(s *scene, _ string) visit {
		return at("/request-groups", obj{"materials": []int64{s.foreignMaterial(), s.foreignMaterial()}})
	}},
	{"GET /request-groups/{id}", "requester",
		func(s *scene, _ string) visit { return atf("/request-groups/%d", s.newGroup().id()) }},
	{"POST /request-groups/{id}/accept", "member",
		func(s *scene, _ string) visit { return atf("/request-groups/%d/accept", s.newGroup().id()) }},
	{"GET /material-requests/{id}/events", "member",
		func(s *scene, _ string) visit { return at(s.req("/events"), nil) }},
	{"GET /material-requests/{id}/messages", "member",
		func(s *scene, _ string) visit { return at(s.req("/messages"), nil) }},
	{"POST /material-requests/{id}/messages", "requester",
		func(s *scene, _ string) visit { return at(s.req("/messages"), obj{"text": "Hello"}) }},
	{"GET /material-requests/{id}/turns", "member", func(s *scene, _ string) visit { return at(s.req("/turns"), nil) }},
	{"POST /material-requests/{id}/snooze", "requester",
		func(s *scene, _ string) visit { return at(s.newTurn(false), snooze(7)) }},
	{"POST /material-requests/{id}/snooze (the lab's turn)", "member",
		func(s *scene, _ string) visit { return at(s.newTurn(true), snooze(7)) }},
	{"DELETE /material-requests/{id}/snooze", "requester",
		func(s *scene, _ string) visit { return at(s.snoozed(false, s.requester()), nil) }},
	{"DELETE /material-requests/{id}/snooze (the lab's turn)", "member",
		func(s *scene, _ string) visit { return at(s.snoozed(true, s.member), nil) }},
	{"GET /material-requests/{id}/issues", "member",
		func(s *scene, _ string) visit { return at(s.req("/issues"), nil) }},
	{"POST /material-requests/{id}/issues", "requester",
		func(s *scene, _ string) visit { return at(s.sent("/issues"), obj{"text": "it thawed"}) }},
	{"POST /material-requests/{id}/issues/{issue}/close", "member", func(s *scene, _ string) visit {
		return atf("%s/%d/close", s.req("/issues"), s.newIssue())
	}},
	{"PUT,PATCH /material-requests/{id}/shipment", "member", func(s *scene, _ string) visit {
		return at(s.req("/shipment"), obj{"tracking": fmt.Sprint("JD0146000", s.next())})
	}},
	{"POST /material-requests/{id}/documents/{document}/accept", "member", func(s *scene, _ string) visit {
		return atf("/material-requests/%d/documents/requester_signed_mta/accept", s.newRequest())
	}},
	{"POST /material-requests/{id}/documents/{document}/accept (the lab's)", "requester",
		func(s *scene, _ string) visit {
			return atf("/material-requests/%d/documents/executed_mta/accept", s.newRequest())
		}},
	{"POST /material-requests/{id}/documents/{document}/return", "member", func(s *scene, _ string) visit {
		return at(s.req("/documents/requester_signed_mta/return"), obj{"reason": fmt.Sprint("page ", s.next())})
	}},
	{"POST /material-requests/{id}/documents/{document}/return (the lab's)", "requester",
		func(s *scene, _ string) visit {
			return at(s.req("/documents/executed_mta/return"), obj{"reason": fmt.Sprint("page ", s.next())})
		}},

	{"GET /permits", "requester", func(s *scene, _ string) visit {
		s.newPermit(s.requester(), obj{})
		return at("/permits", nil)
	}},
	{"GET /permits (of a request)", "requester",
		func(s *scene, _ string) visit {
			var request, permit int64
			if _, err := fmt.Sscanf(s.used("requester"), usedPath, &request, &permit); err != nil {
				s.t.Fatal(err)
			}
			return atf("/permits?request=%d", request)
		}},
	{"POST /permits", "requester", func(s *scene, _ string) visit { return at("/permits", s.permit(obj{})) }},
	{"POST /permits (of a lab)", "member",
		func(s *scene, _ string) visit { return at("/permits", s.permit(obj{"organization": s.id})) }},
	{"POST /permits (of an institution)", "owner",
		func(s *scene, _ string) visit {
			return at("/permits", s.permit(obj{"institution": s.institution().id}))
		}},
	{"GET /permits/{id}", "requester", func(s *scene, _ string) visit { return atf("/permits/%d", s.usedPermit("member")) }},
	{"PUT,PATCH /permits/{id}", "member", func(s *scene, _ string) visit {
		return atf("/permits/%d", s.usedPermit("member")).with(obj{"number": fmt.Sprint("B-", s.next())})
	}},
	{"POST /material-requests/{id}/permits", "requester", func(s *scene, role string) visit {
		return atf("/material-requests/%d/permits", s.newRequest()).with(obj{"permit": s.permitOf(role)})
	}},
	{"DELETE /material-requests/{id}/permits/{permit}", "requester", func(s *scene, role string) visit {
		return at(s.used(role), nil)
	}},
	{"POST /agreements", "requester",
		func(s *scene, _ string) visit { return at("/agreements", s.draft(s.newProtocol())) }},
	{"GET /agreements", "requester", func(s *scene, _ string) visit {
		s.newLetter()
		return at("/agreements", nil)
	}},
	{"GET /agreements/inbox", "requester", func(s *scene, _ string) visit {
		s.newLetter("/send")
		return at("/agreements/inbox", nil)
	}},
	{"GET /agreements/{id}", "requester", func(s *scene, _ string) visit { return at(s.newLetter(), nil) }},
	{"GET /agreements/{id}/versions", "requester",
		func(s *scene, _ string) visit { return at(s.newLetter()+"/versions", nil) }},
	{"POST /agreements/{id}/versions", "requester", func(s *scene, _ string) visit {
		return at(s.newLetter()+"/versions", obj{"version": 1, "fields": obj{"provider_name": "The University"}})
	}},
	{"POST /agreements/{id}/send", "requester",
		func(s *scene, _ string) visit { return at(s.newLetter()+"/send", nil) }},
	{"POST /agreements/{id}/decline", "requester", func(s *scene, _ string) visit {
		return at(s.newLetter("/send")+"/decline", obj{"reason": "The name is misspelled."})
	}},
	{"POST /agreements/{id}/withdraw", "requester",
		func(s *scene, _ string) visit { return at(s.newLetter()+"/withdraw", obj{}) }},
	{"POST /agreements/{id}/signatures", "requester", func(s *scene, _ string) visit {
		path := s.newLetter("/send")
		return at(path+"/signatures", s.signature(path, "RECIPIENT_SCIENTIST"))
	}},
	{"POST /users/{id}/signatures/options", "requester", func(s *scene, _ string) visit {
		path := s.newLetter("/send")
		if s.key == nil {
			s.key = s.device(s.requester())
		}
		s.forgetStatements()
		return at(s.user("/signatures/options"), obj{"role": "RECIPIENT_SCIENTIST",
			"agreements": []int64{s.requester().want(200, "GET", path, nil).id()}})
	}},
	{"POST /users/{id}/signatures", "requester", func(s *scene, _ string) visit {
		if s.key == nil {
			s.key = s.device(s.requester())
		}
		return at(s.user("/signatures"), s.touch(s.requester(), s.key, "RECIPIENT_SCIENTIST", s.newLetter("/send")))
	}},
	{"GET /agreements/{id}/duties", "requester", func(s *scene, _ string) visit { return at(s.owing()+"/duties", nil) }},
	{"PUT,PATCH /agreements/{id}/duties/{duty}", "member", func(s *scene, _ string) visit {
		return at(s.duty(s.owing()), obj{"due_on": "2027-06-01"})
	}},
	{"POST /agreements/{id}/duties/{duty}/evidence", "requester", func(s *scene, _ string) visit {
		return at(s.duty(s.owing())+"/evidence", obj{"text": "Destroyed on 1 June."})
	}},
	{"POST /agreements/{id}/duties/{duty}/waive", "member", func(s *scene, _ string) visit {
		return at(s.duty(s.owing())+"/waive", obj{"reason": "It is kept for later checks."})
	}},
	{"GET /agreements/{id}/links", "requester", func(s *scene, _ string) visit {
		path := s.sendLetter(s.newPlasmid())
		s.link(path)
		return at(path+"/links", nil)
	}},
	{"POST /agreements/{id}/links", "requester", func(s *scene, _ string) visit {
		path := s.sendLetter(s.newPlasmid())
		return at(path+"/links", obj{"role": "PROVIDER_OFFICIAL", "mail": s.external(path)})
	}},
	{"GET /agreements/{id}/document", "requester",
		func(s *scene, _ string) visit { return at(s.newLetter()+"/document", nil) }},

	{"GET /audit-events", "admin", func(*scene, string) visit { return at("/audit-events", nil) }},
	{"GET /search/materials", "anonymous",
		func(*scene, string) visit { return at("/search/materials?search=ht29&needs_mta=true", nil) }},
	{"GET /search/materials/feed", "anonymous",
		func(*scene, string) visit { return at("/search/materials/feed?search=ht29", nil) }},
	{"GET /search/organizations", "anonymous",
		func(*scene, string) visit { return at("/search/organizations?search=epithelial", nil) }},
	{"GET /search/users", "anonymous", func(*scene, string) visit { return at("/search/users?search=requester", nil) }},
	{"GET /search/suggest", "anonymous", func(*scene, string) visit { return at("/search/suggest?search=h", nil) }},
	{"GET /log/checkpoint", "anonymous", func(s *scene, _ string) visit {
		s.sign()
		return at("/log/checkpoint", nil)
	}},
	{"GET /log/keys", "anonymous", func(s *scene, _ string) visit {
		s.sign()
		return at("/log/keys", nil)
	}},
	{"GET /log/tile/{level}/{tile}", "anonymous", func(s *scene, _ string) visit {
		s.sign()
		return at("/log/tile/0/000.p/1", nil)
	}},
	{"GET /material-requests/{id}/dossier", "member", func(s *scene, _ string) visit {
		s.sign()
		return at(s.req("/dossier"), nil)
	}},
	{"GET /material-requests/{id}/events/{seq}/proof", "member", func(s *scene, _ string) visit {
		s.sign()
		return at(s.req("/events/1/proof"), nil)
	}},
	{"GET /openapi.json", "anonymous", func(*scene, string) visit { return at("/openapi.json", nil) }},

	{"GET /jobs", "requester", func(s *scene, _ string) visit {
		s.newJob(job.EnqueueOptions{User: &s.requester().ID})
		return at("/jobs", nil)
	}},
	{"GET /jobs/{id}", "requester", func(s *scene, _ string) visit {
		return atf("/jobs/%d", s.newJob(job.EnqueueOptions{User: &s.requester().ID}))
	}},
	{"GET /jobs/{id} (Aliquot's own)", "admin",
		func(s *scene, _ string) visit { return atf("/jobs/%d", s.newJob(job.EnqueueOptions{})) }},
	{"POST /jobs/{id}/cancel", "requester", func(s *scene, _ string) visit {
		return atf("/jobs/%d/cancel", s.newJob(job.EnqueueOptions{User: &s.requester().ID}))
	}},
	{"POST /jobs/{id}/undo", "member", func(s *scene, _ string) visit { return atf("/jobs/%d/undo", s.newImport()) }},
	{"POST /jobs/{id}/retry", "admin", func(s *scene, _ string) visit {
		id := s.newJob(job.EnqueueOptions{User: &s.requester().ID})
		s.requester().want(200, "POST", fmt.Sprintf("/jobs/%d/cancel", id), nil)
		return atf("/jobs/%d/retry", id)
	}},
}

// linked hands a new document in to a new request, in one of its fields.
func (s *scene) linked(field string) answer {
	s.t.Helper()
	giver := s.requester()
	if field == "executed_mta_attachment" {
		giver = s.member
	}
	made := giver.upload("paper.pdf", pdf, nil)
	id := s.requester().want(201, "POST", "/material-requests", obj{"material": s.material}).id()
	giver.want(200, "PATCH", fmt.Sprintf("/material-requests/%d", id), obj{field: made.id()})
	return made
}

// again signs the person of a role in once more.
func (s *scene) again(role string) *testPerson {
	s.t.Helper()
	return s.signIn(s.people[role].name)
}
