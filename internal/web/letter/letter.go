// Package letter has the pages of agreements: a letter is read, changed, sent, signed, declined and withdrawn.
package letter

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

// pageRequest is a request for a page of this area. Its methods are the handlers.
type pageRequest struct{ *ui.PageRequest }

// Routes returns the pages of the area.
func Routes() []ui.Route {
	return []ui.Route{
		ui.Get(listPath, (*pageRequest).list).Private(),
		ui.GetID("/letters/{id}", (*pageRequest).show).Private(),
		ui.PostID("/letters/{id}", (*pageRequest).change),
		ui.PostID("/letters/{id}/choice", (*pageRequest).choose),
		ui.GetID("/letters/{id}/document", (*pageRequest).document).Private(),
		ui.PostID("/letters/{id}/send", (*pageRequest).send),
		ui.GetID("/letters/{id}/sign", (*pageRequest).askSign).Private(),
		ui.PostID("/letters/{id}/sign", (*pageRequest).sign),
		ui.PostID("/letters/{id}/links", (*pageRequest).invite),
		ui.PostID("/letters/{id}/passkey", (*pageRequest).askPasskey),
		ui.PostID("/letters/{id}/passkey/answer", (*pageRequest).answerPasskey),
		ui.PostID("/letters/{id}/decline", (*pageRequest).decline),
		ui.PostID("/letters/{id}/withdraw", (*pageRequest).withdraw),
		ui.PostID("/letters/{id}/duties/{duty}", (*pageRequest).setDay),
		ui.PostID("/letters/{id}/duties/{duty}/evidence", (*pageRequest).settle),
		ui.PostID("/letters/{id}/duties/{duty}/waive", (*pageRequest).waive),
	}
}

// page is the page of a letter.
type page struct {
	ui.Page
	L       letters.Page
	Path    string // its address
	State   ui.LetterState
	Roles   []ui.LetterRole
	Compare *comparison // of a version with the one before, that the query names

	Problem *ui.LetterProblem // why a form was refused
	form    string            // which one
	typed   url.Values        // what was typed in it
}

