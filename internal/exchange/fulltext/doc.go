package fulltext

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"aliquot/internal/exchange/identifier"
)

// Lengths of the beginnings of words that are indexed, in letters.
const (
	shortestEdge = 2
	longestEdge  = 10
)

// New is the Doc of a thing: its fields; its identifiers, where one of no Kind is a name of its own
// such as a lab's reference; other names under which it is asked for whole; and its facets, each as
// "name=value".
func New(fields []Field, ids []identifier.ID, wholes, facets []string) Doc {
	b := builders.Get().(*builder)
	defer b.free()
	b.tokens = make([]string, 0, usual)
	var title string
	weighted := make([][]entry, Title+1)
	for _, f := range fields {
		parts := scan(f.Text, len(f.Text))
		if len(parts) == 0 {
			continue
		}
		b.field(f.Weight, parts, &weighted[f.Weight])
		if f.Weight == Title {
			title = whole(parts, longestWord)
		}
	}
	names := []string{title}
	for _, name := range wholes {
		if name = whole(scan(name, len(name)), longestWord); name != "" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if name != "" {
			b.mark(string(WholeMark) + name)
		}
	}
	var marks []string
	for _, id := range ids {
		marks = append(marks, keys(id)...)
	}
	for _, mark := range marks {
		b.mark(mark)
	}
	for _, facet := range facets {
		name, value, _ := strings.Cut(facet, "=")
		b.mark(Facet(name, value))
	}
	b.mark(All)
	return Doc{append(b.tokens, b.marks...), weigh(weighted, names, marks)}
}

// usual is how many tokens most things have at the most.
const usual = 512

// builder gathers the tokens of a Doc.
type builder struct {
	tokens, marks  []string
	joined, marked map[string]bool
}

// builders keep their maps, which would be half the work.
var builders = sync.Pool{New: func() any {
	return &builder{joined: map[string]bool{},
		marked: make(map[string]bool, usual)}
}}

func (b *builder) free() {
	b.tokens, b.marks = nil, nil
	clear(b.joined)
	clear(b.marked)
	builders.Put(b)
}

// field adds the words of a field, and their joins behind a gap.
func (b *builder) field(w Weight, parts []part, weighed *[]entry) {
	if len(b.tokens) > 0 {
		b.tokens = append(b.tokens, Gap)
	}
	for i, p := range parts {
		stem := Stem(p.word)
		b.tokens = append(b.tokens, stem)
		b.edges(w, stem, p.word)
		if w > Body {
			note(weighed, stem, p.word, i, 0)
		}
	}
	gap := true
	for _, j := range joins(parts, w >= Name) {
		stem := Stem(j.word)
		b.edges(w, stem, j.word)
		if w > Body {
			note(weighed, stem, j.word, j.first, j.count)
		}
		if b.joined[stem] {
			continue
		}
		b.joined[stem] = true
		if gap {
			b.tokens, gap = append(b.tokens, Gap), false
		}
		b.tokens = append(b.tokens, stem)
	}
}

// edges marks a word or join of a title, and the edges of those above About.
func (b *builder) edges(w Weight, stem, word string) {
	if w == Title {
		b.mark(string(TitleMark) + stem)
	}
	if w < Name {
		return
	}
	letters := 0
	for i := range word {
		if letters >= shortestEdge {
			b.mark(string(EdgeMark) + word[:i])
		}
		if letters == longestEdge {
			break
		}
		letters++
	}
}

func (b *builder) mark(mark string) {
	if !b.marked[mark] {
		b.marked[mark] = true
		b.marks = append(b.marks, mark)
	}
}

var facetLetters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Facet is the mark of a facet and its value, which are compared as they are: 64 bits of a hash.
func Facet(name, value string) string {
	sum := sha256.Sum256([]byte(name + "=" + value))
	return string(FacetMark) + facetLetters.EncodeToString(sum[:8])
}

// Weights are five lines: the words of title, names and the rest above Body; the whole title, a blank and the
// other whole names; the keys. A word is its stem, and behind "|" the word where it is another. A join in
// the title has before it "+", at which word it begins, and of how many it is, in digits.
const (
	titleLine = iota
	nameLine
	aboutLine
	wholeLine
	keyLine
)

// maxWeighed is how many words of one weight Doc.Weights tells of.
const maxWeighed = 64

// digits are of numbers below 64.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// An entry is a word or join of a field.
type entry struct {
	stem, word   string
	first, count int // of a join; count is 0 of a word
}

func note(entries *[]entry, stem, word string, first, count int) {
	if len(*entries) < 2*maxWeighed && first < maxWeighed && count < maxWeighed {
		*entries = append(*entries, entry{stem, word, first, count})
	}
}

func weigh(entries [][]entry, wholes, marks []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, w := range []Weight{Title, Name, About} {
		line := b.Len()
		for _, e := range entries[w] {
			if w != Title && seen[e.word] { // it counts where it weighs most
				continue
			}
			seen[e.word] = true
			if b.Len() > line {
				b.WriteByte(' ')
			}
			if w == Title && e.count > 0 {
				b.Write([]byte{'+', digits[e.first], digits[e.count]})
			}
			b.WriteString(e.stem)
			if e.word != e.stem {
				b.WriteByte('|')
				b.WriteString(e.word)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString(strings.Join(wholes, " "))
	b.WriteByte('\n')
	for i, mark := range marks {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(mark[1:])
	}
	return b.String()
}

// Spellings are the words of title and names that stand in weights: folded and with their endings, to compare a
// mistyped word with.
func Spellings(weights string) []string {
	var list []string
	lines := strings.SplitN(weights, "\n", aboutLine+1)
	for _, line := range lines[:min(len(lines), aboutLine)] {
		for entry := range strings.FieldsSeq(line) {
			if strings.HasPrefix(entry, "+") {
				continue
			}
			if _, word, ok := strings.Cut(entry, "|"); ok {
				entry = word
			}
			if utf8.ValidString(entry) && !slices.Contains(list, entry) {
				list = append(list, entry)
			}
		}
	}
	return list
}
