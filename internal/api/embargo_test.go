package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// secret is a scene with everything that belongs to a material under embargo. The material itself comes with list.
type secret struct {
	*scene
	material  int64 // the id that it has, or will have
	shown     int64 // one that everybody sees
	mta, plan int64 // documents that only the material shows
	grant     int64 // of somebody who left the lab; it paid for both materials
}

// traces are texts that nothing but the embargoed material has.
var traces = []string{"zyzzyvine", "10.1101/2020.01.01.777888", "cvcl_0291", "unobtainia", "2999-12-31"}

func newSecret(t *testing.T, db *store.DB, access exchange.Access) *secret {
	t.Helper()
	s := &secret{scene: newScene(t, db, access)}
	s.shown = s.scene.material
	s.mta = s.owner.upload("plain.pdf", pdf, obj{"owned_by_org": s.id}).id()
	s.plan = s.owner.upload("plan.pdf", pdf, obj{"owned_by_org": s.id}).id()
	s.grant = s.former.want(200, "POST", "/grants", obj{"title": "Colon", "funder_id": "R01"}).id()
	s.fund(s.shown)
	s.sqlRow("SELECT MAX(id) + 1 FROM materials", &s.material)
	return s
}

func (s *secret) sqlRow(query string, to any, args ...any) {
	s.t.Helper()
	if err := s.sql.QueryRowContext(s.t.Context(), query, args...).Scan(to); err != nil {
		s.t.Fatal(err)
	}
}

func (s *secret) sqlExec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// fund names a material in the grant, whose owner is in the lab for as long as that takes.
func (s *secret) fund(material int64) {
	s.t.Helper()
	var since any
	s.sqlRow("SELECT updated_at FROM grants WHERE id = $1", &since, s.grant)
	s.sqlExec("UPDATE memberships SET left_at = NULL WHERE user_id = $1 AND organization_id = $2", s.former.ID, s.id)
	s.former.want(201, "POST", fmt.Sprintf("/grants/%d/materials", s.grant), obj{"material_id": material})
	s.sqlExec("UPDATE memberships SET left_at = created_at WHERE user_id = $1 AND organization_id = $2", s.former.ID,
		s.id)
	s.sqlExec("UPDATE grants SET updated_at = $1 WHERE id = $2", since, s.grant)
}

// list lists the material, under embargo.
func (s *secret) list() {
	s.t.Helper()
	made := s.member.want(201, "POST", "/materials",
		obj{"category": "CELL_LINE", "title": "Zyzzyvine carcinoma", "organization_id": s.id,
			"embargo_date": "2999-12-31",
			"imported":     true, "import_source": "GEO",
			"url":           "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE777",
			"pre_print_doi": "10.1101/2020.01.01.777888", "organisms": []string{"Unobtainia"},
			"mta_attachment_id":        s.mta,
			"shipping_requirements_id": s.shipping}.meta(
			obj{"rrid": "CVCL_0291", "disease": "Zyzzyvine disease"})).id()
	if made != s.material {
		s.t.Fatalf("the material has the id %d, not %d", made, s.material)
	}
	s.owner.want(200, "PATCH", fmt.Sprintf("/attachments/%d", s.plan), obj{"sequence_map_for": made})
	s.fund(made)
}

// outsiders are neither of the lab nor admins.
var outsiders = []string{"anonymous", "stranger", "requester", "former"}

