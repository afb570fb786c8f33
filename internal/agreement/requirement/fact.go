// Package requirement has the facts of materials that decide what a transfer needs, and the rules that say so. What
// nobody stated is unknown; unknown never counts as no, it becomes a question to the lab.
package requirement

import (
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
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
	Holder   string
	Terms    []string
	Document int64
}

// Facts are what is known of a material. Sources has, per fact, where it follows from, unless the lab stated it.
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
	Encumbrances       []Encumbrance
	Proprietary        Answer
	ForProfitUse       Answer // whether companies may get it
	Uses               []DataUse
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
		because("human_derived", "category")
		because("live_animal", "category")
	case "DATASET":
		f.LiveAnimal, f.GeneticallyChanged, f.BSL, f.SelectAgent, f.PlantTreaty = No, No, NoBSL, No, No
		for _, fact := range []string{"live_animal", "genetically_modified", "bsl", "select_agent",
			"plant_genetic_resource"} {
			because(fact, "category")
		}
	case "PDX":
		because("human_derived", "category") // a person's tumour: of an anonymous donor or not, the lab must say
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
			because(fact, "category")
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
	f.Uses, _ = ParseUses(text(metadata["consent_restrictions"]))
	return f
}

// With returns the facts with those that the lab stated in place of those that follow from the category.
func (f Facts) With(stated Facts) Facts {
	set(&f.Human, stated.Human)
	set(&f.ConsentAllows, stated.ConsentAllows)
	set(&f.LiveAnimal, stated.LiveAnimal)
	set(&f.GeneticallyChanged, stated.GeneticallyChanged)
	set(&f.BSL, stated.BSL)
	set(&f.SelectAgent, stated.SelectAgent)
	set(&f.PlantTreaty, stated.PlantTreaty)
	set(&f.Origin, stated.Origin)
	set(&f.Accessed, stated.Accessed)
	set(&f.ExportControlled, stated.ExportControlled)
	set(&f.Encumbered, stated.Encumbered)
	set(&f.Proprietary, stated.Proprietary)
	set(&f.ForProfitUse, stated.ForProfitUse)
	if stated.Human == HumanAnonymised || stated.Human == HumanIdentifiable {
		f.ConsentAllows = stated.ConsentAllows // what followed from "not human" no longer does
	}
	if stated.Encumbrances != nil {
		f.Encumbrances, f.Encumbered = stated.Encumbrances, Yes
	}
	if stated.Uses != nil {
		f.Uses = stated.Uses
	}
	return f
}

func set[T comparable](fact *T, stated T) {
	var unknown T
	if stated != unknown {
		*fact = stated
	}
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
