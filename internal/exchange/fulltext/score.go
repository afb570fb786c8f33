package fulltext

import (
	"math/bits"
	"strings"
)

// scorer is a query prepared to be compared with many objects. Each bit of a mask is one wanted word.
type scorer struct {
	exact, edges []matcher
	alone        []matcher // those of exact that match without others next to them
	phrases      []sequence
	first        [256]bool // first bytes of the words that match
	all          uint32
	whole        string
	keys         []string // without their marks
}

type matcher struct {
	word string
	mask uint32
}

// sequence is a list of adjacent words.
type sequence struct {
	stems []string
	mask  uint32
}

func newScorer(q Query) *scorer {
	s := &scorer{whole: q.whole}
	if q.whole != "" {
		s.keys = append(s.keys, q.whole)
	}
	next := 0
	for _, g := range q.want {
		for _, t := range g.terms {
			var mask uint32
			stems := stemsOf(t.parts)
			for _, stem := range stems {
				s.add(&s.exact, stem, 1<<next)
				mask |= 1 << next
				next++
			}
			s.all |= mask
			if len(stems) > 1 {
				s.phrases = append(s.phrases, sequence{stems, mask})
			} else {
				s.add(&s.alone, stems[0], mask)
			}
			for _, name := range append([]string{t.join}, t.names...) {
				if name != "" {
					s.add(&s.exact, Stem(name), mask)
					s.add(&s.alone, Stem(name), mask)
				}
			}
			for _, edge := range t.edges {
				s.add(&s.edges, edge, mask)
			}
			if t.begun != "" {
				s.add(&s.edges, t.begun, 1<<(next-1))
			}
		}
		if !g.loose || len(q.want) == 1 {
			for _, key := range g.keys {
				s.keys = append(s.keys, key[1:])
			}
		}
	}
	return s
}

func (s *scorer) add(list *[]matcher, word string, mask uint32) {
	s.first[word[0]] = true
	if strings.IndexByte("aeo", word[0]) >= 0 { // British spelling: oestrogen, aetiology
		s.first['a'], s.first['e'], s.first['o'] = true, true, true
	}
	for i := range *list {
		if m := &(*list)[i]; m.word == word {
			m.mask |= mask
			return
		}
	}
	*list = append(*list, matcher{word, mask})
}

// The components of a score, each higher than all that follow: an identifier or whole name matches; the title has all
// words; the weights of the words; the share of the title that matches.
const (
	wholeScore  = 1_000_000_000
	titleScore  = 100_000_000
	weightScore = 1_000 // multiplied by at most MaxWords times 16
)

// Score returns how well a hit with these Doc.Weights matches q: higher is better. Scores of different queries are not
// comparable.
func (q Query) Score(weights string) int {
	s := q.scorer
	if s == nil || s.all == 0 {
		return 0
	}
	var titled, near, named, begun, told, half uint32
	line, rest, _ := strings.Cut(weights, "\n")
	titled, near, share := s.title(line)
	line, rest, _ = strings.Cut(rest, "\n")
	named, begun = s.line(line)
	line, rest, _ = strings.Cut(rest, "\n")
	told, half = s.line(line)
	score := share
	if s.all&^(titled|near) == 0 {
		score += titleScore
	}
	left := s.all
	for _, w := range [...]struct {
		mask uint32
		each int
	}{{titled, 16}, {near, 15}, {named, 8}, {begun, 7}, {told, 4}, {half, 3}, {s.all, 2}} {
		score += bits.OnesCount32(left&w.mask) * w.each * weightScore
		left &^= w.mask
	}
	return score + s.wholes(rest)*wholeScore
}

// line returns which words occur in a line of weights, and which may be the beginning of one.
func (s *scorer) line(line string) (exact, edge uint32) {
	for len(line) > 0 {
		var entry string
		entry, line, _ = strings.Cut(line, " ")
		e, b := s.entry(entry)
		exact, edge = exact|e, edge|b
	}
	return exact, edge
}

// title is like line for a title; share is how much of the title the words make up, from 0 to 999.
func (s *scorer) title(line string) (exact, edge uint32, share int) {
	var covered uint64
	total := 0
	for len(line) > 0 {
		var entry string
		entry, line, _ = strings.Cut(line, " ")
		at := uint64(1) << total
		begins := at
		if len(entry) > 3 && entry[0] == '+' {
			count, first := number(entry[2]), number(entry[1])
			begins, at = 1<<first, (1<<count-1)<<first
			entry = entry[3:]
		} else {
			total++
		}
		e, b := s.entry(entry)
		if e != 0 {
			covered |= at
		} else if b != 0 {
			covered |= begins
		}
		exact, edge = exact|e, edge|b
	}
	if total > 0 {
		share = 999 * bits.OnesCount64(covered) / total
	}
	return exact, edge, share
}

func number(digit byte) int { return max(0, strings.IndexByte(digits, digit)) }

func (s *scorer) entry(entry string) (exact, edge uint32) {
	if entry == "" || !s.first[entry[0]] {
		return 0, 0
	}
	stem, word := entry, entry
	if i := strings.IndexByte(entry, '|'); i >= 0 {
		stem, word = entry[:i], entry[i+1:]
	}
	for i := range s.exact {
		if s.exact[i].word == stem {
			exact |= s.exact[i].mask
		}
	}
	for i := range s.edges {
		if strings.HasPrefix(word, s.edges[i].word) {
			edge |= s.edges[i].mask
		}
	}
	return exact, edge
}

// wholes returns how certainly the object is the one searched for: 4 for its identifier, 2 for its title, 1 for another
// name.
func (s *scorer) wholes(lines string) int {
	n := 0
	names, keys, _ := strings.Cut(lines, "\n")
	title, names, _ := strings.Cut(names, " ")
	if s.whole != "" && title == s.whole {
		n += 2
	}
	if s.whole != "" && contains(names, s.whole) {
		n++
	}
	for _, key := range s.keys {
		if contains(keys, key) {
			return n + 4
		}
	}
	return n
}

// contains reports whether word is in a list separated by blanks.
func contains(list, word string) bool {
	for len(list) > 0 {
		var entry string
		if entry, list, _ = strings.Cut(list, " "); entry == word {
			return true
		}
	}
	return false
}
