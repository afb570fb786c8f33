// Package fulltext turns text into the tokens that a search compares: words without case, accents, endings and hyphens,
// and the forms in which a query asks for them. Both databases index these tokens unchanged, so that they return the
// same hits.
package fulltext

// Weight is how much a word in a field says about an object.
type Weight int

// The weights, lowest first.
const (
	Body  Weight = iota // abstract, description, anything long
	About               // publication, organization
	Name                // organism, disease, other names, identifiers as text
	Title
)

// Field is one text of an object.
type Field struct {
	Weight Weight
	Text   string
}

// Doc is what the index stores of an object.
type Doc struct {
	// Tokens are the tokens that the index stores, in order. A word is a token of letters and digits and counts one
	// position. Gap separates fields; it is not a token, and prevents phrases from matching across fields. A mark
	// begins with one of "=~^#@", has no position, comes after all words, and occurs once.
	Tokens []string
	// Weights holds for Query.Score the fields in which words occur: opaque, and short, since it has only words above
	// Body.
	Weights string
}

// Gap separates the tokens of two fields.
const Gap = ""

// The first characters of marks.
const (
	FacetMark = '=' // a facet and its value, see Facet
	TitleMark = '~' // a word of the title
	EdgeMark  = '^' // the beginning, of 2 to 10 letters, of a word above About
	KeyMark   = '#' // an identifier in canonical form, letters and digits only
	WholeMark = '@' // the whole title, or another whole name, its letters and digits without spaces
)

// All is a mark that every Doc has.
const All = "=all"
