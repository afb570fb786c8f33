package institution

import (
	"strconv"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app"
	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/web/ui"
)

// patchOf returns the body that a form describes. refs are fields with ids, of which an empty one is left out.
func patchOf[T party.Described[T]](v *pageRequest, refs ...string) (p party.Patch[T], err error) {
	var o T
	if err := field.ReadForm(o.Table(), v.PostForm, &p); err != nil {
		return p, err
	}
	for _, name := range refs {
		if text := strings.TrimSpace(v.PostForm.Get(name)); text != "" {
			if err := p.Set(name, text); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

// confirmation is the body that confirms something.
func confirmation[T party.Described[T]]() (p party.Patch[T]) {
	_ = p.Set("confirmed", true) // it has the field
	return p
}

// kind is how the pages save entries of a kind.
type kind struct {
	office   bool                                                 // they are on the page of the office
	may      func(v *pageRequest, institution, entry int64) error // before the form is read
	save     func(v *pageRequest, institution, entry int64) error
	labelled func(wrong map[string][]string, prefix string) ui.FieldErrors
}

var kinds = map[string]kind{
	"labs": kindOf(false, "", func(a *app.App) institutions.Entries[party.Lab] { return a.Institutions.Labs },
		"organization"),
	"affiliations": kindOf(false, "",
		func(a *app.App) institutions.Entries[party.Affiliation] { return a.Institutions.Affiliations }),
	"masters": kindOf(false, "",
		func(a *app.App) institutions.Entries[party.Master] { return a.Institutions.Masters }),
	"positions": kindOf(true, "",
		func(a *app.App) institutions.Entries[party.Position] { return a.Institutions.Positions }),
	"authorities": kindOf(true, "holder",
		func(a *app.App) institutions.Entries[party.Authority] { return a.Institutions.Authorities }, "position",
		"supersedes"),
	"stand-ins": kindOf(true, "person",
		func(a *app.App) institutions.Entries[party.StandIn] { return a.Institutions.StandIns }, "authority"),
}

// kindOf returns how a kind is saved. account is the field with an account, which forms have by its registry id; ""
// there is none.
func kindOf[T party.Described[T]](office bool, account string, of func(*app.App) institutions.Entries[T],
	refs ...string) kind {
	save := func(v *pageRequest, institution, entry int64) error {
		p, err := patchOf[T](v, refs...)
		if err == nil && account != "" {
			err = setAccount(v, &p, account)
		}
		if v.PostFormValue("do") == "confirm" {
			p, err = confirmation[T](), nil
		}
		if err != nil {
			return err
		}
		if entry == 0 {
			_, err = of(v.App).Create(v.Context(), v.Who.Actor, institution, p)
		} else {
			_, err = of(v.App).Update(v.Context(), v.Who.Actor, institution, entry, p, nil)
		}
		return err
	}
	may := func(v *pageRequest, institution, entry int64) error {
		return of(v.App).MayWrite(v.Context(), v.Who.Actor, institution, entry)
	}
	return kind{office, may, save, ui.Labelled[T]}
}

// setAccount sets the user whose registry id a form has.
func setAccount[T party.Described[T]](v *pageRequest, p *party.Patch[T], name string) error {
	id := strings.TrimSpace(v.PostFormValue(name))
	if id == "" {
		return nil
	}
	user, err := v.App.Institutions.Person(v.Context(), id)
	if exchange.CodeOf(err) == exchange.InvalidInput {
		return exchange.FieldErrors{name: {exchange.MessageOf(err)}}.Err()
	}
	if err != nil {
		return err
	}
	return p.Set(name, user)
}

// About returns the fields of the form of the institution.
func (p *page) About() []ui.FormField {
	form := field.Form(party.InstitutionFields, &p.Institution)
	if p.Bad == "about-" {
		form = p.Form
	}
	return ui.FieldsOf[party.Institution](form, "about-", p.Errors)
}

// shown returns the fields of the form of an entry, as they are or, if the form was refused, as they were typed. id 0
// is a new entry.
func shown[T party.Described[T]](p *page, kind string, id int64, o T) []ui.FormField {
	prefix := kind + "-"
	if id != 0 {
		prefix += strconv.FormatInt(id, 10) + "-"
	}
	form := field.Form(o.Table(), &o)
	if p.Bad == prefix {
		form = p.Form
	}
	return ui.FieldsOf[T](form, prefix, p.Errors)
}

// The fields of the forms of entries.

// OfLab returns the fields of a lab of the institution.
func (p *page) OfLab(l party.Lab) []ui.FormField { return shown(p, "labs", l.ID, l) }

// NewLab returns those of a new one.
func (p *page) NewLab() []ui.FormField { return p.OfLab(party.Lab{}) }

// OfAffiliation returns the fields of an affiliation.
func (p *page) OfAffiliation(a party.Affiliation) []ui.FormField {
	return shown(p, "affiliations", a.ID, a)
}

// NewAffiliation returns those of a new one.
func (p *page) NewAffiliation() []ui.FormField { return p.OfAffiliation(party.Affiliation{}) }

// OfMaster returns the fields of a master agreement.
func (p *page) OfMaster(m party.Master) []ui.FormField { return shown(p, "masters", m.ID, m) }

// NewMaster returns those of a new one.
func (p *page) NewMaster() []ui.FormField { return p.OfMaster(party.Master{Standing: party.Signed}) }

// OfPosition returns the fields of a position.
func (p *page) OfPosition(o party.Position) []ui.FormField { return shown(p, "positions", o.ID, o) }

// NewPosition returns those of a new one.
func (p *page) NewPosition() []ui.FormField { return p.OfPosition(party.Position{}) }

// OfAuthority returns the fields of an authority.
func (p *page) OfAuthority(a party.Authority) []ui.FormField { return shown(p, "authorities", a.ID, a) }

// NewAuthority returns those of a new one.
func (p *page) NewAuthority() []ui.FormField {
	return p.OfAuthority(party.Authority{Direction: party.Both, LargestBSL: 1, Period: party.Period{From: p.Today()}})
}

// OfStandIn returns the fields of a stand-in.
func (p *page) OfStandIn(s party.StandIn) []ui.FormField { return shown(p, "stand-ins", s.ID, s) }

// NewStandIn returns those of a new one.
func (p *page) NewStandIn() []ui.FormField {
	return p.OfStandIn(party.StandIn{Period: party.Period{From: p.Today()}})
}
