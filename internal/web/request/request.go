package request

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

var requestPages = []ui.Route{
	ui.Get("/requests/{id}", (*pageRequest).request).Private(),
	ui.Get("/requests/{id}/move", (*pageRequest).askMove).Private(),
	ui.PostID("/requests/{id}/move", (*pageRequest).move),
	ui.Get("/requests/{id}/delete", (*pageRequest).askDelete).Private(),
	ui.PostID("/requests/{id}/delete", (*pageRequest).deleteRequest),
	ui.Post("/requests/{id}/messages", (*pageRequest).sendMessage),
	ui.Post("/requests/{id}/details", (*pageRequest).changeDetails),
	ui.Post("/requests/{id}/shipment", (*pageRequest).changeShipment),
	ui.Post("/requests/{id}/assign", (*pageRequest).assign),
	ui.Post("/requests/{id}/issues", (*pageRequest).openIssue),
	ui.Post("/requests/{id}/issues/{issue}/close", (*pageRequest).closeIssue),
	ui.Post("/requests/{id}/snooze", (*pageRequest).snooze),
	ui.Post("/requests/{id}/unsnooze", (*pageRequest).unsnooze),
	ui.Post("/requests/{id}/remind", (*pageRequest).remind),
	ui.Post("/requests/{id}/active", (*pageRequest).setActive),
	ui.PostID("/requests/{id}/agreement", (*pageRequest).draftAgreement),
	ui.PostID("/requests/{id}/documents/{slot}", (*pageRequest).upload).TakesFiles(),
	ui.Post("/requests/{id}/documents/{slot}/review", (*pageRequest).review),
	ui.Post("/requests/{id}/documents/{slot}/withdraw", (*pageRequest).withdraw),
	ui.GetID("/requests/{id}/documents/{attachment}", (*pageRequest).document).Private(),
	ui.GetID("/requests/{id}/documents.zip", (*pageRequest).documents).Private(),
	ui.GetID("/requests/{id}/dossier", (*pageRequest).dossier).Private().Expensive(),
	ui.GetID("/requests/{id}/mta", (*pageRequest).agreedMTA).Private(),
	ui.GetID("/requests/{id}/labels", (*pageRequest).labels).Private(),
}

// requestPage is the page of a request.
type requestPage struct {
	ui.Page
	R         transfer.RequestView
	View      ui.StatusView
	Path      string // the address of the request
	Category  category.Category
	Track     []ui.StageView
	Place     int // the index of its stage
	Next      nextStep
	Moves     []moveLink // the other possible moves
	Lines     []docLine
	Done      int // number of complete Lines
	Timeline  []eventLine
	Show      string // the chosen tab of the timeline
	Older     string // the address of the timeline's next page
	Newest    string // the address of its first page
	Issues    []issueLine
	Message   string // the draft of a message
	Pace      pace
	Requester bool // the viewer is the requester
	Lab       bool // the viewer is a member of the lab
	UploadMax int64
	Address   string         // of this page, on paper
	Agreement *agreementCard // nil: it needs none
	Needs     needsCard

	viewer  exchange.Actor
	Problem *ui.LetterProblem // why no agreement was drafted
	form    string            // the form that was refused
	typed   url.Values        // its values
	Stale   string            // why it was refused, if the request changed meanwhile
	Since   []eventLine
	Typed   []string // what was typed, since its form may be gone
}

// Seen returns the version of the request that the page shows; its forms send it along.
func (p *requestPage) Seen() int64 { return p.R.UpdatedAt.UnixMicro() }

// Value returns the value of a form's field: what was typed if that form was refused.
func (p *requestPage) Value(form, field, now string) string {
	if p.form == form && p.typed.Has(field) {
		return p.typed.Get(field)
	}
	return now
}

// reply returns the text of the saved reply that the query names, "" if it names none.
func (p *requestPage) reply(query url.Values) string {
	id := ui.ParseID(query.Get("reply"))
	for _, r := range p.R.Replies {
		if id != nil && r.ID == *id {
			return r.Text
		}
	}
	return ""
}

// Result returns how an earlier request ended, or what it is at.
func (*requestPage) Result(q request.Detail) string { return request.StatusName(q.Status) }

// Sent reports whether that form was sent and refused.
func (p *requestPage) Sent(form string) bool { return p.form == form }

// Name returns a person's name as the page shows it.
func (p *requestPage) Name(id uuid.UUID) string {
	switch u, known := p.R.People[id]; {
	case p.viewer.Is(id):
		return "You"
	case known:
		return u.Name()
	}
	return "Aliquot"
}

