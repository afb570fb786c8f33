package request

import (
	"net/url"

	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// checkLine is one line of the requester's checklist.
type checkLine struct {
	Text    string
	Part    string // the part of the page it links to
	Ready   bool
	Problem string
}

// checklist returns what is needed to send a request, and what is wrong with each of it.
func checklist(t request.Terms, problems ui.FieldErrors, form url.Values) []checkLine {
	var list []checkLine
	add := func(asked bool, part, text string, fields ...string) {
		if !asked {
			return
		}
		line := checkLine{Text: text, Part: part, Ready: true}
		for _, field := range fields {
			if problem := problems.Of(field); problem != "" {
				line.Ready = false
				if form.Get(field) != "" && line.Problem == "" { // not if nothing was typed yet
					line.Problem = problem
				}
			}
		}
		list = append(list, line)
	}
	add(t.Abstract, "why", "Research abstract", "requester_abstract")
	add(t.Address, "where", "Delivery address", append([]string{"address"}, ui.AddressFields...)...)
	add(t.Payment, "pay", "Shipping payment", "payment_method", "courier", "account", "payment_method_notes")
	return list
}

// Done returns how many lines of the checklist are complete.
func (p *askPage) Done() int {
	n := 0
	for _, l := range p.Ready {
		if l.Ready {
			n++
		}
	}
	return n
}
