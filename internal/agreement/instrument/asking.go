package instrument

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// Asking is the body of a question which instrument a transfer takes.
type Asking struct {
	Material  exchange.Opt[exchange.Ref]  `json:"material"`
	Provider  exchange.Null[exchange.Ref] `json:"provider"` // institution; null: that of the material's lab
	Recipient exchange.Opt[exchange.Ref]  `json:"recipient"`
	Purpose   exchange.Opt[string]        `json:"purpose"`
	Chemical  exchange.Opt[bool]          `json:"chemical"`
	Altered   exchange.Opt[bool]          `json:"altered"`
	Choice    exchange.Opt[string]        `json:"choice"` // a family
}

// Transfer returns the transfer that is asked about, without its parties and facts.
func (a Asking) Transfer() (Transfer, error) {
	var f exchange.FieldErrors
	t := Transfer{Purpose: purposes[0], Chemical: a.Chemical.Value, Altered: a.Altered.Value}
	f.Must("material", a.Material.Set, "is required: the id of a material")
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
