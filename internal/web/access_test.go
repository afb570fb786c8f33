package web_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"
)

// asked is one request of the table of access: what is asked, and what each role is answered.
type asked struct {
	pattern string
	path    string // with {names} that the world fills in
	form    string // of a POST
	want    string // statuses of the roles, in their order; "in": sent to sign in
}

// roles are those of the table of access, by who has them: mario and olivia are of the lab of {material} and {request},
// josiah made {request}.
var roles = []struct{ name, person string }{
	{"anonymous", ""}, {"stranger", "0000-0002-1694-233X"}, {"requester", "josiah"}, {"member", "mario"},
	{"owner", "olivia"}, {"admin", "ada"},
}

// requestFor is the request of a material that somebody of the demo made.
func (w *world) requestFor(material string) request.Detail {
	w.Helper()
	part, err := w.app.Requests.Requests(w.Context(), w.as("ada").actor, exchange.Page{Limit: 200}, request.Filter{})
	w.must(err)
	i := slices.IndexFunc(part.Items, func(q request.Detail) bool { return q.Material == material })
	if i < 0 {
		w.Fatalf("the demo has no request for %s", material)
	}
	return part.Items[i]
}

// furnished makes what the demo lacks, of the lab of {material}, and fills in the names in addresses and forms.
func (w *world) furnished() *strings.Replacer {
	w.Helper()
	ctx := w.Context()
	hela := w.material("HeLa")
	olivia, josiah := w.as("olivia").actor, w.as("josiah").actor
	labID := hela.OrganizationID
	invitation, _, err := w.app.Labs.Invite(ctx, olivia, labID,
		lab.InvitationNew{RegistryID: exchange.Some("0000-0001-5109-3700")})
	w.must(err)
	join, _, err := w.app.Labs.AskToJoin(ctx, w.as("gabriel").actor, labID, lab.JoinNew{})
	w.must(err)
	webhook, err := w.app.Webhooks.Create(ctx, olivia, labID,
		notify.WebhookPatch{URL: exchange.Some("https://hooks.example.org/"), Description: exchange.Some("A")})
	w.must(err)
	delivery, err := w.app.Webhooks.Ping(ctx, olivia, labID, webhook.ID)
	w.must(err)
	grant, err := w.app.Grants.CreateGrant(ctx, olivia,
		person.GrantPatch{Title: exchange.Some("A"), FunderID: exchange.Some("B")})
	w.must(err)
	search, err := w.app.Materials.CreateSavedSearch(ctx, josiah, josiah.ID,
		material.SavedSearchPatch{Name: exchange.Some("A"), Search: exchange.Some("hela")})
	w.must(err)
	owned := w.requestFor("PDX model BL0269-F402")
	handed := w.requestFor("MCF-7")
	inquiry, err := w.app.Inquiries.Ask(ctx, josiah, handed.MaterialID,
		request.TextBody{Text: exchange.Some("Which lot?")})
	w.must(err)
	file := int64(0)
	for _, d := range handed.Documents {
		file = d.AttachmentID
	}
	ada := w.as("ada").actor
	institution, err := w.app.Institutions.Create(ctx, ada, patch[party.Institution](w, map[string]any{"legal_name": "A",
		"country": "DE", "confirmed": true}))
	w.must(err)
	position, err := w.app.Institutions.Positions.Create(ctx, ada, institution.ID,
		patch[party.Position](w, map[string]any{"title": "Director"}))
	w.must(err)
	_, err = w.app.Institutions.Authorities.Create(ctx, ada, institution.ID, patch[party.Authority](w, map[string]any{
		"position": position.ID, "holder": olivia.ID, "direction": "BOTH", "from": "2020-01-01"}))
	w.must(err)
	claimed, err := w.app.Institutions.Labs.Create(ctx, olivia, institution.ID,
		patch[party.Lab](w, map[string]any{"organization": labID}))
	w.must(err)
	agreement := w.agreement()
	permit, err := w.app.Requirements.AddPermit(ctx, josiah, patch[requirement.Permit](w, map[string]any{
		"regime": "IRB", "number": "7", "authority": "The board"}))
	w.must(err)
	_, _, err = w.app.Requirements.UsePermit(ctx, josiah, owned.ID,
		requirement.PermitUse{Permit: exchange.Some(exchange.Ref(permit.ID))})
	w.must(err)
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	return strings.NewReplacer("{material}", id(hela.ID), "{lab}", id(labID), "{contact}", hela.Contact.ID.String(),
		"{institution}", id(institution.ID), "{institution lab}", id(claimed.ID),
		"{permit}", id(permit.ID), "{agreement}", id(agreement.ID), "{agreed}", id(agreement.Letter.Requests[0].ID),
		"{member}", w.as("tomas").actor.ID.String(), "{shipping}", id(deref(hela.ShippingID)), "{mta}",
		id(deref(hela.MTAAttachmentID)),
		"{invitation}", id(invitation.ID), "{join}", id(join.ID), "{webhook}", id(webhook.ID), "{delivery}",
		id(delivery.ID), "{grant}", id(grant.ID), "{search}", id(search.ID),
		"{request}", id(w.requestFor("HeLa").ID), "{approved}", id(owned.ID), "{issue request}", id(handed.ID),
		"{file}", id(file), "{inquiry}", id(inquiry.ID), "{mapped}", id(w.material(mapped).ID), "{map}", id(w.mapOf(mapped).ID))
}

