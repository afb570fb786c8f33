package institution

import (
	"net/url"
	"slices"
	"strconv"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

// deskPage lists the letters of an institution for its office.
type deskPage struct {
	*page
	letters.Desk
	By    letter.DeskFilter
	Days  string // how long ago it was sent at least; "": any
	Tabs  []ui.Tab
	Pages []deskLink
	Where string // the address of the list with its filters
	Clear string // without filters; "": there are none
	// the letters whose signing the visitor is asked to confirm, or was reported; nil: the list is shown
	Signing []signing
	Signed  bool
	Options string // what script passes to the device that signs them with one touch; "": nothing was asked
	Asked   string // the statement that it signs
}

// deskLink is the link to a page of the list by its number.
type deskLink struct {
	Number  int
	Address string
	Here    bool
}

// lettersOfPage is how many letters a page of the desk has, and so how many are signed together.
const lettersOfPage = 25

// around is how many pages before and after the present one have a link.
const around = 2

// Ages are the ages to filter by, in days.
func (*deskPage) Ages() []string { return []string{"7", "14", "30", "90"} }

// Categories are the categories to filter by.
func (*deskPage) Categories() []category.Category { return category.All() }

// State returns the state of a letter for people.
func (*deskPage) State(s letter.State) ui.LetterState { return ui.LetterStateOf(s) }

// Letter returns the address of a letter.
func (*deskPage) Letter(id int64) string { return ui.LetterPath(id) }

// Other returns the name of the other institution of a letter.
func (p *deskPage) Other(l letter.Letter) string {
	return p.Counterparties[l.Provider+l.Recipient-p.Institution.ID]
}

// IsLab reports whether the list is of one lab.
func (p *deskPage) IsLab(id int64) bool { return p.By.Organization != nil && *p.By.Organization == id }

// IsWith reports whether the list is of agreements with one institution.
func (p *deskPage) IsWith(id int64) bool { return p.By.Counterparty != nil && *p.By.Counterparty == id }

// Provides reports whether the institution provides under a letter.
func (p *deskPage) Provides(l letter.Letter) bool { return l.Provider == p.Institution.ID }

// Lab returns the name of the lab of a letter.
func (p *deskPage) Lab(id int64) string {
	for _, o := range p.Desk.Labs {
		if o.ID == id {
			return o.Name
		}
	}
	return ""
}

// Form returns the title of an instrument.
func (p *deskPage) Form(id string) string {
	for _, i := range p.Instruments {
		if i.ID == id {
			return i.Title
		}
	}
	return id
}

// Requester returns the name of who receives.
func (p *deskPage) Requester(id uuid.UUID) string {
	u := p.Requesters[id]
	return u.Name()
}

// Ours reports whether a letter waits for the official of the institution.
func (p *deskPage) Ours(l letter.Agreement) bool {
	return slices.Contains(l.Waits, letters.OfficialOf(p.Institution.ID, l.Letter))
}

// deskAsked reads the filters and the number of the page from the query. Unknown values filter nothing.
func (v *pageRequest) deskAsked(q url.Values) (by letter.DeskFilter, days string, number int) {
	by.Desk = letter.Desk(q.Get("show"))
	if !slices.Contains([]letter.Desk{letter.OnThem, letter.OnLab, letter.OnAll}, by.Desk) {
		by.Desk = letter.OnUs
	}
	by.Organization, by.Counterparty = ui.ParseID(q.Get("lab")), ui.ParseID(q.Get("with"))
	by.Instrument = q.Get("form")
	if _, known := category.Get(q.Get("category")); known {
		by.Category = q.Get("category")
	}
	if n := ui.ParseID(q.Get("days")); n != nil && *n < 10_000 {
		days = q.Get("days")
		by.SentBefore = new(v.App.DB.Read().Now.AddDate(0, 0, -int(*n)))
	}
	number = 1
	if n := ui.ParseID(q.Get("page")); n != nil && *n < 100_000 {
		number = int(*n)
	}
	return by, days, number
}

// readDesk reads the desk of the office.
func (v *pageRequest) readDesk(id int64) (*deskPage, error) {
	base, err := v.read(id, "letters", "Agreements")
	if err != nil {
		return nil, err
	}
	q := v.URL.Query()
	by, days, number := v.deskAsked(q)
	d, err := v.App.Desks.Desk(v.Context(), v.Who.Actor, id, by, number, lettersOfPage)
	if exchange.CodeOf(err) == exchange.Forbidden {
		err = exchange.Errorf(exchange.Forbidden, "Only those who sign for %s see its agreements.", base.LegalName)
	}
	if err != nil {
		return nil, err
	}
	p := &deskPage{page: base, Desk: d, By: by, Days: days}
	path := "/offices/" + p.ID + "/letters"
	at := func(name, value string) string {
		values := url.Values{"show": {string(by.Desk)}}
		for _, field := range []string{"lab", "with", "form", "category", "days"} {
			if q.Get(field) != "" {
				values.Set(field, q.Get(field))
			}
		}
		values.Set(name, value)
		return path + "?" + values.Encode()
	}
	for _, t := range []struct {
		desk  letter.Desk
		words string
	}{{letter.OnUs, "Waiting for us"}, {letter.OnThem, "Waiting for them"}, {letter.OnLab, "Waiting for a scientist"},
		{letter.OnAll, "All"}} {
		p.Tabs = append(p.Tabs, ui.Tab{Words: t.words, Address: at("show", string(t.desk)), Count: d.Counts[t.desk],
			Hot: t.desk == letter.OnUs, Open: t.desk == by.Desk})
	}
	last := int((d.Total + lettersOfPage - 1) / lettersOfPage)
	for n := 1; n <= last && last > 1; n++ {
		if n == 1 || n == last || n >= number-around && n <= number+around {
			p.Pages = append(p.Pages, deskLink{n, at("page", strconv.Itoa(n)), n == number})
		}
	}
	p.Where = at("page", strconv.Itoa(number))
	if by != (letter.DeskFilter{Desk: by.Desk}) {
		p.Clear = path + "?show=" + string(by.Desk)
	}
	return p, nil
}

func (v *pageRequest) desk(id int64) (ui.Response, error) {
	p, err := v.readDesk(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("institution-letters", p)
}
