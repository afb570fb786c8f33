package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// crowd is a scene whose every list is long. Its rows are copies of one row, made in SQL: of each
// list some rows have the same value in a sorted field, and some have none where that may be.
type crowd struct {
	*scene
	size          int
	grant, number int64
	hook          string // the path of a webhook
}

// longList is a list of the crowd: its path, who reads it, the tables that a row more of it is
// in, and orderings to walk it in, each with the column of the first table that it sorts by.
type longList struct {
	path   string
	by     *testPerson
	tables []string
	orders map[string]string
}

func newCrowd(t testing.TB, db *store.DB, n int) *crowd {
	t.Helper()
	s := newScene(t, db, exchange.AccessMembers)
	c := &crowd{scene: s, size: n, grant: s.newGrant(), number: 1000}
	s.requester().want(201, "POST", s.req("/messages"), obj{"text": "Hello"})
	s.newAddress()
	s.newSavedSearch()
	s.newPasskey()
	s.letter = s.sendLetter(s.newPlasmid())
	s.link(s.letter)
	s.newPermit(s.requester(), obj{})
	s.newIssue()
	s.newInvitation("id-guest")
	s.requester().want(201, "POST", fmt.Sprintf("/organizations/%d/join-requests", s.id), obj{})
	s.requester().want(201, "POST", fmt.Sprintf("/materials/%d/inquiries", s.material), obj{"text": "Which passage?"})
	s.newJob(job.EnqueueOptions{User: &s.requester().ID})
	c.hook, _ = s.newDelivery()
	s.institution()
	s.again("requester")
	s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"title": "HT-29"})
	s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"description": "Cells"})
	for _, table := range crowded {
		c.more(table, n)
	}
	c.exec("ANALYZE") // as a database does by itself, in time
	return c
}

// crowded are the tables that grow, each after those that it needs.
var crowded = []string{"users", "members", "organizations", "memberships", "addresses", "saved_searches", "tokens",
	"passkeys", "invitations", "join_requests", "shipping_requirements",
	"materials", "grants", "grant_materials", "attachments", "material_requests", "request_turns", "request_documents",
	"request_issues", "request_events",
	"inquiries", "notifications", "material versions", "organization versions", "jobs",
	"agreements", "agreement_versions", "agreement_requests", "agreement_links",
	"webhooks", "webhook_deliveries", "institutions", "institution_labs", "affiliations", "positions", "authorities",
	"stand_ins", "masters", "approvals", "permits"}

// ofInstitutions are the tables of what is registered of an institution, which has at most 5,000 of each.
var ofInstitutions = []string{"institution_labs", "affiliations", "positions", "authorities", "stand_ins", "masters",
	"approvals"}

