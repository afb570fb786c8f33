package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// AtOnce runs do ten times at once and returns what each call answered.
func atOnce(do func(i int) answer) []answer {
	answers := make([]answer, 10)
	start := make(chan struct{})
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			<-start
			answers[i] = do(i)
		})
	}
	close(start)
	wait.Wait()
	return answers
}

// imported is the body of an imported material.
func imported(organization int64, source, key, identifier string) obj {
	category := "DATASET"
	if source == "PROTOCOLS_REPOSITORY" {
		category = "PROTOCOL"
	}
	body := obj{"category": category, "title": "Imported", "organization_id": organization, "imported": true,
		"import_source": source}
	if key == "url" {
		body["url"] = identifier
	} else {
		body["additional_metadata"] = obj{key: identifier}
	}
	return body
}

// TestImport_FindsTheDuplicateInEveryFormOfTheIdentifier is the duplicate rule.
func TestImport_FindsTheDuplicateInEveryFormOfTheIdentifier(t *testing.T) {
	t.Parallel()
	pasted := map[string][][2]string{ // by source: key and spelling
		"GEO": {{"accession_code", "GSE2122"}, {"accession_code", " gse2122 "}, {"accession_code", "GEO: GSE2122"},
			{"accession_code", "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122"},
			{"url", "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122"}},
		"SRA": {{"accession_code", "SRP045225"}, {"accession_code", "srp045225"}, {"accession_code", "SRA: SRP045225"},
			{"accession_code", "https://trace.ncbi.nlm.nih.gov/Traces/sra/?study=SRP045225"},
			{"url", "https://www.ebi.ac.uk/ena/browser/view/SRP045225"}},
		"PROTOCOLS_REPOSITORY": {{"protocol_doi", "dx.doi.org/10.17504/protocols.io.baaciaaw"},
			{"doi", "10.17504/protocols.io.baaciaaw"},
			{"protocol_doi", "https://doi.org/10.17504/PROTOCOLS.IO.BAACIAAW"},
			{"doi", "doi:10.17504/protocols.io.baaciaaw"},
			{"url", "https://dx.doi.org/10.17504/protocols.io.baaciaaw"}},
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		l := w.lab()
		other := w.person("other")
		for source, forms := range pasted {
			first := l.member.want(201, "POST", "/materials", imported(l.id, source, forms[0][0], forms[0][1]))
			for _, form := range forms {
				w.unchanged("a duplicate of "+form[1], func() {
					a := other.want(200, "POST", "/materials", imported(other.Lab, source, form[0], form[1]))
					text, _ := a.Body["error"].(string)
					if a.Body["error_code"] != "ALREADY_IMPORTED" || a.at("material.id") != first.Body["id"] ||
						len(a.Body) != 3 ||
						!strings.Contains(text, source) {
						t.Errorf("%s %s: %s", source, form[1], a.Raw)
					}
				})
			}
			free := imported(other.Lab, source, forms[0][0], forms[0][1])
			free["imported"] = false
			id := other.want(201, "POST", "/materials", free).id()
			other.refused(409, "CONFLICT", "PATCH", fmt.Sprintf("/materials/%d", id), obj{"imported": true})
		}
		// The same letters at another source are another thing, and so is what was not imported.
		for range 2 {
			other.want(201, "POST", "/materials", imported(other.Lab, "ELSEWHERE", "accession_code", "GSE2122"))
		}
	})
}

func TestImport_TenAtOnceMakeOneMaterial(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		var people [10]*testPerson
		for i := range people {
			people[i] = w.person(fmt.Sprint("p", i))
		}
		for _, accession := range []string{"GSE1", "GSE2", "GSE3"} {
			before := w.rows()
			made, had := 0, 0
			ids := map[any]bool{}
			for _, a := range atOnce(func(i int) answer {
				return people[i].call("POST", "/materials", imported(people[i].Lab, "GEO", "accession_code", accession))
			}) {
				switch {
				case a.Status == 201:
					made++
					ids[a.Body["id"]] = true
				case a.Status == 200 && a.Body["error_code"] == "ALREADY_IMPORTED":
					had++
					ids[a.at("material.id")] = true
				default:
					t.Errorf("%d %s", a.Status, a.Raw)
				}
			}
			if made != 1 || had != 9 || len(ids) != 1 {
				t.Errorf("%s: %d made, %d had, ids %v", accession, made, had, ids)
			}
			// The first one brings words that no other material has.
			if diff := grew(before, w.rows()); strings.TrimSuffix(diff,
				" search_words+1") != "materials+1 audit_events+1 material_index+1" {
				t.Errorf("%s: %s", accession, diff)
			}
		}
	})
}

