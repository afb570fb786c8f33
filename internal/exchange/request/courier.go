package request

import (
	"regexp"
	"strings"

	"aliquot/internal/exchange"
)

// Courier is a carrier whose account numbers have a known form.
type Courier struct {
	Name    string
	Account string // format of its account numbers, in words
	pattern *regexp.Regexp
}

// Couriers are the carriers to choose from; any other may be entered too.
var Couriers = []Courier{
	{"DHL Express", "9 or 10 digits", regexp.MustCompile(`^\d{9,10}$`)},
	{"FedEx", "9 digits", regexp.MustCompile(`^\d{9}$`)},
	{"UPS", "6 letters or digits", regexp.MustCompile(`^[0-9A-Za-z]{6}$`)},
	{"TNT", "up to 9 digits", regexp.MustCompile(`^\d{4,9}$`)},
	{"World Courier", "as on its invoices", nil},
}

// CourierAccount is a courier account that a shipment is charged to.
type CourierAccount struct{ Courier, Number string }

// accountMark separates courier and number in payment_method_notes.
const accountMark = ", account "

// Notes returns the account as text for payment_method_notes.
func (a CourierAccount) Notes() string { return a.Courier + accountMark + a.Number }

// ReadCourierAccount parses the text that Notes returns; ok is false for any other text.
func ReadCourierAccount(notes string) (a CourierAccount, ok bool) {
	if strings.Contains(notes, "\n") {
		return a, false
	}
	a.Courier, a.Number, ok = strings.Cut(notes, accountMark)
	return a, ok
}

// check reports what is wrong with an account. Spaces and hyphens in the number are ignored.
func (a CourierAccount) check(f *exchange.FieldErrors) CourierAccount {
	f.Line("courier", exchange.Some(a.Courier), exchange.LineLength, &a.Courier)
	f.Line("account", exchange.Some(a.Number), exchange.LineLength, &a.Number)
	f.Need("courier", a.Courier)
	f.Need("account", a.Number)
	for _, c := range Couriers {
		if !strings.EqualFold(c.Name, a.Courier) {
			continue
		}
		a.Courier = c.Name
		if bare := strings.NewReplacer(" ", "", "-", "").Replace(a.Number); c.pattern != nil && a.Number != "" {
			if !c.pattern.MatchString(bare) {
				f.Add("account", "must be a number of %s: %s", c.Name, c.Account)
				return a
			}
			a.Number = bare
		}
	}
	return a
}
