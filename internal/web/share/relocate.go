package share

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"
)

// relocationPage is the page on which a listing moves to another lab of the visitor. It shows what the move changes
// before anything is sent.
type relocationPage struct {
	ui.Page
	Material material.Shown
	Base     string // the version of the material that the page shows
	From     core.OrganizationView
	Shipping *lab.Shipping               // what the material asks for now, nil if it has no requirements of its own
	Options  catalog.MaterialFormOptions // of the lab that it moves to; Options.Lab.ID is 0 until one is chosen
	Stays    bool                        // the contact is a member of both labs
	MTA      string                      // the name of the MTA's template, "" if the material has none
	Open     []ui.RequestRow             // requests that have to end first
	Form     url.Values
}

// The choices of a form that moves a listing, in addition to an id.
const (
	keepsMTA       = "keep"
	copiesShipping = "copy"
)

// Get returns the value of a field of the form.
func (p *relocationPage) Get(name string) string { return p.Form.Get(name) }

// Contact returns the chosen contact, at first the present one if they stay, otherwise the visitor.
func (p *relocationPage) Contact() string {
	switch chosen := p.Get("contact_user_id"); {
	case chosen != "":
		return chosen
	case p.Stays:
		return p.Material.ContactID.String()
	}
	return p.Who.ID.String()
}

// Digital reports whether materials of the category are not shipped.
func (p *relocationPage) Digital() bool {
	c, _ := category.Get(p.Material.Category)
	return c.Digital
}

// ShippingText describes shipping requirements in one line.
func (p *relocationPage) ShippingText(s lab.Shipping) string { return ui.ShippingText(s) }

// askRelocation shows the labs to which a listing can move, or what a move to the one in the query would change.
func (v *pageRequest) askRelocation(id int64) (ui.Response, error) {
	p, err := v.relocation(id, v.URL.Query())
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("share_relocate", p)
}

// relocation reads the page of a move to the lab that form names as "to".
func (v *pageRequest) relocation(id int64, form url.Values) (*relocationPage, error) {
	m, err := v.App.Materials.MaterialToEdit(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	p := &relocationPage{Page: ui.Page{Title: "Move " + m.Title + " to another lab", Section: "lab"}, Material: m,
		Base: tagOf(m.Material), Form: form}
	to, _ := strconv.ParseInt(form.Get("to"), 10, 64) // no number is no choice
	p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, v.reachable(to), nil)
	if err != nil {
		return nil, err
	}
	if p.From, err = v.App.Labs.Organization(v.Context(), m.OrganizationID); err != nil {
		return nil, err
	}
	isHere := func(o lab.Organization) bool { return o.ID == m.OrganizationID }
	p.Options.Labs = slices.DeleteFunc(p.Options.Labs, isHere)
	if p.Options.Lab.ID != to || to == m.OrganizationID {
		p.Options.Lab = lab.Organization{}
		return p, nil
	}
	isContact := func(u person.User) bool { return u.ID == m.ContactID }
	if p.Stays = slices.ContainsFunc(p.Options.People, isContact); p.Options.More && !p.Stays {
		_, err := v.App.Labs.Member(v.Context(), []int64{to}, m.Contact.RegistryID)
		if p.Stays = err == nil; err != nil && exchange.CodeOf(err) != exchange.InvalidInput {
			return nil, err
		}
	}
	if id := m.MTAAttachmentID; id != nil {
		t, err := v.App.Documents.Attachment(v.Context(), v.Who.Actor, *id)
		if p.MTA = t.Filename; err != nil || p.MTA == "" {
			p.MTA = fmt.Sprintf("document no. %d", *id)
		}
	}
	if id := m.ShippingID; id != nil {
		s, err := v.App.Documents.Shipping(v.Context(), *id)
		if p.Shipping = &s; err != nil {
			return nil, err
		}
	}
	p.Open, err = v.OpenRequests(id)
	return p, err
}

