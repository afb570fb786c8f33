package publish

import "aliquot/internal/exchange/identifier"

// What pages show of a listing in words of their own.

// Identifiers are what authorities call the material.
func (l Listing) Identifiers() []identifier.ID { return l.details().identifiers() }

// Address is what the material is known by for ever.
func (l Listing) Address() string { return l.address() }

// Article is a publication about the material.
type Article struct {
	Title    string
	Text     string // the citation as the lab wrote it, "" where that is the title
	Preprint bool
	IDs      []identifier.ID
}

// Articles are the publication and the pre-print of a material, as far as they are known.
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

// Reference is the material as one would cite it in a text: what it is called and by whom, who has it, and where.
func (l Listing) Reference() string {
	own := l.references()[0]
	return own.title + ", " + own.author + ". " + own.note + ". " + own.url
}