// lists are all lists.
func (c *crowd) lists() map[string]longList {
	organization := fmt.Sprintf("/organizations/%d", c.id)
	funded := []string{"materials", "grant_materials"}
	return map[string]longList{
		"GET /users/{id}/notifications": {c.user("/notifications"), c.requester(),
			[]string{"request_events", "notifications"},
			map[string]string{"read_at": ""}},
		"GET /users/{id}/saved-searches": {c.user("/saved-searches"), c.requester(), []string{"saved_searches"},
			map[string]string{"name": "name_sort"}},
		"GET /users/{id}/addresses": {c.user("/addresses"), c.requester(), []string{"addresses"},
			map[string]string{"name": "name_sort"}},
		"GET /users/{id}/tokens": {c.user("/tokens"), c.requester(), []string{"tokens"},
			map[string]string{"expires": "expires_at"}},
		"GET /users/{id}/passkeys": {c.user("/passkeys"), c.requester(), []string{"passkeys"}, nil},
		"GET /organizations": {"/organizations", c.member, []string{"organizations"},
			map[string]string{"-name": "name_sort"}},
		"GET /organizations/{id}/members": {fmt.Sprintf("/organizations/%d/members", c.owner.Lab), c.member,
			[]string{"users", "members"},
			map[string]string{"last_name": ""}},
		"GET /organizations/{id}/materials": {organization + "/materials", c.member, []string{"materials"},
			map[string]string{"-updated_at": "updated_at"}},
		"GET /organizations/{id}/grants": {organization + "/grants", c.member, []string{"grants", "grant_materials"},
			map[string]string{"title": "title_sort"}},
		"GET /organizations/{id}/invitations": {organization + "/invitations", c.member, []string{"invitations"},
			map[string]string{"email": "email"}},
		"GET /organizations/{id}/join-requests": {organization + "/join-requests", c.owner, []string{"join_requests"},
			map[string]string{"-answered_at": "answered_at"}},
		"GET /users/{id}/join-requests": {c.user("/join-requests"), c.requester(), []string{"join_requests"},
			map[string]string{"status": "status"}},
		"GET /organizations/{id}/inquiries": {organization + "/inquiries", c.owner, []string{"inquiries"},
			map[string]string{"-answered_at": "answered_at"}},
		"GET /users/{id}/inquiries": {c.user("/inquiries"), c.requester(), []string{"inquiries"},
			map[string]string{"answered_at": "answered_at"}},
		"GET /organizations/{id}/webhooks": {organization + "/webhooks", c.member, []string{"webhooks"},
			map[string]string{"-updated_at": "updated_at"}},
		"GET /organizations/{id}/webhooks/{webhook}/deliveries": {c.hook + "/deliveries", c.member,
			[]string{"webhook_deliveries"},
			map[string]string{"-ended_at": "ended_at", "type": "type"}},
		"GET /organizations/{id}/history": {organization + "/history", c.member, []string{"organization versions"},
			map[string]string{"at": ""}},
		"GET /organizations/{id}/events": {organization + "/events", c.member, []string{"request_events"},
			map[string]string{"kind": "", "at": ""}},
		"GET /organization-user-settings": {"/organization-user-settings", c.member,
			[]string{"organizations", "memberships"},
			map[string]string{"organization": ""}},
		"GET /shipping-requirements": {"/shipping-requirements", c.member, []string{"shipping_requirements"},
			map[string]string{"updated_at": "updated_at"}},
		"GET /materials": {"/materials", c.member, []string{"materials"},
			map[string]string{"title": "title_sort", "-embargo_date": "embargo_date"}},
		"GET /materials/{id}/history": {fmt.Sprintf("/materials/%d/history", c.material), c.member,
			[]string{"material versions"}, map[string]string{"version": ""}},
		"GET /institutions": {"/institutions", c.member, []string{"institutions"},
			map[string]string{"legal_name": "legal_name_sort", "-updated_at": "updated_at"}},
		"GET /institutions/{id}/labs": {c.institution().path + "/labs", c.member, []string{"institution_labs"}, nil},
		"GET /institutions/{id}/affiliations": {c.institution().path + "/affiliations", c.owner,
			[]string{"affiliations"}, nil},
		"GET /institutions/{id}/positions": {c.institution().path + "/positions", c.owner, []string{"positions"}, nil},
		"GET /institutions/{id}/authorities": {c.institution().path + "/authorities", c.owner,
			[]string{"authorities"}, nil},
		"GET /institutions/{id}/stand-ins": {c.institution().path + "/stand-ins", c.owner, []string{"stand_ins"}, nil},
		"GET /institutions/{id}/approvals": {c.institution().path + "/approvals", c.owner, []string{"approvals"}, nil},
		"GET /institutions/{id}/masters":   {c.institution().path + "/masters", c.member, []string{"masters"}, nil},
		"GET /agreements/inbox":            {"/agreements/inbox", c.requester(), []string{"agreements", "agreement_versions"}, nil},
		"GET /permits":                     {"/permits", c.requester(), []string{"permits"}, nil},
		"GET /agreements":                  {"/agreements", c.requester(), []string{"agreements", "agreement_versions"}, nil},
		"GET /agreements/{id}/links":       {c.letter + "/links", c.requester(), []string{"agreement_links"}, nil},
		"GET /agreements/{id}/versions": {c.letter + "/versions", c.requester(), []string{"agreement_versions"},
			map[string]string{"version": ""}},
		"GET /grants": {"/grants", c.member, []string{"grants"},
			map[string]string{"-funder_id": "funder_id_sort"}},
		"GET /grants/{id}/materials": {fmt.Sprintf("/grants/%d/materials", c.grant), c.member, funded,
			map[string]string{"category": "category"}},
		"GET /attachments": {"/attachments", c.people["admin"], []string{"attachments"},
			map[string]string{"size": "size"}},
		"GET /material-requests": {"/material-requests", c.member, []string{"material_requests"},
			map[string]string{"-status": "status"}},
		"GET /material-requests/{id}/events": {c.req("/events"), c.member, []string{"request_events"},
			map[string]string{"seq": ""}},
		"GET /material-requests/{id}/messages": {c.req("/messages"), c.member, []string{"request_events"},
			map[string]string{"sent_at": "at"}},
		"GET /material-requests/{id}/issues": {c.req("/issues"), c.member, []string{"request_issues"},
			map[string]string{"-closed_at": "closed_at"}},
		"GET /material-requests/{id}/turns": {c.req("/turns"), c.member, []string{"request_turns"},
			map[string]string{"-began_at": ""}},
		"GET /jobs": {"/jobs", c.requester(), []string{"jobs"},
			map[string]string{"-ended_at": "ended_at"}},
		"GET /audit-events": {"/audit-events", c.people["admin"], []string{"material versions"},
			map[string]string{"object": ""}},
	}
}

