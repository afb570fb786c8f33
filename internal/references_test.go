package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var (
	markdownLink  = regexp.MustCompile(`\]\(([^)#:\s]*)(?:#([^)\s]*))?\)`)
	quoted        = regexp.MustCompile("`([^`\n]+)`")
	story         = regexp.MustCompile("\\bstor(?:y|ies) `(\\w+)`")
	testName      = regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)[A-Z]\w*\*?`)
	filePath      = regexp.MustCompile(`^(?:(?:cmd|internal|e2e|docs|bench|client|tools|examples)/[\w./*-]*[\w*]|[\w-]+\.md)$`)
	source        = regexp.MustCompile(`(?:^|[\s("` + "`" + `])((?:[\w-]+/)*[\w*-]+\.(?:go|sql|txtar|css))\b`)
	paper         = regexp.MustCompile(`\b([\w-]+\.md)\b`)
	section       = regexp.MustCompile(`\bcontract\.md` + "`?" + `,? sections? (\d+)(?: and (\d+))?(?:, "([^"]+)")?`)
	specification = regexp.MustCompile(`\(specification, "([^"]+)"`)
	address       = regexp.MustCompile(`https?://\S+`)
	heading       = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// repository is what references in it are checked against.
type repository struct {
	root  string
	files map[string]bool // by path from root
	tests map[string]bool
}

// broken lists the references of a Markdown file that lead nowhere.
func (r repository) broken(name, text string) (list []string) {
	dir := path.Dir(name)
	for _, found := range markdownLink.FindAllStringSubmatch(text, -1) {
		target, content := path.Join(dir, found[1]), text
		if found[1] != "" {
			if _, err := os.Stat(filepath.Join(r.root, target)); err != nil {
				list = append(list, found[1])
				continue
			}
			content = ""
			if found[2] != "" {
				content = r.read(target)
			}
		}
		if found[2] != "" && !hasAnchor(content, found[2]) {
			list = append(list, found[1]+"#"+found[2])
		}
	}
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		if filePath.MatchString(found[1]) && !r.hasFile(dir, found[1]) {
			list = append(list, found[1])
		}
	}
	for _, found := range story.FindAllStringSubmatch(text, -1) {
		if !r.files["e2e/testdata/"+found[1]+".txtar"] {
			list = append(list, found[0])
		}
	}
	return append(list, r.brokenText(text)...)
}

// brokenText lists what a comment or a Markdown text names that is not there: tests, source files, documents,
// and sections and topics of the contract and the specification.
func (r repository) brokenText(text string) (list []string) {
	// a reference may be broken over two lines
	text = strings.Join(strings.Fields(address.ReplaceAllString(text, "")), " ")
	for _, name := range testName.FindAllString(text, -1) {
		if !r.hasTest(name) {
			list = append(list, name)
		}
	}
	for _, found := range source.FindAllStringSubmatch(text, -1) {
		if !r.hasSource(found[1]) {
			list = append(list, found[1])
		}
	}
	for _, found := range paper.FindAllStringSubmatch(text, -1) {
		if !r.hasSource(found[1]) {
			list = append(list, found[1])
		}
	}
	for _, found := range section.FindAllStringSubmatch(text, -1) {
		for _, number := range found[1:3] {
			if part := r.contractSection(number); number != "" && (part == "" || !strings.Contains(part, found[3])) {
				list = append(list, found[0])
			}
		}
	}
	for _, found := range specification.FindAllStringSubmatch(text, -1) {
		if !hasAnchor(r.read("docs/specification.md"), anchor(found[1])) {
			list = append(list, found[0])
		}
	}
	return list
}

// contractSection returns the text of a section of the contract, empty if it has no section of that number.
func (r repository) contractSection(number string) string {
	_, part, _ := strings.Cut(r.read("docs/contract.md"), "\n## "+number+". ")
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// read returns the content of a file of the repository, empty if there is none.
func (r repository) read(name string) string {
	content, err := os.ReadFile(filepath.Join(r.root, name))
	if err != nil {
		return ""
	}
	return string(content)
}

// hasAnchor reports whether a Markdown text has a heading with an anchor.
func hasAnchor(text, name string) bool {
	for _, found := range heading.FindAllStringSubmatch(text, -1) {
		if anchor(found[1]) == name {
			return true
		}
	}
	return false
}

// anchor returns the anchor that GitHub and GitLab make of a heading.
func anchor(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-', c == '_', unicode.IsLetter(c), unicode.IsDigit(c):
			return unicode.ToLower(c)
		}
		return -1
	}, heading)
}

// hasSource reports whether the path of a file ends in name, which may hold asterisks.
func (r repository) hasSource(name string) bool {
	parts := strings.Count(name, "/")
	for file := range r.files {
		end := strings.Split(file, "/")
		if len(end) <= parts {
			continue
		}
		if ok, _ := path.Match(name, strings.Join(end[len(end)-1-parts:], "/")); ok {
			return true
		}
	}
	return false
}

// hasTest reports whether there is a test of a name, or one that begins with it if it ends in an asterisk.
func (r repository) hasTest(name string) bool {
	start, isStart := strings.CutSuffix(name, "*")
	for test := range r.tests {
		if test == name || isStart && strings.HasPrefix(test, start) {
			return true
		}
	}
	return false
}

// hasFile reports whether a path, which may hold asterisks, is one from the root of the repository, or from dir.
func (r repository) hasFile(dir, name string) bool {
	for _, dir := range []string{".", dir} {
		if found, err := filepath.Glob(filepath.Join(r.root, dir, name)); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// readRepository lists the files and the tests of the repository, without what is fetched, built or hidden.
func readRepository(t *testing.T) repository {
	t.Helper()
	r := repository{root: "..", files: map[string]bool{}, tests: map[string]bool{}}
	err := filepath.WalkDir(r.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.root, file)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." &&
				(strings.HasPrefix(base, ".") || base == "aliquot-demo" || base == "aliquot-data" ||
					base == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		r.files[filepath.ToSlash(name)] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	for name := range r.files {
		if strings.HasSuffix(name, "_test.go") {
			for _, found := range declared.FindAllStringSubmatch(r.read(name), -1) {
				r.tests[found[1]] = true
			}
		}
	}
	return r
}

func TestReferences_InDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	for name := range r.files {
		if path.Ext(name) == ".md" {
			for _, reference := range r.broken(name, r.read(name)) {
				t.Errorf("%s: there is no %s", name, reference)
			}
		}
	}
}

func TestReferences_InCommentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	for name := range r.files {
		switch path.Ext(name) {
		case ".go":
			file, err := parser.ParseFile(token.NewFileSet(), name, r.read(name),
				parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, comment := range file.Comments {
				for _, reference := range r.brokenText(comment.Text()) {
					t.Errorf("%s: there is no %s", name, reference)
				}
			}
		case ".sql", ".yaml", ".yml", "":
			for _, reference := range r.brokenText(r.read(name)) {
				t.Errorf("%s: there is no %s", name, reference)
			}
		}
	}
}

func TestReferences_ThatLeadNowhereAreFound(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	for _, text := range []string{
		"[a page](nowhere.md)", "[a section](api.md#nowhere)", "[here](#nowhere)", "see `internal/nowhere/file.go`",
		"see `docs/nowhere`",
		"held by the story `nowhere`", "see `TestThatIsNot`", "see `FuzzThatIs*`", "see `no-such.md`", "see nowhere.go",
		"see `exchange/nowhere.go`",
		"contract.md section 99", "contract.md sections 1 and 99", `contract.md section 1, "No such row"`,
		`contract.md\nsection 99`,
		`(specification, "No such part", 4)`,
	} {
		text = strings.ReplaceAll(text, `\n`, "\n")
		if len(r.broken("docs/a.md", text)) == 0 {
			t.Errorf("%q is not noticed", text)
		}
	}
	for _, text := range []string{
		"[the API](api.md)", "[the API](api.md#sign-in)", "# Here\n[here](#here)", "`internal/references_test.go`",
		"`docs/decisions/*.md`",
		"the story `refusal`", "`TestReferences_InDocumentsLeadSomewhere`", "`TestReferences_*`", "references_test.go",
		"`exchange/policy.go`",
		`contract.md section 1, "Lists"`, "contract.md sections 1 and 2", `(specification, "Authentication", 4)`,
		"[elsewhere](https://example.org/x.md#y)",
	} {
		if bad := r.broken("docs/a.md", text); len(bad) > 0 {
			t.Errorf("%q: %q are missing", text, bad)
		}
	}
}

// TestJobs_HaveANameOnTheAdminPage by what they do.
func TestJobs_HaveANameOnTheAdminPage(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	page, kinds := r.read("internal/web/admin/jobs.go"), 0
	kind := regexp.MustCompile(`job\.Kind\[[^\n]*\]\{Name: "([^"]+)"`)
	for name := range r.files {
		if !strings.HasPrefix(name, "internal/app/") || !strings.HasSuffix(name, ".go") ||
			strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, found := range kind.FindAllStringSubmatch(r.read(name), -1) {
			if kinds++; !strings.Contains(page, "\t"+strconv.Quote(found[1])+":") {
				t.Errorf("%s: the kind of job %q has no name in jobNames", name, found[1])
			}
		}
	}
	if kinds < 30 {
		t.Errorf("%d kinds of job were found", kinds)
	}
}
