package account

import (
	"mime"
	"net/http"
	"strings"
	"time"

	"aliquot/internal/app/account"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

var closePages = []ui.Route{
	ui.Get("/account/close", (*pageRequest).askClose).Private(),
	ui.Post("/account/close", (*pageRequest).closeOwn),
	ui.Get("/account/closed", (*pageRequest).accountClosed),
	ui.Get("/admin/users/{id}/close", (*pageRequest).askCloseUser).Private(),
	ui.Post("/admin/users/{id}/close", (*pageRequest).closeUser),
}

// closePage explains what closing an account does, and asks to confirm it.
type closePage struct {
	accountPage
	account.Closing
	Own bool // the account is the visitor's
}

// Place returns the open entry of the admin navigation.
func (*closePage) Place() string { return "users" }

// Parts returns the entries of the admin navigation.
func (*closePage) Parts() []ui.AdminPart { return ui.AdminParts() }

func (v *pageRequest) closePage(user uuid.UUID) (*closePage, error) {
	c, err := v.App.Accounts.Closing(v.Context(), v.Who.Actor, user)
	p := &closePage{accountPage: v.accountPage("close", "Close account"), Closing: c, Own: v.Who.Is(user)}
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
func (v *pageRequest) close(user uuid.UUID, done ui.Response) (ui.Response, error) {
	p, err := v.closePage(user)
	if err != nil {
		return ui.Response{}, err
	}
	typed := strings.Join(strings.Fields(v.PostFormValue("confirm")), " ")
	if typed == "" || !strings.EqualFold(typed, p.User.Name()) && typed != p.User.RegistryID {
		p.Errors = ui.FieldErrors{"confirm": {"Type " + p.User.Name() + " or " + p.User.RegistryID + " to confirm"}}
		return ui.Invalid(p.template(), p)
	}
	err = v.App.Accounts.CloseAccount(v.Context(), v.Who.Actor, user, nil)
	if exchange.CodeOf(err) != exchange.Conflict || !p.Blocked() {
		return done, err
	}
	r, err := ui.Invalid(p.template(), p) // the error states what has to be done first
	r.Status = http.StatusConflict
	return r, err
}

func (v *pageRequest) askClose() (ui.Response, error) {
	p, err := v.closePage(v.Who.ID)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show(p.template(), p)
}

func (v *pageRequest) closeOwn() (ui.Response, error) {
	r, err := v.close(v.Who.ID, ui.SeeOther("/account/closed"))
	if err == nil && r.Location != "" {
		v.ForgetCookie(ui.SessionCookie)
	}
	return r, err
}

// accountClosed is the page that people see after closing their account.
func (v *pageRequest) accountClosed() (ui.Response, error) {
	return ui.Show("account-closed", &ui.Page{Title: "Your account is closed", Narrow: true})
}

// closing returns the user whose id is in the path of an admin page.
func (v *pageRequest) closing() (uuid.UUID, error) {
	id, err := uuid.Parse(v.PathValue("id"))
	if err != nil || len(v.PathValue("id")) != len(id.String()) {
		return id, exchange.Errorf(exchange.NotFound, "There is no page at this address.")
	}
	return id, nil
}

func (v *pageRequest) askCloseUser() (ui.Response, error) {
	id, err := v.closing()
	if err != nil {
		return ui.Response{}, err
	}
	if v.Who.Is(id) {
		return ui.SeeOther("/account/close"), nil
	}
	p, err := v.closePage(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show(p.template(), p)
}

func (v *pageRequest) closeUser() (ui.Response, error) {
	id, err := v.closing()
	if err != nil {
		return ui.Response{}, err
	}
	if v.Who.Is(id) {
		return ui.SeeOther("/account/close"), nil
	}
	return v.close(id, ui.SeeOther("/admin/users").Saying("Account closed."))
}

func (v *pageRequest) export() (ui.Response, error) {
	p := v.accountPage("export", "Your data")
	return ui.Show("account-export", &p)
}

// exportData sends all data about the visitor, as it is read.
func (v *pageRequest) exportData() (ui.Response, error) {
	write, err := v.App.Accounts.ExportAccount(v.Context(), v.Who.Actor, v.Who.ID)
	if err != nil {
		return ui.Response{}, err
	}
	name := "aliquot-export-" + v.App.DB.Read().Now.Format(time.DateOnly) + ".zip"
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		w.Header().Set("Cache-Control", "no-store")
		if err := write(w); err != nil {
			v.App.Log.ErrorContext(r.Context(), "export of an account", "error", err)
			panic(http.ErrAbortHandler) // so that nobody mistakes a part for the whole
		}
	}}, nil
}
