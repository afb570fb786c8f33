package ui

import (
	"fmt"
	"strings"

	"aliquot/internal/exchange/lab"
)

// ShippingText describes shipping requirements in one line.
func ShippingText(s lab.Shipping) string {
	text := "Nothing to ship"
	switch {
	case s.OrganizationID == 0:
		text = "As it is"
	case s.NeedsPayment:
		var ways []string
		if s.AcceptsShippingCode {
			ways = append(ways, "courier account")
		}
		if s.AcceptsReimbursement {
			ways = append(ways, "reimbursement")
		}
		if s.AcceptsOther {
			ways = append(ways, "other ways")
		}
		text = "Requester pays shipping"
		if len(ways) > 0 {
			text += ", by " + strings.Join(ways, " or ")
		}
	case s.NeedsAddress:
		text = "Lab pays shipping; requester provides an address"
	}
	if s.Restrictions != "" {
		text += ". " + cut(s.Restrictions, 60)
	}
	return fmt.Sprintf("%s (no. %d)", text, s.ID)
}

// cut returns the beginning of a text.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
