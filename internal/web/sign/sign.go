// Package sign has the page where people without an account read and sign an agreement, by a link from a mail.
package sign

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// The token of a link is in the address that the mail has, which browsers store and send to others. So it is moved at
// once into a cookie, and the page has an address without it.
const cookie, cookieLives = "__Host-sign", 24 * time.Hour

// Routes returns the pages of the area.
func Routes() []ui.Route {
	return []ui.Route{
		ui.Get("/sign", (*pageRequest).show),
		ui.Get("/sign/document", (*pageRequest).document).Expensive(),
		ui.Post("/sign", (*pageRequest).sign).Open().Limited(),
		ui.Post("/sign/code", (*pageRequest).sendCode).Open().Limited(),
	}
}

type page struct {
	ui.Page
	letters.Linked
	State   string // open, signed, ended, unknown
	Why     string // why it cannot be signed
	Text    string // of the letter
	Address string // to which the code goes, shortened
	Reason  string // as typed
}

// show shows the letter of the link.
func (v *pageRequest) show() (ui.Response, error) {
	if token := v.URL.Query().Get("token"); token != "" {
		v.SetCookie(cookie, url.QueryEscape(token), cookieLives)
		r := ui.SeeOther("/sign")
		r.Private = true
		return r, nil
	}
	return v.page(nil, http.StatusOK)
}

// token returns the token of the link that was opened last.
func (v *pageRequest) token() string {
	token, err := url.QueryUnescape(v.CookieValue(cookie))
	if err != nil {
		return ""
	}
	return token
}

// page shows the letter of the link, with what was wrong with the form.
func (v *pageRequest) page(wrong ui.FieldErrors, status int) (ui.Response, error) {
	p := &page{Page: ui.Page{Title: "Sign an agreement", Narrow: true, Errors: wrong}, State: "unknown",
		Reason: v.PostFormValue("reason")}
	linked, err := v.App.Letters.Linked(v.Context(), v.Who.Actor, v.token())
	switch {
	case exchange.CodeOf(err) == exchange.NotFound && err != nil:
		status = http.StatusNotFound
	case err != nil:
		return ui.Response{}, err
	default:
		p.fill(linked)
	}
	return ui.Response{Status: status, Template: "sign", Page: p, Private: true}, nil
}

func (p *page) fill(linked letters.Linked) {
	p.Linked, p.Title = linked, "Sign "+linked.Letter.Number
	name, host, _ := strings.Cut(linked.Link.Signer.Mail, "@")
	p.Address = name[:1] + "…@" + host
	switch {
	case linked.WhyNot == nil:
		p.State, p.Text = "open", linked.Letter.Text(linked.Instrument)
	case errors.Is(linked.WhyNot, signing.ErrUsed) && linked.Link.Document == linked.Document():
		p.State, p.Title = "used", linked.Letter.Number
	default:
		p.State, p.Title = "ended", linked.Letter.Number
		p.Why = cmp.Or(exchange.MessageOf(linked.WhyNot), linked.WhyNot.Error())
	}
}

// document sends the letter as a PDF.
func (v *pageRequest) document() (ui.Response, error) {
	pdf, name, err := v.App.Letters.LinkedDocument(v.Context(), v.Who.Actor, v.token())
	if err != nil {
		return ui.Response{Private: true}, err
	}
	return ui.Response{Status: http.StatusOK, Private: true, Serve: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `inline; filename="`+name+`"`)
		_, _ = w.Write(pdf)
	}}, nil
}

// sendCode has a code mailed.
func (v *pageRequest) sendCode() (ui.Response, error) {
	if err := v.App.Letters.AskCode(v.Context(), v.Who.Actor, v.token()); err != nil {
		return v.refused(err)
	}
	r := ui.SeeOther("/sign#code").Saying("A code is on its way to your mailbox.")
	r.Private = true
	return r, nil
}

// sign signs the letter, or declines it.
func (v *pageRequest) sign() (ui.Response, error) {
	use := letter.LinkUse{Code: v.PostFormValue("code"), SHA256: v.PostFormValue("sha256")}
	said, err := "Signed. Thank you.", error(nil)
	if v.PostFormValue("do") == "decline" {
		said = "Declined. Those who sent it see your reason."
		var reason string
		if reason, err = (request.ReasonBody{Reason: exchange.Some(v.PostFormValue("reason"))}).Check(); err == nil {
			err = v.App.Letters.DeclineByLink(v.Context(), v.Who.Actor, v.token(), use, reason)
		}
	} else {
		err = v.App.Letters.SignByLink(v.Context(), v.Who.Actor, v.token(), use)
	}
	if err != nil {
		return v.refused(err)
	}
	r := ui.SeeOther("/sign").Saying(said)
	r.Private = true
	return r, nil
}

// refused shows the page with what was refused.
func (v *pageRequest) refused(err error) (ui.Response, error) {
	if wrong, ok := ui.FieldErrorsIn(err); ok {
		return v.page(wrong, http.StatusUnprocessableEntity)
	}
	e, ok := errors.AsType[*exchange.Error](err)
	if !ok || e.Code.ServerFault() || e.Code == exchange.NotFound {
		return ui.Response{Private: true}, err
	}
	v.NoteRefusal(err)
	status := http.StatusConflict
	switch e.Code {
	case exchange.RateLimited:
		status = http.StatusTooManyRequests
	case exchange.NoAuthority, exchange.LevelTooLow:
		status = http.StatusForbidden
	}
	return v.page(ui.FieldErrors{"": {e.Message}}, status)
}
