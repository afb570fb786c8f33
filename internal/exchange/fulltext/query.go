package fulltext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxWords is how many words of a query count; Query.Cut reports that there were more.
const MaxWords = 32

// Query is a parsed search text. The zero Query matches everything.
type Query struct {
	Cut bool // there were more than MaxWords

	text   string
	want   []group
	deny   []group
	whole  string // letters and digits of all that is wanted; "" with a quoted phrase, which fixes their form
	scorer *scorer
}

// group is one thing to find: a term, or the terms of an identifier.
type group struct {
	terms []term
	keys  []string   // marks of the identifiers that it could be
	also  [][]string // stems of other spellings of those identifiers, adjacent
	loose bool       // it is a mere number, so it is probably none of them
}

// term is a word, a chunk of several parts, or a quoted phrase; its parts must be adjacent.
type term struct {
	parts  []part
	quoted bool
	join   string   // of a chunk
	names  []string // joins with neighbours
	edges  []string // beginnings of words that match too
	begun  string   // beginning that matches the last part, if the others match
}

// atom is the text between white space or quotes in a query.
type atom struct {
	text         string
	start        int // in bytes of the query
	quoted, deny bool
	terms        []term
}

// Parse parses what someone typed. Every text is a valid query: a word; "adjacent words", up to the end of the text if
// the second quote is missing; -word and -"words" that must not occur. Everything else is read as words and separators.
func Parse(text string) Query {
	q := Query{text: text}
	var list []atom
	left, plain := MaxWords, false // whether the words so far are wanted and not quoted
	for _, a := range atoms(text) {
		parts := scan(a.text, left+1)
		if len(parts) > left {
			parts, q.Cut = parts[:left], true
		}
		if len(parts) > 0 {
			if now := !a.quoted && !a.deny; now && plain {
				parts[0].glue = spaced
			} else {
				plain = now
			}
			left -= len(parts)
			a.terms = a.split(parts)
			list = append(list, a)
		}
		if q.Cut {
			break
		}
	}
	q.whole = wholeOf(list)
	name(list)
	complete(list)
	leaveOut(list)
	for i := 0; i < len(list); {
		g, n := recognize(list[i:])
		if list[i].deny {
			q.deny = append(q.deny, g...)
		} else {
			q.want = append(q.want, g...)
		}
		i += n
	}
	q.scorer = newScorer(q)
	return q
}

// Empty reports whether the query has no terms, so that it matches everything.
func (q Query) Empty() bool { return len(q.want)+len(q.deny) == 0 }

// atoms splits a query.
func atoms(text string) []atom {
	var list []atom
	for i := 0; i < len(text); {
		if r, size := utf8.DecodeRuneInString(text[i:]); unicode.IsSpace(r) {
			i += size
			continue
		}
		var a atom
		for i < len(text) && text[i] == '-' {
			a.deny = true
			i++
		}
		end, isEnd := len(text), unicode.IsSpace
		if r, size := utf8.DecodeRuneInString(text[i:]); isQuote(r) {
			a.quoted, isEnd = true, isQuote
			i += size
		}
		next := end
		if n := strings.IndexFunc(text[i:], isEnd); n >= 0 {
			end, next = i+n, i+n
			if a.quoted {
				_, size := utf8.DecodeRuneInString(text[end:])
				next += size
			}
		}
		a.text, a.start = text[i:end], i
		list = append(list, a)
		i = next
	}
	return list
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' }

// split returns the terms of a: a phrase, or its chunks.
func (a atom) split(parts []part) []term {
	for i := range parts {
		parts[i].start += a.start
		parts[i].end += a.start
	}
	if a.quoted {
		return []term{{parts: parts, quoted: true}}
	}
	var list []term
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].glue >= parted && parts[n].glue == parts[1].glue {
			n++
		}
		t := term{parts: parts[:n:n]}
		if n > 1 && parts[1].glue == parted {
			t.join = whole(t.parts, longestWord)
		}
		list, parts = append(list, t), parts[n:]
	}
	return list
}

// wholeOf returns the letters and digits of all that is wanted.
func wholeOf(list []atom) string {
	var parts []part
	for _, a := range list {
		if a.quoted && !a.deny {
			return ""
		}
		for _, t := range a.terms {
			if !a.deny {
				parts = append(parts, t.parts...)
			}
		}
	}
	return whole(parts, longestWord)
}

