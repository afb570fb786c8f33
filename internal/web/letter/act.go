package letter

import (
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// done sends the visitor to a letter after a form, or shows why it was refused.
func (v *pageRequest) done(id int64, form, said string, err error) (ui.Response, error) {
	if err != nil {
		return v.refused(id, form, err)
	}
	return ui.SeeOther(ui.LetterPath(id)).Saying(said), nil
}

// number returns a number of the form, 0 if it is none.
func (v *pageRequest) number(field string) exchange.Opt[int64] {
	n, _ := strconv.ParseInt(v.PostFormValue(field), 10, 64)
	return exchange.Some(n)
}

// text returns a text of the form.
func (v *pageRequest) text(field string) exchange.Opt[string] {
	return exchange.Some(strings.TrimSpace(v.PostFormValue(field)))
}

// change makes a new version with what people filled in.
func (v *pageRequest) change(id int64) (ui.Response, error) {
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	n := letter.VersionNew{Version: v.number("version")}
	if v.PostForm.Has("purpose") {
		n.Purpose = v.text("purpose")
	}
	fields := map[string]string{}
	for _, f := range p.Fields() {
		if value := strings.TrimSpace(v.PostFormValue("field_" + f.Name)); value != "" {
			fields[f.Name] = value
		}
	}
	n.Fields = exchange.Some(fields)
	return v.changed(p, "fields", n)
}

// choose makes a new version of another form, with a reason.
func (v *pageRequest) choose(id int64) (ui.Response, error) {
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	n := letter.VersionNew{Version: v.number("version")}
	n.Choice, n.Reason = v.text("choice"), v.text("choice_reason")
	if n.Choice.Value != "" && n.Reason.Value == "" {
		return v.refused(id, "choice", exchange.FieldErrors{"choice_reason": {"Say why you choose it."}}.Err())
	}
	return v.changed(p, "choice", n)
}

// changed makes a new version of the letter of a page.
func (v *pageRequest) changed(p *page, form string, n letter.VersionNew) (ui.Response, error) {
	changed, err := v.App.Letters.Change(v.Context(), v.Who.Actor, p.L.ID, n)
	said := "Version " + strconv.Itoa(changed.Letter.Version) + " made. It can be sent to be signed."
	if err == nil && changed.Letter.Version == p.L.Letter.Version {
		said = "Nothing differs, so there is no new version."
	}
	return v.done(p.L.ID, form, said, err)
}

func (v *pageRequest) send(id int64) (ui.Response, error) {
	_, err := v.App.Letters.Send(v.Context(), v.Who.Actor, id)
	return v.done(id, "send", "Sent to be signed.", err)
}

// decline declines a letter with a reason.
func (v *pageRequest) decline(id int64) (ui.Response, error) {
	if _, err := v.read(id); err != nil { // who may not see it must not learn about its forms
		return ui.Response{}, err
	}
	reason, err := request.ReasonBody{Reason: v.text("reason")}.Check()
	if err == nil {
		_, err = v.App.Letters.Decline(v.Context(), v.Who.Actor, id, reason)
	}
	return v.done(id, "decline", "Declined. A new version can answer your reason.", err)
}

// withdraw withdraws a letter.
func (v *pageRequest) withdraw(id int64) (ui.Response, error) {
	if _, err := v.read(id); err != nil {
		return ui.Response{}, err
	}
	reason, err := letter.WithdrawNew{Reason: v.text("reason")}.Check()
	if err == nil {
		_, err = v.App.Letters.Withdraw(v.Context(), v.Who.Actor, id, reason)
	}
	return v.done(id, "withdraw", "Withdrawn. Its requests can be put into another agreement.", err)
}

// signPage asks the visitor to confirm a signature.
type signPage struct {
	page
	Offer letters.RoleOffer
}

// askSign shows what a signature states, before it is made.
func (v *pageRequest) askSign(id int64) (ui.Response, error) {
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	role := v.FormValue("role")
	for _, o := range p.L.Roles {
		if o.Role == role && p.L.CanSign(role) {
			p.Title = "Sign the agreement " + p.L.Letter.Number
			return ui.Show("letter-sign", &signPage{*p, o})
		}
	}
	return ui.SeeOther(p.Path), nil
}

// sign signs the version that the visitor saw.
func (v *pageRequest) sign(id int64) (ui.Response, error) {
	signed, err := v.App.Letters.SignIn(v.Context(), v.Who.Actor, id, letter.SignatureNew{Role: v.text("role"),
		Version: v.number("version"), SHA256: v.text("sha256")})
	said := "Signed."
	if signed.State == letter.Executed {
		said = "Signed. The agreement is executed: it is the executed MTA of each of its requests."
	}
	return v.done(id, "sign", said, err)
}
