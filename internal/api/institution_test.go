package api_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// TestAuthorities_AreGivenWithinTheOfficersOwn: an officer gives, changes and ends only what they may sign themselves.
func TestAuthorities_AreGivenWithinTheOfficersOwn(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		o, admin, member := s.newInstitution(), s.people["admin"], s.member
		narrow := admin.want(201, "POST", o.path+"/authorities", obj{"position": o.position, "holder": member.ID,
			"direction": "PROVIDE", "families": []string{"UBMTA"}, "largest_bsl": 2, "from": "2024-01-01",
			"until": "2100-01-01"}).id()
		give := func(more obj) obj {
			body := obj{"position": o.position, "name": "Ada", "mail": "ada@example.edu", "direction": "PROVIDE",
				"families": []string{"ubmta"}, "largest_bsl": 2, "from": "2026-01-01", "until": "2027-01-01"}
			for name, value := range more {
				body[name] = value
			}
			return body
		}
		member.want(201, "POST", o.path+"/authorities", give(nil))
		for name, more := range map[string]obj{"the other direction": {"direction": "BOTH"},
			"another family": {"families": []string{"UBMTA", "OPEN_MTA"}}, "all families": {"families": nil},
			"human material": {"human": true}, "a higher level": {"largest_bsl": 3}, "without end": {"until": nil},
			"beyond its end": {"until": "2100-01-02"}, "before its begin": {"from": "2023-12-31"},
			"in place of a wider one": {"supersedes": o.authority}} {
			s.unchanged(name, func() {
				member.refused(403, "NO_AUTHORITY", "POST", o.path+"/authorities", give(more))
			})
		}
		wide, own := fmt.Sprintf("%s/authorities/%d", o.path, o.authority), fmt.Sprintf("%s/authorities/%d", o.path, narrow)
		member.refused(403, "NO_AUTHORITY", "PATCH", wide, obj{"until": "2026-01-01"})
		member.refused(403, "NO_AUTHORITY", "PATCH", own, obj{"largest_bsl": 4})
		member.refused(403, "NO_AUTHORITY", "POST", o.path+"/stand-ins", standIn(o.authority))
		member.refused(403, "NO_AUTHORITY", "PATCH", fmt.Sprintf("%s/positions/%d", o.path, o.position),
			obj{"until": "2026-01-01"})
		member.want(201, "POST", o.path+"/stand-ins", standIn(narrow))
		s.owner.want(200, "PATCH", own, obj{"until": "2024-02-01"}) // it has ended by now
		member.refused(403, "FORBIDDEN", "GET", o.path+"/authorities", nil)
	})
}

// TestInstitution_IsConfirmedByOthersThanItsMaker, who owns it only before.
func TestInstitution_IsConfirmedByOthersThanItsMaker(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		maker, admin := s.requester(), s.people["admin"]
		path := fmt.Sprintf("/institutions/%d", maker.want(201, "POST", "/institutions",
			obj{"legal_name": "Sample University", "country": "deu", "ror": "05dxps055"}).id())
		maker.want(200, "PATCH", path, obj{"address": "1 Example Street"})
		maker.refused(403, "FIELD_FORBIDDEN", "PATCH", path, obj{"confirmed": true})
		maker.refused(403, "FORBIDDEN", "POST", path+"/positions", obj{"title": "Director"})
		maker.refused(400, "INVALID_INPUT", "POST", "/institutions",
			obj{"legal_name": "Another", "country": "DE", "ror": "https://ror.org/05dxps055"})
		admin.want(200, "PATCH", path, obj{"confirmed": true})
		maker.refused(403, "FORBIDDEN", "PATCH", path, obj{"address": "2 Example Street"})
		admin.refused(400, "INVALID_INPUT", "PATCH", path, obj{"confirmed": false})
		for range 20 {
			maker.want(201, "POST", "/institutions", obj{"legal_name": fmt.Sprint("U", s.next()), "country": "DE"})
		}
		maker.refused(409, "CONFLICT", "POST", "/institutions", obj{"legal_name": "U", "country": "DE"})
	})
}

// TestAffiliations_AreWhatOthersConfirm: what a person states is SELF until an officer confirms it or the verified mail
// address says it.
func TestAffiliations_AreWhatOthersConfirm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		o, requester := s.newInstitution(), s.requester()
		path := fmt.Sprintf("%s/affiliations/%d", o.path, o.affiliation)
		requester.refused(403, "FIELD_FORBIDDEN", "PATCH", path, obj{"confirmed": true})
		requester.refused(409, "CONFLICT", "POST", o.path+"/affiliations", obj{})
		requester.refused(403, "FORBIDDEN", "POST", o.path+"/affiliations", obj{"person": s.member.ID})
		if got := s.owner.want(200, "PATCH", path, obj{"confirmed": true}).Body; got["source"] != "OFFICER" {
			t.Errorf("confirmed by an officer: %v", got)
		}
		requester.refused(403, "FIELD_FORBIDDEN", "PATCH", path, obj{"from": "2010-01-01"})
		requester.want(200, "PATCH", path, obj{"expires": "2025-01-01"})
		s.owner.want(200, "PATCH", o.path, obj{"mail_domains": []string{"Example.org"}})
		if err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			return tx.Users.VerifyEmail(ctx, s.member.ID, "m@lab.example.org")
		}); err != nil {
			t.Fatal(err)
		}
		if got := s.member.want(201, "POST", o.path+"/affiliations", obj{}).Body; got["source"] != "MAIL_DOMAIN" ||
			got["confirmed"] != true {
			t.Errorf("by the mail address: %v", got)
		}
		for p, want := range map[*testPerson]int{requester: 1, s.member: 1, s.people["stranger"]: 0, s.owner: 2} {
			if got := p.want(200, "GET", o.path+"/affiliations", nil).List; len(got) != want {
				t.Errorf("%s sees %d affiliations, want %d", p.name, len(got), want)
			}
		}
	})
}