// more adds n rows to a table of the crowd; of those tables that only tie others together, all
// that are missing.
func (c *crowd) more(table string, n int) {
	c.t.Helper()
	if slices.Contains(ofInstitutions, table) {
		n = min(n, 4000)
	}
	first := c.number + 1
	c.number += int64(n)
	numbers := fmt.Sprintf("(WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i "+
		"FROM n)", first, c.number)
	uuid, moment := "TEXT", "strftime('%%Y-%%m-%%d %%H:%%M:%%S+00:00', 1900000000 + n.i %% %d, 'unixepoch')"
	if c.db.Postgres() {
		uuid, moment = "UUID", "to_timestamp(1900000000 + n.i %% %d)"
	}
	early, late := fmt.Sprintf(moment, 83), fmt.Sprintf(moment, 97)
	word := func(prefix string) string { return fmt.Sprintf("'%s ' || (n.i * 7 %% 101)", prefix) }
	some := func(value string) string { return "CASE n.i % 3 WHEN 0 THEN NULL ELSE " + value + " END" }
	member, requester := c.member.ID, c.requester().ID
	switch table {
	case "users":
		c.copies("users", fmt.Sprintf("o.id = '%s'", c.people["stranger"].ID), numbers, columns{
			"id": "CAST('00000000-0000-7000-8000-' || substr(CAST(1000000000000 + n.i AS TEXT), 2) AS " + uuid +
				")",
			"username": word("user") + " || ' ' || n.i", "registry_id": "'0000-' || n.i", "last_name": word("name"),
			"last_name_sort": word("name"),
			"created_at":     early, "updated_at": late})
	case "members":
		c.copies("memberships", fmt.Sprintf("o.id = (SELECT MIN(id) FROM memberships WHERE organization_id = %d)",
			c.owner.Lab),
			fmt.Sprintf("(SELECT id AS i FROM users WHERE username LIKE 'user %%' AND id NOT IN (SELECT user_id FROM "+
				"memberships WHERE organization_id = %d) LIMIT 9900)", c.owner.Lab), // a lab has at most 10,000
			columns{"user_id": "n.i"})
	case "organizations":
		c.copies("organizations", fmt.Sprintf("o.id = %d", c.id), numbers, columns{
			"name": word("lab"), "name_sort": word("lab"), "created_at": early, "updated_at": late})
	case "memberships":
		c.copies("memberships", fmt.Sprintf("o.id = %d", c.settings(c.member)),
			fmt.Sprintf("(SELECT id AS i FROM organizations WHERE id NOT IN (SELECT organization_id FROM memberships "+
				"WHERE user_id = '%s'))", member),
			columns{"organization_id": "n.i"})
	case "addresses":
		c.copies("addresses", "o.id = (SELECT MAX(id) FROM addresses)", numbers, columns{
			"name": word("name"), "name_sort": word("name"), "created_at": early, "updated_at": late})
	case "saved_searches":
		c.copies("saved_searches", "o.id = (SELECT MAX(id) FROM saved_searches)", numbers, columns{
			"name": word("name"), "name_sort": word("name"), "created_at": early, "updated_at": late})
	case "tokens":
		c.copies("tokens", fmt.Sprintf("o.id = (SELECT MAX(id) FROM tokens WHERE user_id = '%s')", requester), numbers,
			columns{
				"hash": "'hash ' || n.i", "created_at": early, "expires_at": late})
	case "passkeys":
		c.copies("passkeys", "o.id = (SELECT MIN(id) FROM passkeys)", numbers, columns{
			"credential_id": "'id' || n.i", "created_at": early})
	case "invitations":
		c.copies("invitations", "o.id = (SELECT MIN(id) FROM invitations)", numbers, columns{
			"registry_id": "CASE n.i % 3 WHEN 0 THEN 'id-' || n.i ELSE '' END",
			"email":       "CASE n.i % 3 WHEN 0 THEN '' ELSE " + word("mail") + " END",
			"created_at":  early, "expires_at": late})
	case "join_requests":
		c.copies("join_requests", "o.id = (SELECT MIN(id) FROM join_requests)", numbers, columns{
			"status": "CASE n.i % 2 WHEN 0 THEN 'DECLINED' ELSE 'WITHDRAWN' END", "created_at": early,
			"answered_at": some(late)})
	case "inquiries":
		c.copies("inquiries", "o.id = (SELECT MIN(id) FROM inquiries)", numbers, columns{
			"created_at": early, "answered_at": some(late)})
	case "shipping_requirements":
		// a sealed one opens in its own row alone
		c.copies("shipping_requirements", fmt.Sprintf("o.id = %d", c.shipping), numbers,
			columns{"secret": "''", "created_at": early, "updated_at": late})
	case "materials":
		c.copies("materials", fmt.Sprintf("o.id = %d", c.material), numbers, columns{
			"title": word("cells"), "title_sort": word("cells"),
			"category":     "CASE n.i % 2 WHEN 0 THEN 'PLASMID' ELSE 'OTHER' END",
			"embargo_date": some("'2020-01-1' || (n.i % 10)"), "created_at": early, "updated_at": late})
	case "agreements":
		c.copies("agreements", "o.id = (SELECT MIN(id) FROM agreements)", numbers, columns{"created_at": early})
		c.exec("UPDATE agreements SET state = 'SENT', waits = 'RECIPIENT_SCIENTIST RECIPIENT_OFFICIAL'")
	case "agreement_links":
		c.copies("agreement_links", "o.id = (SELECT MIN(id) FROM agreement_links)", numbers, columns{
			"hash": "'hash' || n.i", "created_at": early})
	case "agreement_versions": // one of each letter, and many of the first
		c.exec(`INSERT INTO agreement_versions (agreement, version, content, sha256, created_at) SELECT a.id, 1, v.content,
			v.sha256, a.created_at FROM agreements a JOIN agreement_versions v ON v.id = (SELECT MIN(id) FROM
			agreement_versions) WHERE 1 = 1 ON CONFLICT DO NOTHING`)
		c.copies("agreement_versions", "o.id = (SELECT MIN(id) FROM agreement_versions)", numbers, columns{
			"version": "n.i"})
	case "agreement_requests":
		c.exec(`INSERT INTO agreement_requests (agreement, request, live) SELECT (SELECT MIN(id) FROM agreements), id, TRUE
			FROM material_requests WHERE 1 = 1 ON CONFLICT DO NOTHING`)
	case "grants":
		c.copies("grants", fmt.Sprintf("o.id = %d", c.grant), numbers, columns{
			"title": word("award"), "title_sort": word("award"), "funder_id": word("r"), "funder_id_sort": word("r"),
			"created_at": early, "updated_at": late})
	case "grant_materials":
		c.exec(fmt.Sprintf(`INSERT INTO grant_materials (grant_id, material_id, created_at)
			SELECT g.id, m.id, g.created_at FROM grants g JOIN materials m ON m.id = %d + g.id %% %d
			UNION SELECT %d, id, created_at FROM materials WHERE id > 0 ON CONFLICT DO NOTHING`, c.material, c.size,
			c.grant))
	case "attachments":
		c.copies("attachments", "o.id = (SELECT MIN(id) FROM attachments)", numbers, columns{
			"filename": word("map"), "filename_sort": word("map"), "size": some("n.i % 50"),
			"media_type": some(word("text/")),
			"created_at": early, "updated_at": late})
	case "material_requests":
		c.copies("material_requests", fmt.Sprintf("o.id = %d", c.request), numbers, columns{
			"status":     "CASE n.i % 3 WHEN 0 THEN 'OPEN' WHEN 1 THEN 'APPROVED' ELSE 'IN_FULFILLMENT' END",
			"created_at": early, "updated_at": late})
	case "request_turns": // as many as there are requests; the times of each go back and forth
		c.copies("request_turns", fmt.Sprintf("o.request_id = %d AND o.seq = 1", c.request), numbers,
			columns{"seq": "n.i", "began_at": early})
	case "request_documents":
		c.copies("request_documents", "o.id = (SELECT MIN(id) FROM request_documents)",
			"(SELECT id AS i FROM material_requests WHERE id NOT IN (SELECT request_id FROM request_documents))",
			columns{"request_id": "n.i"})
	case "request_issues":
		c.copies("request_issues", "o.id = (SELECT MIN(id) FROM request_issues)", numbers,
			columns{"opened_at": early, "closed_at": some(late)})
	case "request_events":
		c.copies("request_events", "o.id = (SELECT MIN(id) FROM request_events WHERE kind = 'message')", numbers,
			columns{"seq": "n.i", "at": early})
	case "notifications":
		c.copies("notifications",
			fmt.Sprintf("o.id = (SELECT MIN(id) FROM notifications WHERE user_id = '%s')", requester),
			fmt.Sprintf("(SELECT id AS i FROM request_events WHERE id NOT IN (SELECT event_id FROM notifications "+
				"WHERE user_id = '%s' AND event_id IS NOT NULL))", requester),
			columns{"event_id": "n.i", "created_at": early, "read_at": some(late)})
	case "material versions", "organization versions":
		id := c.material
		object, _ := strings.CutSuffix(table, " versions")
		if object == "organization" {
			id = c.id
		}
		c.copies("audit_events", fmt.Sprintf("o.object = '%s %d' AND o.version = 1", object, id), numbers,
			columns{"version": "n.i", "at": early})
	case "jobs":
		c.copies("jobs", "o.id = (SELECT MIN(id) FROM jobs WHERE user_id IS NOT NULL)", numbers,
			columns{"created_at": early, "ended_at": some(late)})
	case "webhooks":
		// a sealed one opens in its own row alone
		c.copies("webhooks", "o.id = (SELECT MIN(id) FROM webhooks)", numbers,
			columns{"secret": "''", "created_at": early, "updated_at": late})
	case "webhook_deliveries":
		c.copies("webhook_deliveries", "o.id = (SELECT MIN(id) FROM webhook_deliveries)", numbers, columns{
			"type": "CASE n.i % 2 WHEN 0 THEN 'ping' ELSE 'request.made' END", "created_at": early,
			"ended_at": some(late)})
	case "institutions":
		c.copies("institutions", "o.id = (SELECT MIN(id) FROM institutions)", numbers, columns{
			"legal_name": word("university"), "legal_name_sort": word("university"), "ror": "''", "created_at": early,
			"updated_at": late})
	case "institution_labs", "affiliations", "positions", "authorities", "stand_ins", "masters", "approvals": // ofInstitutions
		c.copies(table, "o.id = (SELECT MIN(id) FROM "+table+")", numbers,
			columns{"created_at": early, "updated_at": late})
	case "permits": // as long as they may be: of a short table, a scan costs less than its index
		name := "'" + strings.Repeat("A", exchange.LineLength) + "'"
		c.copies(table, "o.id = (SELECT MIN(id) FROM permits)", numbers, columns{"created_at": early, "updated_at": late,
			"number": name, "authority": name, "materials": "'[1" + strings.Repeat(",1", 99) + "]'"})
	default:
		c.t.Fatalf("the crowd has no %s", table)
	}
}

// columns are expressions for the columns of a copy that differ from those of its model.
type columns map[string]string

// copies copies the row of a table that a condition on o names, once for each n.i.
func (c *crowd) copies(table, model, numbers string, differ columns) {
	c.t.Helper()
	rows, err := c.sql.QueryContext(c.t.Context(), "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || rows.Err() != nil {
		c.t.Fatal(err, rows.Err())
	}
	var into, from []string
	for _, name := range names {
		expression, differs := differ[name]
		switch {
		case differs:
			from = append(from, expression)
		case name == "id":
			continue
		default:
			from = append(from, "o."+name)
		}
		into = append(into, name)
	}
	c.exec(fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s o CROSS JOIN %s n WHERE %s ORDER BY n.i",
		table, strings.Join(into, ", "), strings.Join(from, ", "), table, numbers, model))
}

func (c *crowd) exec(query string) {
	c.t.Helper()
	if _, err := c.sql.ExecContext(c.t.Context(), query); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
}
