package letter

import (
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
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
	Offer   letters.RoleOffer
	Options string // what script passes to the device that signs; "": nothing was asked
	Asked   string // the statement that it signs
}

// askSign shows what a signature states, before it is made.
func (v *pageRequest) askSign(id int64) (ui.Response, error) {
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	sign := signPageOf(p, v.FormValue("role"))
	if sign == nil {
		return ui.SeeOther(p.Path), nil
	}
	return ui.Show("letter-sign", sign)
}

// signPageOf returns the page that asks for a signature in a role; nil if the visitor cannot make it.
func signPageOf(p *page, role string) *signPage {
	for _, o := range p.L.Roles {
		if o.Role == role && p.L.CanSign(role) {
			p.Title = "Sign the agreement " + p.L.Letter.Number
			return &signPage{page: *p, Offer: o}
		}
	}
	return nil
}

// askPasskey shows the button with which a device signs the version that the visitor saw.
func (v *pageRequest) askPasskey(id int64) (ui.Response, error) {
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	role := v.text("role")
	sign := signPageOf(p, role.Value)
	if sign == nil {
		return ui.SeeOther(p.Path), nil
	}
	asked, err := v.App.Letters.AskPasskey(v.Context(), v.Who.Actor, v.Who.ID, letter.PasskeyAsk{Role: role,
		Agreements: exchange.Some([]exchange.Ref{exchange.Ref(id)})})
	if err != nil {
		return v.refused(id, "sign", err)
	}
	sign.Options, sign.Asked = string(asked.Options), asked.Statement
	r, err := ui.Show("letter-sign", sign)
	r.Private = true
	return r, err
}

// answerPasskey signs with what the device answered.
func (v *pageRequest) answerPasskey(id int64) (ui.Response, error) {
	if _, err := v.read(id); err != nil {
		return ui.Response{}, err
	}
	signed, err := v.App.Letters.SignWithPasskey(v.Context(), v.Who.Actor, v.Who.ID,
		signing.PasskeyAnswer{Credential: v.Credential()})
	if _, wrong := ui.FieldErrorsIn(err); wrong {
		err = exchange.Errorf(exchange.Conflict, ui.AnswerRefused)
	}
	said := "Signed with your passkey."
	if len(signed) > 0 && signed[0].State == letter.Executed {
		said = "Signed with your passkey. The agreement is executed."
	}
	return v.done(id, "sign", said, err)
}

// invite mails a link to an official without an account.
func (v *pageRequest) invite(id int64) (ui.Response, error) {
	if _, err := v.read(id); err != nil {
		return ui.Response{}, err
	}
	link, err := v.App.Letters.Invite(v.Context(), v.Who.Actor, id, letter.LinkNew{Role: v.text("role"),
		Mail: v.text("mail")})
	return v.done(id, "links", "A link is on its way to "+link.Signer.Name+".", err)
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
