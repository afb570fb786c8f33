// Package fulltext turns what people write into what a search compares: words without case, accents,
// endings and hyphens, and the forms in which a query asks for them. Both databases index these tokens
// as they are, so that they find the same.
package fulltext

// Weight says how much it tells of a thing that a word stands in a field.
type Weight int

// The weights, from the least.
const (
	Body  Weight = iota // abstract, description, anything long
	About               // publication, organization
	Name                // organism, disease, other names, identifiers as text
	Title
)

// Field is one text of a thing.
type Field struct {
	Weight Weight
	Text   string
}

// Doc is what a thing is found by.
type Doc struct {
	// Tokens are what the index keeps, in order. A word is a token of letters and digits and counts one
	// position; Gap stands between fields, is no token, and keeps phrases from running across. A mark
	// begins with one of "=~^#@", has no position, comes behind all words, and stands once.
	Tokens []string
	// Weights tells Query.Score in which fields the words stand: it is opaque, and short, as only
	// words above Body are in it.
	Weights string
}

// Gap is between the tokens of two fields.
const Gap = ""

// The first letters of marks.
const (
	FacetMark = '=' // a facet and its value, see Facet
	TitleMark = '~' // a word of the title
	EdgeMark  = '^' // the beginning, of 2 to 10 letters, of a word above About
	KeyMark   = '#' // an identifier in canonical form, letters and digits only
	WholeMark = '@' // the whole title, or another whole name, its letters and digits without spaces
)

// All is the mark that every Doc has.
const All = "=all"