// name adds the names that adjacent terms could form together, as in SK BR 3.
func name(list []atom) {
	var parts []part
	var of []*term // term of each part
	for _, a := range list {
		for i := range a.terms {
			if a.quoted || a.deny {
				continue
			}
			parts = append(parts, a.terms[i].parts...)
			for range a.terms[i].parts {
				of = append(of, &a.terms[i])
			}
		}
	}
	for _, j := range joins(parts, true) {
		last := j.first + j.count - 1
		if of[j.first] == of[last] {
			continue // the term already has this join
		}
		for i := j.first; i <= last; i++ {
			t := of[i]
			starts := i == 0 || of[i-1] != t
			if starts && i+len(t.parts)-1 <= last {
				t.names = append(t.names, j.word)
			}
		}
	}
}

// complete lets the last word match as the beginning of a word, if it has at least 2 letters.
func complete(list []atom) {
	if len(list) == 0 {
		return
	}
	a := list[len(list)-1]
	if a.quoted || a.deny {
		return
	}
	t := &a.terms[len(a.terms)-1]
	last, several := t.parts[len(t.parts)-1].word, len(t.parts) > 1
	for _, word := range append([]string{last, t.join}, t.names...) {
		if edge := edgeOf(word); edge != "" && (!several || word != last) {
			t.edges = append(t.edges, edge)
		}
	}
	if several && t.join != "" && edgeOf(t.join) == "" {
		t.begun = edgeOf(last)
	}
}

// edgeOf returns the indexed beginning for a word; "" if there is none. Many long names with digits begin alike, so
// these are not cut.
func edgeOf(word string) string {
	edge := cut(word, longestEdge)
	if utf8.RuneCountInString(edge) < shortestEdge || edge != word && strings.ContainsAny(word, "0123456789") {
		return ""
	}
	return edge
}

// leaveOut removes the wanted words that carry no meaning, unless there are no others. "A 549" is a name, so a single
// letter is kept if it could be part of one.
func leaveOut(list []atom) {
	says := func(t term) bool {
		word := t.parts[0].word
		return t.quoted || len(t.parts) > 1 || !stops[word] || len(word) == 1 && len(t.names) > 0
	}
	if !slices.ContainsFunc(list, func(a atom) bool { return !a.deny && slices.ContainsFunc(a.terms, says) }) {
		return
	}
	for i := range list {
		if !list[i].deny {
			list[i].terms = slices.DeleteFunc(list[i].terms, func(t term) bool { return !says(t) })
		}
	}
}

// recognize makes groups of the first atoms and returns how many atoms it used: one, or several that form an identifier
// together, as in "PMID: 13052828" and "Addgene plasmid 12260".
func recognize(list []atom) ([]group, int) {
	const longestKind, maxAtoms = 8, 3
	first, text := list[0], list[0].text
	for n := 1; n <= min(len(list), maxAtoms); n++ {
		if n > 1 {
			if a := list[n-1]; first.quoted || first.deny || a.quoted || a.deny || len(first.text) > longestKind {
				break
			}
			text += " " + list[n-1].text
		}
		if ids := Identify(text); len(ids) > 0 {
			g := group{loose: strings.Trim(text, "0123456789") == ""}
			for _, a := range list[:n] {
				g.terms = append(g.terms, a.terms...)
			}
			spellings := [][]string{stemsOf(g.parts())}
			for _, id := range ids {
				g.keys = append(g.keys, keys(id)...)
				stems := stemsOf(scan(bareOf(id), MaxWords))
				if !slices.ContainsFunc(spellings, func(s []string) bool { return slices.Equal(s, stems) }) {
					spellings = append(spellings, stems)
				}
			}
			g.also = spellings[1:]
			slices.Sort(g.keys)
			g.keys = slices.Compact(g.keys)
			return []group{g}, n
		}
	}
	var groups []group
	for _, t := range first.terms {
		groups = append(groups, group{terms: []term{t}})
	}
	return groups, 1
}

func (g group) parts() []part {
	var parts []part
	for _, t := range g.terms {
		parts = append(parts, t.parts...)
	}
	return parts
}

func stemsOf(parts []part) []string {
	stems := make([]string, len(parts))
	for i, p := range parts {
		stems[i] = Stem(p.word)
	}
	return stems
}
