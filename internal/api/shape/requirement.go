package shape

import (
	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/requirements"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/field"
)

// TransferFacts are the facts of a material that decide what a transfer of it needs. Its JSON has the fields of
// requirement.FactFields, lists, and where each fact comes from.
type TransferFacts struct{ shown requirement.Facts }

// ShowTransferFacts returns the JSON form of its argument.
func ShowTransferFacts(f requirement.Facts) TransferFacts { return TransferFacts{f} }

// factLists are the members of TransferFacts besides those of its table.
type factLists struct {
	Encumbrances *[]requirement.Encumbrance `json:"encumbrances"`
	Uses         *[]datause.Term            `json:"data_uses"`
	Sources      map[string]string          `json:"sources"`
}

// MarshalJSON writes the object of f.
func (f TransferFacts) MarshalJSON() ([]byte, error) {
	b, err := appendTable([]byte("{"), requirement.FactFields, &f.shown, "", unknown(requirement.FactFields, &f.shown))
	if err != nil {
		return nil, err
	}
	lists, err := appendEncoded(nil, factLists{orNull(f.shown.Encumbrances), orNull(f.shown.Uses), f.shown.Sources})
	return append(append(b, ','), lists[1:]...), err // without its brace
}

// orNull returns a list for an answer in which one that is nil is null.
func orNull[T any](list []T) *[]T {
	if list == nil {
		return nil
	}
	return &list
}

// unknown returns what shows that a field with few values is unknown.
func unknown[T any](table []field.Descriptor[T], o *T) func(name string) any {
	return func(name string) any {
		for i := range table {
			if d := &table[i]; d.Name == name && d.Values != nil && d.Text(o) == "" {
				return requirement.Nothing
			}
		}
		return nil
	}
}

// Purpose is what a requester stated of the purpose of a request. Its JSON has the fields of requirement.PurposeFields.
type Purpose struct{ shown requirement.Purpose }

// ShowPurpose returns the JSON form of its argument.
func ShowPurpose(p requirement.Purpose) Purpose {
	p.Diseases = append([]string{}, p.Diseases...) // an empty list, where nobody stated anything
	return Purpose{p}
}

// MarshalJSON writes the object of p.
func (p Purpose) MarshalJSON() ([]byte, error) {
	return appendObject(requirement.PurposeFields, &p.shown, unknown(requirement.PurposeFields, &p.shown), "", nil)
}

// Resolution is the instrument for a transfer, why, and why not the others.
type Resolution struct {
	Instrument   *ResolvedInstrument     `json:"instrument"`
	Because      []ResolutionReason      `json:"because"`
	Alternatives []ResolutionAlternative `json:"alternatives"`
	Questions    []string                `json:"questions"`
	Precedent    *AgreementPrecedent     `json:"precedent"`
	Materials    []MaterialResolution    `json:"materials"`
}

// MaterialResolution is the instrument for the transfer of one of the materials by itself.
type MaterialResolution struct {
	Material   int64               `json:"material"`
	Instrument *ResolvedInstrument `json:"instrument"`
	Because    []ResolutionReason  `json:"because"`
	Questions  []string            `json:"questions"`
}

// ResolvedInstrument names an instrument.
type ResolvedInstrument struct {
	ID       string `json:"id"`
	Family   string `json:"family"`
	Version  string `json:"version"`
	Title    string `json:"title"`
	Citation string `json:"citation"`
}

// ResolutionReason is a rule that fired.
type ResolutionReason struct {
	Rule     string `json:"rule"`
	Why      string `json:"why"`
	Citation string `json:"citation"`
	Remedy   string `json:"remedy"`
}

// ResolutionAlternative is an instrument that was not chosen.
type ResolutionAlternative struct {
	Instrument string             `json:"instrument"`
	Title      string             `json:"title"`
	WhyNot     []ResolutionReason `json:"why_not"`
}

// ShowResolution returns the JSON form of its argument.
func ShowResolution(r requirements.Resolved) Resolution {
	return Resolution{Instrument: resolvedInstrument(r.Instrument), Because: List(r.Because, resolutionReason),
		Questions: append([]string{}, r.Questions...), Precedent: showPrecedent(r.Precedent),
		Alternatives: List(r.Alternatives, func(a instrument.Alternative) ResolutionAlternative {
			return ResolutionAlternative{a.Instrument, a.Title, List(a.WhyNot, resolutionReason)}
		}),
		Materials: List(r.Materials, func(m requirements.MaterialResolved) MaterialResolution {
			return MaterialResolution{m.Material, resolvedInstrument(m.Instrument), List(m.Because, resolutionReason),
				append([]string{}, m.Questions...)}
		})}
}

func resolutionReason(r instrument.Reason) ResolutionReason {
	return ResolutionReason{r.Rule, r.Why, r.Citation, string(r.Remedy)}
}

func resolvedInstrument(i *instrument.Instrument) *ResolvedInstrument {
	if i == nil {
		return nil
	}
	return &ResolvedInstrument{i.ID, i.Family, i.Version, i.Title, i.Citation}
}

// Owed is what the transfer of a request needs.
type Owed struct {
	Requirements []OwedRequirement `json:"requirements"`
	Questions    []OwedQuestion    `json:"questions"`
}

// OwedRequirement is one thing that a transfer needs.
type OwedRequirement struct {
	Kind     string            `json:"kind"`
	State    requirement.State `json:"state"`
	OwedBy   string            `json:"owed_by"`
	Rule     string            `json:"rule"`
	Why      string            `json:"why"`
	Citation string            `json:"citation"`
	Permit   *int64            `json:"permit"`
	Expired  bool              `json:"expired"`
	Limits   []DataUseLimit    `json:"limits"`
}

// DataUseLimit is a term of data use that does not simply allow the purpose of a request.
type DataUseLimit struct {
	datause.Term
	Label     string   `json:"label"`
	Forbids   bool     `json:"forbids"`
	Asks      []string `json:"asks"`
	Questions []string `json:"questions"`
}

// OwedQuestion is a fact that the lab has to state.
type OwedQuestion struct {
	Fact     string `json:"fact"`
	Question string `json:"question"`
	Rule     string `json:"rule"`
	Why      string `json:"why"`
}

// ShowOwed returns the JSON form of its argument.
func ShowOwed(o requirements.Owed) Owed {
	return Owed{List(o.Requirements, func(r requirements.Requirement) OwedRequirement {
		out := OwedRequirement{r.Kind, r.State, r.OwedBy, r.Rule, r.Why, r.Citation, nil, r.Expired,
			List(r.Limits, func(l requirement.Limit) DataUseLimit {
				return DataUseLimit{l.Term, l.Term.Label(), l.Allowed == requirement.No, append([]string{}, l.Asks...),
					append([]string{}, l.Questions()...)}
			})}
		if r.Permit != nil {
			out.Permit = &r.Permit.ID
		}
		return out
	}), List(o.Questions, func(q requirement.Question) OwedQuestion {
		return OwedQuestion{q.Fact, q.Text, q.Rule, q.Why}
	})}
}

// Permit is an official's decision that fulfils a requirement for a time. Its JSON has the fields of
// requirement.PermitFields.
type Permit struct{ shown requirement.Permit }

// ShowPermit returns the JSON form of its argument.
func ShowPermit(p requirement.Permit) Permit { return Permit{p} }

// MarshalJSON writes the object of p.
func (p Permit) MarshalJSON() ([]byte, error) {
	return appendObject(requirement.PermitFields, &p.shown, asItIs, "", nil)
}
