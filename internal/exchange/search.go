package exchange

import (
	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// ExactUpTo is how many hits of a search are counted one by one; counts beyond are estimates and are
// said to be.
const ExactUpTo = 1_000

// MaxOffset is how many hits an offset may pass over; a cursor goes on from there.
const MaxOffset = 10_000

// Search asks for things of one kind: materials, organizations, users.
type Search struct {
	Query   fulltext.Query
	Filters map[string][]string // facet -> the values of which one must hold; no empty list
	Viewer  uuid.UUID           // uuid.Nil: anonymous
	Sort    SearchSort
	Page    SearchPage
	Facets  bool // whether they are wanted
}

// SearchSort is the order of hits; archived materials always come last.
type SearchSort string

// The orders.
const (
	ByRelevance SearchSort = ""
	ByNewest    SearchSort = "newest"
	ByUpdated   SearchSort = "updated"
	ByTitle     SearchSort = "title"
)

// SearchPage is which part of the hits is wanted: those behind After, or behind the first Offset.
type SearchPage struct {
	Limit  int
	Offset int // at most MaxOffset
	After  *SearchPosition
}

// SearchPosition is the place of a hit in the order of a search; opaque outside of the store.
type SearchPosition struct {
	Offset int    // how many hits are before, and with it
	Token  string // what the store needs to go on
}

// Found is a part of what a search found.
type SearchResult[T any] struct {
	Items       []T
	Count       int64
	Facets      map[string]Facet
	Approximate []string // what is an estimate: "count", or the name of a facet
	Next        *SearchPosition
}

// Facet counts the hits by their values of one field; its own filter does not narrow it.
type Facet struct {
	Values map[string]int64 // the most frequent, and those that are filtered by
	More   int              // how many values are left out
}

// Suggestion is a thing that someone who types may look for.
type Suggestion struct {
	Text string // its title or name
	Kind string // "material" or "organization"
	ID   int64
}
