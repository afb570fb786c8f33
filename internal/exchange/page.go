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

// MaterialFilter narrows a list of materials; a nil field filters nothing. Its tags are the names
// of query parameters.
type MaterialFilter struct {
	Organization *int64  `query:"organization"`
	Category     *string `query:"category"`
	Archived     *bool   `query:"is_archived"`
}

// RequestFilter narrows a list of requests; a nil field filters nothing.
type RequestFilter struct {
	Material   *int64     `query:"material"`
	Status     *string    `query:"status"`
	Active     *bool      `query:"is_active"`
	Requester  *uuid.UUID `query:"requester"`
	AssignedTo *uuid.UUID `query:"assigned_to"`
}
