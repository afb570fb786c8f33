package publish

import (
	"fmt"
	"net/url"
	"strings"
)

// Meta is a <meta> element for reference managers and harvesters.
type Meta struct{ Name, Content string }

// Metas describes a material in the tags of Highwire Press, which reference managers and Google Scholar read, and in
// Dublin Core (DCMI Metadata Terms), the default of everything else.
func (l Listing) Metas() []Meta {
	own, d := l.references()[0], l.details()
	kind := "PhysicalObject" // DCMI Type Vocabulary
	switch d.category.Code {
	case "DATASET":
		kind = "Dataset"
	case "PROTOCOL":
		kind = "Text"
	}
	list := []Meta{
		{"citation_title", own.title}, {"citation_author", own.author}, {"citation_publisher", own.publisher},
		{"citation_publication_date", own.date.Format("2006/01/02")}, {"citation_doi", own.doi},
		{"citation_public_url", own.url},
		{"DC.title", own.title}, {"DC.creator", own.author}, {"DC.publisher", own.publisher},
		{"DC.date", day(own.date)}, {"DC.type", kind}, {"DC.description", oneLine(l.description(d))},
		{"DC.identifier", l.address()},
	}
	for _, id := range d.identifiers() {
		list = append(list, Meta{"DC.identifier", id.Canonical})
	}
	for _, organism := range l.Organisms {
		list = append(list, Meta{"citation_keywords", oneLine(organism)}, Meta{"DC.subject", oneLine(organism)})
	}
	list = append(list, Meta{"DC.rights", oneLine(d.text("license"))})
	full := list[:0]
	for _, m := range list {
		if m.Content != "" {
			full = append(full, m)
		}
	}
	return full
}

// Link is a link of an HTTP Link header (RFC 8288).
type Link struct{ Target, Relation, Type string }

// String returns the link as it stands in a Link header.
func (l Link) String() string {
	text := fmt.Sprintf("<%s>; rel=%q", headerAddress(l.Target), l.Relation)
	if l.Type != "" {
		text += fmt.Sprintf("; type=%q", l.Type)
	}
	return text
}

// headerAddress escapes what may not stand between the angle brackets of a Link header: a lab may have entered the
// address.
func headerAddress(address string) string {
	var b strings.Builder
	for _, c := range []byte(address) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`<>"\^{|}`+"`", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Links returns the links of the page of a material according to the FAIR Signposting profile, level 1
// (signposting.org/FAIR): its persistent address, the descriptions for programs, its licence, the lab that offers it,
// and its type. The author is the lab, since pages name people only where they can be asked.
func (l Listing) Links() []Link {
	d := l.details()
	cite := l.address()
	if doi := l.references()[0].doi; doi != "" {
		cite = "https://doi.org/" + (&url.URL{Path: doi}).EscapedPath()
	}
	kind := "Product"
	switch d.category.Code {
	case "DATASET":
		kind = "Dataset"
	case "PROTOCOL":
		kind = "HowTo"
	}
	list := []Link{
		{cite, "cite-as", ""},
		{l.address() + "/jsonld", "describedby", LinkedDataType},
	}
	for _, f := range Formats {
		list = append(list, Link{l.address() + "/citation?format=" + string(f), "describedby", f.MediaType()})
	}
	list = append(list,
		Link{fmt.Sprintf("%s/labs/%d", l.Site, l.OrganizationID), "author", "text/html"},
		Link{"https://schema.org/AboutPage", "type", ""}, Link{"https://schema.org/" + kind, "type", ""})
	if license := d.license(); license != "" {
		list = append(list, Link{license, "license", ""})
	}
	return list
}
