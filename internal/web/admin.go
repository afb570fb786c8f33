package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

var adminPages = []page{
	get("/admin", (*pageRequest).admin).private(),
	get("/admin/users", (*pageRequest).adminUsers).private().expensive(),
	post("/admin/users/{id}/admin", (*pageRequest).makeAdmin),
	get("/admin/organizations", (*pageRequest).adminOrganizations).private().expensive(),
	get("/admin/jobs", (*pageRequest).adminJobs).private(),
	post("/admin/jobs/{id}/retry", (*pageRequest).retryJob),
	post("/admin/jobs/{id}/cancel", (*pageRequest).cancelJobAsAdmin),
	get("/admin/stuck", (*pageRequest).adminStuck).private(),
	get("/admin/mail", (*pageRequest).adminMail).private(),
	get("/admin/audit", (*pageRequest).adminAudit).private(),
	get("/progress/{id}", (*pageRequest).job).private(),
	post("/progress/{id}/cancel", (*pageRequest).cancelJob),
}

// adminPage is what all admin pages have.
type adminPage struct {
	Page
	Place string // the open entry of the side navigation
	Query url.Values
	Total int64
	Next  string
	First string
}

// Parts returns the entries of the admin navigation.
func (p *adminPage) Parts() []adminPart { return adminParts() }

func adminParts() []adminPart {
	return []adminPart{{"", "Overview", "chart"}, {"users", "Users", "users"}, {"organizations", "Labs", "lab"},
		{"jobs", "Jobs", "settings"},
		{"stuck", "Stuck requests", "clock"}, {"mail", "Failed mail", "mail"}, {"audit", "Audit", "eye"}}
}

type adminPart struct{ Place, Words, Icon string }

// Address returns the address of an entry.
func (p adminPart) Address() string { return strings.TrimSuffix("/admin/"+p.Place, "/") }

func (v *pageRequest) adminPage(place, title string) adminPage {
	return adminPage{Page: Page{Title: title, Section: "admin"}, Place: place, Query: v.URL.Query()}
}

// paged sets the addresses of the previous and next page from the query parameter name.
func (p *adminPage) paged(name, next string) {
	here := adminPart{Place: p.Place}.Address()
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
	if id := inboxNumber(v.URL.Query().Get("after")); id != nil {
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

func (v *pageRequest) admin() (response, error) {
	o, err := v.app.Overview(v.Context(), v.who.Actor)
	if err != nil {
		return response{}, err
	}
	return show("admin", &overviewPage{adminPage: v.adminPage("", "Administration"), Overview: o,
		Days: v.app.StuckAfter()})
}

type usersPage struct {
	adminPage
	Users  []app.UserView
	Admins bool
}

// adminSearch returns the search text and the page number in the query.
func (v *pageRequest) adminSearch() (s exchange.Search, number int, err error) {
	number = 1
	if n := inboxNumber(v.URL.Query().Get("page")); n != nil && *n <= exchange.MaxOffset/adminRows {
		number = int(*n)
	}
	s = exchange.Search{Query: fulltext.Parse(v.URL.Query().Get("q")),
		Page: exchange.SearchPage{Limit: adminRows, Offset: (number - 1) * adminRows}}
	if s.Query.Empty() {
		s.Sort = exchange.ByNewest
	}
	return s, number, searchSize("q", v.URL.Query().Get("q"))
}

// pageAfter returns the number of the next page of a search; "" if there is none.
func pageAfter(number int, next *exchange.SearchPosition) string {
	if next == nil || number >= exchange.MaxOffset/adminRows {
		return ""
	}
	return strconv.Itoa(number + 1)
}

func (v *pageRequest) adminUsers() (response, error) {
	p := &usersPage{adminPage: v.adminPage("users", "Users"), Admins: v.URL.Query().Get("only") == "admins"}
	s, number, err := v.adminSearch()
	if err != nil {
		return response{}, err
	}
	found, err := v.app.Users(v.Context(), v.who.Actor, s, p.Admins)
	if err != nil {
		return response{}, err
	}
	p.Users, p.Total = found.Items, found.Count
	p.paged("page", pageAfter(number, found.Next))
	return show("admin_users", p)
}

// makeAdmin grants or revokes the admin role.
func (v *pageRequest) makeAdmin() (response, error) {
	id, err := uuid.Parse(v.PathValue("id"))
	if err != nil {
		return v.missing()
	}
	admin := v.PostFormValue("admin") == "1"
	u, err := v.app.MakeAdmin(v.Context(), v.who.Actor, id, admin)
	if err != nil {
		return response{}, err
	}
	back, text := v.adminBack("/admin/users"), u.Name()+" is an admin now."
	if !admin {
		text = u.Name() + " is no admin any more."
	}
	return seeOther(back).saying(text), nil
}

// adminBack returns the address of the page that the form was on.
func (v *pageRequest) adminBack(usual string) string {
	if back := ours(v.PostFormValue("back")); back != "/" {
		return back
	}
	return usual
}

type organizationsPage struct {
	adminPage
	Labs []app.OrganizationView
}

func (v *pageRequest) adminOrganizations() (response, error) {
	p := &organizationsPage{adminPage: v.adminPage("organizations", "Labs")}
	s, number, err := v.adminSearch()
	if err != nil {
		return response{}, err
	}
	found, err := v.app.OrganizationsToAdmin(v.Context(), v.who.Actor, s)
	if err != nil {
		return response{}, err
	}
	p.Labs, p.Total = found.Items, found.Count
	p.paged("page", pageAfter(number, found.Next))
	return show("admin_organizations", p)
}

type mailPage struct {
	adminPage
	Mail []failedLetter
}

// failedLetter is a mail that could not be delivered.
type failedLetter struct {
	exchange.FailedMail
	About string
}

func (v *pageRequest) adminMail() (response, error) {
	p := &mailPage{adminPage: v.adminPage("mail", "Failed mail")}
	part, err := v.app.FailedMail(v.Context(), v.who.Actor, v.pageBehind())
	if err != nil {
		return response{}, err
	}
	for _, m := range part.Items {
		p.Mail = append(p.Mail, failedLetter{m, newNoticeItem(m.Notification).Head})
	}
	p.Total = part.Total
	p.paged("after", idOf(part.Next))
	return show("admin_mail", p)
}

type auditPage struct {
	adminPage
	Acts     []app.AuditEntry
	Actions  []string
	Fault    string
	DayFault string // the error of the Days field
}

func (v *pageRequest) adminAudit() (response, error) {
	p := &auditPage{adminPage: v.adminPage("audit", "Audit")}
	query := v.URL.Query()
	var f exchange.AuditFilter
	if text := strings.TrimSpace(query.Get("actor")); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			p.Fault = "Use the id of a user, as their row in Users has it."
		}
		f.Actor = &id
	}
	if text := strings.TrimSpace(query.Get("object")); text != "" {
		f.Object = &text
	}
	for action := range v.app.Policy() {
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
				p.DayFault = "Use days as 2026-03-12."
			}
		}
	}
	part, err := v.app.Audit(v.Context(), v.who.Actor, v.pageBehind(), f)
	if err != nil {
		return response{}, err
	}
	p.Acts, p.Total = part.Items, part.Total
	p.paged("after", idOf(part.Next))
	return show("admin_audit", p)
}
