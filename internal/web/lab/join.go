package lab

import (
	"net/http"
	"net/url"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/web/ui"
)

// joinRequest is a request about an invitation, of somebody who belongs to no lab yet.
type joinRequest struct{ *ui.PageRequest }

// The token of an invitation is in the address of the link in a mail, which browsers store and send to others. So it
// is moved at once into a cookie, and the page has an address without it.
const joinCookie = "__Host-join"

var joinPages = []ui.Route{
	ui.Get("/join", (*joinRequest).joinPage),
	ui.Post("/join/answer", (*joinRequest).answerJoin).Open(),
	ui.Post("/join/{invitation}", (*joinRequest).answerInvitation),
}

type joinPage struct {
	ui.Page
	Invitation lab.ShownInvitation
	Addressee  string // who it is for, as far as the holder of the link may know
	State      string // open, expired, accepted, declined, other, unknown
}

// joinPage shows the invitation of the link in a mail.
func (v *joinRequest) joinPage() (ui.Response, error) {
	if token := v.URL.Query().Get("token"); token != "" {
		v.SetCookie(joinCookie, url.QueryEscape(token), ui.SignInLives)
		r := ui.SeeOther("/join")
		r.Private = true
		return r, nil
	}
	p := &joinPage{Page: ui.Page{Title: "Invitation", Section: "lab", Narrow: true}}
	token, err := url.QueryUnescape(v.CookieValue(joinCookie))
	if err != nil || token == "" {
		p.State = "unknown"
		return v.joined(p, http.StatusNotFound)
	}
	i, err := v.App.Labs.HeldInvitation(v.Context(), token)
	if exchange.CodeOf(err) == exchange.NotFound && err != nil {
		p.State = "unknown"
		return v.joined(p, http.StatusNotFound)
	} else if err != nil {
		return ui.Response{}, err
	}
	p.fill(i, v)
	return v.joined(p, http.StatusOK)
}

func (p *joinPage) fill(i lab.ShownInvitation, v *joinRequest) {
	p.Invitation, p.Title = i, i.Organization+" invites you"
	p.Addressee = i.RegistryID
	if name, host, ok := strings.Cut(i.Email, "@"); ok {
		p.Addressee = name[:1] + "…@" + host
	}
	switch i.Status {
	case lab.InvitationPending:
		p.State = "open"
		if v.SignedIn() && !i.For(v.Who.User, true) {
			p.State = "other"
		}
	case lab.InvitationExpired:
		p.State = "expired"
	case lab.InvitationAccepted:
		p.State = "accepted"
	default:
		p.State = "declined"
	}
}

func (v *joinRequest) joined(p *joinPage, status int) (ui.Response, error) {
	return ui.Response{Status: status, Template: "join", Page: p, Private: true}, nil
}

// answerJoin accepts or declines.
func (v *joinRequest) answerJoin() (ui.Response, error) {
	if !v.SignedIn() { // the session has ended meanwhile
		return ui.SeeOther("/signin?next=%2Fjoin"), nil
	}
	token, err := url.QueryUnescape(v.CookieValue(joinCookie))
	if err != nil || token == "" {
		return ui.SeeOther("/join"), nil
	}
	to := lab.InvitationDeclined
	if v.PostFormValue("answer") == "accept" {
		to = lab.InvitationAccepted
	}
	i, err := v.App.Labs.AnswerHeld(v.Context(), v.Who.Actor, lab.InvitationToken{Token: exchange.Some(token)}, to)
	switch exchange.CodeOf(err) {
	case exchange.InvalidInput, exchange.Conflict, exchange.Forbidden, exchange.NotFound:
		v.NoteRefusal(err)
		return ui.SeeOther("/join"), nil // which shows the invitation's present state
	default:
		if err != nil {
			return ui.Response{}, err
		}
	}
	v.ForgetCookie(joinCookie)
	if to == lab.InvitationDeclined {
		return ui.SeeOther("/").Saying("You declined. " + i.Inviter.Name() + " will be notified."), nil
	}
	return ui.SeeOther("/labs/" + itoa(i.OrganizationID)).Saying("You are a member of " + i.Organization + " now."), nil
}

// answerInvitation answers an invitation that is shown on the visitor's own pages.
func (v *joinRequest) answerInvitation() (ui.Response, error) {
	id, err := v.PathID("invitation")
	if err != nil {
		return ui.Response{}, err
	}
	to := lab.InvitationDeclined
	if v.PostFormValue("answer") == "accept" {
		to = lab.InvitationAccepted
	}
	i, err := v.App.Labs.Answer(v.Context(), v.Who.Actor, v.Who.ID, id, to)
	if err != nil {
		return ui.Response{}, err
	}
	if to == lab.InvitationDeclined {
		return ui.SeeOther("/labs").Saying("You declined. " + i.Inviter.Name() + " will be notified."), nil
	}
	return ui.SeeOther("/labs/" + itoa(i.OrganizationID)).Saying("You are a member of " + i.Organization + " now."), nil
}
