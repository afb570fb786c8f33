package account

import (
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// passkeyRequest is a request for a page about passkeys.
type passkeyRequest struct{ *ui.PageRequest }

var passkeyPages = []ui.Route{
	ui.Get("/account/passkeys", (*passkeyRequest).passkeys).Private(),
	ui.Post("/account/passkeys/new", (*passkeyRequest).beginPasskey),
	ui.Post("/account/passkeys", (*passkeyRequest).registerPasskey),
	ui.PostID("/account/passkeys/{id}/remove", (*passkeyRequest).removePasskey),
}

// passkeysPage lists a person's passkeys, and registers one.
type passkeysPage struct {
	accountPage
	Passkeys []signing.Registered
	Removed  int
	Options  string // what script passes to the device that makes the passkey; "": none is being made
}

func (v *passkeyRequest) passkeysPage() (*passkeysPage, error) {
	p := &passkeysPage{accountPage: (*pageRequest)(v).accountPage("passkeys", "Passkeys")}
	list, err := v.App.Signing.Passkeys(v.Context(), v.Who.Actor, v.Who.ID, exchange.Page{})
	for _, k := range list.Items {
		if k.RemovedAt == nil {
			p.Passkeys = append(p.Passkeys, k)
		} else {
			p.Removed++
		}
	}
	return p, err
}

func (v *passkeyRequest) passkeys() (ui.Response, error) {
	p, err := v.passkeysPage()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("account-passkeys", p)
}

// passkeyNew is the passkey that the form describes.
func (v *passkeyRequest) passkeyNew() signing.PasskeyNew {
	return signing.PasskeyNew{Name: exchange.Some(v.PostFormValue("name")), Credential: v.Credential()}
}

// beginPasskey takes the name of a passkey, and shows the button with which a device makes it.
func (v *passkeyRequest) beginPasskey() (ui.Response, error) {
	_, faults := v.passkeyNew().Named()
	if texts := faults["name"]; len(texts) > 0 {
		return v.refusePasskey(exchange.FieldErrors{"name": texts})
	}
	options, err := v.App.Signing.BeginPasskey(v.Context(), v.Who.Actor, v.Who.ID)
	if err != nil {
		return v.refuseWith(err)
	}
	p, err := v.passkeysPage()
	if err != nil {
		return ui.Response{}, err
	}
	p.Options = string(options)
	r, err := ui.Show("account-passkeys", p)
	r.Private = true
	return r, err
}

// refuseWith shows the page with what an error says about the fields of the form, or as a whole.
func (v *passkeyRequest) refuseWith(err error) (ui.Response, error) {
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		return v.refusePasskey(fields)
	}
	switch exchange.CodeOf(err) {
	case exchange.Conflict, exchange.Forbidden:
		return v.refusePasskey(exchange.FieldErrors{"name": {exchange.MessageOf(err)}})
	}
	return ui.Response{}, err
}

func (v *passkeyRequest) refusePasskey(fields map[string][]string) (ui.Response, error) {
	p, err := v.passkeysPage()
	if err != nil {
		return ui.Response{}, err
	}
	p.Errors = ui.SentencesOf(fields, map[string]string{"name": "a name for the passkey",
		"credential": "The device's answer was not accepted. Start again; if it repeats, use another device or " +
			"browser, which asks for a PIN, a fingerprint or your face."})
	return ui.Invalid("account-passkeys", p)
}

// registerPasskey registers the passkey that a device made.
func (v *passkeyRequest) registerPasskey() (ui.Response, error) {
	if _, err := v.App.Signing.RegisterPasskey(v.Context(), v.Who.Actor, v.Who.ID, v.passkeyNew()); err != nil {
		return v.refuseWith(err)
	}
	return ui.SeeOther("/account/passkeys").Saying("Passkey registered."), nil
}

func (v *passkeyRequest) removePasskey(id int64) (ui.Response, error) {
	return ui.SeeOther("/account/passkeys").Saying("Passkey removed."),
		v.App.Signing.RemovePasskey(v.Context(), v.Who.Actor, v.Who.ID, id, nil)
}
