package institution

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/web/ui"
)

// playbookPage shows the playbook of an institution to its officers, who change it here.
type playbookPage struct {
	*page
	institutions.PlaybookPage
	Rows    []preferenceRow // of the form
	Accept  string          // likewise
	Clauses []playbook.Clause
	With    string // the institution to compare with, as typed
}

// preferenceRow is a preference as the form has it.
type preferenceRow struct {
	Number                               int // from 1
	Families, Categories, Counterparties string
}

// emptyRows is how many empty rows the form has for further preferences.
const emptyRows = 2

// Agreement returns what the agreements of a family are called.
func (p *playbookPage) Agreement(family string) string {
	return institutions.FamilyTitle(p.Families, family)
}

// Category is the name of a category.
func (p *playbookPage) Category(code string) string {
	c, _ := category.Get(code)
	return c.Label
}

// Positions returns the positions for the form.
func (*playbookPage) Positions() []playbook.Position { return playbook.Positions }

// Words returns a code for people.
func (*playbookPage) Words(code any) string { return ui.Words(fmt.Sprint(code)) }

// Written reports whether the playbook says anything.
func (p *playbookPage) Written() bool {
	b := p.Playbook
	return len(b.Provide)+len(b.Accept)+len(b.Clauses) > 0
}

func (v *pageRequest) playbook(id int64) (ui.Response, error) {
	p, err := v.readPlaybook(id)
	if err != nil {
		return ui.Response{}, err
	}
	if p.Errors != nil {
		return ui.Invalid("institution-playbook", p)
	}
	return ui.Show("institution-playbook", p)
}

func (v *pageRequest) readPlaybook(id int64) (*playbookPage, error) {
	of, err := v.read(id, "playbook", "Playbook")
	if err != nil {
		return nil, err
	}
	p := &playbookPage{page: of, With: strings.TrimSpace(v.URL.Query().Get("with"))}
	with, wrong := int64(0), exchange.FieldErrors(nil)
	if p.With != "" {
		if with, err = strconv.ParseInt(p.With, 10, 64); err != nil || with < 1 {
			with, wrong = 0, exchange.FieldErrors{"with": {"must be the number of an institution"}}
		}
	}
	p.PlaybookPage, err = v.App.Institutions.PlaybookPage(v.Context(), v.Who.Actor, id, with)
	if refused, ok := ui.FieldErrorsIn(err); ok {
		wrong, p.Compared = refused, nil
	} else if err != nil {
		return nil, err
	}
	if wrong != nil {
		p.Errors = ui.SentencesOf(wrong, map[string]string{"with": "the other institution"})
	}
	p.fill(p.Playbook)
	return p, nil
}

// fill puts a playbook into the form.
func (p *playbookPage) fill(b playbook.Playbook) {
	p.Rows = make([]preferenceRow, len(b.Provide)+emptyRows)
	for i := range p.Rows {
		p.Rows[i].Number = i + 1
	}
	for i, one := range b.Provide {
		var others []string
		for _, id := range one.Counterparties {
			others = append(others, strconv.FormatInt(id, 10))
		}
		p.Rows[i] = preferenceRow{i + 1, strings.Join(one.Families, "; "), strings.Join(one.Categories, "; "),
			strings.Join(others, "; ")}
	}
	p.Accept, p.Clauses = strings.Join(b.Accept, "; "), nil
	for _, t := range term.All() {
		p.Clauses = append(p.Clauses, b.On(t))
	}
}

func (v *pageRequest) savePlaybook(id int64) (ui.Response, error) {
	patch, err := playbookOf(v.PostForm)
	if err == nil {
		_, err = v.App.Institutions.UpdatePlaybook(v.Context(), v.Who.Actor, id, patch, nil)
	}
	wrong, refused := ui.FieldErrorsIn(err)
	if !refused {
		return ui.SeeOther("/offices/" + v.PathValue("id") + "/playbook").Saying("Playbook saved."), err
	}
	p, err := v.readPlaybook(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.fill(playbook.Playbook{Clauses: patch.Clauses.Value})
	p.Rows, p.Accept = nil, v.PostFormValue("accept")
	for i, families := range v.PostForm["families"] {
		p.Rows = append(p.Rows, preferenceRow{i + 1, families, at(v.PostForm["categories"], i),
			at(v.PostForm["counterparties"], i)})
	}
	p.Bad = "playbook-"
	p.Errors = ui.SentencesOf(wrong, map[string]string{"provide": "what you prefer as provider:",
		"accept": "what you accept as recipient:", "clauses": "the positions on terms:"})
	return ui.Invalid("institution-playbook", p)
}

// playbookOf returns what a form says. Rows without anything, and terms that are accepted without a note, are left out.
func playbookOf(form url.Values) (p playbook.Patch, err error) {
	var wrong exchange.FieldErrors
	preferences, clauses := []playbook.Preference{}, []playbook.Clause{}
	for i := range form["families"] {
		one := playbook.Preference{Families: codes(form["families"][i]), Categories: codes(at(form["categories"], i))}
		for _, text := range field.SplitItems(at(form["counterparties"], i)) {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				wrong.Add("provide", "%sthe institutions must be numbers, separated by semicolons", playbook.Number(i))
				continue
			}
			one.Counterparties = append(one.Counterparties, id)
		}
		if len(one.Families)+len(one.Categories)+len(one.Counterparties) > 0 {
			preferences = append(preferences, one)
		}
	}
	for _, t := range term.All() {
		c := playbook.Clause{Term: t, Provide: playbook.Position(form.Get("provide_" + string(t))),
			Receive: playbook.Position(form.Get("receive_" + string(t))),
			Note:    strings.TrimSpace(form.Get("note_" + string(t)))}
		if c != (playbook.Clause{Term: t, Provide: playbook.Accepted, Receive: playbook.Accepted}) {
			clauses = append(clauses, c)
		}
	}
	return playbook.Patch{Provide: exchange.Some(preferences), Accept: exchange.Some(codes(form.Get("accept"))),
		Clauses: exchange.Some(clauses)}, wrong.Err()
}

// codes returns the codes in a text that separates them by semicolons.
func codes(text string) []string { return field.SplitItems(strings.ToUpper(text)) }

// at returns an item of a list, "" beyond its end.
func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
