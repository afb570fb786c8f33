package api_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"mime/multipart"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/sheet"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// stocking is a scene whose jobs are done.
func stocking(t *testing.T, db *store.DB) *scene {
	t.Helper()
	s := newScene(t, db, exchange.AccessMembers)
	jobtest.Start(t, job.Config{DB: db, Handlers: s.app.Handlers()})
	return s
}

// bulk sends a spreadsheet and returns what its job came to.
func (s *scene) bulk(p *testPerson, query, body string) answer {
	s.t.Helper()
	a := p.sendWith(nil, "POST", fmt.Sprintf("/organizations/%d/materials/bulk?%s", s.id, query), "text/csv",
		strings.NewReader(body))
	if a.Status != 202 || a.Header.Get("Location") != fmt.Sprintf("/v1/jobs/%d", a.id()) {
		s.t.Fatalf("%d %s", a.Status, a.Raw)
	}
	return s.over(p, a.id())
}

func (s *scene) over(p *testPerson, id int64) answer {
	s.t.Helper()
	for until := time.Now().Add(jobtest.Patience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if a := p.want(200, "GET", fmt.Sprintf("/jobs/%d", id), nil); a.Body["ended_at"] != nil {
			return a
		}
	}
	s.t.Fatalf("job %d is not done", id)
	return answer{}
}

// counts are those of a result: created, updated, unchanged, refused.
func counts(a answer) string {
	return fmt.Sprint(a.at("result.stored"), a.at("result.created"), a.at("result.updated"), a.at("result.unchanged"),
		a.at("result.refused"))
}

// report are the rows of a job's report, without the headers.
func (s *scene) report(p *testPerson, a answer) [][]string {
	s.t.Helper()
	raw := p.want(200, "GET", a.at("result.report").(string), nil).Raw
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff")))).ReadAll()
	if err != nil || len(rows) == 0 || strings.Join(rows[0], " ") != "row outcome material reference column problem" {
		s.t.Fatalf("%s: %v", raw, err)
	}
	return rows[1:]
}

const stock = "Reference,Category,Name,Disease,Box\nLN2-1,CELL_LINE,HeLa,Cervical cancer,7\nLN2-2,Cell " +
	"line,HT-29,Colon cancer,8\n"

// TestBulk_AccessIsCheckedBeforeTheForm holds that access comes before what is wrong with a form.
func TestBulk_AccessIsCheckedBeforeTheForm(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/organizations/%d/materials/bulk", s.id)
		for _, c := range []struct{ query, kind, body string }{
			{"", "text/csv", ""}, {"?mode=none", "text/csv", "Title\nX\n"}, {"", "application/json", "{}"},
			{"", "multipart/form-data", ""}, {"", "multipart/form-data; boundary=b", "--b--\r\n"},
		} {
			if a := s.people["stranger"].send("POST", path+c.query, c.kind,
				strings.NewReader(c.body)); a.Status != 403 {
				t.Errorf("%q as %s: %d %s", c.body, c.kind, a.Status, a.Raw)
			}
		}
	})
}

