package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/term"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

var relationWords = map[term.Relation]string{
	term.Original:             "The same material",
	term.Progeny:              "Progeny of it",
	term.UnmodifiedDerivative: "Unmodified derivative of it",
	term.Modification:         "Modification, which contains or uses it",
	term.Substance:            "Substance made with it, without containing it",
}

// originLine is an origin of a material as its page shows it.
type originLine struct {
	Words    string
	Material int64
	Title    string // empty: the visitor does not see the material
	Request  int64  // by which it was received; 0: it was not
}

func originLines(v letters.LineageView) (list []originLine) {
	for _, o := range v.Origins {
		line := originLine{Words: relationWords[o.Relation], Material: *o.Material, Title: v.Titles[*o.Material]}
		if o.Request != nil {
			line.Request = *o.Request
		}
		list = append(list, line)
	}
	return list
}

// sharingLine is whether a material may be passed on to an institution, as pages show it.
type sharingLine struct {
	letters.Sharing
	Tone, Icon, Words string
}

func sharingLines(list []letters.Sharing) (lines []sharingLine) {
	for _, s := range list {
		line := sharingLine{Sharing: s}
		switch s.Verdict {
		case term.Yes:
			line.Tone, line.Icon, line.Words = "good", "done", "Yes"
		case term.No:
			line.Tone, line.Icon, line.Words = "bad", "declined", "No"
		case term.Ask:
			line.Tone, line.Icon, line.Words = "turn", "alert", "Ask first"
		}
		lines = append(lines, line)
	}
	return lines
}

// lineageLines sets what the page of a material says about its lineage: for members, where it came from; for others
// whose institution is known, whether it may be passed on to that.
func (v *pageRequest) lineageLines(p *materialPage) error {
	if p.MayState {
		view, err := v.App.Lineages.ViewOf(v.Context(), v.Who.Actor, p.Shown)
		p.Origins, p.Stated = originLines(view), view.Origins != nil
		return err
	}
	if p.Usual == nil || p.Usual.Own == nil || p.Usual.Same {
		return nil
	}
	shares, known, err := v.App.Lineages.Shares(v.Context(), v.Who.Actor, p.ID, *p.Usual.Own)
	if err == nil && known && shares[0].Verdict != term.Yes {
		p.Share = &sharingLines(shares)[0]
	}
	return err
}

// lineagePage is the page on which a lab states where a material came from, and asks to whom it may be passed on.
type lineagePage struct {
	ui.Page
	letters.LineageView
	Stated  string // UNKNOWN, MADE or RECEIVED
	Rows    []originRow
	Options []relationOption
	To      string // the name that was looked for
	Shares  []sharingLine
	None    bool // no institution has that name
	More    bool // others have it too, which are not shown
}

type relationOption struct{ Value, Label string }

// originRow is a row of the form; one to fill in has no number.
type originRow struct {
	Number                             int
	Relation, Request, Material, Title string
}

// What the form states.
const (
	lineageUnknown  = "UNKNOWN"
	lineageMade     = "MADE"
	lineageReceived = "RECEIVED"
)

// maxShares is for how many institutions the page answers.
const maxShares = 10

func newLineagePage(v letters.LineageView) *lineagePage {
	p := &lineagePage{Page: ui.Page{Title: "Where " + v.Material.Title + " came from", Section: "lab"}, LineageView: v,
		Stated: lineageUnknown}
	for _, r := range term.Relations {
		p.Options = append(p.Options, relationOption{string(r), relationWords[r]})
	}
	return p
}

// fill sets the rows of the form, and two to fill in.
func (p *lineagePage) fill(rows []originRow) *lineagePage {
	p.Rows = append(slices.Clone(rows), make([]originRow, 2)...)
	return p
}

func (v *pageRequest) lineage(id int64) (ui.Response, error) {
	view, err := v.App.Lineages.LineageView(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	p := newLineagePage(view)
	var rows []originRow
	for i, o := range view.Origins {
		row := originRow{Number: i + 1, Relation: string(o.Relation), Material: strconv.FormatInt(*o.Material, 10),
			Title: view.Titles[*o.Material]}
		if o.Request != nil {
			row.Request = strconv.FormatInt(*o.Request, 10)
		}
		rows = append(rows, row)
	}
	switch {
	case len(rows) > 0:
		p.Stated = lineageReceived
	case view.Origins != nil:
		p.Stated = lineageMade
	}
	p.fill(rows)
	if p.To = strings.TrimSpace(v.URL.Query().Get("to")); p.To == "" {
		return ui.Show("lineage", p)
	}
	found, err := v.App.Institutions.List(v.Context(), p.To, exchange.Page{Limit: maxShares})
	if err != nil {
		return ui.Response{}, err
	}
	p.None, p.More = len(found.Items) == 0, found.Next != nil
	shares, _, err := v.App.Lineages.Shares(v.Context(), v.Who.Actor, id, found.Items...)
	if err != nil {
		return ui.Response{}, err
	}
	p.Shares = sharingLines(shares)
	return ui.Show("lineage", p)
}

func (v *pageRequest) stateLineage(id int64) (ui.Response, error) {
	view, err := v.App.Lineages.LineageView(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	p := newLineagePage(view)
	p.Stated = v.PostForm.Get("stated")
	patch, rows, err := v.lineageForm()
	if err == nil {
		_, err = v.App.Lineages.StateLineage(v.Context(), v.Who.Actor, id, patch, nil)
	}
	if wrong, refused := ui.FieldErrorsIn(err); refused {
		p.Errors = ui.SentencesOf(wrong, map[string]string{"origins": "the origins", "stated": "the answer"})
		return ui.Invalid("lineage", p.fill(rows))
	}
	return ui.SeeOther(fmt.Sprintf("/catalog/%d#transfer", id)).Saying("Lineage saved."), err
}

// lineageForm returns what the form states, and its rows.
func (v *pageRequest) lineageForm() (p term.LineageStating, rows []originRow, err error) {
	var wrong exchange.FieldErrors
	origins := []term.Origin{}
	for i, relation := range v.PostForm["relation"] {
		row := originRow{Relation: relation, Request: at(v.PostForm["request"], i),
			Material: at(v.PostForm["material"], i)}
		if row.Request == "" && row.Material == "" {
			continue
		}
		row.Number = len(rows) + 1
		rows = append(rows, row)
		number := func(text string) *int64 {
			n, err := strconv.ParseInt(text, 10, 64)
			if text == "" {
				return nil
			}
			if err != nil {
				wrong.Add("origins", "number %d: %q is not a number", row.Number, text)
			}
			return &n
		}
		origins = append(origins, term.Origin{Relation: term.Relation(relation), Request: number(row.Request),
			Material: number(row.Material)})
	}
	switch v.PostForm.Get("stated") {
	case lineageUnknown:
		p.Origins = exchange.Cleared[[]term.Origin]()
	case lineageMade:
		p.Origins = exchange.NullOf([]term.Origin{})
	case lineageReceived:
		if p.Origins = exchange.NullOf(origins); len(origins) == 0 {
			wrong.Add("origins", "need at least one row: a request or a material")
		}
	default:
		wrong.Add("stated", "must be one of those offered")
	}
	return p, rows, wrong.Err()
}

// at returns a value of a repeated field; empty if there are fewer.
func at(values []string, i int) string {
	if i < len(values) {
		return strings.TrimSpace(values[i])
	}
	return ""
}