// addresses are those of every GET of the document, for a caller, with the ids of what belongs to the material.
func (s *secret) addresses(p *testPerson) []string {
	self := p.ID
	if p.Token == "" {
		self = s.stranger().ID
	}
	list := []string{
		"/search/materials?search=zyzzyvine", "/search/materials?search=zyzz", "/search/materials?search=zyzzyvien",
		"/search/materials?search=10.1101/2020.01.01.777888",
		"/search/materials?search=CVCL_0291", "/search/materials?search=GSE777",
		"/search/materials?organisms=Unobtainia", "/search/materials?disease=Zyzzyvine+disease",
		"/search/materials?limit=1", "/search/suggest?search=zyz", "/search/suggest?search=carcin",
		"/search/materials/feed?search=zyzzyvine",
		fmt.Sprintf("/materials?organization=%d", s.id), "/materials?category=CELL_LINE&limit=1",
		"/materials?ordering=-updated_at", "/materials?ordering=embargo_date",
		fmt.Sprintf("/grants/%d/materials?limit=1", s.grant),
		fmt.Sprintf("/materials/%d/citation?format=ris", s.material),
		fmt.Sprintf("/attachments/%d", s.mta), fmt.Sprintf("/uploaded-file/attachment_%d/plain.pdf", s.mta),
		fmt.Sprintf("/attachments/%d", s.plan), fmt.Sprintf("/uploaded-file/attachment_%d/plan.pdf", s.plan),
	}
	for _, route := range api.Paths() {
		path, is := strings.CutPrefix(route, "GET ")
		if !is || strings.HasPrefix(path, "/log/") { // it grows with whatever happens, and has only hashes
			continue
		}
		id := map[string]any{"users": self, "organizations": s.id, "materials": s.material, "grants": s.grant,
			"material-requests":     s.request,
			"shipping-requirements": s.shipping, "attachments": s.mta}[strings.Split(path, "/")[1]]
		if id == nil {
			id = 1
		}
		path = strings.NewReplacer("{id}", fmt.Sprint(id), "{attachment}", fmt.Sprint("attachment_", s.mta),
			"{filename}", "plain.pdf").Replace(path)
		list = append(list, regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "1"))
	}
	return list
}

func (s *secret) stranger() *testPerson { return s.people["stranger"] }

// ofCall is what differs between two calls with the same answer.
var ofCall = regexp.MustCompile(`"request_id":"[^"]*"`)

// seen is an answer with its headers, but for what is of the call alone.
func seen(a answer) string {
	header := a.Header.Clone()
	for _, name := range []string{"Date", "X-Request-Id"} {
		header.Del(name)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		lines = append(lines, name+": "+strings.Join(header[name], ", "))
	}
	body := ofCall.ReplaceAllString(string(a.Raw), "")
	if a.Status >= 400 { // its length is that of the request id too
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Content-Length: ") })
	}
	return fmt.Sprintf("%d\n%s\n\n%s", a.Status, strings.Join(lines, "\n"), body)
}

// unzipped is an answer with the names and the contents of its files in place of a ZIP.
func (s *secret) unzipped(a answer) answer {
	s.t.Helper()
	if a.Header.Get("Content-Type") == "application/zip" {
		files := unzip(s.t, a.Raw)
		a.Raw = nil
		for _, name := range slices.Sorted(maps.Keys(files)) {
			a.Raw = fmt.Appendf(a.Raw, "\x00%s\n%s", name, files[name])
		}
	}
	return a
}

// ownActs are the acts in an export of a person: fund has whoever left the lab name the material, as they could while
// they were in it, and that they did stays on record of them. It has no words of the material.
var ownActs = regexp.MustCompile(`\x00acts\.(html|json)\n[^\x00]*`)

// TestEmbargoedMaterial_EveryGET holds that outsiders get the answers of a world without the material.
func TestEmbargoedMaterial_EveryGET(t *testing.T) {
	t.Parallel()
	underBothSettings(t, func(t *testing.T, db *store.DB, access exchange.Access) {
		s := newSecret(t, db, access)
		without := map[string]string{}
		walk := func(visit func(key, got string)) {
			for _, role := range outsiders {
				for _, address := range s.addresses(s.people[role]) {
					visit(role+" "+address, seen(s.unzipped(s.people[role].call("GET", address, nil))))
				}
			}
		}
		walk(func(key, got string) { without[key] = ownActs.ReplaceAllString(got, "") })
		s.list()
		walk(func(key, got string) {
			if ownActs.ReplaceAllString(got, "") != without[key] {
				t.Errorf("%s: got\n%.1500s\nwithout the material\n%.1500s", key, got, without[key])
			}
			for _, trace := range traces {
				// of what was asked for
				if strings.Contains(strings.ToLower(got), trace) &&
					!strings.Contains(strings.ToLower(key), trace[:4]) {
					t.Errorf("%s: tells %q", key, trace)
				}
			}
		})
		path := fmt.Sprintf("/materials/%d", s.material)
		for _, role := range []string{"member", "owner", "assignee", "admin"} {
			for _, address := range []string{path, path + "/jsonld", path + "/citation", path + "/history"} {
				s.people[role].want(200, "GET", address, nil)
			}
		}
		tag := s.member.want(200, "GET", path, nil).Header.Get("ETag")
		if a := s.stranger().callWith(map[string]string{"If-None-Match": tag}, "GET", path,
			nil); a.Status != http.StatusNotFound {
			t.Errorf("with the tag of a member: %d", a.Status)
		}
		s.member.want(200, "PATCH", path, obj{"embargo_date": s.db.Read().Now.Format("2006-01-02")})
		s.people["anonymous"].want(200, "GET", path, nil) // it ends at the beginning of its day
	})
}

