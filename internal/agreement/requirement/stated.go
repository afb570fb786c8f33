package requirement

import (
	"slices"

	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/identifier"
)

// Nothing is how bodies and answers say that a fact is unknown.
const Nothing = "UNKNOWN"

var (
	answers = []string{Nothing, string(Yes), string(No)}
	humans  = []string{Nothing, string(NotHuman), string(HumanAnonymised), string(HumanIdentifiable)}
	levels  = []string{Nothing, string(NoBSL), string(BSL1), string(BSL2), string(BSL3), string(BSL4)}
)

// FactFields are the facts with one value, in the order of answers. A value that is empty is unknown.
var FactFields = []field.Descriptor[Facts]{
	oneOf("human_derived", "HumanOrigin", humans, func(f *Facts) *string { return (*string)(&f.Human) },
		"Of human origin", "Whether it derives from a person, and whether the donor can be identified."),
	yesNo("consent_allows", func(f *Facts) *Answer { return &f.ConsentAllows },
		"Consent allows the transfer", "Whether the donor’s consent allows it to be passed on."),
	yesNo("live_animal", func(f *Facts) *Answer { return &f.LiveAnimal },
		"Live animals", "Whether live vertebrates or their embryos are sent."),
	yesNo("genetically_modified", func(f *Facts) *Answer { return &f.GeneticallyChanged },
		"Genetically modified", "Whether it is genetically modified, or contains what is."),
	oneOf("bsl", "BiosafetyLevel", levels, func(f *Facts) *string { return (*string)(&f.BSL) },
		"Biosafety level", "At which it is handled; NONE for what needs none, such as data."),
	yesNo("select_agent", func(f *Facts) *Answer { return &f.SelectAgent },
		"Select agent", "Whether it is a select agent or toxin (42 CFR 73)."),
	yesNo("plant_genetic_resource", func(f *Facts) *Answer { return &f.PlantTreaty },
		"Plant under the Treaty", "Whether it is a plant genetic resource of the multilateral system of the "+
			"International Treaty."),
	{Name: "origin_country", At: func(f *Facts) any { return &f.Origin }, Canonical: identifier.Country,
		Format: "country", Examples: []string{"BR"}, Label: "Country of origin",
		Help: "Where the genetic resource was accessed: a name or a code, such as Brazil or BR; empty: unknown."},
	{Name: "accessed_on", At: func(f *Facts) any { return &f.Accessed }, Label: "Accessed on",
		Help: "The day on which it was accessed there, which decides whether the Nagoya Protocol applies."},
	yesNo("export_class", func(f *Facts) *Answer { return &f.ExportControlled },
		"Controlled for export", "Whether it is on a list of goods that need a licence to leave a country."),
	yesNo("proprietary", func(f *Facts) *Answer { return &f.Proprietary },
		"Proprietary", "Whether the institution has rights to it that it protects, such as a patent."),
	yesNo("for_profit_use", func(f *Facts) *Answer { return &f.ForProfitUse },
		"For companies too", "Whether companies may get it."),
}

// oneOf describes a field that is one of some values. That it is unknown is stored as an empty text.
func oneOf[T any](name, enumeration string, values []string, at func(*T) *string, label,
	help string) field.Descriptor[T] {
	d := field.OneOf(field.Descriptor[T]{Name: name, Label: label, Help: help}, enumeration, values, at)
	set := d.Set
	d.Set = func(f *exchange.FieldErrors, slot any, o *T) {
		if set(f, slot, o); *at(o) == Nothing {
			*at(o) = ""
		}
	}
	return d
}

func yesNo(name string, at func(*Facts) *Answer, label, help string) field.Descriptor[Facts] {
	return oneOf(name, "FactAnswer", answers, func(f *Facts) *string { return (*string)(at(f)) }, label, help)
}

// textAt returns the value of a fact.
func textAt(d *field.Descriptor[Facts], f *Facts) *string {
	if day, isDay := d.At(f).(*exchange.Date); isDay {
		return (*string)(day)
	}
	return d.At(f).(*string)
}

// Stating is the body of PUT and PATCH of the facts of a material.
type Stating struct {
	Encumbrances exchange.Null[[]Encumbrance]  `json:"encumbrances"`
	Uses         exchange.Null[[]datause.Term] `json:"data_uses"`
	others       map[string]any
}

// Others implements field.Body.
func (p *Stating) Others() map[string]any {
	if p.others == nil {
		p.others = field.Others[Stating](FactFields)
	}
	return p.others
}

// How many items lists of facts have, at most.
const (
	maxEncumbrances = 20
	maxUses         = 50
)

