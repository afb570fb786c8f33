package requirement

import (
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/identifier"
)

// Purpose is what a recipient wants a material for, as far as terms of data use ask about it, with what is known of the
// recipient.
type Purpose struct {
	Biomedical Answer
	Diseases   []string // terms of ontologies; empty: none was named
	Methods    Answer
	Ancestry   Answer
	Genetic    Answer
	Clinical   Answer
	Commercial Answer

	// what the requester does not state
	Nonprofit Answer // the institution
	Country   string // of the institution, ISO 3166-1; "": unknown
	Ethics    Answer // whether a review board approved it
}

// PurposeFields are what the requester states of a purpose, in the order of answers. The help of each is a question.
var PurposeFields = []field.Descriptor[Purpose]{
	asked("biomedical", func(p *Purpose) *Answer { return &p.Biomedical },
		"Biomedical research", "Is it for health, medical or biomedical research?"),
	party.ListOf(field.Descriptor[Purpose]{Name: "diseases", Label: "Diseases",
		Doc:  "The diseases that it is about, as terms of ontologies such as MONDO:0005148; an empty list names none.",
		Help: "Which diseases is it about? Terms such as MONDO:0005148, separated by semicolons."}, disease,
		func(p *Purpose) *[]string { return &p.Diseases }),
	asked("methods", func(p *Purpose) *Answer { return &p.Methods },
		"Development of methods", "Is it for the development of methods or software?"),
	asked("ancestry", func(p *Purpose) *Answer { return &p.Ancestry },
		"Population origins", "Is it about population origins or ancestry?"),
	asked("genetic", func(p *Purpose) *Answer { return &p.Genetic },
		"Genetic study", "Is it a genetic study?"),
	asked("clinical", func(p *Purpose) *Answer { return &p.Clinical },
		"Care of patients", "Is it used in the care of patients?"),
	asked("commercial", func(p *Purpose) *Answer { return &p.Commercial },
		"Commercial", "Is it for a commercial purpose?"),
}

func asked(name string, at func(*Purpose) *Answer, label, help string) field.Descriptor[Purpose] {
	return oneOf(name, "FactAnswer", answers, func(p *Purpose) *string { return (*string)(at(p)) }, label, help)
}

// By returns the purpose with what it depends on of the institution that receives the material.
func (p Purpose) By(i party.Institution) Purpose {
	p.Country = i.Country
	switch i.Kind {
	case party.Nonprofit, party.Government:
		p.Nonprofit = Yes
	case party.ForProfit:
		p.Nonprofit = No
	}
	return p
}

// disease returns the term of an ontology in its canonical form.
func disease(s string) (string, error) {
	canonical, _, err := identifier.OBO(s)
	return canonical, err
}

// PurposePatch is the body of PUT and PATCH of the purpose of a request.
type PurposePatch = party.Patch[Purpose]

// Table implements party.Described.
func (p Purpose) Table() []field.Descriptor[Purpose] { return PurposeFields }

// Faults implements party.Described; every purpose is valid.
func (p Purpose) Faults(*exchange.FieldErrors) {}

// purposeField returns the field with a name; nil if there is none.
func purposeField(name string) *field.Descriptor[Purpose] {
	for i := range PurposeFields {
		if PurposeFields[i].Name == name {
			return &PurposeFields[i]
		}
	}
	return nil
}
