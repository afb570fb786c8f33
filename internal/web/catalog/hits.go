package catalog

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/web/ui"
)

// hit is a material in a list of search results.
type hit struct {
	ID       int64
	Title    []fulltext.Piece
	Icon     string
	Kind     string
	Number   string // its number at an authority
	Species  []string
	Facts    [][]fulltext.Piece
	Lab      string
	LabID    int64
	Source   string // where it was imported from
	Needs    []need
	Status   tag
	Decides  string
	Asked    string
	Outside  string // the address of its public record elsewhere
	Record   string // the host of that record
	Snippet  []fulltext.Piece
	Found    string // the field that the snippet is from
	Archived bool
	ToBasket bool // the visitor can put it into their basket
}

// tag is a status: its tone, icon and text.
type tag struct{ Tone, Icon, Text string }

// need is one of the four icons that show what is required of a requester.
type need struct {
	On   bool
	Icon string
	Text string
}

// needsOf returns the four icons, always in the same order.
func needsOf(m material.Material, s *lab.Shipping) []need {
	slot := func(on bool, icon, yes, no string) need {
		if on {
			return need{true, icon, yes}
		}
		return need{false, "", no}
	}
	list := []need{
		slot(m.NeedsMTA, "mta", "MTA", "No MTA"), slot(m.NeedsIRB, "irb", "IRB", "No IRB"),
		slot(m.NeedsAbstract, "abstract", "Abstract", "No abstract"),
	}
	switch {
	case s == nil && m.Digital():
		return append(list, need{Text: "Nothing to ship"})
	case s == nil:
		return append(list, need{true, "pin", "Address"})
	case s.NeedsPayment:
		return append(list, need{true, "truck", "You pay shipping"})
	case s.NeedsAddress:
		return append(list, need{true, "pin", "Address"})
	}
	return append(list, need{Text: "Lab pays shipping"})
}

// statusOf returns the status of a material: whether and how it is available.
func statusOf(m material.Material, now time.Time) tag {
	switch {
	case m.Archived:
		return tag{"", "archive", "Archived"}
	case m.Embargoed(now):
		end, _ := time.Parse(time.DateOnly, string(*m.EmbargoDate))
		return tag{"turn", "lock", "Embargo to " + end.Format("2 Jan 2006")}
	}
	return tag{"good", "done", "Available"}
}

// paced returns a median time in whole days.
func paced(d time.Duration) string {
	if d < 12*time.Hour {
		return "under a day"
	}
	return ui.Days(int((d + 12*time.Hour) / (24 * time.Hour)))
}

// hitOf returns a search result as its list shows it.
func hitOf(m material.Shown, found catalog.Catalog, q fulltext.Query, now time.Time) hit {
	c, _ := category.Get(m.Category)
	h := hit{
		ID: m.ID, Icon: c.Icon, Kind: c.Label, Species: m.Organisms[:min(len(m.Organisms), 2)],
		Lab: found.Labs[m.OrganizationID].Name, LabID: m.OrganizationID,
		Status: statusOf(m.Material, now), Archived: m.Archived, Source: sourceLabel(m.Material),
	}
	var s *lab.Shipping
	if m.ShippingID != nil {
		if terms, known := found.Shipping[*m.ShippingID]; known {
			s = &terms
		}
	}
	h.Needs = needsOf(m.Material, s)
	if ids := (publish.Listing{Shown: m}).Identifiers(); len(ids) > 0 {
		h.Number = ids[0].Canonical
	}
	facts := shortFacts(c, m.Material, 3)
	for _, text := range facts {
		h.Facts = append(h.Facts, marked(q, text))
	}
	var shown map[string][]fulltext.Piece
	if !q.Empty() {
		shown = exchange.Highlights(q, m.Texts())
	}
	h.Title = shown["title"]
	if h.Title == nil {
		h.Title = []fulltext.Piece{{Text: m.Title}}
	}
	for name, pieces := range shown {
		if name != "title" && name != "organisms" && plain(pieces) != m.Title &&
			!slices.Contains(facts, plain(pieces)) {
			h.Snippet, h.Found = pieces, textLabel(c, name)
		}
	}
	if p := found.Paces[m.OrganizationID]; p.Decides() && !m.Archived {
		h.Decides = "Decides in " + paced(p.Decision)
	}
	if n := found.Asked[m.ID]; n > 0 && !m.Archived {
		h.Asked = ui.Plural(n, "request") + " in a year"
	}
	if h.Source != "" && webAddress(m.URL) {
		h.Outside, h.Record = m.URL, h.Source
	}
	return h
}

// plain returns the text of the pieces, without marks.
func plain(pieces []fulltext.Piece) string {
	text := ""
	for _, p := range pieces {
		text += p.Text
	}
	return text
}

// textLabel returns the label of the field that a match is in.
func textLabel(c category.Category, name string) string {
	if f, known := c.Field(strings.TrimPrefix(name, "additional_metadata.")); known {
		return f.Label
	}
	if name == "pre_print_title" {
		return "Pre-print"
	}
	d, _ := material.DescriptorOf(name)
	return d.Label
}

// shortFacts returns the first few facets of a material, in a few words, to tell materials apart.
func shortFacts(c category.Category, m material.Material, most int) []string {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(m.Metadata, &values) // it is stored as an object
	var facts []string
	for _, f := range c.Fields {
		if len(facts) == most {
			break
		}
		if !f.Facet && f.Key != "biosafety_level" || f.Type == category.Boolean || f.Vocabulary != "" {
			continue
		}
		text := strings.Join(labelled(f, values[f.Key]), ", ")
		if text == "" || len(text) > 60 || slices.Contains(facts, text) {
			continue
		}
		if f.Key == "biosafety_level" {
			text = "biosafety " + strings.ToLower(text)
		}
		facts = append(facts, text)
	}
	return facts
}

// labelled returns the values of a field with their labels.
func labelled(f category.Field, raw json.RawMessage) []string {
	items := category.Items(raw)
	for i, item := range items {
		if o, chosen := f.Option(item); chosen {
			items[i] = o.Label
		} else if f.Type == category.Boolean {
			items[i] = map[bool]string{true: "Yes", false: "No"}[strings.EqualFold(item, "true") ||
				strings.EqualFold(item, "yes")]
		}
	}
	return items
}

// sourceLabel returns the name of the source that a material was imported from.
func sourceLabel(m material.Material) string {
	if !m.Imported {
		return ""
	}
	if m.ImportSource == material.SourceProtocols {
		return "protocols.io"
	}
	return m.ImportSource
}

// webAddress reports whether a text is an address that a link may have.
func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

// idLink is an identifier with the address of its record.
type idLink struct {
	Kind, Text, Address string
}

func linkOf(id identifier.ID) idLink {
	l := idLink{Kind: id.Kind.Label(), Text: id.Canonical, Address: id.Address()}
	if !webAddress(l.Address) {
		l.Address = ""
	}
	return l
}
