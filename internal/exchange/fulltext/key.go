package fulltext

import (
	"slices"
	"strings"

	"aliquot/internal/exchange/identifier"
)

const longestKey = 255 // letters, as of an identifier

// keys returns the marks of an identifier under all its names: its letters and digits, preceded by the kind if it is a
// mere number. A name without a kind is its letters and digits alone.
func keys(id identifier.ID) []string {
	var marks []string
	for _, same := range identifier.Same(id) {
		kind := ""
		if same.Kind == "pmid" || same.Kind == "addgene" {
			kind = string(same.Kind)
		}
		mark := string(KeyMark) + kind + whole(scan(bareOf(same), longestKey), longestKey)
		if len(mark) > 1 && !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	return marks
}

// bareOf returns an identifier in the form that texts use.
func bareOf(id identifier.ID) string { return strings.TrimPrefix(id.Canonical, "RRID:") }

// Identify returns the identifiers that a text could be, in any form that people paste. A mere number may be of
// several kinds.
func Identify(text string) []identifier.ID {
	text = strings.Trim(text, "()[]{}<>,;.\"' ")
	if len(text) > longestKey || !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	var ids []identifier.ID
	for _, kind := range identifier.KindsOf(text) {
		canonical, warning, err := identifier.Parse(kind, text)
		if err != nil || warning != "" {
			continue
		}
		for _, same := range identifier.Same(identifier.ID{Kind: kind, Canonical: canonical}) {
			if !slices.Contains(ids, same) {
				ids = append(ids, same)
			}
		}
	}
	return ids
}