// Mid returns Name for the middle of a sentence.
func (p *requestPage) Mid(id uuid.UUID) string {
	if name := p.Name(id); name != "You" {
		return name
	}
	return "you"
}

// FullName returns a person's name as it stands on paper, whoever prints it.
func (p *requestPage) FullName(id uuid.UUID) string {
	if u, known := p.R.People[id]; known {
		return u.Name()
	}
	return "Aliquot"
}

// Printed returns the state of the request on paper, which is no one's turn in particular.
func (p *requestPage) Printed() ui.StatusView { return ui.StatusOf(p.R.Detail, exchange.Actor{}) }

// Initials returns the initials of a person's names.
func (p *requestPage) Initials(u person.User) string { return core.Visitor{User: u}.Initials() }

// Institution returns the requester's institution, from their address.
func (p *requestPage) Institution() string {
	if p.R.Address != nil {
		return p.R.Address.Institution
	}
	return ""
}

// Registry returns the address of a person's record in the registry of their id, "" if there is none.
func (p *requestPage) Registry(id uuid.UUID) string {
	if number := p.R.People[id].RegistryID; len(number) == 19 && strings.Count(number, "-") == 3 {
		return "https://orcid.org/" + number
	}
	return ""
}

// requestPath returns the address of a request's page.
func requestPath(id int64) string { return "/requests/" + strconv.FormatInt(id, 10) }

// request shows a request.
func (v *pageRequest) request() (ui.Response, error) {
	p, err := v.requestPage()
	if err != nil {
		return ui.Response{}, err
	}
	draft, ok, err := v.App.Materials.Draft(v.Context(), v.Who.Actor, messageDraft(p.R.ID))
	if err != nil {
		return ui.Response{}, err
	}
	if ok {
		p.Message = draft.Form.Get("text")
	}
	if r := p.reply(v.URL.Query()); r != "" {
		p.Message = r
	}
	return ui.Show("request", p)
}

// requestPage reads the page of the request whose id is in the path.
func (v *pageRequest) requestPage() (*requestPage, error) {
	id, err := v.PathID("id")
	if err != nil {
		return nil, err
	}
	shown := v.URL.Query().Get("show")
	kinds, known := timelines[shown]
	if !known {
		shown = ""
	}
	var before *exchange.Position
	if n, err := strconv.ParseInt(v.URL.Query().Get("before"), 10, 64); err == nil {
		before = &exchange.Position{ID: n}
	}
	r, err := v.App.Requests.RequestView(v.Context(), v.Who.Actor, id, kinds, before)
	if err != nil {
		return nil, err
	}
	p := &requestPage{R: r, View: ui.StatusOf(r.Detail, v.Who.Actor), Path: requestPath(id), Show: shown,
		viewer:    v.Who.Actor,
		Requester: r.Offers.Roles.Requester, Lab: r.Offers.Roles.Member, UploadMax: v.App.UploadLimit,
		Address: v.App.PublicURL + requestPath(id)}
	card, err := v.App.Letters.OfRequest(v.Context(), v.Who.Actor, r.Detail, r.Together)
	if err != nil {
		return nil, err
	}
	if card != nil {
		p.Agreement = &agreementCard{card, v.Who.Actor, p.FullName(r.Requester)}
	}
	if p.Needs.Needs, err = v.App.Requirements.OfRequest(v.Context(), v.Who.Actor, r.Detail); err != nil {
		return nil, err
	}
	p.Section, p.Zone, p.Page.Now = "requests", v.Who.Zone, r.Now
	p.Category, _ = category.Get(r.Item.Category)
	p.Title = fmt.Sprintf("Request %d, %s, %s", id, turnWords(p.View), r.Material)
	p.Track = ui.TrackOf(r.Detail, p.View)
	for i, s := range p.Track {
		if s.State == "now" || s.State == "wait" {
			p.Place = i + 1
		}
	}
	p.Pace = paceOf(r)
	p.Lines = p.needLines()
	for _, l := range p.Lines {
		if l.Done {
			p.Done++
		}
	}
	p.Next, p.Moves = p.nextStep(), p.moveLinks()
	p.Timeline = p.eventLines(r.Events.Items)
	p.Issues = p.issueLines(v.Who.Actor)
	if n := r.Events.Next; n != nil {
		p.Older = p.timeline(shown, strconv.FormatInt(n.ID, 10))
	}
	if before != nil {
		p.Newest = p.timeline(shown, "")
	}
	return p, nil
}

// turnWords returns whose turn it is, for the title.
func turnWords(v ui.StatusView) string {
	if v.Mine {
		return "your turn"
	}
	return strings.ToLower(v.Words[:1]) + v.Words[1:]
}