func TestMaterial_CategoryCannotChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		l := w.lab()
		path := fmt.Sprintf("/materials/%d", l.material)
		a := l.member.refused(400, "INVALID_INPUT", "PUT", path, obj{"category": "DATASET", "title": ""})
		if a.at("fields.category") == nil || a.at("fields.title") == nil {
			t.Errorf("%s", a.Raw)
		}
		l.member.want(200, "PUT", path, obj{"category": "CELL_LINE"})
		for _, category := range []any{"CELLLINE", "", "cell_line", 7} {
			a := l.member.refused(400, "INVALID_INPUT", "POST", "/materials", obj{"category": category})
			if category != 7 && (a.at("fields.category") == nil || a.at("fields.title") == nil ||
				a.at("fields.organization_id") == nil) {
				t.Errorf("%v: %s", category, a.Raw)
			}
		}
	})
}

func TestMaterial_DoubtfulValueIsKeptWithAWarning(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ada := newWorld(t, db, exchange.AccessMembers).person("ada")
		made := ada.want(201, "POST", "/materials",
			obj{"category": "CELL_LINE", "title": "A", "organization_id": ada.Lab,
				"additional_metadata": obj{"rrid": "RRID:NOSUCH_1"}})
		path := fmt.Sprintf("/materials/%d", made.id())
		for what, a := range map[string]answer{"made": made,
			"changed": ada.want(200, "PATCH", path, obj{"title": "B"})} {
			warnings, _ := a.Body["warnings"].(map[string]any)
			if a.at("additional_metadata.rrid") != "RRID:NOSUCH_1" || len(warnings) != 1 ||
				warnings["additional_metadata.rrid"] == nil {
				t.Errorf("%s: %s", what, a.Raw)
			}
		}
		if a := ada.want(200, "PATCH", path, obj{}.meta(obj{"rrid": "CVCL_0320"})); a.Body["warnings"] != nil {
			t.Errorf("corrected: %s", a.Raw)
		}
	})
}

func TestMaterial_NotOfferedCannotBeRequested(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		l := w.lab()
		requester := w.person("requester")
		path := fmt.Sprintf("/materials/%d", l.material)
		ask := obj{"material": l.material}
		l.member.want(200, "PATCH", path, obj{"embargo_date": "2999-12-31"})
		if a := requester.refused(409, "MATERIAL_EMBARGOED", "POST", "/material-requests",
			ask); a.Body["embargo_date"] != "2999-12-31" {
			t.Errorf("%s", a.Raw)
		}
		if a := requester.want(200, "GET", "/materials", nil); len(a.List) != 0 {
			t.Error("an embargoed material is listed for a stranger")
		}
		if a := l.member.want(200, "GET", "/materials", nil); len(a.List) != 1 {
			t.Error("an embargoed material is not listed for a member")
		}
		l.member.want(200, "PATCH", path, obj{"embargo_date": "2020-01-01"})
		request := fmt.Sprintf("/material-requests/%d", requester.want(201, "POST", "/material-requests", ask).id())
		if a := l.member.refused(409, "CONFLICT", "DELETE", path, nil); a.Body["active_requests"] != 1.0 {
			t.Errorf("%s", a.Raw)
		}
		requester.want(200, "PATCH", request, obj{"status": "CANCELLED"})
		for range 2 { // archiving twice is no fault
			l.member.want(204, "DELETE", path, nil)
		}
		requester.refused(409, "MATERIAL_ARCHIVED", "POST", "/material-requests", ask)
		if a := requester.want(200, "GET", path, nil); a.Body["is_archived"] != true {
			t.Errorf("%s", a.Raw)
		}
		if got := w.audits(fmt.Sprintf("material %d", l.material)); got[len(got)-1] != "member material.archive" ||
			got[len(got)-2] == got[len(got)-1] {
			t.Errorf("audit: %v", got)
		}
	})
}

