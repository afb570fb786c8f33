package exchange

import (
	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// ExactUpTo is the number of hits up to which a search reads all of them, so that its facets are counted exactly;
// beyond it, the counts of facets are estimates and marked as such.
const ExactUpTo = 1_000

// ExactIn is how many materials or organizations an installation may have for all searches to be counted exactly.
const ExactIn = 10_000

// MaxOffset is how many hits an offset can skip; beyond that, use a cursor.
const MaxOffset = 10_000

// Search is a search for objects of one kind: materials, organizations, users.
type Search struct {
	Query   fulltext.Query
	Filters map[string][]string // facet -> values of which one must match; no list is empty
	Viewer  uuid.UUID           // uuid.Nil: anonymous
	Sort    SearchSort
	Page    SearchPage
	Facets  bool // whether facets are returned
	Sharing bool // of organizations, those that people know of; see search.SharingLabs
	// CountAll asks for the exact number of hits, however many there are.
	CountAll bool
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

// SearchPage is which part of the hits to return: those behind After, or those behind the first Offset.
type SearchPage struct {
	Limit  int
	Offset int // at most MaxOffset
	After  *SearchPosition
}

// SearchPosition is the position of a hit in the order of a search; opaque outside of the store.
type SearchPosition struct {
	Offset int    // number of hits up to and including this one
	Token  string // what the store needs to continue
}

// SearchResult is one page of the results of a search.
type SearchResult[T any] struct {
	Items       []T
	Count       Count
	Facets      map[string]Facet
	Approximate []string // the facets whose counts are estimates
	Next        *SearchPosition
}

// Facet counts the hits by their values of one field; the facet's own filter is not applied.
type Facet struct {
	Values map[string]int64 // the most frequent values, and those that are filtered by
	More   int              // number of values left out
}

// Suggestion completes what a person is typing.
type Suggestion struct {
	Text string // title or name
	Kind string // "material" or "organization"
	ID   int64
}
