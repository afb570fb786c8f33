package publish

import (
	"encoding/xml"
	"time"
)

// Feed is a list of materials that someone follows, newest first.
type Feed struct {
	Title    string // what is searched for
	Self     string // address of the feed, which is also its id
	Search   string // address of the same search with all results
	Listings []Listing
}

// AtomType is the content type of a feed.
const AtomType = "application/atom+xml"

type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  atomAuthor  `xml:"author"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomEntry struct {
	ID        string       `xml:"id"`
	Title     string       `xml:"title"`
	Published string       `xml:"published"`
	Updated   string       `xml:"updated"`
	Author    atomAuthor   `xml:"author"`
	Link      atomLink     `xml:"link"`
	Category  atomCategory `xml:"category"`
	Summary   string       `xml:"summary"`
}

type atomAuthor struct {
	Name string `xml:"name"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomCategory struct {
	Term  string `xml:"term,attr"`
	Label string `xml:"label,attr"`
}

// Atom writes a feed according to RFC 4287. A material's address is its id; it is updated when it changes and when its
// embargo ends. The feed has the date of its newest entry, so that it stays the same, byte for byte, until one of its
// materials changes. Characters that XML cannot hold are left out or become U+FFFD.
func Atom(f Feed) ([]byte, error) {
	feed := atomFeed{
		ID: f.Self, Title: oneLine(f.Title), Author: atomAuthor{site},
		Links: []atomLink{{"self", AtomType, f.Self}, {"alternate", "application/json", f.Search}},
	}
	newest := time.Unix(0, 0) // of an empty feed
	for _, l := range f.Listings {
		updated := l.UpdatedAt
		if l.published().After(updated) {
			updated = l.published()
		}
		if updated.After(newest) {
			newest = updated
		}
		d := l.details()
		feed.Entries = append(feed.Entries, atomEntry{
			ID: l.address(), Title: oneLine(l.Title), Published: atomTime(l.published()), Updated: atomTime(updated),
			Author: atomAuthor{oneLine(l.Organization.Name)}, Link: atomLink{Rel: "alternate", Href: l.page()},
			Category: atomCategory{d.category.Code, d.category.Label}, Summary: l.description(d),
		})
	}
	feed.Updated = atomTime(newest)
	body, err := xml.MarshalIndent(feed, "", " ")
	return append([]byte(xml.Header), append(body, '\n')...), err
}

func atomTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
