package institution

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/web/ui"
)

// playbookPage shows the playbook of an institution to its officers, who change it here.
type playbookPage struct {
	*page
	institutions.PlaybookPage
	Rows    []preferenceRow // of the form
	Accept  []string        // likewise: families, with empty places
	Clauses []playbook.Clause
	With    string              // the institution to compare with, as typed
	Others  []party.Institution // to choose from
}

// preferenceRow is a preference as the form has it, with empty places for more.
type preferenceRow struct {
	Number         int // from 1
	Families       []string
	Categories     []string
	Counterparties []string // as typed or chosen
}

// HasCategory reports whether the preference is for a category of materials.
func (r preferenceRow) HasCategory(code string) bool { return slices.Contains(r.Categories, code) }

const (
	emptyRows     = 2   // how many empty rows the form has for further preferences
	leastPlaces   = 2   // for families or institutions in a row; one more than it has
	othersToOffer = 200 // institutions, by name
)

// places returns the items of a list with at least one empty place behind them.
func places(list []string) []string {
	list = append(slices.Clone(list), "")
	for len(list) < leastPlaces {
		list = append(list, "")
	}
	return list
}

// Choices returns the families to choose from; if the present one is not among them, it is added.
func (p *playbookPage) Choices(present string) []institutions.Family {
	known := slices.ContainsFunc(p.Families, func(f institutions.Family) bool { return f.Code == present })
	if known || present == "" {
		return p.Families
	}
	return append(slices.Clone(p.Families), institutions.Family{Code: present, Title: present})
}

// Categories returns the categories of materials.
func (*playbookPage) Categories() []category.Category { return category.All() }

// Choice returns an institution as the form proposes it: its name and number.
func (*playbookPage) Choice(i party.Institution) string { return choiceOf(i.ID, i.LegalName) }

func choiceOf(id int64, name string) string { return fmt.Sprintf("%s (%d)", name, id) }

// chosenNumber matches the number of an institution, alone or after its name.
var chosenNumber = regexp.MustCompile(`^(?:.*\()?([1-9]\d{0,17})\)?$`)

// chosenInstitution returns the number in what somebody chose or typed; 0: there is none.
func chosenInstitution(text string) int64 {
	found := chosenNumber.FindStringSubmatch(strings.TrimSpace(text))
	if found == nil {
		return 0
	}
	id, _ := strconv.ParseInt(found[1], 10, 64)
	return id
}

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
		if with = chosenInstitution(p.With); with == 0 {
			wrong = exchange.FieldErrors{"with": {"must be one of those proposed, or the number of an institution"}}
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
	others, err := v.App.Institutions.List(v.Context(), "", exchange.Page{Limit: othersToOffer})
	p.Others = slices.DeleteFunc(others.Items, func(i party.Institution) bool { return i.ID == id })
	p.fill(p.Playbook)
	return p, err
}

// fill puts a playbook into the form.
func (p *playbookPage) fill(b playbook.Playbook) {
	p.Rows = nil
	for _, one := range b.Provide {
		var others []string
		for _, id := range one.Counterparties {
			others = append(others, choiceOf(id, p.Names[id]))
		}
		p.addRow(one.Families, one.Categories, others)
	}
	for range emptyRows {
		p.addRow(nil, nil, nil)
	}
	p.Accept, p.Clauses = places(b.Accept), nil
	for _, t := range term.All() {
		p.Clauses = append(p.Clauses, b.On(t))
	}
}

// addRow adds a preference to the form.
func (p *playbookPage) addRow(families, categories, others []string) {
	p.Rows = append(p.Rows, preferenceRow{len(p.Rows) + 1, places(families), categories, places(others)})
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
	p.Rows, p.Accept = nil, places(filled(v.PostForm["accept"]))
	for i := 1; v.PostForm.Has(inRow("families", i)); i++ {
		p.addRow(filled(v.PostForm[inRow("families", i)]), v.PostForm[inRow("categories", i)],
			filled(v.PostForm[inRow("counterparties", i)]))
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
	for i := 1; form.Has(inRow("families", i)); i++ {
		one := playbook.Preference{Families: filled(form[inRow("families", i)]),
			Categories: filled(form[inRow("categories", i)])}
		for _, text := range filled(form[inRow("counterparties", i)]) {
			id := chosenInstitution(text)
			if id == 0 {
				wrong.Add("provide", "%schoose the institutions among those proposed, or enter their numbers",
					playbook.Number(i-1))
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
	return playbook.Patch{Provide: exchange.Some(preferences), Accept: exchange.Some(filled(form["accept"])),
		Clauses: exchange.Some(clauses)}, wrong.Err()
}

// inRow returns the name of a field in a row of the form.
func inRow(name string, row int) string { return fmt.Sprintf("%s_%d", name, row) }

// filled returns those of some values that are not empty.
func filled(values []string) []string {
	list := []string{}
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			list = append(list, v)
		}
	}
	return list
}
