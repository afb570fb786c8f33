package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// step is a row of a trace in docs/architecture.md.
type step struct{ number, calledBy, file, function string }

// traces returns the steps below each heading of the section "One feature through the packages".
func traces(t *testing.T, architecture string) map[string][]step {
	t.Helper()
	_, section, _ := strings.Cut(architecture, "\n## One feature through the packages\n")
	section, _, _ = strings.Cut(section, "\n## ")
	found := map[string][]step{}
	for _, part := range strings.Split(section, "\n### ")[1:] {
		title, rows, _ := strings.Cut(part, "\n")
		for row := range strings.Lines(rows) {
			cells := strings.Split(row, "|")
			if len(cells) != 7 || !strings.Contains(cells[3], ".go`") {
				continue
			}
			for i := range cells {
				cells[i] = strings.Trim(cells[i], " `")
			}
			found[title] = append(found[title], step{cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return found
}

// function returns a function or method of a file, nil if there is none with this name.
func function(t *testing.T, file, name string) *ast.FuncDecl {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Name.Name == name {
			return f
		}
	}
	return nil
}

// names reports whether the body of a function names another one.
func names(in *ast.FuncDecl, name string) (is bool) {
	ast.Inspect(in.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			is = true
		}
		return !is
	})
	return is
}

// maxTraced is how many files a trace passes at most.
var maxTraced = map[string]int{"A status by PATCH": 15, "The text of a search": 12}

func TestTraces_NameFunctionsThatCallEachOther(t *testing.T) {
	t.Parallel()
	found := traces(t, readRepository(t).read("docs/architecture.md"))
	if len(found) != len(maxTraced) {
		t.Errorf("docs/architecture.md has %d traces", len(found))
	}
	for title, steps := range found {
		functions := map[string]*ast.FuncDecl{}
		for _, s := range steps {
			f := function(t, s.file, s.function)
			if f == nil {
				t.Errorf("%s, step %s: %s has no function %s", title, s.number, s.file, s.function)
				continue
			}
			functions[s.number] = f
			if s.calledBy == "–" {
				continue
			}
			if by := functions[s.calledBy]; by == nil || !names(by, s.function) {
				t.Errorf("%s, step %s: step %s does not call %s", title, s.number, s.calledBy, s.function)
			}
		}
		name, _, _ := strings.Cut(title, ":")
		if n := tracedFiles(steps); n > maxTraced[name] {
			t.Errorf("%s passes %d files, not at most %d", title, n, maxTraced[name])
		}
	}
}

// tracedFiles counts the files of a trace.
func tracedFiles(steps []step) int {
	files := map[string]bool{}
	for _, s := range steps {
		files[s.file] = true
	}
	return len(files)
}
