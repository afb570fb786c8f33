package publish

import "aliquot/internal/exchange/identifier"

// What the pages show of a listing.

// Identifiers returns the identifiers that authorities gave the material.
func (l Listing) Identifiers() []identifier.ID { return l.details().identifiers() }

// Address returns the permanent address of the material.
func (l Listing) Address() string { return l.address() }

// Article is a publication about the material.
type Article struct {
	Title    string
	Text     string // the citation as the lab wrote it, "" if that is the title
	Preprint bool
	IDs      []identifier.ID
}

// Articles returns the publication and the pre-print of a material, if known.
func (l Listing) Articles() []Article {
	var list []Article
	for _, a := range l.articles() {
		shown := Article{Title: a.title, Preprint: a.preprint, IDs: a.ids()}
		if a.text != a.title && !a.preprint {
			shown.Text = a.text
		}
		list = append(list, shown)
	}
	return list
}

// Reference returns the material as one would cite it in a text: its title, its lab, its listing and its address.
func (l Listing) Reference() string {
	own := l.references()[0]
	return own.title + ", " + own.author + ". " + own.note + ". " + own.url
}
