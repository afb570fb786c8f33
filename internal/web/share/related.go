package share

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// What belongs to a material but is stored apart: documents, shipping requirements, grants.

// takeListing reads the form of a material. Its files become attachments of the lab at once, so that they are kept
// even if the form is refused.
func (v *pageRequest) takeListing(p *listingPage) error {
	sent, err := v.ReadForm(v.Store, "mta_file", "map_file")
	if err != nil {
		return err
	}
	v.OnlyDocuments(sent, map[string]ui.DocumentField{"mta_file": {Label: "MTA template", Template: true}})
	p.Form, p.Errors = sent.Fields, sent.FileErrors()
	for field, into := range map[string]string{"mta_file": "mta_attachment_id", "map_file": "map"} {
		file, there := sent.Files[field]
		if !there {
			continue
		}
		t, err := v.keepFile(p, file)
		if e, ok := errors.AsType[*exchange.Error](err); ok && e.Code != exchange.NotAuthenticated {
			v.NoteRefusal(err)
			text := e.Message
			for _, texts := range e.Fields {
				text = "The file " + texts[0]
			}
			p.Errors[field] = []string{text}
			continue
		} else if err != nil {
			return err
		}
		if field == "map_file" {
			p.Form.Add(into, fmt.Sprint(t.ID))
			p.Form.Add("map_name", t.Filename)
			continue
		}
		p.Form.Set(into, fmt.Sprint(t.ID))
		p.Form.Set("needs_mta", "true")
		p.Form.Set("mta_name", t.Filename)
	}
	return nil
}

// keepFile records a file as an attachment of the lab in the form.
func (v *pageRequest) keepFile(p *listingPage, file ui.SentFile) (document.Attachment, error) {
	lab := v.shareLab(p.Get("organization_id"))
	if p.Material != nil {
		lab = p.Material.OrganizationID
	}
	t, err := v.App.Documents.CreateAttachment(v.Context(), v.Who.Actor,
		document.AttachmentPatch{Filename: exchange.Some(file.Name),
			OwnedByOrg: exchange.NullOf(exchange.Ref(lab))}, &file.Content)
	if err != nil {
		v.App.Documents.Discard(v.Context(), file.Content, err)
	}
	return t, err
}

// Maps returns the sequence maps that came with the form, by id and name.
func (p *listingPage) Maps() map[string]string {
	list := map[string]string{}
	for i, id := range p.Form["map"] {
		if list[id] = "sequence map"; i < len(p.Form["map_name"]) {
			list[id] = p.Form["map_name"][i]
		}
	}
	return list
}

// newShipping is the choice to enter new shipping requirements in the form.
const newShipping = "new"

// typed returns the form without choices that stand for something not created yet.
func (p *listingPage) typed() url.Values {
	form := maps.Clone(p.Form)
	if p.Get("shipping_requirements_id") == newShipping {
		delete(form, "shipping_requirements_id")
	}
	return form
}

// Documents returns the possible blank agreements, by id and name, with the chosen one.
func (p *listingPage) Documents() []document.Attachment {
	chosen, _ := strconv.ParseInt(p.Get("mta_attachment_id"), 10, 64) // none
	list := p.Options.Agreements
	if chosen > 0 && !slices.ContainsFunc(list, func(t document.Attachment) bool { return t.ID == chosen }) {
		list = append(slices.Clone(list), document.Attachment{ID: chosen, Filename: p.Get("mta_name")})
	}
	return list
}

// Shippings returns the requirements to choose from, with the chosen one.
func (p *listingPage) Shippings() []lab.Shipping {
	chosen, _ := strconv.ParseInt(p.Get("shipping_requirements_id"), 10, 64) // none
	list := p.Options.Shippings
	if p.Material != nil && chosen > 0 &&
		!slices.ContainsFunc(list, func(s lab.Shipping) bool { return s.ID == chosen }) {
		list = append(slices.Clone(list), lab.Shipping{ID: chosen})
	}
	return list
}