// read reads the page of a letter.
func (v *pageRequest) read(id int64) (*page, error) {
	l, err := v.App.Letters.Page(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	p := &page{L: l, Path: ui.LetterPath(id), State: ui.LetterStateOf(l.State)}
	p.Section, p.Title = "requests", fmt.Sprintf("Agreement %s, %s", l.Letter.Number, p.State.Words)
	var mine []string
	for _, o := range l.Roles {
		mine = append(mine, o.Role)
	}
	if len(mine) > 0 {
		p.Title = fmt.Sprintf("Agreement %s, your signature", l.Letter.Number)
	}
	names := map[string]string{}
	for _, role := range l.Instrument.Signers {
		if u, scientist := l.Signs(role); scientist {
			names[role] = u.Name()
		}
	}
	p.Roles = ui.LetterRoles(l.View, mine, names)
	for i := range p.Roles {
		r := &p.Roles[i]
		r.Externals = l.Externals[r.Role]
		if link, mailed := l.Links[r.Role]; mailed {
			r.Link = &link
		}
	}
	return p, nil
}

func (v *pageRequest) show(id int64) (ui.Response, error) {
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.Compare = compared(p.L.Versions.Items, v.FormValue("version"))
	return ui.Show("letter", p)
}

// Name returns the name of somebody on the page.
func (p *page) Name(id uuid.UUID) string {
	if u, known := p.L.People[id]; known {
		return u.Name()
	}
	return "Aliquot"
}

// Can reports whether the visitor can do an act with the letter now.
func (p *page) Can(act string) bool { return p.L.Can(letter.Act(act)) }

// Sent reports whether a form was sent and refused.
func (p *page) Sent(form string) bool { return p.form == form }

// Value returns what a field of a form has: what was typed if that form was refused.
func (p *page) Value(form, field, now string) string {
	if p.form == form && p.typed.Has(field) {
		return p.typed.Get(field)
	}
	return now
}

// Fields returns the fields that people may fill in, in the order of the instrument.
func (p *page) Fields() []instrument.Field {
	return slices.DeleteFunc(slices.Clone(p.L.Instrument.Fields), func(f instrument.Field) bool {
		return f.Source == "REQUESTS"
	})
}

// Words returns a code for people.
func (*page) Words(code string) string { return ui.Words(code) }

// Remedy returns what would change that an instrument is not valid.
func (*page) Remedy(r instrument.Remedy) string { return ui.RemedyWords(string(r)) }

// Number returns what people call a letter.
func (*page) Number(id int64) string { return letter.Number(id) }

// Purposes returns what a transfer may be for.
func (*page) Purposes() []string { return instrument.Purposes() }

// Valid returns the families that can be chosen, Invalid those that cannot.
func (p *page) Valid() []letters.Choice {
	return slices.DeleteFunc(slices.Clone(p.L.Choices), func(c letters.Choice) bool { return len(c.WhyNot) > 0 })
}

// Invalid returns the families that cannot be chosen.
func (p *page) Invalid() []letters.Choice {
	return slices.DeleteFunc(slices.Clone(p.L.Choices), func(c letters.Choice) bool { return len(c.WhyNot) == 0 })
}

// Questions returns the facts that nobody has stated.
func (p *page) Questions() []ui.LetterQuestion { return ui.LetterQuestions(p.L.Basis.Questions) }

// Missing returns how to enter a field's value, "" if the letter has one.
func (p *page) Missing(field string) string {
	for _, m := range p.L.Missing() {
		if m.Field == field {
			return m.How
		}
	}
	return ""
}

// NotNow returns why the letter can be neither sent nor signed today, NotYet why it cannot be executed.
func (p *page) NotNow() *ui.LetterProblem {
	if p.L.State == letter.Declined { // a new version answers why
		return nil
	}
	return ui.LetterProblemOf(p.L.NotNow)
}

// NotYet returns why the letter cannot be executed today.
func (p *page) NotYet() *ui.LetterProblem { return ui.LetterProblemOf(p.L.NotYet) }

// Text returns the text of the letter.
func (p *page) Text() string { return p.L.Letter.Text(p.L.Instrument) }

// document sends the newest version as a PDF.
func (v *pageRequest) document(id int64) (ui.Response, error) {
	pdf, l, err := v.App.Letters.Document(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment",
			map[string]string{"filename": l.Letter.Number + ".pdf"}))
		ui.Send(w, r, http.StatusOK, pdf)
	}}, nil
}

// refused shows the letter as it is now after a form that was refused, with why and what was typed.
func (v *pageRequest) refused(id int64, form string, err error) (ui.Response, error) {
	e, ours := errors.AsType[*exchange.Error](err)
	if !ours {
		return ui.Response{}, err
	}
	answer := ui.Response{Template: "letter"}
	switch e.Code {
	case exchange.InvalidInput:
		answer.Status = http.StatusUnprocessableEntity
	case exchange.Conflict, exchange.StaleVersion, exchange.MissingFields, exchange.MissingFacts, exchange.NotInForce:
		answer.Status = http.StatusConflict
	case exchange.NoAuthority, exchange.LevelTooLow:
		answer.Status = http.StatusForbidden
		v.NoteRefusal(err)
	default:
		return ui.Response{}, err
	}
	p, err := v.read(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.form, p.typed = form, v.PostForm
	if len(e.Fields) > 0 {
		p.Errors = ui.FieldErrors{}
		for field, texts := range ui.SentencesOf(e.Fields, map[string]string{"choice_reason": "the reason"}) {
			p.Errors[form+"-"+field] = texts
		}
	} else {
		p.Problem = ui.LetterProblemOf(e)
	}
	answer.Page = p
	return answer, nil
}

// Statement returns what a signature in a role states, exactly as it is recorded.
func (p *page) Statement(role string) string { return letters.Intent(p.Document(), role) }

// Document is the newest version, as signatures name it.
func (p *page) Document() signing.Document { return p.L.Document() }
