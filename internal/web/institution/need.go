package institution

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

// needPage lists the requests of one side that need an agreement and have none, for the office.
type needPage struct {
	*page
	letters.Needs
	Side        party.Direction
	Tabs        []ui.Tab
	Where       string // the address of the list
	Next, First string // the addresses of other pages; "": there are none
	Problem     *ui.LetterProblem
	chosen      map[int64]bool
}

// needsOfPage is how many requests a page of the list has.
const needsOfPage = 25

// Provides reports whether the requests are to labs of the institution.
func (p *needPage) Provides() bool { return p.Side == party.Provide }

// Requester returns the name of who made a request.
func (p *needPage) Requester(id uuid.UUID) string {
	u := p.Requesters[id]
	return u.Name()
}

// Other returns the other institution of a request.
func (*needPage) Other(n letters.Need) string { return strings.Join(n.Others, ", ") }

// Drafts reports whether the office can draft an agreement for a request: the other institution is known.
func (p *needPage) Drafts(n letters.Need) bool { return len(n.Others) == 1 }

// Chosen reports whether a request was chosen in a form that was refused.
func (p *needPage) Chosen(id int64) bool { return p.chosen[id] }

// readNeeds reads the list that the query asks for.
func (v *pageRequest) readNeeds(id int64) (*needPage, error) {
	base, err := v.read(id, "needs", "Requests without an agreement")
	if err != nil {
		return nil, err
	}
	p := &needPage{page: base, Side: party.Provide, Where: "/offices/" + base.ID + "/requests"}
	receiving := p.Where + "?side=receive"
	p.Tabs = []ui.Tab{{Words: "To our labs", Address: p.Where}, {Words: "Of our people", Address: receiving}}
	if v.URL.Query().Get("side") == "receive" {
		p.Side, p.Where = party.Receive, receiving
	}
	at := exchange.Page{Limit: needsOfPage}
	if after := ui.ParseID(v.URL.Query().Get("after")); after != nil {
		at.After, p.First = &exchange.Position{ID: *after}, p.Where
	}
	p.Needs, err = v.App.Desks.Needs(v.Context(), v.Who.Actor, id, p.Side, at)
	if exchange.CodeOf(err) == exchange.Forbidden {
		err = exchange.Errorf(exchange.Forbidden, "Only those who sign for %s see which requests need an agreement.",
			base.LegalName)
	}
	if err != nil {
		return nil, err
	}
	for i := range p.Tabs {
		p.Tabs[i].Open = p.Tabs[i].Address == p.Where
	}
	if p.Needs.Next != nil {
		sign := "?"
		if strings.Contains(p.Where, sign) {
			sign = "&"
		}
		p.Next = p.Where + sign + "after=" + strconv.FormatInt(p.Needs.Next.ID, 10)
	}
	return p, nil
}

func (v *pageRequest) needs(id int64) (ui.Response, error) {
	p, err := v.readNeeds(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("institution-needs", p)
}

// draftNeeded drafts an agreement for the requests that were chosen.
func (v *pageRequest) draftNeeded(id int64) (ui.Response, error) {
	p, err := v.readNeeds(id)
	if err != nil {
		return ui.Response{}, err
	}
	var ids []int64
	p.chosen = map[int64]bool{}
	for _, text := range v.PostForm["id"] {
		if one := ui.ParseID(text); one != nil && len(ids) < needsOfPage {
			ids, p.chosen[*one] = append(ids, *one), true
		}
	}
	if len(ids) == 0 {
		p.Errors = ui.FieldErrors{"id": {"Choose the requests that the agreement is for."}}
		return ui.Invalid("institution-needs", p)
	}
	made, err := v.App.Desks.DraftNeeded(v.Context(), v.Who.Actor, id, p.Side, ids)
	e, ours := errors.AsType[*exchange.Error](err)
	switch {
	case err == nil:
		return ui.SeeOther(ui.LetterPath(made.ID)).Saying(fmt.Sprintf("Agreement %s drafted.", made.Letter.Number)), nil
	case !ours:
		return ui.Response{}, err
	case e.Code == exchange.InvalidInput:
		p.Errors = ui.FieldErrors{"id": ui.AsSentences(slices.Concat(e.Fields["requests"], e.Fields["recipient"]))}
		return ui.Invalid("institution-needs", p)
	case e.Code == exchange.Conflict || e.Code == exchange.MissingFacts || e.Code == exchange.NotInForce:
		p.Problem = ui.LetterProblemOf(e)
		return ui.Response{Status: http.StatusConflict, Template: "institution-needs", Page: p}, nil
	}
	return ui.Response{}, err
}
