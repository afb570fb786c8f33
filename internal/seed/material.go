package seed

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
)

// topic is what one material is about.
type topic struct {
	dice
	number   int
	organism []string
	line     []string
	fixed    map[string]string // what was said once is said again
}

// name returns the word that the topic has from the list of that name.
func (t *topic) name(key string) string {
	if w, said := t.fixed[key]; said {
		return w
	}
	var w string
	switch key {
	case "organism":
		w = t.organism[0]
	case "animal":
		w = t.organism[2]
	case "line":
		w = t.line[0]
	case "tag", "backbone":
		w = t.word(key + "s")
	case "host":
		w = t.word("antibodies")
	case "number":
		w = strconv.Itoa(t.number + 1)
	case "n": // any number, another each time
		return strconv.Itoa(2 + t.IntN(48))
	default: // gene, gene2, technique, ...
		w = t.word(strings.TrimRight(key, "23") + "s")
	}
	t.fixed[key] = w
	return w
}

// say fills a template and begins it with a capital letter.
func (t *topic) say(template string) string {
	text := say(template, t.name)
	return strings.ToUpper(text[:1]) + text[1:]
}

// Draw fills the {names} of a template, such as "{gene} {disease}", with words of the vocabulary as materials
// have them: for the same number the same ones.
func Draw(template string, number int) string {
	t := &topic{dice: newDice(), number: number, fixed: map[string]string{}}
	t.of(aQuery, number)
	t.organism, t.line = t.any("organisms"), t.any("lines")
	return say(template, t.name)
}

// material generates a material; everything about it follows from its number.
func (m *maker) material(number int) material.Material {
	m.of(aMaterial, number)
	lab := m.zipf(m.labs)
	made := at(number, m.Materials)
	x := material.Material{
		ID: int64(number + 1), OrganizationID: int64(lab + 1), ContactID: personID(lab*seats + m.IntN(members(lab))),
		NeedsMTA: m.of100(45), NeedsIRB: m.of100(6), NeedsAbstract: m.of100(20), Archived: m.of100(2),
		CreatedAt: made, UpdatedAt: made,
	}
	if m.of100(40) {
		x.UpdatedAt = made.Add(time.Duration(m.Int64N(int64(end.Sub(made))))).Truncate(time.Second)
	}
	if x.NeedsMTA && m.of100(50) {
		x.MTAAttachmentID = new(int64(lab*papers + blankMTA))
	}
	if m.of100(60) {
		x.ShippingID = new(int64(lab + 1))
	}
	if m.of100(30) {
		x.Reference = new(fmt.Sprintf("%s-%d", one(m.dice, "Box", "LN2", "Freezer", "Shelf"), number+1))
	}
	if m.of100(1) {
		x.EmbargoDate = new(exchange.Date(fmt.Sprintf("20%02d-%02d-01", 40+m.IntN(10), 1+m.IntN(12))))
	}
	t := &topic{dice: m.dice, number: number, organism: m.any("organisms"), fixed: map[string]string{}}
	kind := kinds[kindOf[m.IntN(100)]]
	x.Category = kind.category
	meta := kind.describe(t, &x)
	x.Organisms = []string{t.organism[0]}
	if t.of100(55) {
		x.AdditionalInfo = new(t.some(notes, 1+t.IntN(2)))
	}
	if t.of100(55) {
		m.publish(&x, t)
	}
	raw, err := category.Encode(meta)
	if err != nil {
		panic(err) // texts and numbers always encode
	}
	x.Metadata = raw
	return x
}

// some returns n of the sentences.
func (t *topic) some(sentences []string, n int) string {
	list := make([]string, n)
	first := t.IntN(len(sentences))
	for i := range list {
		list[i] = t.say(sentences[(first+i)%len(sentences)])
	}
	return strings.Join(list, " ")
}

// publish draws a publication, which other materials may have too.
func (m *maker) publish(x *material.Material, t *topic) {
	number := t.IntN(m.Materials/3 + 1)
	t.of(aPublication, number)
	about := &topic{dice: t.dice, number: number, organism: m.any("organisms"), fixed: map[string]string{}}
	title := about.say(one(t.dice, publications...))
	year := 2008 + t.IntN(18)
	journal := one(t.dice, "Cell Rep", "Nat Commun", "eLife", "J Biol Chem", "PLoS One", "Nucleic Acids Res",
		"Mol Cell", "J Neurosci", "Cancer Res", "Development")
	x.PublicationTitle, x.PubMedID = &title, strconv.Itoa(18_000_000+number)
	x.Citation = new(fmt.Sprintf("%s %c, %s %c, et al. %s. %s. %d;%d:%d.", t.word("family"), 'A'+rune(t.IntN(26)),
		t.word("family"), 'A'+rune(t.IntN(26)),
		title, journal, year, year-1990, 100+t.IntN(9000)))
	if t.of100(25) {
		x.PrePrintDOI = new(fmt.Sprintf("10.1101/%d.%02d.%02d.%06d", max(year, 2020), 1+t.IntN(12), 1+t.IntN(28),
			number))
		x.PrePrintTitle = &title
	}
}
