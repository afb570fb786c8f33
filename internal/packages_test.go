// Package internal_test holds the floor plan of docs/architecture.md against the code.
package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which packages of ours each package may import (docs/architecture.md). A package's own sub-packages
// count as the package, unless they have a line of their own; to a package of exchange, "exchange" is the root alone.
var mayImport = map[string][]string{
	"exchange":            {"exchange/fulltext", "exchange/identifier"},
	"exchange/category":   {"exchange/identifier"},
	"exchange/datause":    {"exchange"},
	"exchange/field":      {"exchange", "exchange/fulltext"},
	"exchange/fulltext":   {"exchange/identifier"},
	"exchange/identifier": {},
	"exchange/document":   {"exchange"},
	"exchange/mailing":    {"exchange"},
	"exchange/person":     {"exchange", "exchange/field", "exchange/fulltext", "exchange/mailing"},
	"exchange/lab": {"exchange", "exchange/category", "exchange/field", "exchange/fulltext", "exchange/identifier", "exchange/mailing",
		"exchange/person"},
	"exchange/material": {"exchange", "exchange/category", "exchange/datause", "exchange/field", "exchange/fulltext", "exchange/identifier", "exchange/person"},
	"exchange/request": {"exchange", "exchange/document", "exchange/fulltext", "exchange/lab", "exchange/material",
		"exchange/person"},
	"exchange/notify": {"exchange", "exchange/lab", "exchange/mailing", "exchange/material", "exchange/person",
		"exchange/request"},
	"exchange/publish":      {"exchange/category", "exchange/identifier", "exchange/lab", "exchange/material"},
	"exchange/exchangetest": {"exchange", "exchange/document", "exchange/field", "exchange/material"},
	"agreement/approval": {"agreement/letter", "agreement/party", "agreement/requirement", "agreement/signing", "exchange", "exchange/category",
		"exchange/field"},
	"agreement/duty": {"agreement/term", "exchange"},
	"agreement/instrument": {"agreement/party", "agreement/requirement", "agreement/table", "agreement/term",
		"exchange"},
	"agreement/letter":              {"agreement/instrument", "agreement/party", "agreement/pdfa", "exchange"},
	"agreement/letter/lettertest":   {"agreement/instrument", "agreement/letter"},
	"agreement/pades":               {"record"},
	"agreement/pdfa":                {},
	"agreement/signing/signingtest": {"agreement/signing"},
	"agreement/signing":             {"agreement/instrument", "agreement/letter", "agreement/party", "exchange"},
	"agreement/lint": {"agreement/instrument", "agreement/letter", "agreement/party", "agreement/requirement",
		"exchange"},
	"agreement/playbook": {"agreement/term", "exchange", "exchange/category"},
	"agreement/party":    {"agreement/playbook", "exchange", "exchange/category", "exchange/field", "exchange/identifier"},
	"agreement/requirement": {"agreement/party", "agreement/table", "agreement/term", "exchange", "exchange/category", "exchange/field",
		"exchange/identifier"},
	"agreement/table": {},
	"agreement/term":  {"exchange"},
	"store":           {"agreement/approval", "agreement/party", "agreement/requirement", "exchange", "record", "search"},
	"store/agreement": {"agreement/duty", "agreement/instrument", "agreement/letter", "agreement/lint", "agreement/party", "agreement/signing", "agreement/term", "exchange",
		"store/sqldb"},
	"store/delivery":    {"exchange", "store/sqldb"},
	"store/insight":     {"exchange", "store/sqldb"},
	"store/institution": {"agreement/approval", "agreement/party", "agreement/playbook", "exchange", "store/sqldb"},
	"store/library":     {"agreement/instrument", "store/sqldb"},
	"store/queue":       {"exchange", "store/sqldb"},
	"store/hold":        {"store/sqldb"},
	"store/scan":        {"exchange", "store/sqldb"},
	"store/requirement": {"agreement/requirement", "exchange", "store/sqldb"},
	"store/signing":     {"agreement/signing", "exchange", "store/sqldb"},
	"store/sqldb":       {"exchange", "store/migration"},
	"store/migration":   {},
	"search":            {"exchange", "store/sqldb"},
	"files":             {"exchange"},
	"clamd":             {"exchange"},
	"sheet":             {"exchange"},
	"atomicfile":        {},
	"identity":          {"exchange"},
	"job":               {"exchange", "store"},
	"importer":          {"exchange"},
	"webhook":           {},
	"notice":            {"exchange"},
	"mail":              {"atomicfile"},
	"app":               {"exchange", "store", "job", "webhook"}, // and all of its own
	"app/core": {"agreement/instrument", "agreement/letter", "agreement/party", "agreement/requirement", "clamd", "exchange",
		"store", "files", "identity", "job", "sheet", "importer", "mail", "notice", "paper", "record", "webhook", "witness"},
	"backup":        {"exchange", "files", "record", "store"},
	"app/stream":    {"exchange", "store", "app/core"},
	"app/notifier":  {"agreement/duty", "agreement/letter", "exchange", "store", "job", "mail", "notice", "webhook", "app/core"},
	"app/documents": {"exchange", "store", "files", "job", "app/core", "app/notifier"},
	"app/evidence": {"exchange", "dossier", "store", "job", "record", "witness", "app/core", "app/notifier",
		"app/transfer"},
	"app/funding": {"exchange", "store", "app/core"},
	"app/institutions": {"agreement/approval", "agreement/instrument", "agreement/letter", "agreement/party",
		"agreement/playbook", "agreement/signing", "exchange", "store", "sheet", "app/core", "app/signing"},
	"app/instruments": {"agreement/instrument", "agreement/letter", "exchange", "store", "app/core"},
	"app/letters": {"agreement/duty", "agreement/approval", "agreement/instrument", "agreement/letter", "agreement/lint", "agreement/party",
		"agreement/playbook", "agreement/requirement", "agreement/signing", "agreement/term", "exchange", "files", "job", "mail", "notice", "sheet", "store",
		"app/core", "app/notifier", "app/signing"},
	"app/requirements": {"agreement/instrument", "agreement/party", "agreement/requirement", "exchange", "job", "store",
		"app/core", "app/documents", "app/notifier"},
	"app/signing": {"agreement/signing", "exchange", "store", "app/core", "app/notifier"},
	"app/catalog": {"agreement/requirement", "exchange", "store", "job", "app/core", "app/funding", "app/notifier"},
	"app/transfer": {"agreement/lint", "exchange", "store", "files", "job", "sheet", "app/core", "app/catalog", "app/documents",
		"app/letters", "app/notifier", "paper"},
	"app/labs": {"exchange", "store", "job", "mail", "app/core", "app/catalog", "app/documents", "app/notifier",
		"app/transfer"},
	"app/spreadsheet": {"exchange", "store", "files", "job", "sheet", "app/core", "app/catalog", "app/documents",
		"app/labs"},
	"app/account": {"agreement/approval", "agreement/letter", "agreement/party", "agreement/requirement", "agreement/signing", "atomicfile",
		"exchange", "store",
		"identity", "app/core", "app/documents", "app/labs", "app/notifier", "app/transfer"},
	"api": {"exchange", "app", "limit", "server"}, // and all of its own
	"api/shape": {"agreement/duty", "agreement/approval", "agreement/instrument", "agreement/letter", "agreement/lint", "agreement/party",
		"agreement/playbook", "agreement/requirement", "agreement/signing", "agreement/term", "exchange", "app"},
	"api/jsonschema": {"agreement/duty", "agreement/approval", "agreement/instrument", "agreement/letter", "agreement/lint", "agreement/party", "agreement/requirement",
		"agreement/playbook", "agreement/signing", "agreement/term", "exchange", "app/letters", "api/shape"},
	"api/rest":        {"exchange", "app", "limit", "server", "api/jsonschema", "api/shape"},
	"api/openapi":     {"exchange", "server", "api/jsonschema", "api/rest", "api/shape"},
	"api/agreement":   {"agreement/duty", "agreement/letter", "agreement/signing", "exchange", "app/letters", "api/rest", "api/shape"},
	"api/account":     {"agreement/signing", "exchange", "app", "server", "api/rest", "api/shape"},
	"api/admin":       {"exchange", "api/rest", "api/shape"},
	"api/catalog":     {"exchange", "app", "api/rest", "api/shape"},
	"api/evidence":    {"app", "dossier", "api/rest", "api/shape"},
	"api/requirement": {"agreement/instrument", "agreement/requirement", "agreement/term", "exchange", "app", "api/rest", "api/shape"},
	"api/institution": {"agreement/approval", "agreement/party", "agreement/playbook", "exchange", "app", "api/rest", "api/shape"},
	"api/lab":         {"exchange", "app", "api/rest", "api/shape"},
	"api/request":     {"exchange", "app", "api/rest", "api/shape"},
	"web":             {"agreement/party", "exchange", "app", "limit", "server"}, // and all of its own
	"web/ui": {"agreement/letter", "agreement/party", "agreement/requirement", "agreement/signing", "exchange", "app", "limit",
		"server"},
	"web/account": {"agreement/signing", "exchange", "app", "server", "web/ui"},
	"web/admin":   {"exchange", "app", "server", "web/ui"},
	"web/catalog": {"agreement/duty", "agreement/letter", "agreement/requirement", "agreement/term", "exchange", "app", "server", "web/ui"},
	"web/institution": {"agreement/approval", "agreement/letter", "agreement/party", "agreement/playbook", "agreement/term", "agreement/signing", "exchange", "app",
		"server", "web/ui"},
	"web/lab": {"exchange", "app", "server", "web/ui"},
	"web/letter": {"agreement/duty", "agreement/instrument", "agreement/letter", "agreement/signing", "exchange", "app", "server",
		"web/ui"},
	"web/request": {"agreement/letter", "agreement/lint", "agreement/party", "agreement/requirement", "exchange", "app", "server", "web/ui"},
	"web/share":   {"exchange", "app", "server", "web/ui"},
	"web/sign":    {"agreement/letter", "agreement/signing", "exchange", "app", "web/ui"},
	"demo":        {"agreement", "exchange", "app", "identity"},
	"seal":        {"atomicfile", "agreement/letter", "agreement/pades"},
	"seed":        {"exchange", "search", "store"},
	"limit":       {},
	"metrics":     {"exchange", "server", "store"},
	"server":      {},
	"tracing":     {"server"},
	"config":      {},
	"dossier":     {"record"},
	"paper":       {"agreement/lint"},
	"witness":     {"record"},
	"record":      {"atomicfile"},
	"testgate":    {},
}

