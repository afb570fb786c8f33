package fulltext

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a text that a query matches or does not.
type Piece struct {
	Text  string `json:"text"`
	Match bool   `json:"match"`
}

// span is the position of a match in a text, in bytes, with a mask of the wanted words that it matches.
type span struct {
	start, end int
	mask       uint32
}

// Highlight cuts about n letters out of text, around the best match of q, and splits them into pieces. The text is
// unchanged and not cut within words. It returns nil if nothing matches.
func (q Query) Highlight(text string, n int) []Piece {
	if q.scorer == nil || q.scorer.all == 0 {
		return nil
	}
	spans := q.scorer.spans(text)
	if len(spans) == 0 {
		return nil
	}
	from, to := window(text, spans, n)
	var pieces []Piece
	at := from
	for _, s := range spans {
		if s.start < from || s.end > to {
			continue
		}
		if s.start > at {
			pieces = append(pieces, Piece{text[at:s.start], false})
		}
		pieces = append(pieces, Piece{text[s.start:s.end], true})
		at = s.end
	}
	if at < to {
		pieces = append(pieces, Piece{text[at:to], false})
	}
	return pieces
}

// spans returns the matches in text in order, without overlaps.
func (s *scorer) spans(text string) []span {
	parts := scan(text, len(text))
	var found []span
	note := func(first, count int, mask uint32) {
		if mask != 0 {
			found = append(found, span{parts[first].start, parts[first+count-1].end, mask})
		}
	}
	for i, p := range parts {
		if !s.first[p.word[0]] {
			continue
		}
		stem := Stem(p.word)
		note(i, 1, s.aloneOrBegun(stem, p.word, p.word))
		for _, q := range s.phrases {
			if n := len(q.stems); q.stems[0] == stem && i+n <= len(parts) &&
				slices.Equal(stemsOf(parts[i:i+n]), q.stems) {
				note(i, n, q.mask)
			}
		}
	}
	for _, j := range joins(parts, true) {
		if s.first[j.word[0]] {
			note(j.first, j.count, s.aloneOrBegun(Stem(j.word), j.word, parts[j.first+j.count-1].word))
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	apart := found[:0]
	for _, f := range found {
		if n := len(apart); n > 0 && f.start < apart[n-1].end {
			apart[n-1].end = max(apart[n-1].end, f.end)
			apart[n-1].mask |= f.mask
			continue
		}
		apart = append(apart, f)
	}
	return apart
}

// aloneOrBegun returns which wanted words a word of a text matches. In a join, a matched beginning must reach into the
// last part, because the parts before it are a join themselves.
func (s *scorer) aloneOrBegun(stem, word, last string) uint32 {
	var mask uint32
	for _, m := range s.alone {
		if m.word == stem {
			mask |= m.mask
		}
	}
	for _, m := range s.edges {
		if strings.HasPrefix(word, m.word) && len(m.word) > len(word)-len(last) {
			mask |= m.mask
		}
	}
	return mask
}

// window returns the part of text, in bytes, of about n letters that matches the most different words.
func window(text string, spans []span, n int) (from, to int) {
	if utf8.RuneCountInString(text) <= n {
		return 0, len(text)
	}
	best := -1
	for i, first := range spans {
		end, mask, count := first.end, first.mask, 0
		for letters, at := 0, first.start; count < len(spans)-i; count++ {
			s := spans[i+count]
			letters, at = letters+utf8.RuneCountInString(text[at:s.end]), s.end
			if letters > n && count > 0 {
				break
			}
			end, mask = s.end, mask|s.mask
		}
		if score := bits.OnesCount32(mask)*len(text) + count; score > best {
			best, from, to = score, first.start, end
		}
	}
	spare := max(0, n-utf8.RuneCountInString(text[from:to]))
	before := spare / 3 // the text before a match is less informative
	start, end := from, to
	for ; before > 0 && start > 0; before, spare = before-1, spare-1 {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	for ; spare > 0 && end < len(text); spare-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	// Words at the ends are kept whole or left out.
	if start > 0 {
		if i := strings.IndexFunc(text[start:from], unicode.IsSpace); i >= 0 {
			start += i
		}
	}
	if end < len(text) {
		if i := strings.LastIndexFunc(text[to:end], unicode.IsSpace); i >= 0 {
			end = to + i
		}
	}
	space := len(text[start:from]) - len(strings.TrimLeftFunc(text[start:from], unicode.IsSpace))
	return start + space, end
}