func TestBulk_CreatesMaterialsOnceAndUpdatesThemAfterwards(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		before := s.rows()
		mapping := "&mapping=" + url.QueryEscape(`{"Box": "additional_metadata.storage_box"}`)
		if a := s.bulk(s.member, "mode=dry-run"+mapping, stock); counts(a) != "false 2 0 0 0" ||
			s.rows()["materials"] != before["materials"] {
			t.Errorf("dry run: %s", a.Raw)
		} else if rows := s.report(s.member, a); len(rows) != 2 || rows[0][1] != "would be created" {
			t.Errorf("report of a dry run: %q", rows)
		}
		// What Box means is remembered from here on.
		if a := s.bulk(s.member, mapping[1:], stock); counts(a) != "true 2 0 0 0" {
			t.Fatalf("first: %s", a.Raw)
		} else if rows := s.report(s.assignee, a); len(rows) != 2 || rows[1][1] != "created" || rows[1][3] != "LN2-2" ||
			rows[1][2] == "" {
			t.Errorf("report: %q", rows)
		}
		after := s.rows()
		if a := s.bulk(s.assignee, "", stock); counts(a) != "true 0 0 2 0" ||
			grew(after, s.rows()) != "files+1 sheets+1 jobs+1 bulks+1 bulk_parts+1" {
			t.Errorf("second: %s %s", a.Raw, grew(after, s.rows()))
		}
		if a := s.bulk(s.member, "",
			strings.Replace(stock, "Colon cancer", "Colon carcinoma", 1)); counts(a) != "true 0 1 1 0" {
			t.Errorf("changed: %s", a.Raw)
		}
		m := s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/materials?ordering=-id", s.id),
			nil).List[0].(map[string]any)
		history := s.member.want(200, "GET", fmt.Sprintf("/materials/%v/history", m["id"]), nil).List
		if meta := m["additional_metadata"].(map[string]any); m["reference"] != "LN2-2" ||
			m["category"] != "CELL_LINE" || meta["storage_box"] != "8" ||
			meta["disease"] != "Colon carcinoma" || m["contact_user"].(map[string]any)["id"] != s.member.ID.String() ||
			len(history) != 2 {
			t.Errorf("%v, %d versions", m, len(history))
		}
		// The version that a spreadsheet makes is what GET shows.
		if state := history[0].(map[string]any)["state"]; fmt.Sprint(state) != fmt.Sprint(m) {
			t.Errorf("kept %v, shown %v", state, m)
		}
		if state := history[1].(map[string]any)["state"].(map[string]any); state["updated_at"] == nil ||
			fmt.Sprint(state["grants"]) != "[]" || fmt.Sprint(state["contact_user"]) != fmt.Sprint(m["contact_user"]) {
			t.Errorf("the first version is %v", state)
		}
	})
}

func TestBulk_OneWrongRowRefusesAllUnlessTheRestIsWanted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		const rows = "reference,category,title,rrid,embargo,contact,id\nA,CELL_LINE,one,CVCL_0030,,,\nB,VIRUS,two,,soon,nobody,\nC,OTHER,,,,,\nA,OTHER,four,,,,\nD,OTHER,five,,,,999\nE,OTHER,six,nonsense,,,\n"
		before := s.rows()["materials"]
		a := s.bulk(s.member, "", rows)
		if counts(a) != "false 1 0 0 5" || s.rows()["materials"] != before {
			t.Errorf("all or nothing: %s", a.Raw)
		}
		var told []string
		for _, row := range s.report(s.member, a) {
			told = append(told, strings.Join([]string{row[0], row[1], row[4]}, " "))
		}
		want := "2 would be created |3 refused category|3 refused contact|3 refused embargo|4 refused title|5 " +
			"refused reference|6 refused id|7 refused rrid"
		if got := strings.Join(told, "|"); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
		if a = s.bulk(s.member, "mode=valid-rows-only", rows); counts(a) != "true 1 0 0 5" ||
			s.rows()["materials"] != before+1 {
			t.Errorf("valid rows: %s", a.Raw)
		}
	})
}

func TestBulk_RowNamesOnlyMaterialsOfItsOrganization(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		other := s.requester().want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "theirs", "organization_id": s.requester().Lab, "reference": "X"}).id()
		a := s.bulk(s.member, "", fmt.Sprintf("id,title\n%d,mine now\n%d,HT-29 renamed\n", other, s.material))
		if counts(a) != "false 0 1 0 1" || s.report(s.member, a)[0][4] != "id" {
			t.Errorf("%s %q", a.Raw, s.report(s.member, a))
		}
		if a = s.bulk(s.member, "", "reference,category,title\nX,OTHER,mine too\n"); counts(a) != "true 1 0 0 0" {
			t.Errorf("a reference is each lab's own: %s", a.Raw)
		}
		s.member.refused(409, "CONFLICT", "POST", "/materials",
			obj{"category": "OTHER", "title": "b", "organization_id": s.id, "reference": " X "})
		s.member.refused(409, "CONFLICT", "PATCH", fmt.Sprintf("/materials/%d", s.material), obj{"reference": "X"})
		if got := s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.material),
			obj{"reference": ""}).Body["reference"]; got != nil {
			t.Errorf("an empty reference is %v", got)
		}
	})
}

