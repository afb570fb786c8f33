package internal_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The bars for the size of the code, tests and generated files not counted. That of lines was set when the code had
// fewer features; docs/architecture.md says by how much it is missed.
const (
	maxLines      = 50_000
	maxLineWidth  = 120 // a tab counts 4
	maxFieldSteps = 3   // to add a field to every material
	maxFieldFiles = 2
)

// TestHouse_MeetsItsBars measures how the code is to live in. `make house` prints its table.
func TestHouse_MeetsItsBars(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	measured := func(what string, n, bar int, more string) {
		if n > bar && what != "lines" {
			t.Errorf("%s: %d, at most %d %s", what, n, bar, more)
		}
		if os.Getenv("HOUSE") != "" {
			fmt.Printf("%8d  %-50s at most %6d  %s\n", n, what, bar, more)
		}
	}
	lines, wide := r.lines()
	measured("lines", lines, maxLines, "(written by hand, without tests)")
	measured("lines that are too wide", wide, 0, "")
	files, methods := packageSizes(t)
	name := largest(files)
	measured("files in a package", files[name], maxFiles, name)
	name = largest(methods)
	measured("methods of a type", methods[name], maxMethods, name)
	steps, places := r.fieldExample()
	measured("places for a new field of every material", steps, maxFieldSteps, "(CONTRIBUTING.md)")
	measured("files for it, without generated ones", places, maxFieldFiles, "")
	found := traces(t, r.read("docs/architecture.md"))
	for _, title := range slices.Sorted(maps.Keys(found)) {
		name, _, _ := strings.Cut(title, ":")
		measured("files that it passes: "+name, tracedFiles(found[title]), maxTraced[name], "")
	}
	if os.Getenv("HOUSE") != "" { // otherwise other tests count the words
		measured("words that the glossary rules out", len(r.unusedWordsFound(t)), 0, "")
		_, last, _ := strings.Cut(r.read("docs/benchmarks.md"), "\n## The house\n")
		last, _, _ = strings.Cut(last, "\n## ")
		fmt.Println(strings.TrimSpace(last))
	}
}

func largest(counted map[string]int) string {
	return slices.MaxFunc(slices.Collect(maps.Keys(counted)), func(a, b string) int { return counted[a] - counted[b] })
}

// lines counts the lines that people wrote in Go files without tests, and those that are too wide.
func (r repository) lines() (all, wide int) {
	for name := range r.files {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".gen.go") {
			continue
		}
		for line := range strings.Lines(r.read(name)) {
			all++
			if utf8.RuneCountInString(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")) > maxLineWidth {
				wide++
			}
		}
	}
	return all, wide
}

var exampleStep = regexp.MustCompile("(?m)^\\d\\. In `([^`]+)`")

// fieldExample counts the steps of the worked example of CONTRIBUTING.md, and the files that they name.
func (r repository) fieldExample() (steps, files int) {
	_, example, _ := strings.Cut(r.read("CONTRIBUTING.md"), "\n## A worked example")
	example, _, _ = strings.Cut(example, "\n## ")
	named := map[string]bool{}
	for _, found := range exampleStep.FindAllStringSubmatch(example, -1) {
		steps++
		named[found[1]] = true
	}
	return steps, len(named)
}