// patch is the body of an institution, or of what is registered of one.
func patch[T party.Described[T]](w *world, values map[string]any) party.Patch[T] {
	w.Helper()
	p, err := party.PatchOf[T](values)
	w.must(err)
	return p
}

func deref(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// snapshot is the database of a watched world as it was at a moment.
type snapshot struct {
	w         *world
	then, now *sql.Conn // then is in a transaction of that moment
}

// snapshot begins to watch the database.
func (w *world) snapshot() *snapshot {
	w.Helper()
	pool := storetest.SQL(w, w.db)
	open := func(queries ...string) *sql.Conn {
		conn, err := pool.Conn(w.Context())
		w.must(err)
		w.Cleanup(func() { _ = conn.Close() })
		for _, query := range queries {
			_, err := conn.ExecContext(w.Context(), query)
			w.must(err)
		}
		return conn
	}
	return &snapshot{w, open("BEGIN", "SELECT 1 FROM users"), open("DELETE FROM written")} // reading begins it
}

// changed describes what is not as it was; "", if all is, but for what may be written whoever asks: when a session was
// seen, what an admin looked at, what was typed and could not be sent, and which numbers are kept of days that are
// over. The chains record changes of tables that are compared themselves.
func (s *snapshot) changed() string {
	s.w.Helper()
	queries := []string{}
	for _, index := range []string{"material", "organization", "user", "request"} { // what each writing of it changes
		queries = append(queries, fmt.Sprintf("SELECT id, HEX(block) FROM %s_words_data WHERE id <= 10", index))
	}
	for _, table := range s.rows(s.now, `SELECT name FROM written
		WHERE name NOT IN ('tokens', 'audit_events', 'chains', 'chain_events', 'log_checkpoints', 'log_entries',
		'log_head', 'log_keys', 'log_tiles', 'drafts', 'insight_marks',
		'insight_days')`) {
		queries = append(queries, "SELECT * FROM "+table)
	}
	for _, query := range queries {
		before, after := s.rows(s.then, query), s.rows(s.now, query)
		if slices.Equal(before, after) {
			continue
		}
		for _, row := range after {
			if _, same := slices.BinarySearch(before, row); !same {
				return fmt.Sprintf("%s: there is %.300s", query, row)
			}
		}
		return fmt.Sprintf("%s: %d rows became %d", query, len(before), len(after))
	}
	return ""
}

// rows are the rows that conn sees, a line each, in order.
func (s *snapshot) rows(conn *sql.Conn, query string) (lines []string) {
	s.w.Helper()
	rows, err := conn.QueryContext(s.w.Context(), query)
	s.w.must(err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	s.w.must(err)
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	for rows.Next() {
		s.w.must(rows.Scan(places...))
		lines = append(lines, fmt.Sprint(cells...))
	}
	s.w.must(rows.Err())
	slices.Sort(lines)
	return lines
}

// TestAccess_OfEachPageAndRole, and what reads or is refused changes nothing.
func TestAccess_OfEachPageAndRole(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, row := range access {
		listed[row.pattern] = true
		t.Run(row.pattern+" "+row.path, func(t *testing.T) {
			t.Parallel()
			row.hold(t)
		})
	}
	for _, pattern := range web.Patterns() {
		if !listed[pattern] {
			t.Errorf("the table does not mention %s", pattern)
		}
		delete(listed, pattern)
	}
	for pattern := range listed {
		t.Errorf("there is no %s", pattern)
	}
}

func (row asked) hold(t *testing.T) {
	var outcomes []string
	method, _, _ := strings.Cut(row.pattern, " ")
	var w *world
	var names *strings.Replacer
	var before *snapshot
	for _, role := range roles {
		if w == nil {
			w = watched(t)
			names, before = w.furnished(), nil
		}
		v := w.as(role.person)
		if before == nil || role.person == roles[1].person { // who is new makes rows
			before = w.snapshot()
		}
		path := names.Replace(row.path)
		var a answer
		if method == http.MethodPost {
			form, err := url.ParseQuery(names.Replace(row.form))
			w.must(err)
			var pairs []string
			for name, values := range form {
				for _, value := range values {
					pairs = append(pairs, name, value)
				}
			}
			a = v.post(path, pairs...)
		} else {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if strings.HasSuffix(path, "/stream") { // which ends when nobody listens any more
				time.AfterFunc(time.Second, cancel)
			}
			a = v.send(httptest.NewRequestWithContext(ctx, http.MethodGet, "http://example.org"+path, http.NoBody))
			cancel()
		}
		got := strconv.Itoa(a.status)
		if a.status == http.StatusSeeOther && strings.HasPrefix(a.location, "/signin?next=") {
			got = "in"
		}
		outcomes = append(outcomes, got)
		if took := method == http.MethodPost && a.status < 400 && got != "in"; took {
			w = nil // the next role finds things as they were
		} else if changed := before.changed(); changed != "" {
			t.Errorf("%s: %s %s, %s, changed something: %s", role.name, method, path, got, changed)
			w = nil
		}
	}
	if got := strings.Join(outcomes, " "); got != row.want {
		t.Errorf("%s %s %s: %s, want %s", method, row.path, row.form, got, row.want)
	}
}

// TestAccess_IsCheckedBeforeTheForm holds that access comes before what is wrong with a form: whom the table
// refuses with one form is refused with every other.
func TestAccess_IsCheckedBeforeTheForm(t *testing.T) {
	t.Parallel()
	w := alone(t)
	names := w.furnished()
	long := url.Values{}
	for _, name := range strings.Fields("name title description note text reason override abstract form restrictions " +
		"accepted_payment_details url events who role days " +
		"funder_id material until to member assigned_to carrier sent_at decide_days organization_id category draft " +
		"shipping_requirements_id from legal_name kind_since mail_domains signed_on") {
		long.Set(name, strings.Repeat("x", 20_000))
	}
	const short, multi = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"
	forms := []struct{ kind, body string }{
		{short, ""}, {short, long.Encode()}, {short, "form=abstract"}, {multi, "--x--\r\n"},
		{multi, "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.exe\"\r\n\r\nMZ\r\n--x--\r\n"},
	}
	for i, role := range roles {
		v := w.as(role.person)
		for _, row := range access {
			refused := strings.HasPrefix(row.pattern, "POST ") && strings.Fields(row.want)[i] == "403"
			// there it is the form that says who may
			if !refused || role.name != "stranger" && row.pattern == "POST /requests/{id}/details" {
				continue
			}
			for _, form := range forms {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+
					names.Replace(row.path), strings.NewReader(form.body))
				r.Header.Set("Content-Type", form.kind)
				if a := v.send(r); a.status != http.StatusForbidden && a.status != http.StatusNotFound {
					t.Errorf("%s: %s with %.40q: %d %.200s", role.name, row.pattern, form.body, a.status,
						a.text("main"))
				}
			}
		}
	}
}

func TestPages_HaveNoAddressOfTheAPI(t *testing.T) {
	t.Parallel()
	var contract struct {
		Paths map[string]any `json:"paths"`
	}
	raw, err := openAPIDocument()
	if err == nil {
		err = json.Unmarshal(raw, &contract)
	}
	if err != nil {
		t.Fatal(err)
	}
	areas := map[string]string{"healthz": "health", "readyz": "health", "demo": "the identity provider",
		"openapi.json": "the API"}
	for path := range contract.Paths {
		areas[strings.Split(path, "/")[1]] = path
	}
	for _, pattern := range append(web.Patterns(), "GET /docs", "GET /unsubscribe", "GET /assets/",
		"GET /favicon.ico") {
		_, path, _ := strings.Cut(pattern, " ")
		if other := areas[strings.Split(path, "/")[1]]; other != "" {
			t.Errorf("%s is where %s is", pattern, other)
		}
	}
}
