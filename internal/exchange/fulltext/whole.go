package fulltext

import "slices"

// WholeExpr returns the condition for hits with exactly this name or identifier: a subset of those of TitleExpr. It
// returns false for a query that is not a name.
func (q Query) WholeExpr() (Expr, bool) {
	if q.whole == "" {
		return Expr{}, false
	}
	ways := []Expr{token(WholeMark, q.whole), token(KeyMark, q.whole)}
	if len(q.want) == 1 {
		for _, key := range slices.Compact(q.want[0].keys) {
			ways = append(ways, Expr{Token: key})
		}
	}
	return q.but(or(ways)), true
}
