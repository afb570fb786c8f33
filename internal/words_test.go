package internal_test

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

// unusedWords are the words of the section "Words we do not use" of docs/glossary.md, with what to write instead.
func (r repository) unusedWords(t *testing.T) map[string]string {
	t.Helper()
	_, section, found := strings.Cut(r.read("docs/glossary.md"), "\n## Words we do not use\n")
	if !found {
		t.Fatal("docs/glossary.md has no section \"Words we do not use\"")
	}
	words := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "Not" {
			continue
		}
		for word := range strings.SplitSeq(cells[1], ",") {
			words[strings.TrimSpace(word)] = strings.TrimSpace(cells[2])
		}
	}
	if len(words) < 20 {
		t.Fatalf("docs/glossary.md lists %d words that are not used", len(words))
	}
	return words
}

// written reports whether people wrote the file, in our words: not those that are generated or copied.
func written(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".html", ".js", ".py", ".txtar", ".sql", ".yml", ".yaml", "":
	default:
		return false
	}
	return name != "docs/specification.md" && name != "docs/contract.md" && name != "docs/glossary.md" &&
		!strings.HasSuffix(name, ".gen.go") && name != "internal/words_test.go" &&
		!strings.HasPrefix(name, "internal/store/migration/") && // which stay as they were released
		!strings.Contains(name, "/testdata/fuzz/") &&
		!strings.Contains(name, "/recorded/") && path.Base(name) != "LICENSE"
}

// unusedWordsFound lists where the words that are not used were found, each with what to write instead.
func (r repository) unusedWordsFound(t *testing.T) (found []string) {
	t.Helper()
	words := r.unusedWords(t)
	var list []string
	for word := range words {
		list = append(list, strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s+(?://\s+)?`))
	}
	unused := regexp.MustCompile(`(?i)\b(?:` + strings.Join(list, "|") + `)\b`)
	lines := regexp.MustCompile(`\s+(?://\s+)?`)
	for name := range r.files {
		if !written(name) {
			continue
		}
		text := r.read(name)
		for _, at := range unused.FindAllStringIndex(text, -1) {
			word := strings.ToLower(lines.ReplaceAllString(text[at[0]:at[1]], " "))
			found = append(found, fmt.Sprintf("%s:%d: %q: write %q", name, strings.Count(text[:at[0]], "\n")+1, word,
				words[word]))
		}
	}
	return found
}

func TestWords_ThatTheGlossaryRulesOutAreNowhere(t *testing.T) {
	t.Parallel()
	for _, place := range readRepository(t).unusedWordsFound(t) {
		t.Error(place)
	}
}
