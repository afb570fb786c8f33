package catalog

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// transferFacts are the facts of a material that decide what a transfer of it needs, as its page shows them.
type transferFacts struct {
	Known   []knownFact
	Unknown []string // their labels
}

type knownFact struct {
	Label, Text, Source string
}

var factWords = map[string]string{
	"YES": "Yes", "NO": "No", "NONE": "None needed", requirement.Nothing: "Unknown",
	string(requirement.HumanAnonymised):   "Yes, the donor is anonymous",
	string(requirement.HumanIdentifiable): "Yes, the donor can be identified",
}

// factText returns a value of a fact for people.
func factText(value string) string {
	if words := factWords[value]; words != "" {
		return words
	}
	if day, err := time.Parse(time.DateOnly, value); err == nil {
		return day.Format("2 Jan 2006")
	}
	return value
}

func transferFactsOf(c category.Category, f requirement.Facts) (t transferFacts) {
	add := func(name, label, text string) {
		if text == "" {
			t.Unknown = append(t.Unknown, label)
			return
		}
		t.Known = append(t.Known, knownFact{label, text, sourceOf(c, f.Sources[name])})
	}
	for i := range requirement.FactFields {
		d := &requirement.FactFields[i]
		add(d.Name, d.Label, factText(d.Text(&f)))
	}
	var rights, uses []string
	for _, e := range f.Encumbrances {
		rights = append(rights, encumbranceText(e))
	}
	if f.Encumbered == requirement.No {
		rights = []string{"None"}
	}
	add("encumbrances", requirement.EncumbrancesLabel, strings.Join(rights, "; "))
	for _, u := range f.Uses {
		uses = append(uses, u.Label())
	}
	if uses != nil { // to have none is usual
		add("data_uses", requirement.UsesLabel, strings.Join(uses, "; "))
	}
	return t
}

func encumbranceText(e requirement.Encumbrance) string {
	text := e.Holder
	if len(e.Terms) > 0 {
		text += ": " + strings.ToLower(strings.ReplaceAll(strings.Join(e.Terms, ", "), "_", " "))
	}
	if e.Document != "" {
		text += " (" + e.Document + ")"
	}
	return text
}

// sourceOf says where a fact comes from.
func sourceOf(c category.Category, source string) string {
	switch source {
	case requirement.Lab:
		return "stated by the lab"
	case requirement.Category:
		return "from the category"
	case "human_derived":
		return "since it is not of human origin"
	}
	return "from “" + material.FieldLabel(c.Code, source) + "”"
}

// factsPage is the page on which a lab states facts of a material.
type factsPage struct {
	ui.Page
	Material material.Shown
	Fields   []factField
	Rights   []requirement.Encumbrance // with two empty ones to fill in
	Form     url.Values
}

// factField is a field of the form; Source says that it follows from the category, so that it is not to be filled in.
type factField struct {
	Name, Label, Hint, Type, Value, Source string
	Options                                []factOption
}

type factOption struct{ Value, Label string }

func (v *pageRequest) transferFacts(id int64) (ui.Response, error) {
	m, facts, err := v.App.Requirements.MaterialToState(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	form := field.Form(requirement.FactFields, &facts)
	form.Set("encumbered", string(facts.Encumbered))
	var uses []string
	for _, u := range facts.Uses {
		text := u.ID
		if u.About != "" {
			text += " (" + u.About + ")"
		}
		uses = append(uses, text)
	}
	form.Set("data_uses", strings.Join(uses, "; "))
	return ui.Show("transfer-facts", newFactsPage(m, facts, facts.Encumbrances, form))
}

func newFactsPage(m material.Shown, facts requirement.Facts, rights []requirement.Encumbrance,
	form url.Values) *factsPage {
	c, _ := category.Get(m.Category)
	p := &factsPage{Page: ui.Page{Title: "Transfer facts of " + m.Title, Section: "lab"}, Material: m, Form: form,
		Rights: append(slices.Clone(rights), make([]requirement.Encumbrance, 2)...)}
	for i := range requirement.FactFields {
		d := &requirement.FactFields[i]
		f := factField{Name: d.Name, Label: d.Label, Hint: d.Help, Type: d.InputType(), Value: form.Get(d.Name)}
		if source := facts.Sources[d.Name]; source != "" && source != requirement.Lab && d.Text(&facts) != "" {
			f.Source, f.Value = sourceOf(c, source), factText(d.Text(&facts))
		}
		for _, value := range d.Values {
			f.Options = append(f.Options, factOption{value, factText(value)})
		}
		p.Fields = append(p.Fields, f)
	}
	return p
}

func (v *pageRequest) stateFacts(id int64) (ui.Response, error) {
	m, facts, err := v.App.Requirements.MaterialToState(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	patch, rights, err := stating(v.PostForm)
	if err == nil {
		_, err = v.App.Requirements.StateFacts(v.Context(), v.Who.Actor, id, patch, nil)
	}
	if wrong, refused := ui.FieldErrorsIn(err); refused {
		p := newFactsPage(m, facts, rights, v.PostForm)
		labels := map[string]string{"encumbrances": "the rights of third parties", "data_uses": "the terms of data use"}
		for _, d := range requirement.FactFields {
			labels[d.Name] = "the fact “" + d.Label + "”"
		}
		p.Errors = ui.SentencesOf(wrong, labels)
		return ui.Invalid("transfer-facts", p)
	}
	return ui.SeeOther(fmt.Sprintf("/catalog/%d#transfer", id)).Saying("Transfer facts saved."), err
}

// stating returns what a form states, and the rights of third parties in it.
func stating(form url.Values) (p requirement.Stating, rights []requirement.Encumbrance, err error) {
	var wrong exchange.FieldErrors
	for _, d := range requirement.FactFields {
		if d.Values != nil && form.Get(d.Name) == "" { // it follows from the category
			form.Set(d.Name, requirement.Nothing)
		}
	}
	wrong.Merge(field.ReadForm(requirement.FactFields, form, &p))
	rights = []requirement.Encumbrance{}
	for i := range form["holder"] {
		e := requirement.Encumbrance{Holder: at(form["holder"], i), Document: at(form["document"], i)}
		e.Terms = field.SplitItems(strings.ToUpper(at(form["terms"], i)))
		if e.Holder == "" && e.Document == "" && len(e.Terms) == 0 {
			continue
		}
		if rights = append(rights, e); e.Holder == "" {
			wrong.Add("encumbrances", "need a holder each")
		}
	}
	switch answer := requirement.Answer(form.Get("encumbered")); {
	case len(rights) > 0 && answer == requirement.No:
		wrong.Add("encumbrances", "are listed below, so that the answer cannot be no")
	case len(rights) == 0 && answer == requirement.Yes:
		wrong.Add("encumbrances", "need at least one holder, below")
	case len(rights) == 0 && answer != requirement.No:
		p.Encumbrances = exchange.Cleared[[]requirement.Encumbrance]()
	default:
		p.Encumbrances = exchange.NullOf(rights)
	}
	p.Uses = exchange.Cleared[[]datause.Term]()
	if text := strings.TrimSpace(form.Get("data_uses")); text != "" {
		uses, err := datause.Parse(text)
		wrong.Merge(err)
		if len(uses) == 0 {
			wrong.Add("data_uses", "are written as DUO:0000042; DUO:0000007 (MONDO:0005148)")
		}
		p.Uses = exchange.NullOf(uses)
	}
	return p, rights, wrong.Err()
}