func TestAnonymousWrites_AreAllowedAndAuditedWhereAccessIsOpen(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		owner, nobody := w.person("owner"), w.anonymous()
		lab := nobody.want(201, "POST", "/organizations", obj{"owner": owner.ID, "members": []any{}})
		made := nobody.want(201, "POST", "/materials",
			obj{"category": "PLASMID", "title": "pX330", "organization_id": lab.id()})
		if made.at("contact_user.id") != owner.ID.String() ||
			made.Header.Get("Location") != fmt.Sprintf("/v1/materials/%d", made.id()) {
			t.Errorf("%s %v", made.Raw, made.Header)
		}
		if lab.Body["name"] != "owner Test lab" {
			t.Errorf("%s", lab.Raw)
		}
		nobody.want(200, "PATCH", fmt.Sprintf("/materials/%d", made.id()), obj{"title": "pX330-U6"})
		nobody.want(200, "PATCH", fmt.Sprintf("/materials/%d", made.id()), obj{"title": "pX330-U6"})
		nobody.want(200, "PATCH", fmt.Sprintf("/organizations/%d", lab.id()), obj{"description": "x"})
		nobody.refused(401, "NOT_AUTHENTICATED", "DELETE", fmt.Sprintf("/materials/%d", made.id()), nil)
		for object, want := range map[string][]string{
			fmt.Sprintf("material %d", made.id()): {"anonymous material.create", "anonymous material.update"},
			fmt.Sprintf("organization %d", lab.id()): {"anonymous organization.create",
				"anonymous organization.update"},
		} {
			if got := w.audits(object); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", object, got, want)
			}
		}
		// Without a token nobody opens a document to the public.
		document := owner.upload("mta.pdf", pdf, nil).id()
		if a := nobody.call("PATCH", fmt.Sprintf("/materials/%d", made.id()),
			obj{"mta_attachment_id": document}); a.Status != http.StatusForbidden &&
			a.Status != http.StatusUnauthorized {
			t.Errorf("%d %s", a.Status, a.Raw)
		}
	})
}

// TestMaterial_PublishesOnlyDocumentsThatTheCallerMayChange: a material that names an MTA opens it to anyone.
func TestMaterial_PublishesOnlyDocumentsThatTheCallerMayChange(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		mine := s.member.upload("mine.pdf", pdf, nil)
		path := fmt.Sprintf("/materials/%d", s.newMaterial())
		publish := func(p *testPerson, status int, code string, id int64) {
			t.Helper()
			s.unchanged("publishing", func() {
				a := p.refused(status, code, "PATCH", path, obj{"mta_attachment_id": id})
				if a.at("fields.mta_attachment_id") == nil && a.Body["field"] != "mta_attachment_id" {
					t.Errorf("%s", a.Raw)
				}
			})
		}
		publish(s.owner, 403, "FIELD_FORBIDDEN", mine.id()) // of a colleague, not of the lab
		publish(s.member, 400, "INVALID_INPUT", 999)
		publish(s.member, 400, "INVALID_INPUT", s.linked("executed_mta_attachment").id())
		// shared with the lab, but of a request
		publish(s.member, 400, "INVALID_INPUT", s.linked("irb_attachment").id())
		url := mine.Body["download_url"].(string)
		s.people["anonymous"].refused(401, "NOT_AUTHENTICATED", "GET", url, nil)
		if a := s.member.want(200, "PATCH", path, obj{"mta_attachment_id": mine.id()}); a.Body["needs_mta"] != true {
			t.Error("a new MTA does not say that one is needed")
		}
		s.people["anonymous"].want(200, "GET", url, nil)
		// What is public already may be named by any lab; what it stands for stays.
		stranger := s.people["stranger"]
		stranger.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "C", "organization_id": stranger.Lab, "mta_attachment_id": mine.id()})
		s.member.refused(409, "ATTACHMENT_IN_USE", "DELETE", fmt.Sprintf("/attachments/%d", mine.id()), nil)
		if a := s.member.want(200, "PATCH", path, obj{"needs_mta": false}); a.Body["needs_mta"] != false ||
			a.Body["mta_attachment"] == nil {
			t.Errorf("%s", a.Raw)
		}
		// An admin may, and it is noted.
		private := s.requester().upload("private.pdf", pdf, nil).id()
		s.people["admin"].want(200, "PATCH", path, obj{"mta_attachment_id": private})
		if got := s.audits(fmt.Sprintf("attachment %d", private)); !slices.Equal(got,
			[]string{"requester attachment.create", "admin:admin attachment.update"}) {
			t.Errorf("an admin published a document: %v", got)
		}
		s.member.want(200, "PATCH", path, obj{"mta_attachment_id": nil})
		s.people["anonymous"].refused(401, "NOT_AUTHENTICATED", "GET",
			fmt.Sprintf("/uploaded-file/attachment_%d/private.pdf", private), nil)
	})
}