// settle makes sure that the form's contact can be chosen: the contact of a draft may have left. If there are too
// many people for a list, the contact is typed.
func (v *pageRequest) settle(p *listingPage) error {
	contact, who := p.Get("contact_user_id"), v.Who.ID
	if slices.ContainsFunc(p.Options.People, func(u person.User) bool { return u.ID.String() == contact }) {
		return nil
	}
	if p.Options.More && contact != "" {
		u, err := v.App.Labs.Member(v.Context(), []int64{p.Options.Lab.ID}, contact)
		if fields, wrong := ui.FieldErrorsIn(err); wrong {
			p.Errors = ui.FieldErrors{"contact_user_id": ui.AsSentences(fields["person"])}
			return nil
		} else if err != nil {
			return err
		}
		p.Options.People, who = append(p.Options.People, u), u.ID
	} else if p.Material != nil {
		who = p.Material.ContactID
	}
	p.Form.Set("contact_user_id", who.String())
	return nil
}

// Contact returns the contact as it is typed.
func (p *listingPage) Contact() string {
	contact := p.Get("contact_user_id")
	for _, u := range p.Options.People {
		if u.ID.String() == contact {
			return u.Name() + ", " + u.RegistryID
		}
	}
	return contact
}

// addShipping creates the shipping requirements that the form describes, and sets them in the material.
func (v *pageRequest) addShipping(p *listingPage, patch material.Patch) (material.Patch, error) {
	if p.Get("shipping_requirements_id") != newShipping {
		return patch, nil
	}
	labID := int64(patch.Organization.Value)
	if p.Material != nil {
		labID = p.Material.OrganizationID
	}
	on := func(name string) exchange.Opt[bool] { return exchange.Some(p.On("shipping." + name)) }
	s, err := v.App.Documents.CreateShipping(v.Context(), v.Who.Actor,
		lab.ShippingPatch{Organization: exchange.Some(exchange.Ref(labID)),
			NeedsAddress: on("needs_shipping_address"), NeedsPayment: on("needs_payment"),
			AcceptsShippingCode:  on("accepts_shipping_code"),
			AcceptsReimbursement: on("accepts_reimbursement"), AcceptsOther: on("accepts_other_payment_methods"),
			PaymentDetails: exchange.Some(p.Get("shipping.accepted_payment_details")),
			Restrictions:   exchange.Some(p.Get("shipping.restrictions"))})
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		own := exchange.FieldErrors{} // under the names of the form
		for field, texts := range fields {
			own["shipping."+field] = texts
		}
		err = own.Err()
	}
	if err != nil {
		return patch, err
	}
	p.Options.Shippings = append(p.Options.Shippings, s)
	p.Form.Set("shipping_requirements_id", fmt.Sprint(s.ID))
	patch.Shipping = exchange.NullOf(exchange.Ref(s.ID))
	return patch, nil
}

// attend adds a saved material to grants, and attaches its sequence maps. It returns what of that was refused: the
// material is saved all the same.
func (v *pageRequest) attend(p *listingPage, m material.Shown) (trouble string, err error) {
	do := func(step func() error) {
		if err != nil {
			return
		}
		failed := step()
		e, ok := errors.AsType[*exchange.Error](failed)
		switch {
		case failed == nil:
		case ok && !e.Code.ServerFault():
			trouble = e.Message
		default:
			err = failed
		}
	}
	if wanted, sent := p.Form["grant"]; sent {
		for _, g := range p.Options.Grants {
			is, was := slices.Contains(wanted, fmt.Sprint(g.ID)), slices.Contains(m.Grants, g.ID)
			if is && !was {
				do(func() error {
					_, _, err := v.App.Grants.Fund(v.Context(), v.Who.Actor, g.ID,
						material.FundingBody{Material: exchange.Some(exchange.Ref(m.ID))})
					return err
				})
			} else if was && !is {
				do(func() error { return v.App.Grants.Unfund(v.Context(), v.Who.Actor, g.ID, m.ID, nil) })
			}
		}
	}
	for id := range p.Maps() {
		n, _ := strconv.ParseInt(id, 10, 64) // an invalid number is not found
		do(func() error {
			_, err := v.App.Documents.UpdateAttachment(v.Context(), v.Who.Actor, n,
				document.AttachmentPatch{SequenceMapFor: exchange.NullOf(exchange.Ref(m.ID))}, nil)
			return err
		})
	}
	for _, t := range p.Options.Maps {
		if slices.Contains(p.Form["map_remove"], fmt.Sprint(t.ID)) {
			do(func() error { return v.App.Documents.DeleteAttachment(v.Context(), v.Who.Actor, t.ID, nil) })
		}
	}
	return trouble, err
}