// reachable returns a lab for which the visitor may list materials, 0 for any other.
func (v *pageRequest) reachable(id int64) int64 {
	if v.Who.MemberOf(id) || v.Who.Admin {
		return id
	}
	return 0
}

// relocate moves a listing to another lab.
func (v *pageRequest) relocate(id int64) (ui.Response, error) {
	p, err := v.relocation(id, v.PostForm)
	if err != nil {
		return ui.Response{}, err
	}
	if p.Options.Lab.ID == 0 {
		p.Errors = ui.FieldErrors{"to": {"Choose one of your other labs."}}
		return ui.Invalid("share_relocate", p)
	}
	asSeen := func(m material.Shown) error {
		if tagOf(m.Material) != p.Get("base") {
			return exchange.Errorf(exchange.PreconditionFailed,
				"Someone changed the listing after you opened this page. Check what moves again.")
		}
		return nil
	}
	patch, err := v.relocationPatch(p, asSeen)
	if err == nil {
		_, err = v.App.Materials.UpdateMaterial(v.Context(), v.Who.Actor, id, patch, asSeen)
	}
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p.Errors = worded(p.Material.Category, fields)
		return ui.Invalid("share_relocate", p)
	}
	if exchange.CodeOf(err) == exchange.Conflict && len(p.Open) > 0 {
		return ui.Response{Status: http.StatusConflict, Template: "share_relocate", Page: p}, nil
	}
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/catalog/%d", id)).Saying("Moved to " + p.Options.Lab.Name + "."), nil
}

// relocationPatch returns the change that the form asks for. Shipping requirements that are to be copied are created in
// the other lab first.
func (v *pageRequest) relocationPatch(p *relocationPage, asSeen core.IfMatch[material.Shown]) (material.Patch, error) {
	to := exchange.Ref(p.Options.Lab.ID)
	patch := material.Patch{Organization: exchange.Some(to), Shipping: exchange.Cleared[exchange.Ref]()}
	var f exchange.FieldErrors
	id := func(field string) exchange.Null[exchange.Ref] {
		text := p.Get(field)
		n, err := strconv.ParseInt(text, 10, 64)
		if text == "" {
			return exchange.Cleared[exchange.Ref]()
		} else if err != nil {
			f.Add(field, "is not one of the choices")
		}
		return exchange.NullOf(exchange.Ref(n))
	}
	contact, err := v.Person(p.Get("contact_user_id"), p.Options.Lab.ID)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		f.Add("contact_user_id", "%s", fields["person"][0])
	} else if err != nil {
		return patch, err
	}
	patch.Contact = exchange.Some(exchange.UserRef(contact))
	if p.Get("mta_attachment_id") != keepsMTA {
		patch.MTAAttachment = id("mta_attachment_id")
	}
	if p.Get("shipping_requirements_id") != copiesShipping {
		patch.Shipping = id("shipping_requirements_id")
	}
	if err := f.Err(); err != nil || p.Get("shipping_requirements_id") != copiesShipping || p.Shipping == nil {
		return patch, err
	}
	if err := asSeen(p.Material); err != nil || len(p.Open) > 0 {
		return patch, err // the move is refused, so nothing is created
	}
	s := p.Shipping
	made, err := v.App.Documents.CreateShipping(v.Context(), v.Who.Actor, lab.ShippingPatch{
		Organization: exchange.Some(to), NeedsAddress: exchange.Some(s.NeedsAddress),
		NeedsPayment: exchange.Some(s.NeedsPayment), AcceptsShippingCode: exchange.Some(s.AcceptsShippingCode),
		AcceptsReimbursement: exchange.Some(s.AcceptsReimbursement), AcceptsOther: exchange.Some(s.AcceptsOther),
		PaymentDetails: exchange.Some(s.PaymentDetails), Restrictions: exchange.Some(s.Restrictions)})
	patch.Shipping = exchange.NullOf(exchange.Ref(made.ID))
	return patch, err
}
