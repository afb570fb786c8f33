package request

import (
	"net/url"
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

// PickedUp is the carrier of what the recipient collects.
const PickedUp = "Picked up in person"

// trackingPages are the addresses of carriers' tracking pages, which end with the number, by the first word of the
// carrier's name in lower case.
var trackingPages = map[string]string{
	"dhl":   "https://www.dhl.com/global-en/home/tracking.html?tracking-id=",
	"fedex": "https://www.fedex.com/fedextrack/?trknbr=",
	"tnt":   "https://www.tnt.com/express/en_gc/site/shipping-tools/tracking.html?searchType=con&cons=",
	"ups":   "https://www.ups.com/track?tracknum=",
	"usps":  "https://tools.usps.com/go/TrackConfirmAction?tLabels=",
}

// trackingNumber matches a tracking number without its spaces and hyphens: letters and digits, four of these in a row.
var trackingNumber = regexp.MustCompile(`^[0-9A-Za-z]{0,20}[0-9]{4}[0-9A-Za-z]{0,20}$`)

// TrackingPage returns the address of the page on which the carrier says where the parcel is; "" if the carrier has
// none that is known here, or if the tracking is not a single number.
func (s Shipment) TrackingPage() string {
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s.Carrier)), " ")
	number := strings.NewReplacer(" ", "", "-", "").Replace(s.Tracking)
	if page := trackingPages[name]; page != "" && trackingNumber.MatchString(number) {
		return page + url.QueryEscape(number)
	}
	return ""
}
