package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// TestField_AddedAsContributingSaysIsInEveryOutput builds Aliquot with the field of every material that CONTRIBUTING.md
// adds, in the three places that it names, and with a field of each other object that has a table. It looks for them
// wherever fields are shown and read.
func TestField_AddedAsContributingSaysIsInEveryOutput(t *testing.T) {
	t.Parallel()
	binary := buildWithField(t)
	eachKind(t, func(t *testing.T, in installation) {
		in.binary = binary
		base := in.serve(t).base
		c, err := signIn(base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		l := looker{t, c, &surfer{t, map[string]map[string]string{}}}
		away := l.pages.visit(http.MethodGet, base+"/signin/start", nil, base+"/demo/identity/")
		l.pages.visit(http.MethodGet, away.at.String()+"&login_hint="+josiah, nil, "")
		lab := l.organization()
		l.material(lab)
		l.shipping(lab)
		l.address()
	})
}

// looker looks for fields by the API and on pages, as one person.
type looker struct {
	*testing.T
	client client
	pages  *surfer
}

func (l looker) call(method, path, body string) answer {
	l.Helper()
	a, err := did(l.client.call(method, path, body))
	if err != nil {
		l.Fatal(err)
	}
	return a
}

// has fails where an answer has no text.
func (l looker) has(what string, a answer, text string) {
	l.Helper()
	if !strings.Contains(string(a.body), text) {
		l.Errorf("%s has no %s: %s", what, text, a.body)
	}
}

// make creates an object that has the field, and returns its id.
func (l looker) make(path, body, has string) (id string) {
	l.Helper()
	made := l.call("POST", path, body)
	l.has("the answer to POST "+path, made, has)
	id, err := made.at("id")
	if err != nil {
		l.Fatal(err)
	}
	return id
}

// changes writes the field of an object, which may be null and have 255 characters.
func (l looker) changes(path, field string) {
	l.Helper()
	l.has("the answer to PATCH", l.call("PATCH", path, `{"`+field+`": "frosty"}`), `"`+field+`":"frosty"`)
	l.has("the answer to null", l.call("PATCH", path, `{"`+field+`": null}`), `"`+field+`":null`)
	a, err := l.client.call("PATCH", path, `{"`+field+`": "`+strings.Repeat("x", 256)+`"}`)
	if err != nil || a.status != http.StatusBadRequest {
		l.Errorf("a %s that is too long: %d %s %v", field, a.status, a.body, err)
	}
}

// page returns a page.
func (l looker) page(path string) *goquery.Document {
	l.Helper()
	return l.pages.visit(http.MethodGet, l.client.base+path, nil, "").doc
}

// send sends a form, which must be accepted.
func (l looker) send(path string, form url.Values) {
	l.Helper()
	if a := l.pages.visit(http.MethodPost, l.client.base+path, form, ""); a.status >= 400 {
		l.Errorf("%s: %d %s", path, a.status, a.doc.Find("main").Text())
	}
}

// input fails where a form does not have the value of a field.
func (l looker) input(form *goquery.Document, field, value string) {
	l.Helper()
	if form.Find("[name="+field+"]").First().AttrOr("value", "") != value {
		l.Errorf("the form has no %s: %s", field, form.Find("main").Text())
	}
}

// shown fails where a page does not have a text.
func (l looker) shown(page *goquery.Document, text string) {
	l.Helper()
	if main := page.Find("main").Text(); !strings.Contains(main, text) {
		l.Errorf("the page has no %s: %s", text, main)
	}
}

func (l looker) material(lab string) {
	id := l.make("/materials/", `{"category": "CELL_LINE", "title": "HT-29", "organization_id": `+lab+`,
		"storage_temperature": "minus eighty"}`, `"storage_temperature":"minus eighty"`)
	path := "/materials/" + id
	l.changes(path, "storage_temperature")
	l.has("the history", l.call("GET", path+"/history", ""),
		`{"field":"storage_temperature","old":"minus eighty","new":"frosty"}`)
	base := l.page("/catalog/"+id+"/history").Find("input[name=base]").AttrOr("value", "")
	l.send("/catalog/"+id+"/restore", url.Values{"version": {"1"}, "base": {base}})
	l.has("the restored material", l.call("GET", path, ""), `"storage_temperature":"minus eighty"`)
	l.input(l.page("/catalog/"+id+"/edit"), "storage_temperature", "minus eighty")
	l.send("/catalog/"+id+"/edit", url.Values{"do": {"save"}, "title": {"HT-29"}, "storage_temperature": {"frosty"}})
	l.has("what the form saved", l.call("GET", path, ""), `"storage_temperature":"frosty"`)
	l.shown(l.page("/catalog/"+id), "Storage temperature")

	l.has("the linked data", l.call("GET", path+"/jsonld", ""), `"propertyID":"storage_temperature"`)
	l.has("a search", l.call("GET", "/search/materials?search=frosty", ""), `"highlights":{"storage_temperature"`)
	l.has("a filter", l.call("GET", "/search/materials?storage_temperature=frosty", ""),
		`"storage_temperature":{"frosty":1}`)
	l.has("the export", l.call("GET", "/organizations/"+lab+"/materials/export?format=csv", ""), ",frosty,")
	l.has("the template", l.call("GET", "/organizations/"+lab+"/materials/template?format=csv", ""),
		",Storage temperature,")
	l.has("the API document", l.call("GET", "/openapi.json", ""), `Temperature at which it is kept.`)
}

func (l looker) organization() (id string) {
	id = l.make("/organizations/", `{"name": "Lab", "owner": "`+l.client.id+`", "members": [], "motto": "sharing"}`,
		`"motto":"sharing"`)
	path := "/organizations/" + id
	l.changes(path, "motto")
	l.has("the history", l.call("GET", path+"/history", ""), `{"field":"motto","old":"sharing","new":"frosty"}`)
	settings := "/labs/" + id + "/settings"
	l.send(settings, url.Values{"name": {"Lab"}, "decide_days": {"7"}, "countersign_days": {"7"}, "ship_days": {"7"},
		"motto": {"sharing"}})
	l.input(l.page(settings), "motto", "sharing")
	l.shown(l.page("/labs/"+id), "Motto: sharing")
	l.shown(l.page("/labs/"+id+"/history"), "motto")
	l.has("a search", l.call("GET", "/search/organizations?search=sharing", ""), `"highlights":{"motto"`)
	l.has("the API document", l.call("GET", "/openapi.json", ""), `What the lab lives by.`)
	return id
}

func (l looker) shipping(lab string) {
	id := l.make("/shipping-requirements/", `{"organization": `+lab+`, "dry_ice": "5 kg"}`, `"dry_ice":"5 kg"`)
	l.changes("/shipping-requirements/"+id, "dry_ice")
	l.has("the API document", l.call("GET", "/openapi.json", ""), `What cools it.`)
}

func (l looker) address() {
	addresses := "/users/" + l.client.id + "/addresses/"
	id := l.make(addresses, `{"name": "Ada", "address_line_1": "1 Waterman St", "locality": "Providence",
		"country": "US", "door": "blue"}`, `"door":"blue"`)
	l.changes(addresses+id, "door")
	l.has("the API document", l.call("GET", "/openapi.json", ""), `Where to ring.`)
}

// steps are those of the worked example: a file, the beginning of the line to write above, and what to write. Of a new
// file it has the folder, and no line.
var steps = regexp.MustCompile("(?s)\n\\d\\. In `([^`]+)`(?:[^`]* above `([^`]+)`)?.*?\n   ```[a-z]+\n(.*?)   ```")

// change is a text that a file gets above the line that begins with another one; a new file has no such line.
type change struct{ file, above, text string }

// alike are the same changes for the other objects whose fields are rows of a table.
var alike = []change{
	{"internal/exchange/lab/organization.go", "Targets ", "\tMotto *string\n"},
	{"internal/exchange/lab/organization.go", `{Name: "created_at", At: func(o *Organization)`,
		"\t{Name: `motto`, At: func(o *Organization) any { return &o.Motto }, Max: exchange.LineLength,\n" +
			"\t\tLabel: `Motto`, Help: `What the lab lives by.`, Section: `about`, Found: new(fulltext.Body)},\n"},
	{"internal/exchange/lab/shipping.go", "CreatedAt ", "\tDryIce *string\n"},
	{"internal/exchange/lab/shipping.go", "Restrictions         exchange.Opt[string]",
		"\tDryIce exchange.Null[string] `json:\"dry_ice\"`\n"},
	{"internal/exchange/lab/shipping.go", `{Name: "created_at"`, "\t{Name: `dry_ice`, " +
		"At: func(s *Shipping) any { return &s.DryIce }, Max: exchange.LineLength, Doc: `What cools it.`},\n"},
	{"internal/exchange/person/address.go", "UserID ", "\tDoor *string `json:\"door\"`\n"},
	{"internal/exchange/person/address.go", "SavedForUse exchange.Opt[bool]",
		"\tDoor exchange.Null[string] `json:\"door\"`\n"},
	{"internal/exchange/person/address.go", `{Name: "saved_for_reuse"`, "\t{Name: `door`, " +
		"At: func(a *Address) any { return &a.Door }, Max: exchange.LineLength, Doc: `Where to ring.`},\n"},
	{"internal/store/migration/09998_alike.sql", "", "-- +goose Up\n" +
		"ALTER TABLE organizations ADD COLUMN motto TEXT;\n" +
		"ALTER TABLE shipping_requirements ADD COLUMN dry_ice TEXT;\n" +
		"ALTER TABLE addresses ADD COLUMN door TEXT;\n"},
}

// buildWithField builds the binary with the changes that CONTRIBUTING.md names and those alike, in copies of the files.
func buildWithField(t *testing.T) (binary string) {
	t.Helper()
	manual, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(manual), "\n## A worked example: one more field of every material\n")
	example, _, _ = strings.Cut(example, "\n## ")
	list := slices.Clone(alike)
	for _, step := range steps.FindAllStringSubmatch(example, -1) {
		one := change{step[1], step[2], strings.ReplaceAll("\n"+step[3], "\n   ", "\n")[1:]}
		if one.above == "" {
			one.file += "/09999_field.sql"
		}
		list = append(list, one)
	}
	if len(list) != len(alike)+3 {
		t.Fatalf("the worked example has %d steps, want 3", len(list)-len(alike))
	}
	changed := map[string]string{} // files, by their paths
	for _, c := range list {
		path := filepath.Join("..", c.file)
		if c.above == "" {
			changed[path] = c.text
			continue
		}
		if changed[path] == "" {
			old, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed[path] = string(old)
		}
		before, after, found := strings.Cut(changed[path], "\n\t"+c.above)
		if !found {
			t.Fatalf("no line of %s begins with %s", path, c.above)
		}
		changed[path] = before + "\n" + c.text + "\t" + c.above + after
	}
	return buildInPlaceOf(t, changed)
}

// buildInPlaceOf builds the binary with other contents of some files.
func buildInPlaceOf(t *testing.T, changed map[string]string) (binary string) {
	t.Helper()
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
	// Without inlining it is compiled in three quarters of the time.
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=aliquot/...=-l", "-overlay", list, "-o", binary,
		"aliquot/cmd/aliquot")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}
