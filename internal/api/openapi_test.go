package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/api/jsonschema"
	"aliquot/internal/api/rest"
	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

func TestOpenAPI_IsValidAndCommitted(t *testing.T) {
	t.Parallel()
	document, err := api.OpenAPI(exchange.PolicyFor(exchange.AccessMembers))
	if err != nil {
		t.Fatal(err)
	}
	document = append(document, '\n')
	file := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(file, document, 0o644); err != nil { //nolint:gosec // for everyone
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(kept, document) {
		t.Errorf("docs/openapi.json is not what the routes are; run make golden: %v", err)
	}
	parsed, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOpenAPI_HasEveryRoute also checks that each has a description and a name of its own.
func TestOpenAPI_HasEveryRoute(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	names := map[string]bool{}
	for path, item := range document.Paths.Map() {
		for method, op := range item.Operations() {
			list = append(list, method+" "+path)
			if op.Summary == "" || op.Description == "" || op.OperationID == "" || names[op.OperationID] {
				t.Errorf("%s %s: name %q, summary %q, description %q", method, path, op.OperationID, op.Summary,
					op.Description)
			}
			names[op.OperationID] = true
		}
	}
	slices.Sort(list)
	if !slices.Equal(list, api.Paths()) {
		t.Errorf("the document has %v, the table of routes %v", list, api.Paths())
	}
}

// TestOpenAPI_DescribesEveryField also holds that no word is left over.
func TestOpenAPI_DescribesEveryField(t *testing.T) {
	t.Parallel()
	raw, err := api.OpenAPI(exchange.PolicyFor(exchange.AccessMembers))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for name, object := range document.Components.Schemas {
		for field, property := range object.Properties {
			text := property.Description
			if used[text] = true; text == "" {
				t.Errorf("%s.%s: jsonschema/meanings.go does not say what it is", name, field)
			}
		}
	}
	for field, text := range jsonschema.Meanings {
		if !used[text] {
			t.Errorf("no field is %s: %s", field, text)
		}
	}
}

// TestOpenAPI_SaysWhichCallsNeedAToken under the access setting in force.
func TestOpenAPI_SaysWhichCallsNeedAToken(t *testing.T) {
	t.Parallel()
	for access, optional := range map[exchange.Access]bool{exchange.AccessOpen: true, exchange.AccessMembers: false} {
		raw, err := api.OpenAPI(exchange.PolicyFor(access))
		if err != nil {
			t.Fatal(err)
		}
		document, err := openapi3.NewLoader().LoadFromData(raw)
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]bool{"/materials": optional, "/organizations": optional, "/login": true,
			"/material-requests": false} {
			got := slices.ContainsFunc(*document.Paths.Value(path).Post.Security,
				func(r openapi3.SecurityRequirement) bool { return len(r) == 0 })
			if got != want {
				t.Errorf("access %s: POST %s without a token: %v, want %v", access, path, got, want)
			}
		}
	}
}

// contract is the document as a client reads it.
var contract = sync.OnceValues(func() (*openapi3.T, error) {
	document, err := api.OpenAPI(exchange.PolicyFor(exchange.AccessMembers))
	if err != nil {
		return nil, err
	}
	openapi3.DefineStringFormatValidator("uuid",
		openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForUUIDOfRFC9562))
	parsed, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, err
	}
	for _, schema := range parsed.Components.Schemas {
		for _, property := range schema.Value.Properties {
			if property.Ref == "#/components/schemas/JSON" {
				property.Value.Nullable = true // the validator for 3.0 takes no null for {}, see routeOf
			}
		}
	}
	return parsed, nil
})

// described returns how a call or its answer contradicts the document; "" if it does not. Paths and
// methods that it does not have are none of its business.
func described(r *http.Request, a answer) string {
	document, err := contract()
	if err != nil {
		return err.Error()
	}
	route, params := routeOf(document, r)
	if route == nil {
		return ""
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	for _, header := range []http.Header{r.Header, a.Header} { // a text or a file is read as it is
		kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
		if kind != "" && !strings.HasSuffix(kind, "json") && !strings.HasPrefix(kind, "multipart/") {
			openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
		}
	}
	call := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
	if a.Status < 300 && r.GetBody != nil {
		if r.Body, err = r.GetBody(); err != nil {
			return err.Error()
		}
		if err := openapi3filter.ValidateRequest(r.Context(), call); err != nil {
			return err.Error()
		}
	}
	if response := route.Operation.Responses.Status(a.Status); response != nil {
		for name := range strings.SplitSeq(rest.ExposedHeaders, ", ") {
			if a.Header.Get(name) != "" && response.Value.Headers[name] == nil {
				return "the header " + name + " is not described"
			}
		}
	}
	if a.Status >= 400 {
		for name := range a.Body {
			if document.Components.Schemas["Error"].Value.Properties[name] == nil {
				return "an error has no " + name
			}
		}
	}
	body := io.NopCloser(bytes.NewReader(a.Raw))
	if a.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			return err.Error()
		}
	}
	err = openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: call, Status: a.Status, Header: a.Header, Body: body, Options: options,
	})
	if err != nil {
		return err.Error()
	}
	return ""
}

