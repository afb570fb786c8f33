package fulltext

import (
	"slices"
	"strings"
)

// Expr is a condition on the tokens of a Doc. Exactly one of its fields is set.
type Expr struct {
	Token  string   // a word or a mark
	Phrase []string // adjacent words, at least two
	And    []Expr   // at least two
	Or     []Expr   // at least two
	But    *But
}

// But matches what matches Yes and not No.
type But struct{ Yes, No Expr }

// Match reports whether d matches e. Both databases must return the same.
func (e Expr) Match(d Doc) bool {
	switch {
	case e.Token != "":
		return slices.Contains(d.Tokens, e.Token)
	case e.Phrase != nil:
		for i := range d.Tokens {
			if i+len(e.Phrase) <= len(d.Tokens) && slices.Equal(d.Tokens[i:i+len(e.Phrase)], e.Phrase) {
				return true
			}
		}
		return false
	case e.And != nil:
		return !slices.ContainsFunc(e.And, func(e Expr) bool { return !e.Match(d) })
	case e.Or != nil:
		return slices.ContainsFunc(e.Or, func(e Expr) bool { return e.Match(d) })
	default:
		return e.But.Yes.Match(d) && !e.But.No.Match(d)
	}
}

// Size returns the number of tokens in e; each word of a phrase counts.
func (e Expr) Size() int {
	size := len(e.Phrase)
	if e.Token != "" {
		size++
	}
	for _, list := range [][]Expr{e.And, e.Or} {
		for _, sub := range list {
			size += sub.Size()
		}
	}
	if e.But != nil {
		size += e.But.Yes.Size() + e.But.No.Size()
	}
	return size
}

func token(mark rune, word string) Expr { return Expr{Token: string(mark) + word} }

func and(list []Expr) Expr {
	if len(list) == 1 {
		return list[0]
	}
	return Expr{And: list}
}

// or combines alternatives, without duplicate tokens.
func or(list []Expr) Expr {
	var different []Expr
	for len(list) > 0 {
		e := list[0]
		if list = list[1:]; e.Or != nil {
			list = append(slices.Clone(e.Or), list...)
			continue
		}
		if e.Token == "" || !slices.ContainsFunc(different, func(d Expr) bool { return d.Token == e.Token }) {
			different = append(different, e)
		}
	}
	if len(different) == 1 {
		return different[0]
	}
	return Expr{Or: different}
}

func phrase(stems []string) Expr {
	if len(stems) == 1 {
		return Expr{Token: stems[0]}
	}
	return Expr{Phrase: stems}
}

// Expr returns the condition for all hits of q, with at most MaxTokens tokens.
func (q Query) Expr() Expr { return q.but(q.wanted(false)) }

// TitleExpr returns the condition for hits by title, whole name or identifier alone: a subset of those of Expr. It
// returns false for a query without words to search for.
func (q Query) TitleExpr() (Expr, bool) {
	if len(q.want) == 0 {
		return Expr{}, false
	}
	return q.but(q.wanted(true)), true
}

// MaxTokens is the maximum Expr.Size of Query.Expr.
const MaxTokens = 1000

func (q Query) but(yes Expr) Expr {
	if len(q.deny) == 0 {
		return yes
	}
	no := make([]Expr, len(q.deny))
	for i, g := range q.deny {
		no[i] = g.expr(false)
	}
	return Expr{But: &But{yes, or(no)}}
}

// wanted returns the condition for what must match, in the title or anywhere.
func (q Query) wanted(title bool) Expr {
	if len(q.want) == 0 {
		return Expr{Token: All}
	}
	list := make([]Expr, len(q.want))
	for i, g := range q.want {
		list[i] = g.expr(title)
	}
	ways := []Expr{and(list)}
	if q.whole != "" {
		ways = append(ways, token(WholeMark, q.whole))
		if strings.ContainsAny(q.whole, "0123456789") { // as in a lab's own references
			ways = append(ways, token(KeyMark, q.whole))
		}
	}
	return or(ways)
}

func (g group) expr(title bool) Expr {
	list := make([]Expr, len(g.terms))
	for i, t := range g.terms {
		list[i] = t.expr(title)
	}
	ways := []Expr{and(list)}
	for _, key := range g.keys {
		ways = append(ways, Expr{Token: key})
	}
	if !title {
		for _, stems := range g.also {
			ways = append(ways, phrase(stems))
		}
	}
	return or(ways)
}

func (t term) expr(title bool) Expr {
	stems := stemsOf(t.parts)
	ways := []Expr{phrase(stems)}
	mark := ""
	if title {
		mark = string(TitleMark)
		var list []Expr
		for _, stem := range stems {
			list = append(list, Expr{Token: mark + stem})
		}
		if len(stems) > 1 {
			list = append(list, ways...)
		}
		ways = []Expr{and(list)}
	}
	for _, name := range append([]string{t.join}, t.names...) {
		if name != "" {
			ways = append(ways, Expr{Token: mark + Stem(name)})
		}
	}
	for _, edge := range t.edges {
		ways = append(ways, token(EdgeMark, edge))
	}
	if t.begun != "" {
		list := []Expr{token(EdgeMark, t.begun), phrase(stems[:len(stems)-1])}
		for _, stem := range stems[:len(stems)-1] {
			if title {
				list = append(list, Expr{Token: mark + stem})
			}
		}
		ways = append(ways, and(list))
	}
	return or(ways)
}
