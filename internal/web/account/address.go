package account

import (
	"net/url"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// addressesPage lists a person's addresses.
type addressesPage struct {
	accountPage
	Addresses []person.Address
}

func (v *pageRequest) addresses() (ui.Response, error) {
	list, err := v.App.Documents.Addresses(v.Context(), v.Who.Actor, v.Who.ID, exchange.Page{})
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("account-addresses", &addressesPage{v.accountPage("addresses", "Addresses"), list.Items})
}

// addressPage is the editor of one address.
type addressPage struct {
	accountPage
	Address person.Address // zero: a new one
}

func (v *pageRequest) newAddress() (ui.Response, error) {
	p := &addressPage{accountPage: v.accountPage("addresses", "New address")}
	p.Form = url.Values{"name": {v.Who.User.Name()}, "saved_for_reuse": {"1"}}
	return ui.Show("account-address", p)
}

// ownAddress returns the visitor's address whose id is in the path.
func (v *pageRequest) ownAddress() (person.Address, error) {
	id, err := v.PathID("id")
	if err != nil {
		return person.Address{}, err
	}
	found, err := v.App.Documents.Address(v.Context(), v.Who.Actor, v.Who.ID, id)
	return found.Address, err
}

func (v *pageRequest) editAddress() (ui.Response, error) {
	a, err := v.ownAddress()
	if err != nil {
		return ui.Response{}, err
	}
	p := &addressPage{accountPage: v.accountPage("addresses", "Address "+a.Name), Address: a}
	p.Form = url.Values{"name": {a.Name}, "institution": {a.Institution}, "address_line_1": {a.Line1},
		"address_line_2": {a.Line2},
		"locality":       {a.Locality}, "state": {a.State}, "postal_code": {a.PostalCode}, "country": {a.Country}}
	if a.SavedForUse {
		p.Form.Set("saved_for_reuse", "1")
	}
	return ui.Show("account-address", p)
}

// saveAddress stores a new or changed address.
func (v *pageRequest) saveAddress() (ui.Response, error) {
	p := &addressPage{accountPage: v.accountPage("addresses", "New address")}
	var err error
	if v.PathValue("id") == "" {
		_, err = v.App.Documents.CreateAddress(v.Context(), v.Who.Actor, v.Who.ID, ui.AddressOf(v.PostForm))
	} else {
		if p.Address, err = v.ownAddress(); err != nil {
			return ui.Response{}, err
		}
		p.Title = "Address " + p.Address.Name + ", settings"
		_, err = v.App.Documents.UpdateAddress(v.Context(), v.Who.Actor, v.Who.ID, p.Address.ID,
			ui.AddressOf(v.PostForm), nil)
	}
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p.Errors = ui.SentencesOf(fields, ui.AddressLabels)
		return ui.Invalid("account-address", p)
	}
	return ui.SeeOther("/account/addresses").Saying("Address saved."), err
}

func (v *pageRequest) deleteAddress(id int64) (ui.Response, error) {
	return ui.SeeOther("/account/addresses").Saying("Address deleted. Requests you already sent keep it."),
		v.App.Documents.DeleteAddress(v.Context(), v.Who.Actor, v.Who.ID, id, nil)
}
