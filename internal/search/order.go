package search

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
)

// cursor is the position of a hit in the order of its search, which exchange.SearchPosition.Token encodes.
type cursor struct {
	Section int   `json:"s,omitempty"` // of the walk by relevance, from 1; 0 is all hits, where they are few
	From    int64 `json:"f,omitempty"` // the block of ranks that it is in
	Until   int64 `json:"u,omitempty"`
	Score   int   `json:"p,omitempty"`
	Rank    int64 `json:"r"`

	Archived bool   `json:"a,omitempty"` // of hits that are sorted by Key
	Key      string `json:"k,omitempty"`
}

// position is what the next page begins behind.
func (s cursor) position(p exchange.SearchPage, n int) (*exchange.SearchPosition, error) {
	token, err := json.Marshal(s)
	before := p.Offset
	if p.After != nil {
		before = p.After.Offset
	}
	return &exchange.SearchPosition{Offset: before + n, Token: base64.RawURLEncoding.EncodeToString(token)}, err
}

// startOf is the spot that a page is behind, nil for the beginning.
func startOf(p exchange.SearchPage) (*cursor, error) {
	if p.After == nil {
		return nil, nil //nolint:nilnil // no spot is no error
	}
	s := &cursor{}
	token, err := base64.RawURLEncoding.DecodeString(p.After.Token)
	if err == nil {
		err = json.Unmarshal(token, s)
	}
	if err != nil || strings.Contains(s.Key, "\x00") || s.Section < 0 || s.Section > 2*kinds || s.From < 0 ||
		s.Until < s.From {
		return nil, wrongCursor()
	}
	return s, nil
}

func wrongCursor() error {
	var f exchange.FieldErrors
	f.Add("cursor", "must be one from an earlier response")
	return f.Err()
}

// The kinds of hits that a walk through more of them than are counted goes to one after the other; first
// through all that are not archived.
const (
	wholes = iota // by name or identifier
	titles        // others by title
	others
	kinds
)

// relevant gives hits by relevance: those that are few as a whole; more of them section by section and,
// in each, block by block of as many as a sample has.
func (f finder) relevant(ctx context.Context, s exchange.Search, at *cursor, counted tally) ([]ranked, error) {
	skip, want := 0, s.Page.Limit+1
	if at == nil {
		skip, at = s.Page.Offset, &cursor{Section: 1, Rank: -1}
		if !counted.sampled {
			at.Section = 0
		}
	}
	var list []ranked
	last := 2 * kinds
	if at.Section == 0 {
		last = 0
	}
	for n := at.Section; n <= last; n++ {
		e, from, until, is := f.section(s, n)
		if n == at.Section {
			from = max(from, at.From)
		}
		for is && from < until && len(list) < want+skip {
			block, end, err := f.block(ctx, e, from, until, n, at, counted)
			if err != nil {
				return nil, err
			}
			sorted := f.scored(s.Query, block, cursor{Section: n, From: from, Until: end})
			if n == at.Section && from == at.From && at.Rank >= 0 {
				behind := ranked{rank: at.Rank, spot: *at}
				sorted = slices.DeleteFunc(sorted, func(r ranked) bool { return f.compare(r, behind) <= 0 })
			}
			list = append(list, sorted...)
			from = end
		}
	}
	list = list[min(skip, len(list)):]
	return list[:min(want, len(list))], nil
}

// section is what to ask for in a section, and where; false where it is empty.
func (f finder) section(s exchange.Search, n int) (e fulltext.Expr, from, until int64, is bool) {
	filters := filtered(s.Filters, "")
	if n == 0 {
		return and(s.Query.Expr(), filters), 0, f.end(), true
	}
	half := f.end() / 2
	from, until = 0, half
	if n > kinds {
		from, until = half, f.end()
	}
	whole, hasWhole := s.Query.WholeExpr()
	title, hasTitle := s.Query.TitleExpr()
	switch (n - 1) % kinds {
	case wholes:
		return and(whole, filters), from, until, hasWhole
	case titles:
		return and(but(title, whole, hasWhole), filters), from, until, hasTitle
	}
	return and(but(s.Query.Expr(), title, hasTitle), filters), from, until, true
}

// but asks for what yes finds and not no, where there is a no.
func but(yes, no fulltext.Expr, is bool) fulltext.Expr {
	if !is {
		return yes
	}
	return fulltext.Expr{But: &fulltext.But{Yes: yes, No: no}}
}

// block reads the hits that are scored together, and where the next ones begin. A block that a page ended
// in keeps its end, so that nothing comes twice when there are more meanwhile.
func (f finder) block(ctx context.Context, e fulltext.Expr, from, until int64, section int, at *cursor,
	counted tally) ([]hit, int64, error) {
	if section == 0 && !counted.sampled {
		return counted.hits, until, nil
	}
	most := (f.DB.Sampling.Sampled + 1) / 2
	if section == 0 {
		most = f.DB.Sampling.ExactUpTo
	}
	if section == at.Section && from == at.From && at.Until > from {
		until, most = min(until, at.Until), 2*most
	}
	hits, err := f.hits(ctx, e, from, until, most)
	if err == nil && len(hits) == most && section > 0 {
		until = hits[most-1].rank + 1
	}
	return hits, until, err
}

// scored puts the hits of a block, whose spot it is given, in order.
func (f finder) scored(q fulltext.Query, block []hit, at cursor) []ranked {
	list := make([]ranked, len(block))
	for i, h := range block {
		list[i] = ranked{rank: h.rank, spot: at}
		list[i].spot.Score, list[i].spot.Rank = q.Score(h.weights), h.rank
	}
	slices.SortFunc(list, f.compare)
	return list
}

// compare orders the hits of one block: archived last, the best first.
func (f finder) compare(a, b ranked) int {
	return cmp.Or(cmp.Compare(a.rank>>f.bits, b.rank>>f.bits), cmp.Compare(b.spot.Score, a.spot.Score),
		cmp.Compare(a.rank, b.rank))
}
