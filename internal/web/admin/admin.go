package admin

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

var adminPages = []ui.Route{
	ui.Get("/admin", (*pageRequest).admin).Private(),
	ui.Get("/admin/users", (*pageRequest).adminUsers).Private().Expensive(),
	ui.Post("/admin/users/{id}/admin", (*pageRequest).makeAdmin),
	ui.Post("/admin/users/{id}/signout", (*pageRequest).signOutUser),
	ui.Get("/admin/organizations", (*pageRequest).adminOrganizations).Private().Expensive(),
	ui.Get("/admin/jobs", (*pageRequest).adminJobs).Private(),
	ui.PostID("/admin/jobs/{id}/retry", (*pageRequest).retryJob),
	ui.Post("/admin/jobs/{id}/cancel", (*pageRequest).cancelJobAsAdmin),
	ui.Get("/admin/stuck", (*pageRequest).adminStuck).Private(),
	ui.Get("/admin/mail", (*pageRequest).adminMail).Private(),
	ui.Get("/admin/audit", (*pageRequest).adminAudit).Private(),
	ui.GetID("/progress/{id}", (*pageRequest).job).Private(),
	ui.Post("/progress/{id}/cancel", (*pageRequest).cancelJob),
}

// adminPage is what all admin pages have.
type adminPage struct {
	ui.Page
	Place string // the open entry of the side navigation
	Query url.Values
	Total exchange.Count
	Next  string
	First string
}

// Parts returns the entries of the admin navigation.
func (p *adminPage) Parts() []ui.AdminPart { return ui.AdminParts() }

func (v *pageRequest) adminPage(place, title string) adminPage {
	return adminPage{Page: ui.Page{Title: title, Section: "admin"}, Place: place, Query: v.URL.Query()}
}

// paged sets the addresses of the previous and next page from the query parameter name.
func (p *adminPage) paged(name, next string) {
	here := ui.AdminPart{Place: p.Place}.Address()
	q := url.Values{}
	for key, values := range p.Query {
		if key != name && values[0] != "" {
			q[key] = values
		}
	}
	if p.Query.Get(name) != "" {
		p.First = here + "?" + q.Encode()
	}
	if next != "" {
		q.Set(name, next)
		p.Next = here + "?" + q.Encode()
	}
}

const adminRows = 50

// pageBehind returns the page of a list, newest first, that follows the id in the query.
func (v *pageRequest) pageBehind() exchange.Page {
	p := exchange.Page{Limit: adminRows}
	if id := ui.ParseID(v.URL.Query().Get("after")); id != nil {
		p.After = &exchange.Position{ID: *id}
	}
	return p
}

// idOf returns the cursor of the next page of a list by ids; "" if there is none.
func idOf(next *exchange.Position) string {
	if next == nil {
		return ""
	}
	return strconv.FormatInt(next.ID, 10)
}

type overviewPage struct {
	adminPage
	exchange.Overview
	Days int // after which a request counts as stuck
}

func (v *pageRequest) admin() (ui.Response, error) {
	o, err := v.App.Overview(v.Context(), v.Who.Actor)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("admin", &overviewPage{adminPage: v.adminPage("", "Administration"), Overview: o,
		Days: v.App.StuckAfter()})
}

type usersPage struct {
	adminPage
	Users  []core.UserView
	Admins bool
}

// adminSearch returns the search text and the page number in the query.
func (v *pageRequest) adminSearch() (s exchange.Search, number int, err error) {
	number = 1
	if n := ui.ParseID(v.URL.Query().Get("page")); n != nil && *n <= exchange.MaxOffset/adminRows {
		number = int(*n)
	}
	s = exchange.Search{Query: fulltext.Parse(v.URL.Query().Get("q")),
		Page: exchange.SearchPage{Limit: adminRows, Offset: (number - 1) * adminRows}}
	if s.Query.Empty() {
		s.Sort = exchange.ByNewest
	}
	return s, number, ui.SearchSize("q", v.URL.Query().Get("q"))
}

// pageAfter returns the number of the next page of a search; "" if there is none.
func pageAfter(number int, next *exchange.SearchPosition) string {
	if next == nil || number >= exchange.MaxOffset/adminRows {
		return ""
	}
	return strconv.Itoa(number + 1)
}

func (v *pageRequest) adminUsers() (ui.Response, error) {
	p := &usersPage{adminPage: v.adminPage("users", "Users"), Admins: v.URL.Query().Get("only") == "admins"}
	s, number, err := v.adminSearch()
	if err != nil {
		return ui.Response{}, err
	}
	found, err := v.App.Users(v.Context(), v.Who.Actor, s, p.Admins)
	if err != nil {
		return ui.Response{}, err
	}
	p.Users, p.Total = found.Items, found.Count
	p.paged("page", pageAfter(number, found.Next))
	return ui.Show("admin_users", p)
}