// routeOf is the operation that a request calls, nil where there is none. Of two paths the one with fewer
// parameters is meant, whatever the method (OpenAPI 3.1, "Path Templating Matching").
func routeOf(document *openapi3.T, r *http.Request) (*routers.Route, map[string]string) {
	got := strings.Split(strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), "/v1"), "/"), "/")
	best, values := "", map[string]string{}
	for path := range document.Paths.Map() {
		want := strings.Split(path, "/")
		if len(want) != len(got) || best != "" && strings.Count(best, "{") <= strings.Count(path, "{") {
			continue
		}
		params, same := map[string]string{}, true
		for i := range want {
			if name, ok := strings.CutPrefix(want[i], "{"); ok {
				value, err := url.PathUnescape(got[i])
				params[strings.TrimSuffix(name, "}")] = value
				same = same && err == nil
			} else {
				same = same && want[i] == got[i]
			}
		}
		if same {
			best, values = path, params
		}
	}
	item := document.Paths.Value(best)
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil, nil
	}
	// The validator for 3.1 compiles the schema for every call; ours say nothing that the one for 3.0 does not read.
	plain := *document
	plain.OpenAPI = "3.0.3"
	return &routers.Route{Spec: &plain, Path: best, PathItem: item, Method: r.Method,
		Operation: item.GetOperation(r.Method)}, values
}

// TestDescribed_ReportsWhatDiffersFromTheDocument keeps the check of every call from passing whatever it sees.
func TestDescribed_ReportsWhatDiffersFromTheDocument(t *testing.T) {
	t.Parallel()
	const good = `{"id": 7, "title": "Colon", "funder_id": "R01", "user": {"id": "018f0000-0000-7000-8000-000000000000", "username": "a",
		"first_name": "A", "last_name": "B", "created_at": "2020-05-11T14:13:39+0000", "updated_at": "2020-05-11T14:13:39+0000"},
		"organizations": [], "materials": [], "created_at": "2020-05-11T14:13:39+0000", "updated_at": "2020-05-11T14:13:39+0000"}`
	for _, test := range []struct {
		wrong, method, path, sent string
		status                    int
		header, old, new          string
	}{
		{"", "GET", "/grants/7", "", 200, "", "", ""},
		{"", "PUT", "/v1/grants/7/", `{"title": "Colon"}`, 200, "", "", ""},
		{"title", "PUT", "/grants/7", `{"title": null}`, 200, "", "", ""},
		{"funder_id", "POST", "/grants", `{"title": "Colon"}`, 200, "", "", ""},
		{"title", "GET", "/grants/7", "", 200, "", `"title": "Colon",`, ""},
		{"title", "GET", "/grants/7", "", 200, "", `"Colon"`, "null"},
		{"id", "GET", "/grants/7", "", 200, "", "7", `"7"`},
		{"id", "GET", "/grants/7", "", 200, "", `"018f0000`, `"g18f0000`},
		{"updated_at", "GET", "/grants/7", "", 200, "", `39+0000"}`, `39Z"}`},
		{"materials", "GET", "/grants/7", "", 200, "", `"materials": []`, `"materials": null`},
		{"status", "GET", "/grants/7", "", 201, "", "", ""},
		{"Location", "GET", "/grants/7", "", 200, "Location", "", ""},
		{"error", "GET", "/grants/7", "", 404, "", "", ""},
		{"limit", "GET", "/grants?limit=201", "", 200, "", good, "[]"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.sent))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		header := http.Header{"Content-Type": {"application/json"}}
		if test.header != "" {
			header.Set(test.header, "x")
		}
		fault := described(r, answer{Status: test.status, Header: header,
			Raw: []byte(strings.Replace(good, test.old, test.new, 1))})
		if test.wrong == "" && fault != "" || !strings.Contains(fault, test.wrong) {
			t.Errorf("%s %s %s, %q for %q: %q, want it to tell of %q", test.method, test.path, test.sent, test.new,
				test.old, fault, test.wrong)
		}
	}
}

// TestQueryParameters_RefuseWrongValues sends each a value that it cannot have.
func TestQueryParameters_RefuseWrongValues(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	for _, c := range visits {
		methods, path := c.methods()
		for _, parameter := range document.Paths.Value(path).GetOperation(methods[0]).Parameters {
			name := parameter.Value.Name
			if parameter.Value.In != "query" || name == "search" { // which any text is
				continue
			}
			v := c.make(s, c.by)
			v.path, _, _ = strings.Cut(v.path, "?")
			v.path += "?" + name + "=%00" // no text has this
			if a := v.call(s.people[c.by], methods[0]); a.Status != 400 || a.at("fields."+name) == nil {
				t.Errorf("%s: %s is described and not read: %d %.200s", c.route, name, a.Status, a.Raw)
			}
		}
	}
}

// TestHandlers_ReadOnlyTheDocumentedQueryParameters finds the names that handlers ask a query for.
func TestHandlers_ReadOnlyTheDocumentedQueryParameters(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, path := range document.Paths.Map() {
		for _, operation := range path.Operations() {
			for _, parameter := range operation.Parameters {
				described[parameter.Value.Name] = true
			}
		}
	}
	asked := regexp.MustCompile(`(?:\.(?:text|integer|boolean|user|Query\(\)\.Get|FormValue)\(|query:)"(\w+)"`)
	found := 0
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, name := range asked.FindAllStringSubmatch(string(code), -1) {
			found++
			if !described[name[1]] {
				t.Errorf("%s reads the query parameter %s, which the document does not have", file, name[1])
			}
		}
	}
	if found < 20 { // ordering, and the tags of fields
		t.Errorf("found %d names", found)
	}
}
