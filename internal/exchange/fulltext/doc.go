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

// The lengths of the beginnings of words that are indexed, in letters.
const (
	shortestEdge = 2
	longestEdge  = 10
)

// New returns the Doc of an object from its fields; its identifiers, among which one without a Kind is a name of its
// own, such as a lab's reference; other names by which the whole object is searched for; and its facets, each as
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

// usual is the number of tokens that most objects do not exceed.
const usual = 512

// builder collects the tokens of a Doc.
type builder struct {
	tokens, marks  []string
	joined, marked map[string]bool
}

// builders is a pool, since allocating the maps would be half the work.
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

// field adds the words of a field, followed by a gap and the joins of the words.
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

// edges marks a word or join of a title, and the beginnings of those with a weight above About.
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

// Facet returns the mark of a facet value, which is compared exactly: 64 bits of a hash.
func Facet(name, value string) string {
	sum := sha256.Sum256([]byte(name + "=" + value))
	return string(FacetMark) + facetLetters.EncodeToString(sum[:8])
}

// Doc.Weights consists of five lines: the words of the title, of names, and of the other fields above Body; the whole
// title, a blank and the other whole names; the keys. A word is written as its stem, followed by "|" and the word
// itself if it differs. A join in the title is preceded by "+", the number of the word at which it begins, and its
// number of words, as digits.
const (
	titleLine = iota
	nameLine
	aboutLine
	wholeLine
	keyLine
)

// maxWeighed is how many words of one weight Doc.Weights contains.
const maxWeighed = 64

// digits are the digits of numbers below 64.
const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// entry is a word or join of a field.
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
			if w != Title && seen[e.word] { // it counts only with its highest weight
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

// Spellings returns the words of title and names in weights, folded and with their endings, to compare a mistyped word
// with.
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
