package web

import (
	"net/http"
	"strings"

	"aliquot/internal/app"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

var closePages = []page{
	get("/account/close", (*pageRequest).askClose).private(),
	post("/account/close", (*pageRequest).closeOwn),
	get("/account/closed", (*pageRequest).accountClosed),
	get("/admin/users/{id}/close", (*pageRequest).askCloseUser).private(),
	post("/admin/users/{id}/close", (*pageRequest).closeUser),
}

// closePage explains what closing an account does, and asks to confirm it.
type closePage struct {
	accountPage
	app.Closing
	Own bool // the account is the visitor's
}

// Place returns the open entry of the admin navigation.
func (*closePage) Place() string { return "users" }

// Parts returns the entries of the admin navigation.
func (*closePage) Parts() []adminPart { return adminParts() }

func (v *pageRequest) closePage(user uuid.UUID) (*closePage, error) {
	c, err := v.app.Closing(v.Context(), v.who.Actor, user)
	p := &closePage{accountPage: v.accountPage("close", "Close account"), Closing: c, Own: v.who.Is(user)}
	if !p.Own {
		p.Section = "admin"
	}
	return p, err
}

// template returns the name of the template that shows p.
func (p *closePage) template() string {
	if p.Own {
		return "account-close"
	}
	return "admin_close"
}

// close closes the user's account if its name or registry id was typed to confirm it.
func (v *pageRequest) close(user uuid.UUID, done response) (response, error) {
	p, err := v.closePage(user)
	if err != nil {
		return response{}, err
	}
	typed := strings.Join(strings.Fields(v.PostFormValue("confirm")), " ")
	if typed == "" || !strings.EqualFold(typed, p.User.Name()) && typed != p.User.RegistryID {
		p.Errors = FieldErrors{"confirm": {"Type " + p.User.Name() + " or " + p.User.RegistryID + " to confirm"}}
		return invalid(p.template(), p)
	}
	if err := v.app.CloseAccount(v.Context(), v.who.Actor, user, nil); exchange.CodeOf(err) != exchange.Conflict ||
		!p.Blocked() {
		return done, err
	}
	r, err := invalid(p.template(), p) // the error says what has to be done first
	r.status = http.StatusConflict
	return r, err
}

func (v *pageRequest) askClose() (response, error) {
	p, err := v.closePage(v.who.ID)
	if err != nil {
		return response{}, err
	}
	return show(p.template(), p)
}

func (v *pageRequest) closeOwn() (response, error) {
	r, err := v.close(v.who.ID, seeOther("/account/closed"))
	if err == nil && r.location != "" {
		v.forget(sessionCookie)
	}
	return r, err
}

// accountClosed is the page that people see after closing their account.
func (v *pageRequest) accountClosed() (response, error) {
	return show("account-closed", &Page{Title: "Your account is closed", Narrow: true})
}

// closing returns the user whose id is in the path of an admin page.
func (v *pageRequest) closing() (uuid.UUID, error) {
	id, err := uuid.Parse(v.PathValue("id"))
	if err != nil || len(v.PathValue("id")) != len(id.String()) {
		return id, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
	}
	return id, nil
}

func (v *pageRequest) askCloseUser() (response, error) {
	id, err := v.closing()
	if err != nil {
		return response{}, err
	}
	if v.who.Is(id) {
		return seeOther("/account/close"), nil
	}
	p, err := v.closePage(id)
	if err != nil {
		return response{}, err
	}
	return show(p.template(), p)
}

func (v *pageRequest) closeUser() (response, error) {
	id, err := v.closing()
	if err != nil {
		return response{}, err
	}
	if v.who.Is(id) {
		return seeOther("/account/close"), nil
	}
	return v.close(id, seeOther("/admin/users").saying("The account is closed."))
}
