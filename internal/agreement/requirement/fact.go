// Package requirement has the facts of materials that decide what a transfer needs, and the rules that say so. What
// nobody stated is unknown; unknown never counts as no, it becomes a question to the lab.
package requirement

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/datause"
)

// Answer is yes, no or unknown. The zero value is unknown.
type Answer string

// The answers.
const (
	Unknown Answer = ""
	Yes     Answer = "YES"
	No      Answer = "NO"
)

// Human is whether a material derives from a person.
type Human string

// The values of Human. Anonymised and identifiable are about the donor.
const (
	HumanUnknown      Human = ""
	NotHuman          Human = "NO"
	HumanAnonymised   Human = "ANONYMISED"
	HumanIdentifiable Human = "IDENTIFIABLE"
)

// BSL is a biosafety level.
type BSL string

// The biosafety levels. NoBSL is for what needs none, such as data.
const (
	BSLUnknown BSL = ""
	NoBSL      BSL = "NONE"
	BSL1       BSL = "1"
	BSL2       BSL = "2"
	BSL3       BSL = "3"
	BSL4       BSL = "4"
)

// Number returns the level from 1 to 4, 0 if it needs none, and 4 if it is unknown, so that nobody's authority covers
// by accident what they may not sign.
func (b BSL) Number() int {
	switch b {
	case NoBSL:
		return 0
	case BSLUnknown:
		return 4
	}
	return int(b[0] - '0')
}

// Encumbrance is an agreement under which the provider received a material, and which binds whoever it goes to.
type Encumbrance struct {
	Holder   string   `json:"holder"`
	Terms    []string `json:"terms"` // codes, as package term has them
	Document string   `json:"document"`
}

// The sources of facts that are not the name of another fact or of a field of the category.
const (
	Category = "category"
	Lab      = "lab" // the lab stated it
)

// Facts are what is known of a material. Sources has, by fact, where it comes from.
type Facts struct {
	Human              Human
	ConsentAllows      Answer // the transfer
	LiveAnimal         Answer // a vertebrate, or an embryo of one
	GeneticallyChanged Answer
	BSL                BSL
	SelectAgent        Answer
	PlantTreaty        Answer // a plant genetic resource of the multilateral system of the Treaty
	Origin             string // country, ISO 3166-1
	Accessed           exchange.Date
	ExportControlled   Answer
	Encumbered         Answer
	Encumbrances       []Encumbrance // nil: nobody stated whether there are any
	Proprietary        Answer
	ForProfitUse       Answer         // whether companies may get it
	Uses               []datause.Term // nil: nobody stated any
	Sources            map[string]string
}

const humanTaxon = "NCBITaxon:9606"

// FromCategory returns the facts that follow from a material's category and its metadata; all others are unknown.
func FromCategory(code string, metadata map[string]json.RawMessage) Facts {
	f := Facts{Sources: map[string]string{}}
	because := func(fact, source string) { f.Sources[fact] = source }
	species := category.Items(metadata["organism_ids"])
	switch code {
	case "PLASMID", "PROTOCOL":
		f.Human, f.LiveAnimal = NotHuman, No
		because("human_derived", Category)
		because("live_animal", Category)
	case "DATASET":
		f.LiveAnimal, f.GeneticallyChanged, f.BSL, f.SelectAgent, f.PlantTreaty = No, No, NoBSL, No, No
		for _, fact := range []string{"live_animal", "genetically_modified", "bsl", "select_agent",
			"plant_genetic_resource"} {
			because(fact, Category)
		}
	case "PDX":
		because("human_derived", Category) // a person's tumour: of an anonymous donor or not, the lab must say
	}
	switch {
	case slices.Contains(species, humanTaxon):
		f.Human = HumanUnknown
		because("human_derived", "organism_ids")
	case len(species) > 0 && code != "PDX" && f.Human == HumanUnknown:
		f.Human = NotHuman
		because("human_derived", "organism_ids")
	}
	if f.Human == NotHuman {
		f.ConsentAllows = Yes // nobody's consent is needed
		because("consent_allows", "human_derived")
	}
	if code == "PROTOCOL" {
		f.BSL, f.GeneticallyChanged, f.SelectAgent, f.PlantTreaty = NoBSL, No, No, No
		for _, fact := range []string{"bsl", "genetically_modified", "select_agent", "plant_genetic_resource"} {
			because(fact, Category)
		}
	}
	if level, ok := strings.CutPrefix(text(metadata["biosafety_level"]), "BSL-"); ok {
		f.BSL = BSL(level)
		because("bsl", "biosafety_level")
	}
	var modified bool
	if json.Unmarshal(metadata["is_genetically_modified"], &modified) == nil &&
		metadata["is_genetically_modified"] != nil {
		f.GeneticallyChanged = No
		if modified {
			f.GeneticallyChanged = Yes
		}
		because("genetically_modified", "is_genetically_modified")
	}
	if code == "MODEL_ORGANISM" {
		switch text(metadata["shipping_form"]) {
		case "live", "embryos":
			f.LiveAnimal = Yes
		case "sperm", "seeds", "culture", "frozen", "tissue":
			f.LiveAnimal = No
		}
		because("live_animal", "shipping_form")
	}
	if f.Uses, _ = datause.Parse(text(metadata["consent_restrictions"])); f.Uses != nil {
		because("data_uses", "consent_restrictions")
	}
	return f
}

// With returns the facts with those that the lab stated. Where these contradict what follows from the category, the
// fact is unknown; a material of human origin stays one. Terms of use of both count.
func (f Facts) With(stated Facts) Facts {
	f.Sources = maps.Clone(f.Sources)
	if f.Sources == nil {
		f.Sources = map[string]string{}
	}
	if f.OfSomePerson() && stated.Human == NotHuman {
		stated.Human = HumanUnknown
	}
	if f.Sources["consent_allows"] == "human_derived" { // it may follow again, below
		f.ConsentAllows = Unknown
		delete(f.Sources, "consent_allows")
	}
	for i := range FactFields {
		d := &FactFields[i]
		switch have, said := textAt(d, &f), textAt(d, &stated); {
		case *said == "" || *said == *have:
		case *have == "":
			*have, f.Sources[d.Name] = *said, Lab
		default:
			*have = ""
			delete(f.Sources, d.Name)
		}
	}
	if f.Human == NotHuman && f.ConsentAllows == Unknown {
		f.ConsentAllows, f.Sources["consent_allows"] = Yes, "human_derived" // nobody's consent is needed
	}
	if stated.Encumbrances != nil {
		f.Encumbrances, f.Encumbered = stated.Encumbrances, answer(len(stated.Encumbrances) > 0)
		f.Sources["encumbrances"] = Lab
	}
	for _, u := range stated.Uses {
		if !slices.Contains(f.Uses, u) {
			f.Uses = append(slices.Clone(f.Uses), u)
		}
	}
	if stated.Uses != nil {
		f.Sources["data_uses"] = Lab
	}
	return f
}

// OfSomePerson reports whether the material is known to be of human origin, but not of what donor.
func (f Facts) OfSomePerson() bool {
	return f.Human == HumanUnknown && f.Sources["human_derived"] != ""
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
