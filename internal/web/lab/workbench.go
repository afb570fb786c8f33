package lab

import (
	"net/url"
	"slices"
	"strconv"

	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

// bulkForm is the form around the boxes of a lab's materials.
type bulkForm struct {
	Form   url.Values
	Report []ui.BulkOutcome // the materials that were not changed
	Done   int
	Acted  string // what was done, as "moved"

	pending []int64 // archiving that can be undone
}

// Get returns what was chosen in a field.
func (f bulkForm) Get(field string) string { return f.Form.Get(field) }

// bulkAct is an action on many materials.
type bulkAct struct {
	did   string // as "3 materials moved"
	field string // the field that the action requires
	needs string
	patch func(v *pageRequest, value string) (material.Patch, error) // nil: it is archived
}

var bulkActs = map[string]bulkAct{
	"contact": {did: "have the new contact", field: "contact", needs: "Choose the new contact.",
		patch: func(v *pageRequest, value string) (p material.Patch, err error) {
			lab, err := v.PathID("id")
			if err != nil {
				return p, err
			}
			u, err := v.Person(value, lab)
			if fields, wrong := ui.FieldErrorsIn(err); wrong {
				err = exchange.FieldErrors{"contact": ui.AsSentences(fields["person"])}.Err()
			}
			p.Contact = exchange.Some(exchange.UserRef(u))
			return p, err
		}},
	"mta": {did: "have the new MTA", field: "mta", needs: "Choose what they require.",
		patch: func(_ *pageRequest, value string) (p material.Patch, err error) {
			p.NeedsMTA, p.MTAAttachment = exchange.Some(value != "none"), exchange.Cleared[exchange.Ref]()
			if value == "none" || value == "own" {
				return p, nil
			}
			p.MTAAttachment, err = chosenRef("mta", value)
			return p, err
		}},
	"shipping": {did: "have the new shipping requirements", field: "shipping",
		needs: "Choose the shipping requirements.",
		patch: func(_ *pageRequest, value string) (p material.Patch, err error) {
			if p.Shipping = exchange.Cleared[exchange.Ref](); value != "none" {
				p.Shipping, err = chosenRef("shipping", value)
			}
			return p, err
		}},
	"move": {did: "moved", field: "to", needs: "Choose the lab that they move to.",
		patch: func(v *pageRequest, value string) (p material.Patch, err error) {
			to, err := chosenRef("to", value)
			if err != nil {
				return p, err
			}
			p.Organization, p.Contact = exchange.Some(*to.Value), exchange.Some(exchange.UserRef(v.Who.ID))
			p.Shipping = exchange.Cleared[exchange.Ref]()
			return p, nil
		}},
	"archive": {did: "will be archived in 10 seconds"},
	"offer": {did: "available again", patch: func(*pageRequest, string) (material.Patch, error) {
		return material.Patch{Archived: exchange.Some(false)}, nil
	}},
}

// chosenRef returns the id that a field of the form names.
func chosenRef(field, value string) (exchange.Null[exchange.Ref], error) {
	id := ui.ParseID(value)
	if id == nil {
		return exchange.Null[exchange.Ref]{}, exchange.FieldErrors{field: {"Choose one of the list."}}.Err()
	}
	return exchange.NullOf(exchange.Ref(*id)), nil
}

// changeMaterials applies one action to several materials, each by its use case, and reports those that it failed for.
func (v *pageRequest) changeMaterials() (ui.Response, error) {
	if _, err := v.labFor(exchange.MaterialBulk); err != nil {
		return ui.Response{}, err
	}
	back, err := url.Parse(ui.LocalAddress(v.PostFormValue("back")))
	if err != nil {
		back = &url.URL{Path: v.lab("")}
	}
	f := bulkForm{Form: v.PostForm}
	act, known := bulkActs[v.PostFormValue("do")]
	ids := ui.ChosenIDs(v.PostForm)
	problems := ui.FieldErrors{}
	switch {
	case !known:
		problems["id"] = []string{"Choose an action."}
	case len(ids) == 0:
		problems["id"] = []string{"Select at least one material."}
	case len(ids) > ui.MaxInBulk:
		problems["id"] = []string{"Select at most " + strconv.Itoa(ui.MaxInBulk) + " materials."}
	case act.field != "" && f.Get(act.field) == "":
		problems[act.field] = []string{act.needs}
	}
	var patch material.Patch
	if len(problems) == 0 && act.patch != nil {
		patch, err = act.patch(v, f.Get(act.field))
		if fields, wrong := ui.FieldErrorsIn(err); wrong {
			problems = fields
		} else if err != nil {
			return ui.Response{}, err
		}
	}
	if len(problems) == 0 {
		if err := f.apply(v, ids, act, patch); err != nil {
			return ui.Response{}, err
		}
		if len(f.Report) == 0 {
			text := ui.Plural(f.Done, "material") + " " + act.did + "."
			done := ui.SeeOther(v.lab("?" + back.RawQuery))
			if len(f.pending) > 0 {
				return done.Undoable(text, f.pending[0], f.pending[1:]...), nil
			}
			return done.Saying(text), nil
		}
	}
	f.Acted = act.did
	return f.again(v, back.Query(), ids, problems)
}

// apply changes each of the materials, or has it archived, and notes what was refused.
func (f *bulkForm) apply(v *pageRequest, ids []int64, act bulkAct, patch material.Patch) error {
	for _, id := range ids {
		var err error
		if act.patch != nil {
			_, err = v.App.Materials.UpdateMaterial(v.Context(), v.Who.Actor, id, patch, nil)
		} else {
			var job int64
			job, err = v.App.Schedule(v.Context(), v.Who.Actor, transfer.PendingAction{Material: id}, nil)
			if err == nil {
				f.pending = append(f.pending, job)
			}
		}
		if err == nil {
			f.Done++
			continue
		}
		why, isRefusal := ui.WhyRefused(err)
		if !isRefusal {
			return err
		}
		v.NoteRefusal(err)
		f.Report = append(f.Report, ui.BulkOutcome{ID: id, Why: why})
	}
	return nil
}

// again shows the list as it was left, with the materials that were not changed and why.
func (f *bulkForm) again(v *pageRequest, query url.Values, ids []int64, problems ui.FieldErrors) (ui.Response, error) {
	p, err := materialsPage(v, query)
	if err != nil {
		return ui.Response{}, err
	}
	for i := range p.Materials {
		m := &p.Materials[i]
		for j, o := range f.Report {
			if o.ID == m.ID {
				m.Problem, m.Checked, f.Report[j].Name = o.Why, true, m.Title
			}
		}
		m.Checked = m.Checked || len(f.Report) == 0 && slices.Contains(ids, m.ID)
	}
	p.Bulk, p.Errors = *f, problems
	if len(f.Report) > 0 {
		p.Title = ui.Plural(len(f.Report), "material") + " could not be changed"
	}
	return ui.Invalid("lab", p)
}

// OtherLabs returns the labs that materials can move to.
func (p *labMaterialsPage) OtherLabs() []lab.Organization {
	return slices.DeleteFunc(slices.Clone(p.Options.Labs), func(o lab.Organization) bool { return o.ID == p.Lab.ID })
}

// ShippingText describes shipping requirements in one line.
func (p *labMaterialsPage) ShippingText(s lab.Shipping) string { return ui.ShippingText(s) }

// IsContact reports whether a person is chosen as the new contact.
func (f bulkForm) IsContact(id uuid.UUID) bool { return f.Get("contact") == id.String() }
