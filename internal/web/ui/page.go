// Package ui has what every area of the pages uses: pages and forms, uploads, and how things are shown.
package ui

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app/core"
)

// Page is what every page has in addition to its own content. The server fills in the fields from Who on.
type Page struct {
	Title       string // begins with the most important fact, as "Request 4182, your turn"
	Description string // for search engines, on public pages
	// the section of the navigation: catalog, requests, lab, notifications, account, admin
	Section  string
	Narrow   bool        // one column of text
	Full     bool        // the full width of the window
	NoSearch bool        // no search in the bar: the page has its own
	Errors   FieldErrors // of the form on the page

	Who     *core.Visitor // nil: not signed in
	Theme   string        // light, dark or "": the device's
	Here    string        // the address of the page
	Note    *Note
	Now     time.Time
	Zone    *time.Location
	Version string
	Keys    bool // keyboard shortcuts are on
	// FileTypes are those of documents of requests
	FileTypes DocumentTypes
	Summary   []FieldErrorLine
}

// Content is a page that embeds Page.
type Content interface{ Frame() *Page }

// Frame returns what the page has of every page.
func (p *Page) Frame() *Page { return p }

// FieldErrors are the error texts of a form, by field.
type FieldErrors map[string][]string

// Of returns the errors of a field as one text, "" if it has none.
func (f FieldErrors) Of(field string) string { return strings.Join(f[field], " ") }

// FieldErrorLine is one field's line in the summary of errors.
type FieldErrorLine struct {
	Field, Text string
	Shown       bool // the field is on the page
	place       int
}

// InOrder returns the errors in the order of the fields on the page; those of fields that are not on it come last.
func (f FieldErrors) InOrder(page string) []FieldErrorLine {
	var list []FieldErrorLine
	for _, field := range slices.Sorted(maps.Keys(f)) {
		at := strings.Index(page, `id="f-`+template.HTMLEscapeString(field)+`"`)
		l := FieldErrorLine{Field: field, Text: f.Of(field), Shown: at >= 0, place: at}
		if !l.Shown {
			l.place = len(page)
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b FieldErrorLine) int { return cmp.Compare(a.place, b.place) })
	return list
}