func TestPackages_ImportOnlyWhatTheArchitectureAllows(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		pkg, allowed := packageOf(dir)
		if pkg == "" {
			t.Errorf("%s: the folder has no line in mayImport", file)
			return nil
		}
		seen[pkg] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			ours, ok := strings.CutPrefix(name, "aliquot/internal/")
			if !ok || within(ours, strings.SplitN(pkg, "/", 2)[0]) && !strings.Contains(pkg, "/") && pkg != "exchange" {
				continue
			}
			good := false
			for _, a := range allowed {
				good = good || ours == a || within(ours, a) && !within(pkg, a)
			}
			if !good {
				t.Errorf("%s imports %s; package %s may only import %v", file, name, pkg, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range mayImport {
		if !seen[pkg] {
			t.Errorf("mayImport has a package %s, the code has none", pkg)
		}
	}
}

// packageOf returns the longest name in mayImport that a folder is in, and what it may import.
func packageOf(dir string) (string, []string) {
	for d := dir; d != "." && d != "/"; d = path.Dir(d) {
		if allowed, ok := mayImport[d]; ok {
			return d, allowed
		}
	}
	return "", nil
}

func within(dir, pkg string) bool { return dir == pkg || strings.HasPrefix(dir, pkg+"/") }

// maxFiles is how many files a package has at most and maxMethods how many methods a type has, tests not counted.
const maxFiles, maxMethods = 30, 60

// packageSizes counts the files of each package and the methods of each type.
func packageSizes(t *testing.T) (files, methods map[string]int) {
	t.Helper()
	files, methods = map[string]int{}, map[string]int{}
	for _, root := range []string{".", "../cmd", "../bench"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(file))
			files[dir]++
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range parsed.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
					methods[dir+"."+receiverOf(f.Recv.List[0].Type)]++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files, methods
}

func TestPackages_StayOfASizeThatOneCanHoldInMind(t *testing.T) {
	t.Parallel()
	files, methods := packageSizes(t)
	for dir, n := range files {
		if n > maxFiles {
			t.Errorf("package %s has %d files, more than %d: cut what belongs together into a package", dir, n, maxFiles)
		}
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, more than %d: cut it by what its methods are about", name, n, maxMethods)
		}
	}
}

// receiverOf returns the name of the type of a receiver.
func receiverOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverOf(e.X)
	case *ast.IndexExpr:
		return receiverOf(e.X)
	case *ast.IndexListExpr:
		return receiverOf(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestClient_ImportsNothingOfOurs keeps the Go client ready to become a module of its own: whoever calls the API from
// Go needs neither the server nor what the server needs.
func TestClient_ImportsNothingOfOurs(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../client/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the client has %d files: %v", len(files), err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			host, _, _ := strings.Cut(name, "/")
			ours := host == "aliquot" && !(name == "aliquot/client" && strings.HasSuffix(file, "_test.go"))
			if ours || strings.Contains(host, ".") && !slices.Contains(clientMayImport, name) {
				t.Errorf("%s imports %s; the client may only use the standard library and %v", file, name,
					clientMayImport)
			}
		}
	}
}

var clientMayImport = []string{
	"github.com/google/uuid", "github.com/oapi-codegen/nullable", "github.com/oapi-codegen/runtime",
	"github.com/oapi-codegen/runtime/types",
}

// TestExchange_HasNoClockAndNoInputOrOutput keeps the rules pure: no SQL, no HTTP, no time of day.
func TestExchange_HasNoClockAndNoInputOrOutput(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("exchange", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			switch spec.Path.Value {
			case `"database/sql"`, `"net/http"`, `"os"`, `"log"`, `"log/slog"`, `"math/rand"`:
				t.Errorf("%s imports %s", file, spec.Path.Value)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Now" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
					t.Errorf("%s reads the clock; pass the time as an argument", file)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
