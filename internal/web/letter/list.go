package letter

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// listPath is the address of the list of agreements.
const listPath = "/letters"

// lettersOfPage is how many agreements a page of the list has.
const lettersOfPage = 25

// listPage lists the agreements that the visitor may see.
type listPage struct {
	ui.Page
	letters.Listing
	By          letter.Filter
	Next, First string // the addresses of other pages; "": there are none
}

// Choice is a value of a filter.
type Choice struct {
	Value, Words string
	Chosen       bool
}

// States returns the states to filter by.
func (p *listPage) States() (list []Choice) {
	for _, s := range letter.States {
		list = append(list, Choice{string(s), ui.LetterStateOf(s).Words, p.By.State != nil && *p.By.State == s})
	}
	return list
}

// Parties returns the institutions to filter by, by name.
func (p *listPage) Parties() (list []Choice) {
	for id, name := range p.Institutions {
		list = append(list, Choice{strconv.FormatInt(id, 10), name, p.By.Institution != nil && *p.By.Institution == id})
	}
	slices.SortFunc(list, func(a, b Choice) int {
		return strings.Compare(exchange.SortKey(a.Words)+a.Value, exchange.SortKey(b.Words)+b.Value)
	})
	return list
}

// Filtered reports whether the list is narrowed.
func (p *listPage) Filtered() bool { return p.By != letter.Filter{} }

// State returns the state of an agreement for people.
func (*listPage) State(s letter.State) ui.LetterState { return ui.LetterStateOf(s) }

// Letter returns the address of an agreement.
func (*listPage) Letter(id int64) string { return ui.LetterPath(id) }

// list shows the agreements of the visitor, their labs and their institutions. Unknown filters filter nothing.
func (v *pageRequest) list() (ui.Response, error) {
	q := v.URL.Query()
	p := &listPage{Page: ui.Page{Title: "Agreements", Section: "requests"}}
	narrowed := url.Values{}
	if s := letter.State(q.Get("state")); slices.Contains(letter.States, s) {
		p.By.State = &s
		narrowed.Set("state", string(s))
	}
	if p.By.Institution = ui.ParseID(q.Get("institution")); p.By.Institution != nil {
		narrowed.Set("institution", q.Get("institution"))
	}
	at := exchange.Page{Limit: lettersOfPage}
	if after := ui.ParseID(q.Get("after")); after != nil {
		at.After, p.First = &exchange.Position{ID: *after}, address(narrowed)
	}
	var err error
	if p.Listing, err = v.App.Letters.Listing(v.Context(), v.Who.Actor, p.By, at); err != nil {
		return ui.Response{}, err
	}
	if p.ListPage.Next != nil {
		narrowed.Set("after", strconv.FormatInt(p.ListPage.Next.ID, 10))
		p.Next = address(narrowed)
	}
	return ui.Show("letters", p)
}

// address returns the address of the list with a query.
func address(query url.Values) string {
	if len(query) == 0 {
		return listPath
	}
	return listPath + "?" + query.Encode()
}
