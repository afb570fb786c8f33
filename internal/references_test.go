package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	quoted       = regexp.MustCompile("`([^`\n]+)`")
	testName     = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*\*?$`)
	filePath     = regexp.MustCompile(`^(?:(?:cmd|internal|e2e|docs|bench|client|tools|examples)/[\w./-]*\w|[\w-]+\.md)$`)
	paper        = regexp.MustCompile(`\b([\w-]+\.md)(?: section (\d+))?`)
)

// repository is what references in it are checked against.
type repository struct {
	root     string
	tests    map[string]bool
	sections map[string]bool // of docs/contract.md
}

// broken lists the references of a Markdown text that lead nowhere; dir is the folder of its file.
func (r repository) broken(dir, text string) (list []string) {
	for _, found := range markdownLink.FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(r.root, dir, found[1])); err != nil {
			list = append(list, found[1])
		}
	}
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		name := found[1]
		switch {
		case testName.MatchString(name) && !r.hasTest(name), filePath.MatchString(name) && !r.hasFile(dir, name):
			list = append(list, name)
		}
	}
	return append(list, r.brokenPapers(text)...)
}

// brokenPapers lists the documents, and sections of the contract, that a text names and that are not there.
func (r repository) brokenPapers(text string) (list []string) {
	for _, found := range paper.FindAllStringSubmatch(text, -1) {
		if !r.hasFile("docs", found[1]) && !r.hasFile("docs/decisions", found[1]) || found[1] == "contract.md" && found[2] != "" && !r.sections[found[2]] {
			list = append(list, found[0])
		}
	}
	return list
}

// hasTest reports whether there is a test of a name, or one that begins with it where it ends in an asterisk.
func (r repository) hasTest(name string) bool {
	start, isStart := strings.CutSuffix(name, "*")
	for test := range maps.Keys(r.tests) {
		if test == name || isStart && strings.HasPrefix(test, start) {
			return true
		}
	}
	return false
}

// hasFile reports whether a path is one from the root of the repository, or from dir.
func (r repository) hasFile(dir, name string) bool {
	for _, dir := range []string{".", dir} {
		if found, err := filepath.Glob(filepath.Join(r.root, dir, name)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// eachFile calls do with the files of the repository that end in suffix and are not fetched, built or test data.
func (r repository) eachFile(t *testing.T, suffix string, do func(name string, content []byte)) {
	t.Helper()
	err := filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(r.root, path)
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "aliquot-demo" || base == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, suffix) {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil {
			do(filepath.ToSlash(name), content)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readRepository(t *testing.T) repository {
	t.Helper()
	r := repository{root: "..", tests: map[string]bool{}, sections: map[string]bool{}}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	r.eachFile(t, "_test.go", func(_ string, content []byte) {
		for _, found := range declared.FindAllSubmatch(content, -1) {
			r.tests[string(found[1])] = true
		}
	})
	contract, err := os.ReadFile("../docs/contract.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^## (\d+)\.`).FindAllSubmatch(contract, -1) {
		r.sections[string(found[1])] = true
	}
	return r
}

func TestReferences_InDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	r.eachFile(t, ".md", func(name string, content []byte) {
		for _, reference := range r.broken(filepath.Dir(name), string(content)) {
			t.Errorf("%s: there is no %s", name, reference)
		}
	})
}

func TestReferences_InCommentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	r.eachFile(t, ".go", func(name string, content []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range file.Comments {
			for _, reference := range r.brokenPapers(comment.Text()) {
				t.Errorf("%s: there is no %s", name, reference)
			}
		}
	})
}

func TestReferences_ThatLeadNowhereAreFound(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	for _, text := range []string{"[a page](nowhere.md)", "see `TestThatIsNot`", "see `FuzzThatIs*`", "`internal/nowhere/file.go`", "contract.md section 99", "`no-such.md`"} {
		if len(r.broken("docs", text)) == 0 {
			t.Errorf("%q is not noticed", text)
		}
	}
	for _, text := range []string{"[the API](api.md)", "`TestReferences_InDocumentsLeadSomewhere`", "`TestReferences_*`", "`internal/references_test.go`", "contract.md section 11", "`docs/decisions/*.md`"} {
		if bad := r.broken("docs", text); len(bad) > 0 {
			t.Errorf("%q: %q are missing", text, bad)
		}
	}
}
