package account

import (
	"net/http"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

// erasureRequest is a request for a page about the erasure of a person.
type erasureRequest struct{ *ui.PageRequest }

var erasurePages = []ui.Route{
	ui.Get("/account/erasure", (*erasureRequest).showOwnErasure).Private(),
	ui.Post("/account/erasure", (*erasureRequest).askOwnErasure),
	ui.Post("/account/erasure/withdraw", (*erasureRequest).withdrawOwnErasure),
	ui.Get("/admin/users/{id}/erasure", (*erasureRequest).showErasure).Private(),
	ui.Post("/admin/users/{id}/erasure", (*erasureRequest).askErasure),
	ui.Post("/admin/users/{id}/erasure/withdraw", (*erasureRequest).withdrawErasure),
}

// erasurePage explains what erasing a person does, and asks for it.
type erasurePage struct {
	closePage
	person.Erasure
	SignInFirst bool
	Stays       string
}

// Address returns the address of the page.
func (p *erasurePage) Address() string {
	if p.Own {
		return "/account/erasure"
	}
	return "/admin/users/" + p.User.ID.String() + "/erasure"
}

// Days is how many days an erasure waits.
func (p *erasurePage) Days() int { return person.ErasureDays }

// template returns the name of the template that shows p.
func (p *erasurePage) template() string {
	if p.Own {
		return "account-erasure"
	}
	return "admin_erasure"
}

func (v *erasureRequest) erasurePage(user uuid.UUID) (*erasurePage, error) {
	e, err := v.App.Accounts.Erasure(v.Context(), v.Who.Actor, user)
	p := &erasurePage{closePage{(*pageRequest)(v).accountPage("close", "Erase everything"), e.Closing, v.Who.Is(user)},
		e.Erasure, e.SignInFirst, person.ErasureStays}
	if !p.Own {
		p.Section = "admin"
	}
	return p, err
}

func (v *erasureRequest) erasure(user uuid.UUID) (ui.Response, error) {
	p, err := v.erasurePage(user)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show(p.template(), p)
}

// ask asks for the erasure of a user.
func (v *erasureRequest) ask(user uuid.UUID) (ui.Response, error) {
	p, err := v.erasurePage(user)
	if err != nil {
		return ui.Response{}, err
	}
	var n person.ErasureNew
	if !p.Own {
		n.Reason = exchange.Some(v.PostFormValue("reason"))
	}
	_, err = v.App.Accounts.AskErasure(v.Context(), v.Who.Actor, user, n)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p.Errors = ui.SentencesOf(fields, map[string]string{"reason": "the reason"})
		return ui.Invalid(p.template(), p)
	}
	status := 0
	switch code := exchange.CodeOf(err); {
	case code == exchange.Conflict && p.Blocked():
		status = http.StatusConflict
	case code == exchange.Forbidden && p.SignInFirst:
		status = http.StatusForbidden
	default:
		return ui.SeeOther(p.Address()).Saying("The erasure is planned."), err
	}
	r, err := ui.Invalid(p.template(), p) // the page states what has to be done first
	r.Status = status
	return r, err
}

// withdraw takes the erasure of a user back.
func (v *erasureRequest) withdraw(user uuid.UUID, back string) (ui.Response, error) {
	err := v.App.Accounts.TakeBackErasure(v.Context(), v.Who.Actor, user, nil)
	return ui.SeeOther(back).Saying("Taken back: nothing is erased."), err
}

func (v *erasureRequest) showOwnErasure() (ui.Response, error) { return v.erasure(v.Who.ID) }

func (v *erasureRequest) askOwnErasure() (ui.Response, error) { return v.ask(v.Who.ID) }

func (v *erasureRequest) withdrawOwnErasure() (ui.Response, error) {
	return v.withdraw(v.Who.ID, "/account/erasure")
}

// ofOther runs do for the user in the path of an admin page; whoever it is themselves has a page of their own.
func (v *erasureRequest) ofOther(do func(uuid.UUID) (ui.Response, error)) (ui.Response, error) {
	id, err := (*pageRequest)(v).closing()
	if err != nil {
		return ui.Response{}, err
	}
	if v.Who.Is(id) {
		return ui.SeeOther("/account/erasure"), nil
	}
	return do(id)
}

func (v *erasureRequest) showErasure() (ui.Response, error) { return v.ofOther(v.erasure) }

func (v *erasureRequest) askErasure() (ui.Response, error) { return v.ofOther(v.ask) }

func (v *erasureRequest) withdrawErasure() (ui.Response, error) {
	return v.ofOther(func(id uuid.UUID) (ui.Response, error) {
		return v.withdraw(id, "/admin/users/"+id.String()+"/erasure")
	})
}
