package instrument

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// Asking is the body of a question which instrument a transfer takes.
type Asking struct {
	Material  exchange.Opt[exchange.Ref]   `json:"material"`
	Materials exchange.Opt[[]exchange.Ref] `json:"materials"` // that go into one letter
	Provider  exchange.Null[exchange.Ref]  `json:"provider"`  // institution; null: that of the material's lab
	Recipient exchange.Opt[exchange.Ref]   `json:"recipient"`
	Purpose   exchange.Opt[string]         `json:"purpose"`
	Chemical  exchange.Opt[bool]           `json:"chemical"`
	Altered   exchange.Opt[bool]           `json:"altered"`
	Choice    exchange.Opt[string]         `json:"choice"` // a family
}

// MaxMaterials is how many materials a question is about at most: as many as the requests of a letter.
const MaxMaterials = 200

// IDs returns the ids of the materials, each once, in order.
func (a Asking) IDs() (ids []int64) {
	for _, id := range a.Materials.Value {
		ids = append(ids, int64(id))
	}
	if a.Material.Set {
		ids = append(ids, int64(a.Material.Value))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Transfer returns the transfer that is asked about, without its parties and facts.
func (a Asking) Transfer() (Transfer, error) {
	var f exchange.FieldErrors
	t := Transfer{Purpose: purposes[0], Chemical: a.Chemical.Value, Altered: a.Altered.Value}
	f.Rule("materials", exchange.Rule{Max: MaxMaterials})
	switch n := len(a.Materials.Value); {
	case !a.Material.Set && !a.Materials.Set:
		f.Add("material", "is required, or else materials: the ids of those that are transferred together")
	case a.Material.Set && a.Materials.Set:
		f.Add("materials", "is in place of material; send one of them")
	case a.Materials.Set && n == 0:
		f.Add("materials", "must name at least one")
	case n > MaxMaterials:
		f.Add("materials", "must be at most %d; there are %d", MaxMaterials, n)
	}
	f.Must("recipient", a.Recipient.Set, "is required: the id of the institution that receives it")
	f.Rule("purpose", exchange.Rule{Words: purposes, Name: "TransferPurpose"})
	if t.Purpose = a.Purpose.Or(t.Purpose); !slices.Contains(purposes, t.Purpose) {
		f.Add("purpose", "must be one of %s", strings.Join(purposes, ", "))
	}
	f.Line("choice", a.Choice, exchange.LineLength, &t.Choice)
	return t, f.Err()
}

// Validate implements exchange.Body.
func (a Asking) Validate(bool) exchange.FieldErrors {
	_, err := a.Transfer()
	return exchange.FieldsOf(err)
}

// Families returns the families of the instruments, in order.
func (l *Library) Families() []string {
	var list []string
	for _, i := range l.instruments {
		list = append(list, i.Family)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
