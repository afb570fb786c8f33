package shape

import (
	"aliquot/internal/agreement/requirement"
)

// TransferFacts are the facts of a material that decide what a transfer of it needs. Its JSON has the fields of
// requirement.FactFields, lists, and where each fact comes from.
type TransferFacts struct{ shown requirement.Facts }

// ShowTransferFacts returns the JSON form of its argument.
func ShowTransferFacts(f requirement.Facts) TransferFacts { return TransferFacts{f} }

// factLists are the members of TransferFacts besides those of its table.
type factLists struct {
	Encumbrances *[]requirement.Encumbrance `json:"encumbrances"`
	Uses         *[]requirement.DataUse     `json:"data_uses"`
	Sources      map[string]string          `json:"sources"`
}

// MarshalJSON writes the object of f.
func (f TransferFacts) MarshalJSON() ([]byte, error) {
	b, err := appendTable([]byte("{"), requirement.FactFields, &f.shown, "", f.unknown)
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

// unknown shows that a fact with few values is unknown.
func (f TransferFacts) unknown(name string) any {
	for i := range requirement.FactFields {
		d := &requirement.FactFields[i]
		if d.Name == name && d.Values != nil && d.Text(&f.shown) == "" {
			return requirement.Nothing
		}
	}
	return nil
}