// TestEmbargoedMaterial_Changes holds that what outsiders send is answered as for an id that nothing has.
func TestEmbargoedMaterial_Changes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSecret(t, db, exchange.AccessOpen)
		s.list()
		path, nothing := fmt.Sprintf("/materials/%d", s.material), "/materials/999999"
		grants := fmt.Sprintf("/grants/%d/materials", s.grant)
		number := regexp.MustCompile(fmt.Sprintf(`\b(%d|999999)\b`, s.material))
		for _, role := range outsiders {
			p := s.people[role]
			for _, c := range []struct {
				method, path, other string
				body, otherBody     obj
			}{
				{"PATCH", path, nothing, obj{"title": "Mine"}, obj{"title": "Mine"}},
				{"PUT", path, nothing, obj{"organization_id": p.Lab}, obj{"organization_id": p.Lab}},
				{"PATCH", path, nothing, obj{"title": ""}, obj{"title": ""}},
				{"DELETE", path, nothing, nil, nil},
				{"POST", grants, grants, obj{"material_id": s.material}, obj{"material_id": 999999}},
				{"DELETE", fmt.Sprintf("%s/%d", grants, s.material), grants + "/999999", nil, nil},
				{"POST", "/attachments", "/attachments", obj{"filename": "a.pdf", "sequence_map_for": s.material},
					obj{"filename": "a.pdf", "sequence_map_for": 999999}},
			} {
				var got, want answer
				s.unchanged(c.method+" "+c.path+" by "+role, func() {
					got, want = send(p, c.method, c.path, c.body), send(p, c.method, c.other, c.otherBody)
				})
				if a, b := number.ReplaceAllString(seen(got), "N"), number.ReplaceAllString(seen(want), "N"); a != b {
					t.Errorf("%s %s by %s: got %s, of nothing %s", c.method, c.path, role, a, b)
				}
			}
			if p.Token != "" {
				a := p.refused(409, "MATERIAL_EMBARGOED", "POST", "/material-requests", obj{"material": s.material})
				if a.Body["embargo_date"] != "2999-12-31" || strings.Contains(strings.ToLower(string(a.Raw)), "zyzz") {
					t.Errorf("asking for it by %s: %s", role, a.Raw)
				}
			}
		}
	})
}

// send is call, where no body is none.
func send(p *testPerson, method, path string, body obj) answer {
	if body == nil {
		return p.call(method, path, nil)
	}
	return p.call(method, path, body)
}

// TestEmbargoedMaterial_Duplicates holds that who imports it again learns that it is there, and nothing of it.
func TestEmbargoedMaterial_Duplicates(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newSecret(t, db, exchange.AccessOpen)
		s.list()
		stranger := s.stranger()
		grant := stranger.want(200, "POST", "/grants", obj{"title": "Mine", "funder_id": "R02"}).id()
		again := obj{"category": "DATASET", "title": "Again", "organization_id": stranger.Lab, "imported": true,
			"import_source": "GEO"}.meta(obj{"accession_code": "GSE777"})
		for what, a := range map[string]answer{
			"create": stranger.want(200, "POST", "/materials", again),
			"import": stranger.want(200, "POST", "/materials/import",
				obj{"import_source": "GEO", "accession": "GSE777", "organization_id": stranger.Lab, "grant_id": grant}),
		} {
			material, has := a.Body["material"]
			if a.Body["error_code"] != "ALREADY_IMPORTED" || a.Body["error"] == nil || !has || material != nil ||
				a.Header.Get("Location") != "" {
				t.Errorf("%s: %v %s", what, a.Header, a.Raw)
			}
			for _, trace := range traces {
				if strings.Contains(strings.ToLower(string(a.Raw)), trace) {
					t.Errorf("%s tells %q", what, trace)
				}
			}
		}
		preview := stranger.want(200, "POST", "/materials/import/preview",
			obj{"import_source": "GEO", "accession": "GSE777"})
		if preview.Body["existing"] != nil || !strings.Contains(string(preview.Raw), "lready imported") {
			t.Errorf("preview: %s", preview.Raw)
		}
		if a := s.member.want(200, "POST", "/materials", again); a.at("material.id") != float64(s.material) {
			t.Errorf("a member gets %s", a.Raw)
		}
	})
}
