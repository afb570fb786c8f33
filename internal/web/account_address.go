package web

import (
	"net/url"

	"aliquot/internal/exchange"
)

// addressFields are the fields of an address, in the order of the form.
var addressFields = []string{"name", "institution", "address_line_1", "address_line_2", "locality", "state",
	"postal_code", "country"}

// addressLabels are the names of the fields inside a sentence.
var addressLabels = map[string]string{
	"name": "the name", "institution": "the institution", "address_line_1": "the street address",
	"address_line_2": "the floor, room or suite",
	"locality":       "the town or city", "state": "the state, province or region", "postal_code": "the postal code",
	"country": "the country",
}

// addressOf returns the address in a form.
func addressOf(form url.Values) exchange.AddressPatch {
	text := func(name string) exchange.Opt[string] { return exchange.Some(form.Get(name)) }
	return exchange.AddressPatch{Name: text("name"), Institution: text("institution"), Line1: text("address_line_1"),
		Line2:    text("address_line_2"),
		Locality: text("locality"), State: text("state"), PostalCode: text("postal_code"), Country: text("country"),
		SavedForUse: exchange.Some(form.Get("saved_for_reuse") != "")}
}

// addressesPage lists a person's addresses.
type addressesPage struct {
	accountPage
	Addresses []exchange.Address
}

func (v *pageRequest) addresses() (response, error) {
	list, err := v.app.Addresses(v.Context(), v.who.Actor, v.who.ID, exchange.Page{})
	if err != nil {
		return response{}, err
	}
	return show("account-addresses", &addressesPage{v.accountPage("addresses", "Addresses"), list.Items})
}

// addressPage is the editor of one address.
type addressPage struct {
	accountPage
	Address exchange.Address // zero: a new one
}

func (v *pageRequest) newAddress() (response, error) {
	p := &addressPage{accountPage: v.accountPage("addresses", "New address")}
	p.Form = url.Values{"name": {v.who.User.Name()}, "saved_for_reuse": {"1"}}
	return show("account-address", p)
}

// ownAddress returns the visitor's address whose id is in the path.
func (v *pageRequest) ownAddress() (exchange.Address, error) {
	id, err := v.id("id")
	if err != nil {
		return exchange.Address{}, err
	}
	found, err := v.app.Address(v.Context(), v.who.Actor, v.who.ID, id)
	return found.Address, err
}

func (v *pageRequest) editAddress() (response, error) {
	a, err := v.ownAddress()
	if err != nil {
		return response{}, err
	}
	p := &addressPage{accountPage: v.accountPage("addresses", "Address "+a.Name), Address: a}
	p.Form = url.Values{"name": {a.Name}, "institution": {a.Institution}, "address_line_1": {a.Line1},
		"address_line_2": {a.Line2},
		"locality":       {a.Locality}, "state": {a.State}, "postal_code": {a.PostalCode}, "country": {a.Country}}
	if a.SavedForUse {
		p.Form.Set("saved_for_reuse", "1")
	}
	return show("account-address", p)
}

// saveAddress stores a new or changed address.
func (v *pageRequest) saveAddress() (response, error) {
	p := &addressPage{accountPage: v.accountPage("addresses", "New address")}
	var err error
	if v.PathValue("id") == "" {
		_, err = v.app.CreateAddress(v.Context(), v.who.Actor, v.who.ID, addressOf(v.PostForm))
	} else {
		if p.Address, err = v.ownAddress(); err != nil {
			return response{}, err
		}
		p.Title = "Address " + p.Address.Name + ", settings"
		_, err = v.app.UpdateAddress(v.Context(), v.who.Actor, v.who.ID, p.Address.ID, addressOf(v.PostForm), nil)
	}
	if fields, wrong := faults(err); wrong {
		p.Errors = sentencesOf(fields, addressLabels)
		return invalid("account-address", p)
	}
	return seeOther("/account/addresses").saying("The address is saved."), err
}

func (v *pageRequest) deleteAddress() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	return seeOther("/account/addresses").saying("The address is deleted. Requests that were sent keep it."),
		v.app.DeleteAddress(v.Context(), v.who.Actor, v.who.ID, id, nil)
}