func TestBulk_UnreadableFileIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/organizations/%d/materials/bulk", s.id)
		s.unchanged("refused spreadsheets", func() {
			for _, c := range []struct {
				query, body, field string
				status             int
			}{
				{"", "category,title,Freezer\nOTHER,a,b\n", "mapping", 400},
				{"", "title\na\n", "category", 400},
				{"category=OTHER&mapping=%5B%5D", "title\na\n", "mapping", 400},
				{"category=OTHER&mapping=%7B%22a%22:%22nofield%22%7D", "title\na\n", "mapping", 400},
				{"mode=maybe", "title\na\n", "mode", 400},
				{"unknown=maybe&category=OTHER", "title\na\n", "unknown", 400},
				{"lacking=maybe&category=OTHER", "title\na\n", "lacking", 400},
				{"sheet=x&category=OTHER", "title\na\n", "sheet", 400},
				{"", "", "file", 400},
				{"", "\n\n", "file", 400},
				{"", "PK\x03\x04", "", 415}, // a broken archive
				{"", "<html>", "", 415},
			} {
				a := s.member.sendWith(nil, "POST", path+"?"+c.query, "text/csv", strings.NewReader(c.body))
				if a.Status != c.status || c.field != "" && a.at("fields."+c.field) == nil {
					t.Errorf("%+v: %d %s", c, a.Status, a.Raw)
				}
				if c.field == "mapping" && c.query == "" && len(a.Body["columns"].([]any)) != 3 {
					t.Errorf("the columns are not told: %s", a.Raw)
				}
			}
			s.member.refused(415, "UNSUPPORTED_MEDIA", "POST", path, obj{"title": "a"})
			s.member.refused(404, "NOT_FOUND", "POST", "/organizations/999/materials/bulk", nil)
			s.member.refused(404, "NOT_FOUND", "GET", path+"/999/report", nil)
			s.member.refused(400, "INVALID_INPUT", "GET",
				fmt.Sprintf("/organizations/%d/materials/template?category=VIRUS", s.id), nil)
			s.member.refused(400, "INVALID_INPUT", "GET",
				fmt.Sprintf("/organizations/%d/materials/export?format=pdf", s.id), nil)
		})
	})
}

func TestBulk_FormTakesTheSpreadsheetAndTheParameters(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		file, err := form.CreateFormFile("file", "stock.csv")
		if err == nil {
			_, err = file.Write([]byte("title,Freezer\na,b\n"))
		}
		for name, value := range map[string]string{"mode": "dry-run", "category": "OTHER", "unknown": "keep",
			"mapping": ""} {
			err = firstOf(err, form.WriteField(name, value))
		}
		if err = firstOf(err, form.Close()); err != nil {
			t.Fatal(err)
		}
		a := s.member.sendWith(key("bulk"), "POST", fmt.Sprintf("/organizations/%d/materials/bulk", s.id),
			form.FormDataContentType(), bytes.NewReader(b.Bytes()))
		if a.Status != 202 {
			t.Fatalf("%d %s", a.Status, a.Raw)
		}
		a = s.over(s.member, a.id())
		if counts(a) != "false 1 0 0 0" ||
			!strings.Contains(string(a.Raw), `"field":"additional_metadata.Freezer","own":true`) ||
			fmt.Sprint(a.at("result.notes")) == "[]" {
			t.Errorf("%s", a.Raw)
		}
	})
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func TestBulk_TwoMembersImportTheSameAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		before := s.rows()["materials"]
		for _, mode := range []string{"all-or-nothing", "valid-rows-only"} {
			body := "reference,category,title\n"
			for i := range 1200 {
				body += fmt.Sprintf("%s %d,OTHER,Tube %d\n", mode, i, i)
			}
			var created [2]float64
			var both sync.WaitGroup
			for i, p := range []*testPerson{s.member, s.owner} {
				both.Go(func() {
					a := s.bulk(p, "mode="+mode, body)
					if a.Body["state"] != "DONE" || a.at("result.refused") != 0.0 {
						t.Errorf("%s", a.Raw)
						return
					}
					created[i] = a.at("result.created").(float64)
				})
			}
			both.Wait()
			if before += 1200; created[0]+created[1] != 1200 || s.rows()["materials"] != before {
				t.Errorf("%s: created %v, there are %d", mode, created, s.rows()["materials"])
			}
		}
	})
}

func TestBulk_TemplateHasNoRowsAndExportChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		s.fill()
		s.member.want(201, "POST", "/materials",
			obj{"category": "DATASET", "title": "=cmd|' /C calc'!A0", "organization_id": s.id,
				"organisms": []string{"a;b", "c"},
				"additional_metadata": obj{"num_samples": 7, "own": obj{"a": []int{1}},
					"data_type": []string{"rna-seq", "other"}}, "embargo_date": "2999-01-01"})
		get := func(path string) string {
			return string(s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/materials/%s", s.id, path), nil).Raw)
		}
		for _, format := range sheet.Formats {
			for _, c := range []string{"CELL_LINE", "PDX", "OTHER"} {
				if a := s.bulk(s.member, "category="+c,
					get("template?category="+c+"&format="+format)); counts(a) != "true 0 0 0 0" {
					t.Errorf("template of %s: %s", c, a.Raw)
				}
			}
			out := get("export?format=" + format)
			before := s.rows()
			if a := s.bulk(s.member, "", out); a.at("result.unchanged") != 2.0 || counts(a) != "true 0 0 2 0" ||
				s.rows()["audit_events"] != before["audit_events"] {
				t.Errorf("export as %s: %s %v", format, a.Raw, s.report(s.member, a))
			}
			if format == "csv" && strings.Contains(out, ",=cmd") {
				t.Errorf("a formula goes out: %s", out)
			}
		}
		if a := s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/materials/export?format=json", s.id),
			nil); len(a.List) != 2 {
			t.Errorf("%s", a.Raw)
		} else {
			for _, m := range a.List {
				id := m.(map[string]any)["id"]
				s.unchanged("a PUT of what was exported",
					func() { s.member.want(200, "PUT", fmt.Sprintf("/materials/%v", id), m) })
			}
		}
	})
}

func TestBulk_FormerMemberImportsNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		id := s.newBulk()
		s.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", s.id), obj{"members": []any{}})
		before := s.rows()["materials"]
		jobtest.Start(t, job.Config{DB: db, Handlers: s.app.Handlers()})
		if a := s.over(s.member, id); a.Body["state"] != "FAILED" || s.rows()["materials"] != before {
			t.Errorf("%s", a.Raw)
		}
	})
}

// TestBulk_AcceptsTheTableOfRealMaterials reads the table of real materials next to the project, if it is there.
func TestBulk_AcceptsTheTableOfRealMaterials(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../shared/data/materials/real-materials.csv")
	if err != nil {
		t.Fatal(err)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := s.bulk(s.member, "mode=valid-rows-only&unknown=keep", string(raw))
			if stored := a.at("result.created").(float64); stored < 100 ||
				a.at("result.refused").(float64) > stored/20 {
				t.Errorf("%s", a.Raw)
			}
			out := s.member.want(200, "GET", fmt.Sprintf("/organizations/%d/materials/export", s.id), nil).Raw
			if again := s.bulk(s.member, "",
				string(out)); again.at("result.unchanged") != a.at("result.created").(float64)+1 {
				t.Errorf("%s", again.Raw)
			}
		}
	})
}

// TestBulk_LackingRefusesNewRowsWithoutRequiredFields holds that the option applies to new materials only.
func TestBulk_LackingRefusesNewRowsWithoutRequiredFields(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		rows := "title,reference,description\nBare,L-1,\nDescribed,L-2,not known\n"
		if a := s.bulk(s.member, "category=OTHER&lacking=refuse", rows); counts(a) != "false 1 0 0 1" {
			t.Errorf("refuse: %s", a.Raw)
		} else if got := s.report(s.member, a)[0]; got[1] != "refused" || got[4] != "description" ||
			!strings.Contains(got[5], "is required") {
			t.Errorf("report: %q", got)
		}
		if a := s.bulk(s.member, "category=OTHER", rows); counts(a) != "true 2 0 0 0" {
			t.Errorf("keep: %s", a.Raw)
		}
		if a := s.bulk(s.member, "category=OTHER&lacking=refuse", "title,reference\nBare too,L-1\n"); counts(a) !=
			"true 0 1 0 0" {
			t.Errorf("an existing material: %s", a.Raw)
		}
	})
}