// TestOffice_EndsWithTheAccountOfItsHolder, and each change of it is recorded.
func TestOffice_EndsWithTheAccountOfItsHolder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		o, guest := s.newInstitution(), s.person("leaver")
		id := s.people["admin"].want(201, "POST", o.path+"/authorities", obj{"position": o.position, "holder": guest.ID,
			"name": "Lea Leaver", "mail": "lea@example.org", "direction": "BOTH", "from": "2020-01-01"}).id()
		guest.want(201, "POST", o.path+"/affiliations", obj{})
		guest.want(200, "GET", o.path+"/authorities", nil)
		guest.want(204, "DELETE", "/users/"+guest.ID.String(), nil)
		for _, item := range s.owner.want(200, "GET", o.path+"/authorities", nil).List {
			a := item.(obj2)
			if int64(a["id"].(float64)) == id && (a["until"] != time.Now().UTC().Format(time.DateOnly) || a["name"] != "" ||
				a["mail"] != "") {
				t.Errorf("after its holder left: %v", a)
			}
		}
		var institution int64
		if _, err := fmt.Sscanf(o.path, "/institutions/%d", &institution); err != nil {
			t.Fatal(err)
		}
		events, err := db.Read().Chains.Events(t.Context(), fmt.Sprint("institution/", institution), 0, 99)
		if err != nil || len(events) < 8 {
			t.Errorf("%d events of the institution, %v", len(events), err)
		}
		for _, e := range events {
			if strings.Contains(e.Detail, "Lea") || strings.Contains(e.Detail, "lea@") {
				t.Errorf("event %d has a personal text in clear", e.Seq)
			}
		}
	})
}

// sendSheet sends a list of signatories.
func (p *testPerson) sendSheet(query, rows string) answer {
	return p.sendWith(nil, "POST", "/institutions/signatories"+query, "text/csv", strings.NewReader(rows))
}

func TestSignatories_AreImportedAllOrNone(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		admin := s.people["admin"]
		good := "Institution,ROR,Country,Family,Version,Signed on,Checked on\n" +
			"Sample University,05dxps055,DE,ubmta,1995,1995-06-01,2026-01-01\n" +
			"Neighbour Institute,,GB,UBMTA,1995,2003-02-01,\n" +
			"Neighbour Institute,,GB,OPEN_MTA,,2019-03-01,\n"
		s.unchanged("a dry run", func() {
			got := admin.sendSheet("?dry_run=true", good)
			if got.Status != 200 || got.Body["added"] != 3.0 || got.Body["institutions"] != 2.0 {
				t.Errorf("a dry run: %d %s", got.Status, got.Raw)
			}
		})
		if got := admin.sendSheet("", good); got.Status != 200 || got.Body["added"] != 3.0 {
			t.Fatalf("%d %s", got.Status, got.Raw)
		}
		again := strings.ReplaceAll(good, "2003-02-01,", "2003-02-01,2026-02-02")
		if got := admin.sendSheet("", again); got.Body["unchanged"] != 2.0 || got.Body["changed"] != 1.0 ||
			got.Body["institutions"] != 0.0 {
			t.Errorf("again: %d %s", got.Status, got.Raw)
		}
		bad := "institution,country,family,standing,signed_on,counterparty\nSample University,DE,UBMTA,,soon,\n" +
			"Nowhere,Atlantis,UBMTA,,2001-01-01,\nNewcomer,,UBMTA,,2001-01-01,\n" +
			"Neighbour Institute,GB,UBMTA,FRIENDS,2001-01-01,\n,DE,UBMTA,,2001-01-01,\n" +
			"Neighbour Institute,GB,FRAME,BILATERAL,2001-01-01,Nobody\nGood Institute,FR,UBMTA,,2001-01-01,\n"
		s.unchanged("a bad list", func() {
			got := admin.sendSheet("?dry_run=true", bad)
			var where []string
			for _, fault := range got.Body["faults"].([]any) {
				f := fault.(obj2)
				where = append(where, fmt.Sprintf("%v %v", f["row"], f["column"]))
			}
			want := []string{"2 signed_on", "3 country", "4 country", "5 standing", "6 institution", "7 counterparty"}
			if !slices.Equal(where, want) {
				t.Errorf("faults in %q, want %q: %s", where, want, got.Raw)
			}
			if got := admin.sendSheet("", bad); got.Status != 400 || got.Body["error_code"] != "INVALID_INPUT" {
				t.Errorf("%d %s", got.Status, got.Raw)
			}
			for name, rows := range map[string]string{"nothing": "", "no columns": "a,b\n1,2\n",
				"a column twice": "institution,institution,family,signed_on\n", "not text": "\x00\x01\xff",
				"a broken workbook": "PK\x03\x04nothing", "too many rows": "institution,family,signed_on\n" +
					strings.Repeat("A,B,2001-01-01\n", 2001)} {
				if got := admin.sendSheet("", rows); got.Status != 400 {
					t.Errorf("%s: %d %s", name, got.Status, got.Raw)
				}
			}
			if got := admin.sendSheet("", strings.Repeat("x", 5<<20)); got.Status != 413 {
				t.Errorf("too large: %d %s", got.Status, got.Raw)
			}
		})
		sheet := string(admin.want(200, "GET", "/institutions/signatories", nil).Raw)
		if got := admin.sendSheet("", sheet); got.Status != 200 || got.Body["unchanged"] != 3.0 ||
			got.Body["rows"] != 3.0 {
			t.Errorf("what was exported: %d %s\n%s", got.Status, got.Raw, sheet)
		}
	})
}
