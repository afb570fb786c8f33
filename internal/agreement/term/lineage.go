package term

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// Relations are all relations.
var Relations = []Relation{Original, Progeny, UnmodifiedDerivative, Modification, Substance}

// Origin is one thing that a material came from: an earlier material here, as it was received by a request if there is
// one.
type Origin struct {
	Relation Relation `json:"relation"`
	Material *int64   `json:"material"`
	Request  *int64   `json:"request"`
}

// Lineage is what the lab of a material states about where it came from.
type Lineage struct {
	Origins []Origin // nil: nobody stated any; empty: the lab made it
}

// LineageStating is the body of PUT and PATCH of the lineage of a material.
type LineageStating struct {
	Origins exchange.Null[[]Origin] `json:"origins"`
}

// maxOrigins is how many things a material comes from, at most.
const maxOrigins = 20

// Patch applies p to what the lab stated until now. Whether materials and requests exist is checked later.
func (p LineageStating) Patch(stated Lineage) (Lineage, error) {
	var f exchange.FieldErrors
	const name = "origins"
	f.Rule(name, exchange.Rule{Max: maxOrigins})
	if !p.Origins.Set {
		return stated, nil
	}
	if p.Origins.Value == nil {
		return Lineage{}, nil
	}
	said := *p.Origins.Value
	if len(said) > maxOrigins {
		f.Add(name, "must be at most %d", maxOrigins)
		return stated, f.Err()
	}
	list := []Origin{}
	for i, o := range said {
		switch {
		case !slices.Contains(Relations, o.Relation):
			f.Add(name, "the relation of number %d must be one of %s", i+1, RelationList())
		case o.Material == nil && o.Request == nil:
			f.Add(name, "number %d needs the material that it comes from, or the request by which it was received", i+1)
		case !slices.ContainsFunc(list, func(other Origin) bool { return same(o, other) }):
			list = append(list, o)
		}
	}
	return Lineage{list}, f.Err()
}

// RelationList returns the codes of all relations, for people.
func RelationList() string { return strings.Join(exchange.Strings(Relations), ", ") }

// same reports whether two origins are the same thing.
func same(a, b Origin) bool {
	id := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	return id(a.Request) == id(b.Request) && (a.Request != nil || id(a.Material) == id(b.Material))
}

// Validate implements exchange.Body.
func (p LineageStating) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Lineage{})
	return exchange.FieldsOf(err)
}
