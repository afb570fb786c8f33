package exchange

import "github.com/google/uuid"

// Page is a part of a list, newest first: at most Limit rows (0: all) with ids below Before (0:
// from the newest).
type Page struct {
	Limit  int
	Before int64
}

// Part is one page of a list, the number of all rows, and where the next page begins (0: none).
type Part[T any] struct {
	Items []T
	Total int64
	Next  int64
}

// MaterialFilter narrows a list of materials; a nil field filters nothing.
type MaterialFilter struct {
	Organization *int64
	Category     *string
	Archived     *bool
}

// RequestFilter narrows a list of requests; a nil field filters nothing.
type RequestFilter struct {
	Material   *int64
	Status     *string
	Active     *bool
	Requester  *uuid.UUID
	AssignedTo *uuid.UUID
}
