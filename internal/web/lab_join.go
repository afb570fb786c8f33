package web

import (
	"net/http"
	"net/url"
	"strings"

	"aliquot/internal/exchange"
)

// The token of an invitation is in the address of the link in a mail, which browsers store and send to others. So it
// is moved at once into a cookie, and the page has an address without it.
const joinCookie = "__Host-join"

type joinPage struct {
	Page
	Invitation exchange.ShownInvitation
	Addressee  string // who it is for, as far as the holder of the link may know
	State      string // open, expired, accepted, declined, other, unknown
}

// joinPage shows the invitation of the link in a mail.
func (v *pageRequest) joinPage() (response, error) {
	if token := v.URL.Query().Get("token"); token != "" {
		v.setCookie(joinCookie, url.QueryEscape(token), signInLives)
		r := seeOther("/join")
		r.private = true
		return r, nil
	}
	p := &joinPage{Page: Page{Title: "Invitation", Section: "lab", Narrow: true}}
	token, err := url.QueryUnescape(v.cookie(joinCookie))
	if err != nil || token == "" {
		p.State = "unknown"
		return v.joined(p, http.StatusNotFound)
	}
	i, err := v.app.HeldInvitation(v.Context(), token)
	if exchange.CodeOf(err) == exchange.NotFound && err != nil {
		p.State = "unknown"
		return v.joined(p, http.StatusNotFound)
	} else if err != nil {
		return response{}, err
	}
	p.tell(i, v)
	return v.joined(p, http.StatusOK)
}

func (p *joinPage) tell(i exchange.ShownInvitation, v *pageRequest) {
	p.Invitation, p.Title = i, i.Organization+" invites you"
	p.Addressee = i.RegistryID
	if name, host, ok := strings.Cut(i.Email, "@"); ok {
		p.Addressee = name[:1] + "…@" + host
	}
	switch i.Status {
	case exchange.InvitationPending:
		p.State = "open"
		if v.signedIn() && !i.For(v.who.User, true) {
			p.State = "other"
		}
	case exchange.InvitationExpired:
		p.State = "expired"
	case exchange.InvitationAccepted:
		p.State = "accepted"
	default:
		p.State = "declined"
	}
}

func (v *pageRequest) joined(p *joinPage, status int) (response, error) {
	return response{status: status, template: "join", page: p, private: true}, nil
}

// answerJoin accepts or declines.
func (v *pageRequest) answerJoin() (response, error) {
	if !v.signedIn() { // the session has ended meanwhile
		return seeOther("/signin?next=%2Fjoin"), nil
	}
	token, err := url.QueryUnescape(v.cookie(joinCookie))
	if err != nil || token == "" {
		return seeOther("/join"), nil
	}
	to := exchange.InvitationDeclined
	if v.PostFormValue("answer") == "accept" {
		to = exchange.InvitationAccepted
	}
	i, err := v.app.AnswerHeld(v.Context(), v.who.Actor, exchange.InvitationToken{Token: exchange.Some(token)}, to)
	switch exchange.CodeOf(err) {
	case exchange.InvalidInput, exchange.Conflict, exchange.Forbidden, exchange.NotFound:
		v.noteRefusal(err)
		return seeOther("/join"), nil // which shows the invitation's present state
	default:
		if err != nil {
			return response{}, err
		}
	}
	v.forget(joinCookie)
	if to == exchange.InvitationDeclined {
		return seeOther("/").saying("You declined. " + i.Inviter.Name() + " is told."), nil
	}
	return seeOther("/labs/" + itoa(i.OrganizationID)).saying("You are a member of " + i.Organization + " now."), nil
}

// answerInvitation answers an invitation that is shown on the visitor's own pages.
func (v *pageRequest) answerInvitation() (response, error) {
	id, err := v.id("invitation")
	if err != nil {
		return response{}, err
	}
	to := exchange.InvitationDeclined
	if v.PostFormValue("answer") == "accept" {
		to = exchange.InvitationAccepted
	}
	i, err := v.app.Answer(v.Context(), v.who.Actor, v.who.ID, id, to)
	if err != nil {
		return response{}, err
	}
	if to == exchange.InvitationDeclined {
		return seeOther("/labs").saying("You declined. " + i.Inviter.Name() + " is told."), nil
	}
	return seeOther("/labs/" + itoa(i.OrganizationID)).saying("You are a member of " + i.Organization + " now."), nil
}