// timeline returns the address of a part of the timeline.
func (p *requestPage) timeline(shown, before string) string {
	q := url.Values{}
	if shown != "" {
		q.Set("show", shown)
	}
	if before != "" {
		q.Set("before", before)
	}
	if len(q) == 0 {
		return p.Path + "#timeline"
	}
	return p.Path + "?" + q.Encode() + "#timeline"
}

// refused shows the request again after a form that was refused: as it was typed, with its errors (422), or beside
// the present state of the request (409). Other errors have their own pages.
func (v *pageRequest) refused(form string, err error) (ui.Response, error) {
	e, ours := errors.AsType[*exchange.Error](err)
	if !ours {
		return ui.Response{}, err
	}
	answer := ui.Response{Template: "request"}
	switch e.Code {
	case exchange.InvalidInput:
		answer.Status = http.StatusUnprocessableEntity
	case exchange.Conflict, exchange.InvalidTransition, exchange.MissingRequirements, exchange.RequestClosed,
		exchange.PreconditionFailed, exchange.MissingFacts, exchange.NotInForce:
		answer.Status = http.StatusConflict
	case exchange.TooLarge, exchange.QuotaExceeded:
		answer.Status = http.StatusRequestEntityTooLarge
	case exchange.UnsupportedMedia:
		answer.Status = http.StatusUnprocessableEntity
	default:
		return ui.Response{}, err
	}
	p, wrong := v.requestPage()
	if wrong != nil {
		return ui.Response{}, wrong
	}
	p.form, p.typed, p.Message = form, v.PostForm, v.PostForm.Get("text")
	if form != "message" {
		p.Message = ""
	}
	switch {
	case form == "agreement" && len(e.Fields) == 0:
		p.Problem = ui.LetterProblemOf(e)
	case answer.Status == http.StatusConflict:
		p.Stale = p.refusal(e)
		p.since(v.PostForm)
	case len(e.Fields) > 0:
		p.Errors = ui.FieldErrors{}
		for field, texts := range e.Fields {
			p.Errors[form+"-"+field] = ui.AsSentences(texts)
		}
	default:
		p.Errors = ui.FieldErrors{form + "-file": {e.Message}}
	}
	answer.Page = p
	return answer, nil
}

// since adds the events since the form's page was made, and what was typed in the form.
func (p *requestPage) since(form url.Values) {
	if seen, err := strconv.ParseInt(form.Get("seen"), 10, 64); err == nil {
		for i, e := range p.R.Events.Items {
			if e.At.UnixMicro() > seen {
				p.Since = append(p.Since, p.Timeline[i])
			}
		}
	}
	for _, field := range []string{"text", "reason", "override", "abstract", "notes", "carrier", "tracking",
		"conditions"} {
		if text := strings.TrimSpace(form.Get(field)); text != "" {
			p.Typed = append(p.Typed, text)
		}
	}
}

// asSeen returns the condition that the request is still as the form's page showed it.
func (v *pageRequest) asSeen() core.IfMatch[request.Detail] {
	seen := v.PostFormValue("seen")
	if seen == "" {
		return nil
	}
	return func(q request.Detail) error {
		if strconv.FormatInt(q.UpdatedAt.UnixMicro(), 10) != seen {
			return exchange.Errorf(exchange.PreconditionFailed,
				"The request changed after you opened this page, so nothing was done.")
		}
		return nil
	}
}

// Today returns the present day in the visitor's zone.
func (p *requestPage) Today() string { return p.R.Now.In(p.Zone).Format(time.DateOnly) }

// Tomorrow returns the first day until which reminders can be snoozed.
func (p *requestPage) Tomorrow() string {
	return p.R.Now.In(p.Zone).AddDate(0, 0, 1).Format(time.DateOnly)
}

// AddressLines returns the address as it is written on a parcel.
func (p *requestPage) AddressLines() []string { return addressLines(p.R.Address) }

// Parcel returns how the parcel is shipped, as far as that is known.
func (p *requestPage) Parcel() request.Shipment {
	if p.R.Shipment == nil {
		return request.Shipment{}
	}
	return *p.R.Shipment
}

// SentDay returns the day on which the parcel was sent, "" if that is not known.
func (p *requestPage) SentDay() string {
	if at := p.Parcel().SentAt; at != nil {
		return at.In(p.Zone).Format(time.DateOnly)
	}
	return ""
}

// Assignees returns those who can be assigned to the request, and the present assignee.
func (p *requestPage) Assignees() []person.User {
	for _, u := range p.R.Members {
		if u.ID == p.R.AssignedTo {
			return p.R.Members
		}
	}
	return append([]person.User{p.R.People[p.R.AssignedTo]}, p.R.Members...)
}