// Patch applies p to what the lab stated until now.
func (p Stating) Patch(stated Facts) (Facts, error) {
	var f exchange.FieldErrors
	field.Apply(&f, FactFields, &p, &stated)
	f.Rule("encumbrances", exchange.Rule{Max: maxEncumbrances})
	f.Rule("data_uses", exchange.Rule{Max: maxUses})
	if said := p.Encumbrances; said.Set {
		if stated.Encumbrances = nil; said.Value != nil {
			stated.Encumbrances = checkEncumbrances(&f, *said.Value)
		}
	}
	if said := p.Uses; said.Set {
		if stated.Uses = nil; said.Value != nil {
			stated.Uses = checkUses(&f, *said.Value)
		}
	}
	return stated, f.Err()
}

// Validate implements exchange.Body.
func (p Stating) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Facts{})
	return exchange.FieldsOf(err)
}

func checkEncumbrances(f *exchange.FieldErrors, said []Encumbrance) []Encumbrance {
	const name = "encumbrances"
	if len(said) > maxEncumbrances {
		f.Add(name, "must be at most %d", maxEncumbrances)
		return nil
	}
	list := []Encumbrance{}
	for _, s := range said {
		e := Encumbrance{Terms: []string{}}
		f.Line(name, exchange.Some(s.Holder), exchange.LineLength, &e.Holder)
		f.Line(name, exchange.Some(s.Document), exchange.TitleLength, &e.Document)
		if e.Holder == "" {
			f.Add(name, "each needs its holder: who has rights to the material")
		}
		for _, code := range s.Terms {
			switch {
			case !term.Known(code):
				f.Add(name, "there is no term %q; the terms are %s", code, term.List())
			case !slices.Contains(e.Terms, code):
				e.Terms = append(e.Terms, code)
			}
		}
		list = append(list, e)
	}
	return list
}

func checkUses(f *exchange.FieldErrors, said []datause.Term) []datause.Term {
	const name = "data_uses"
	if len(said) > maxUses {
		f.Add(name, "must be at most %d", maxUses)
		return nil
	}
	list := []datause.Term{}
	for _, s := range said {
		u := datause.Term{ID: s.ID}
		f.Line(name, exchange.Some(s.About), exchange.LineLength, &u.About)
		switch {
		case datause.Label(u.ID) == "":
			f.Add(name, "there is no term %q of the Data Use Ontology, as DUO:0000042", u.ID)
		case u.About == "" && datause.NeedsValue(u.ID):
			f.Add(name, "%s (%s) needs a value", u.ID, datause.Label(u.ID))
		case !slices.Contains(list, u):
			list = append(list, u)
		}
	}
	return list
}

// Beyond returns, of what a lab stated, what does not follow from the category anyway. It fails on what contradicts
// that, by field.
func (f Facts) Beyond(stated Facts) (Facts, error) {
	var faults exchange.FieldErrors
	if f.OfSomePerson() && stated.Human == NotHuman {
		faults.Add("human_derived", "cannot be %s: by its %s, the material is of human origin", NotHuman,
			f.Sources["human_derived"])
	}
	if f.Human == HumanUnknown && stated.Human == NotHuman {
		if stated.ConsentAllows == No {
			faults.Add("consent_allows", "cannot be %s of material that does not derive from a person", No)
		}
		stated.ConsentAllows = Unknown // it follows
	}
	for i := range FactFields {
		d := &FactFields[i]
		switch have, said := textAt(d, &f), textAt(d, &stated); {
		case *have == "" || *said == "":
		case *said != *have:
			faults.Add(d.Name, "cannot be %s: it is %s by its %s", *said, *have, f.Sources[d.Name])
		default:
			*said = ""
		}
	}
	if f.Uses != nil {
		stated.Uses = slices.DeleteFunc(slices.Clone(stated.Uses), func(u datause.Term) bool {
			return slices.Contains(f.Uses, u)
		})
		if len(stated.Uses) == 0 {
			stated.Uses = nil
		}
	}
	stated.Encumbered, stated.Sources = Unknown, nil // they follow
	return stated, faults.Err()
}

// The names, for people, of the facts that are lists.
const (
	EncumbrancesLabel = "Rights of third parties"
	UsesLabel         = "Terms of data use"
)

// FactLabel returns the name of a fact for people, or its code if it has none.
func FactLabel(name string) string {
	switch name {
	case "encumbrances":
		return EncumbrancesLabel
	case "data_uses":
		return UsesLabel
	}
	for _, d := range FactFields {
		if d.Name == name {
			return d.Label
		}
	}
	return name
}
