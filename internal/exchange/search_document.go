package exchange

import (
	"slices"
	"strings"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
)

// SearchDocument holds the texts, identifiers and facets by which an object is found.
type SearchDocument struct {
	Doc    fulltext.Doc
	Facets []string // name=value
}

// FacetName is a field whose values a search counts.
type FacetName struct {
	Name   string
	Label  string
	Values []string // all possible values; nil: any text, unless Flag or IDs
	Flag   bool     // the values are false and true
	IDs    bool     // the values are ids
}

// DocumentBuilder collects a SearchDocument.
type DocumentBuilder struct {
	fields []fulltext.Field
	keys   []identifier.ID
	Wholes []string // names that rank higher if they are searched for as a whole
	Facets []string // name=value
}

// NamedText is the text of a field, under the field's JSON name.
type NamedText struct{ Name, Text string }

// Text adds texts of a weight.
func (x *DocumentBuilder) Text(w fulltext.Weight, texts ...string) {
	for _, text := range texts {
		if text != "" {
			x.fields = append(x.fields, fulltext.Field{Weight: w, Text: text})
		}
	}
}

// Key adds an identifier.
func (x *DocumentBuilder) Key(kind identifier.Kind, canonical string) {
	if canonical != "" {
		x.keys = append(x.keys, identifier.ID{Kind: kind, Canonical: canonical})
	}
}

// Count adds a value of a facet, cut to LineLength characters.
func (x *DocumentBuilder) Count(name, value string) {
	if r := []rune(value); len(r) > LineLength {
		value = string(r[:LineLength])
	}
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	if line := name + "=" + value; !slices.Contains(x.Facets, line) {
		x.Facets = append(x.Facets, line)
	}
}

// Document returns the document.
func (x *DocumentBuilder) Document() SearchDocument {
	return SearchDocument{fulltext.New(x.fields, x.keys, x.Wholes, x.Facets), x.Facets}
}
