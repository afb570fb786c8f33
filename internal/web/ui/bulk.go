package ui

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// MaxInBulk is how many objects one form can change.
const MaxInBulk = 100

// BulkOutcome explains why one of many objects was not changed.
type BulkOutcome struct {
	ID   int64
	Name string // if it is in the list
	Why  string
}

// ChosenIDs returns the ids of the checked boxes of a form, each once.
func ChosenIDs(form url.Values) []int64 {
	var ids []int64
	for _, text := range form["id"] {
		if id := ParseID(text); id != nil && !slices.Contains(ids, *id) {
			ids = append(ids, *id)
		}
	}
	return ids
}

// WhyRefused explains why a use case refused; isRefusal is false for an internal error.
func WhyRefused(err error) (why string, isRefusal bool) {
	e, is := errors.AsType[*exchange.Error](err)
	if !is || e.Code == exchange.Internal {
		return "", false
	}
	if e.Code != exchange.InvalidInput {
		return e.Message, true
	}
	var texts []string
	for _, list := range e.Fields {
		texts = append(texts, list...)
	}
	slices.Sort(texts)
	return strings.Join(texts, " "), true
}
