package request

import (
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/requirements"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// purposeFields returns the fields of a form that terms of data use ask about; the prefix is that of its errors.
func purposeFields(form url.Values, asked []string, prefix string, wrong ui.FieldErrors) []ui.FormField {
	return slices.DeleteFunc(ui.FieldsOf[requirement.Purpose](form, prefix, wrong), func(f ui.FormField) bool {
		return !slices.Contains(asked, f.Name)
	})
}

// purposeOf returns what a form states. Fields that it does not have stay as they are.
func purposeOf(form url.Values) (body requirement.PurposePatch, err error) {
	for i := range requirement.PurposeFields {
		d := &requirement.PurposeFields[i]
		if !form.Has(d.Name) || d.Values != nil && form.Get(d.Name) == "" {
			continue
		}
		var value any = form.Get(d.Name)
		if d.Values == nil {
			value = field.SplitItems(form.Get(d.Name))
		}
		if err := body.Set(d.Name, value); err != nil {
			return body, err
		}
	}
	return body, nil
}

// askedUse is what the form of a new request shows of data use.
type askedUse struct {
	requirements.Use
	body requirement.PurposePatch
}

// Forbidden returns the terms that forbid what the form states, in words; "": none does.
func (u askedUse) Forbidden() string {
	var terms []string
	for _, l := range u.Limits {
		if l.Allowed == requirement.No {
			terms = append(terms, l.Term.Label())
		}
	}
	return strings.Join(terms, "; ")
}

// PurposeFields returns the questions that terms of data use ask.
func (p *askPage) PurposeFields() []ui.FormField {
	return purposeFields(p.Form, p.Use.Asked, "", p.Errors)
}

// useOf reads whether the terms of data use of the materials of a form allow the purpose that it states. It fails with
// the fields that are wrong.
func useOf(v *pageRequest, f transfer.RequestFormView, form url.Values) (u askedUse, err error) {
	list := []material.Material{f.Material.Material}
	if several(f) {
		list = nil
		for _, item := range f.Items {
			list = append(list, item.Material)
		}
	}
	if u.Use, err = v.App.Requirements.UseOf(v.Context(), v.Who.Actor, requirement.Purpose{}, list...); err != nil ||
		len(u.Asked) == 0 {
		return u, err
	}
	if u.body, err = purposeOf(form); err != nil {
		return u, err
	}
	p, err := u.body.Patch(requirement.Purpose{})
	if err != nil {
		return u, err
	}
	u.Use, err = v.App.Requirements.UseOf(v.Context(), v.Who.Actor, p, list...)
	return u, err
}

// refusedUse returns what is wrong with the purpose that a form states: a field, or that the terms forbid it and the
// visitor has not confirmed that they ask the lab all the same.
func refusedUse(u askedUse, err error, form url.Values) exchange.FieldErrors {
	if wrong := exchange.FieldsOf(err); wrong != nil {
		return wrong
	}
	if terms := u.Forbidden(); terms != "" && form.Get("use_anyway") == "" {
		return exchange.FieldErrors{"use_anyway": {"The terms of data use do not allow this use: " + terms + ". " +
			"Change what you plan, or confirm that you ask the lab all the same"}}
	}
	return nil
}

// stateUse states the purpose of requests that were just sent.
func stateUse(v *pageRequest, u askedUse, sent ...request.Detail) error {
	if len(u.Asked) == 0 {
		return nil
	}
	for _, q := range sent {
		if _, err := v.App.Requirements.StatePurpose(v.Context(), v.Who.Actor, q.ID, u.body, nil); err != nil {
			return err
		}
	}
	return nil
}

// Forbids reports whether a term of data use forbids what the requester stated.
func (needsCard) Forbids(r requirements.Requirement) bool {
	return slices.ContainsFunc(r.Limits, func(l requirement.Limit) bool { return l.Allowed == requirement.No })
}

// PurposeFields returns the form with which the requester answers what terms of data use ask.
func (p *requestPage) PurposeFields() []ui.FormField {
	form := field.Form(requirement.PurposeFields, &p.Needs.Purpose)
	if p.Sent("purpose") {
		form = p.typed
	}
	return purposeFields(form, p.Needs.Asked, "purpose-", p.Errors)
}

// statePurpose states the purpose of a request.
func (v *permitRequest) statePurpose(id int64) (ui.Response, error) {
	body, err := purposeOf(v.PostForm)
	if err == nil {
		_, err = v.App.Requirements.StatePurpose(v.Context(), v.Who.Actor, id, body, nil)
	}
	if err != nil {
		return (&pageRequest{v.PageRequest}).refused("purpose", err)
	}
	return ui.SeeOther(requestPath(id) + "#need-DATA_USE").Saying("Your answers are saved."), nil
}
