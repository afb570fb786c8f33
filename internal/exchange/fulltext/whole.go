package fulltext

import "slices"

// WholeExpr asks for what is called or identified exactly so: a part of what TitleExpr finds. It is false
// for a query that is no name.
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