// makeAdmin grants or revokes the admin role.
func (v *pageRequest) makeAdmin() (ui.Response, error) {
	id, err := uuid.Parse(v.PathValue("id"))
	if err != nil {
		return v.Missing()
	}
	admin := v.PostFormValue("admin") == "1"
	u, err := v.App.MakeAdmin(v.Context(), v.Who.Actor, id, admin)
	if err != nil {
		return ui.Response{}, err
	}
	back, text := v.adminBack("/admin/users"), u.Name()+" is now an admin."
	if !admin {
		text = u.Name() + " is no longer an admin."
	}
	return ui.SeeOther(back).Saying(text), nil
}

// signOutUser ends every session of a user and revokes their API tokens.
func (v *pageRequest) signOutUser() (ui.Response, error) {
	id, err := uuid.Parse(v.PathValue("id"))
	if err != nil {
		return v.Missing()
	}
	u, err := v.App.Accounts.User(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Accounts.RevokeTokens(v.Context(), v.Who.Actor, id, nil); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.adminBack("/admin/users")).Saying(u.Name() + " is signed out everywhere; their API tokens " +
		"are revoked."), nil
}

// adminBack returns the address of the page that the form was on.
func (v *pageRequest) adminBack(usual string) string {
	if back := ui.LocalAddress(v.PostFormValue("back")); back != "/" {
		return back
	}
	return usual
}

type organizationsPage struct {
	adminPage
	Labs []core.OrganizationView
}

func (v *pageRequest) adminOrganizations() (ui.Response, error) {
	p := &organizationsPage{adminPage: v.adminPage("organizations", "Labs")}
	s, number, err := v.adminSearch()
	if err != nil {
		return ui.Response{}, err
	}
	found, err := v.App.OrganizationsToAdmin(v.Context(), v.Who.Actor, s)
	if err != nil {
		return ui.Response{}, err
	}
	p.Labs, p.Total = found.Items, found.Count
	p.paged("page", pageAfter(number, found.Next))
	return ui.Show("admin_organizations", p)
}

type mailPage struct {
	adminPage
	Mail []failedLetter
}

// failedLetter is a mail that could not be delivered.
type failedLetter struct {
	notify.FailedMail
	About string
}

func (v *pageRequest) adminMail() (ui.Response, error) {
	p := &mailPage{adminPage: v.adminPage("mail", "Failed mail")}
	part, err := v.App.FailedMail(v.Context(), v.Who.Actor, v.pageBehind())
	if err != nil {
		return ui.Response{}, err
	}
	for _, m := range part.Items {
		p.Mail = append(p.Mail, failedLetter{m, ui.NoticeItemOf(m.Notification).Head})
	}
	p.Total = part.Total
	p.paged("after", idOf(part.Next))
	return ui.Show("admin_mail", p)
}

type auditPage struct {
	adminPage
	Acts     []core.AuditEntry
	Actions  []string
	Fault    string
	DayFault string // the error of the Days field
}

func (v *pageRequest) adminAudit() (ui.Response, error) {
	p := &auditPage{adminPage: v.adminPage("audit", "Audit")}
	query := v.URL.Query()
	var f exchange.AuditFilter
	if text := strings.TrimSpace(query.Get("actor")); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			p.Fault = "Enter a user id, as shown in the list of users."
		}
		f.Actor = &id
	}
	if text := strings.TrimSpace(query.Get("object")); text != "" {
		f.Object = &text
	}
	for action := range v.App.Policy() {
		p.Actions = append(p.Actions, string(action))
	}
	slices.Sort(p.Actions)
	if text := query.Get("action"); slices.Contains(p.Actions, text) {
		f.Action = &text
	}
	if query.Get("power") == "1" {
		f.AsAdmin = new(true)
	}
	if query.Get("refused") == "1" {
		f.Refused = new(true)
	}
	for name, day := range map[string]**exchange.Date{"from": &f.From, "to": &f.To} {
		if d := exchange.Date(query.Get(name)); d != "" {
			if _, ok := d.Begin(); ok {
				*day = &d
			} else {
				p.DayFault = "Enter dates like 2026-03-12."
			}
		}
	}
	part, err := v.App.Audit(v.Context(), v.Who.Actor, v.pageBehind(), f)
	if err != nil {
		return ui.Response{}, err
	}
	p.Acts, p.Total = part.Items, part.Total
	p.paged("after", idOf(part.Next))
	return ui.Show("admin_audit", p)
}
