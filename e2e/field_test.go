package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestField_AddedAsContributingSaysIsInEveryOutput builds Aliquot with the field of every material that CONTRIBUTING.md
// adds, in the three places that it names, and looks for the field wherever fields are shown and read.
func TestField_AddedAsContributingSaysIsInEveryOutput(t *testing.T) {
	t.Parallel()
	binary := buildWithField(t)
	eachKind(t, func(t *testing.T, in installation) {
		in.binary = binary
		server := in.serve(t)
		c, err := signIn(server.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		call := func(method, path, body string) answer {
			t.Helper()
			a, err := did(c.call(method, path, body))
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		has := func(what string, a answer, text string) {
			t.Helper()
			if !strings.Contains(string(a.body), text) {
				t.Errorf("%s has no %s: %s", what, text, a.body)
			}
		}
		lab, err := call("POST", "/organizations/", `{"name": "Lab", "owner": "`+c.id+`", "members": []}`).at("id")
		if err != nil {
			t.Fatal(err)
		}
		made := call("POST", "/materials/", `{"category": "CELL_LINE", "title": "HT-29", "organization_id": `+lab+`,
			"storage_temperature": "minus eighty"}`)
		has("the answer to POST", made, `"storage_temperature":"minus eighty"`)
		id, err := made.at("id")
		if err != nil {
			t.Fatal(err)
		}
		path := "/materials/" + id
		has("the answer to PATCH", call("PATCH", path, `{"storage_temperature": "frosty"}`),
			`"storage_temperature":"frosty"`)
		has("the answer to null", call("PATCH", path, `{"storage_temperature": null}`), `"storage_temperature":null`)
		has("the history", call("GET", path+"/history", ""),
			`{"field":"storage_temperature","old":"minus eighty","new":"frosty"}`)

		s := &surfer{t, map[string]map[string]string{}}
		away := s.visit(http.MethodGet, server.base+"/signin/start", nil, server.base+"/demo/identity/")
		s.visit(http.MethodGet, away.at.String()+"&login_hint="+josiah, nil, "")
		base := s.visit(http.MethodGet, server.base+"/catalog/"+id+"/history", nil, "").doc.Find("input[name=base]")
		restored := s.visit(http.MethodPost, server.base+"/catalog/"+id+"/restore",
			map[string][]string{"version": {"1"}, "base": {base.AttrOr("value", "")}}, "")
		if restored.status >= 400 {
			t.Errorf("restoring: %d %s", restored.status, restored.doc.Find("main").Text())
		}
		has("the restored material", call("GET", path, ""), `"storage_temperature":"minus eighty"`)
		form := s.visit(http.MethodGet, server.base+"/catalog/"+id+"/edit", nil, "").doc
		if input := form.Find("#f-storage_temperature"); input.AttrOr("value", "") != "minus eighty" {
			t.Errorf("the form has no field: %s", form.Find("form#edit").Text())
		}
		saved := s.visit(http.MethodPost, server.base+"/catalog/"+id+"/edit", map[string][]string{"do": {"save"},
			"title": {"HT-29"}, "storage_temperature": {"frosty"}}, "")
		if saved.status >= 400 {
			t.Errorf("saving: %d %s", saved.status, saved.doc.Find(".errors, .note").Text())
		}
		has("what the form saved", call("GET", path, ""), `"storage_temperature":"frosty"`)
		page := s.visit(http.MethodGet, server.base+"/catalog/"+id, nil, "").doc
		if text := page.Find("dl dd").Text(); !strings.Contains(text, "frosty") {
			t.Errorf("the page has no line of it: %s", text)
		}

		has("the linked data", call("GET", path+"/jsonld", ""), `"propertyID":"storage_temperature"`)
		has("a search", call("GET", "/search/materials?search=frosty", ""), `"highlights":{"storage_temperature"`)
		has("a filter", call("GET", "/search/materials?storage_temperature=frosty", ""),
			`"storage_temperature":{"frosty":1}`)
		has("the export", call("GET", "/organizations/"+lab+"/materials/export?format=csv", ""), ",frosty,")
		has("the template", call("GET", "/organizations/"+lab+"/materials/template?format=csv", ""),
			",Storage temperature,")
		has("the API document", call("GET", "/openapi.json", ""), `Temperature at which it is kept.`)

		wrong, err := c.call("PATCH", path, `{"storage_temperature": "`+strings.Repeat("x", 256)+`"}`)
		if err != nil || wrong.status != http.StatusBadRequest {
			t.Errorf("a text that is too long: %d %s %v", wrong.status, wrong.body, err)
		}
	})
}

// steps are those of the worked example: a file, the beginning of the line to write above, and what to write. Of a new
// file it has the folder, and no line.
var steps = regexp.MustCompile("(?s)\n\\d\\. In `([^`]+)`(?:[^`]* above `([^`]+)`)?.*?\n   ```[a-z]+\n(.*?)   ```")

// buildWithField builds the binary with the changes that CONTRIBUTING.md names, in copies of the files.
func buildWithField(t *testing.T) (binary string) {
	t.Helper()
	manual, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(manual), "\n## A worked example: one more field of every material\n")
	example, _, _ = strings.Cut(example, "\n## ")
	changed := map[string]string{} // files, by their paths
	for _, step := range steps.FindAllStringSubmatch(example, -1) {
		path, above, block := filepath.Join("..", step[1]), step[2], strings.ReplaceAll("\n"+step[3], "\n   ", "\n")[1:]
		if above == "" {
			changed[filepath.Join(path, "09999_field.sql")] = block
			continue
		}
		if changed[path] == "" {
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed[path] = string(old)
		}
		before, after, found := strings.Cut(changed[path], "\n\t"+above)
		if !found {
			t.Fatalf("no line of %s begins with %s", path, above)
		}
		changed[path] = before + "\n" + block + "\t" + above + after
	}
	if len(changed) != 2 {
		t.Fatalf("the worked example changes %d files, want 2", len(changed))
	}
	folder, replaced := t.TempDir(), map[string]string{}
	for path, content := range changed {
		place, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		replaced[place] = filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(replaced[place], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	list, binary := filepath.Join(folder, "overlay.json"), filepath.Join(folder, "aliquot")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", list, "-o", binary, "aliquot/cmd/aliquot")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}
