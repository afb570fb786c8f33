package exchange

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/exchange/category"
)

// notKnown is the field of a form that names the keys of which people say that nobody knows them.
const notKnown = "not_known"

// formless are the fields of a material that no form changes: what it is, and what acts of their own change.
var formless = []string{"id", "category", "is_archived"}

// Form is m as a form shows it: by the names that errors use, each key of its category, and each field that every
// material has. A list to choose from has one value for each choice, and one for all the others.
func (m Material) Form() url.Values {
	form := url.Values{}
	for _, c := range materialColumns {
		if !slices.Contains(formless, c.Field) {
			form.Set(c.Field, c.show(m))
		}
	}
	values := m.values()
	c, _ := category.Get(m.Category)
	for _, f := range c.Fields {
		form[metadataPrefix+f.Key] = formTexts(values[f.Key], &f)
	}
	return form
}

// values are those of additional_metadata.
func (m Material) values() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	_ = json.Unmarshal(m.Metadata, &values) // it is an object always
	return values
}

// Own are the values of additional_metadata that the category does not have, by their keys, as JSON. A form has them
// as lines, and forgets none.
func (m Material) CustomValues() map[string]json.RawMessage {
	values := m.values()
	c, _ := category.Get(m.Category)
	for _, f := range c.Fields {
		delete(values, f.Key)
	}
	return values
}

// formTexts are the values that a form has for a key.
func formTexts(raw json.RawMessage, f *category.Field) []string {
	if f.Type != category.List {
		return []string{showValue(raw, false)}
	}
	var items []string
	if json.Unmarshal(raw, &items) != nil {
		return []string{showValue(raw, false)}
	}
	var chosen, others []string
	for _, item := range items {
		if slices.ContainsFunc(f.Options, func(o category.Option) bool { return o.Value == item }) {
			chosen = append(chosen, item)
			continue
		}
		others = append(others, joinItems([]string{item}))
	}
	return append(chosen, strings.Join(others, "\n"))
}

// FormPatch reads a form as a change of old, nil: as a new material of a category. What says the same as old changes
// nothing, and what the form does not have stays as it is. A new one may bring keys of its own as JSON.
func FormPatch(form url.Values, code string, old *Material) (MaterialPatch, FieldErrors) {
	var p MaterialPatch
	var f FieldErrors
	if old != nil {
		code = old.Category
	} else {
		p.Category = Some(code)
	}
	for _, c := range materialColumns {
		typed, sent := form[c.Field]
		if !sent || slices.Contains(formless, c.Field) {
			continue
		}
		cell := plainText(lastOf(typed))
		if c.Closed && cell == "" {
			cell = "false" // a box that is not ticked
		}
		if old != nil && alike(cell, c.show(*old)) || old == nil && cell == "" {
			continue
		}
		if err := c.readForm(cell, &p); err != nil {
			f.Add(c.Field, "%v", err)
		}
	}
	values, changed := formValues(form, code, old)
	c, _ := category.Get(code)
	if formCustomFields(form, c, values, &f) || changed {
		p.Metadata = Some(objectOf(values))
	}
	if typed, sent := form["title"]; sent && plainText(lastOf(typed)) == "" {
		if name := nameOf(code, values); name != "" {
			p.Title = Some(name)
		}
	}
	return p, f
}

// readForm is read, also for the organization, which a spreadsheet does not change.
func (c Column) readForm(cell string, p *MaterialPatch) error {
	if c.Field == "organization_id" {
		p.Organization.Set = true
		raw, err := json.Marshal(cell)
		if err == nil {
			err = p.Organization.Value.UnmarshalJSON(raw)
		}
		return err
	}
	return c.read(cell, p)
}

// formValues are the values of additional_metadata as a form has them, and whether that changes them.
func formValues(form url.Values, code string, old *Material) (values map[string]json.RawMessage, changed bool) {
	values = map[string]json.RawMessage{}
	c, _ := category.Get(code)
	if old != nil {
		values = old.values()
	} else if json.Unmarshal([]byte(form.Get("additional_metadata")), &values) == nil && values != nil {
		changed = len(values) > 0
	} else {
		values = map[string]json.RawMessage{}
	}
	for _, f := range c.Fields {
		typed, sent := form[metadataPrefix+f.Key]
		if !sent {
			continue
		}
		is := formValue(typed, &f)
		was := values[f.Key]
		said := slices.Contains(form[notKnown], f.Key) && is == nil
		if said {
			is = category.Quote("not known")
		}
		if !said && slices.Equal(tidyAll(typed), tidyAll(formTexts(was, &f))) {
			continue
		}
		changed = true
		if delete(values, f.Key); is != nil {
			values[f.Key] = is
		}
	}
	return values, changed
}

// formValue is what somebody typed as the value of a key; nil: nothing.
func formValue(typed []string, f *category.Field) json.RawMessage {
	if f.Type != category.List {
		if text := plainText(lastOf(typed)); text != "" {
			return readValue(text, f)
		}
		return nil
	}
	var items []string
	for _, text := range tidyAll(typed) {
		if slices.ContainsFunc(f.Options, func(o category.Option) bool { return o.Value == text }) {
			items = append(items, text)
			continue
		}
		for _, item := range splitItems(text) {
			items = append(items, meant(f, item))
		}
	}
	if len(items) == 0 {
		return nil
	}
	return category.Quote(items)
}

// lastOf is the last of some values: that of a box comes behind the hidden one that says that there is a box.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// plainText is a text of a form, whose lines end as anywhere else.
func plainText(text string) string { return strings.TrimSpace(lines.Replace(text)) }

// tidyAll are texts of a form without those that are empty.
func tidyAll(texts []string) []string {
	var list []string
	for _, text := range texts {
		if text = plainText(text); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// Unlisted says what a material still needs before a page lists it: what its category asks for. Whoever lists by
// the API may leave it out.
func (m Material) MissingForListing() FieldErrors {
	var f FieldErrors
	c, _ := category.Get(m.Category)
	for _, key := range c.Missing(m.values()) {
		text := "is needed before others can rely on it; if nobody knows it, say so"
		if field, _ := c.Field(key); len(field.Options) > 0 {
			text = "is needed before others can rely on it: choose one"
		}
		f.Add(metadataPrefix+key, "%s", text)
	}
	return f
}

// FieldChange is a field that has another value in another version of a material.
type FieldChange struct {
	Field, Label string
	Old, New     string
}

// Changes are the fields in which two versions of a material differ, in the order of forms.
func Changes(old, now Material) []FieldChange {
	var list []FieldChange
	note := func(field, label, was, is string) {
		if was != is {
			list = append(list, FieldChange{field, label, was, is})
		}
	}
	for _, c := range materialColumns {
		note(c.Field, c.Label, c.show(old), c.show(now))
	}
	before, after := old.values(), now.values()
	c, _ := category.Get(now.Category)
	for _, f := range c.Fields {
		several := f.Type == category.List
		note(metadataPrefix+f.Key, f.Label, showValue(before[f.Key], several), showValue(after[f.Key], several))
		delete(before, f.Key)
		delete(after, f.Key)
	}
	keys := slices.Sorted(maps.Keys(before))
	for key := range after {
		if _, there := before[key]; !there {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		note(metadataPrefix+key, key, showValue(before[key], false), showValue(after[key], false))
	}
	return list
}

// FieldLabel is what people call a field of a material of a category, by the name that errors use.
func FieldLabel(code, field string) string {
	key, ofCategory := strings.CutPrefix(field, metadataPrefix)
	if field == "own" {
		return "Fields of your own"
	}
	if c, _ := category.Get(code); ofCategory {
		if f, ok := c.Field(key); ok {
			return f.Label
		}
		return key
	}
	for _, c := range materialColumns {
		if c.Field == field {
			return c.Label
		}
	}
	return field
}

// Restore is the change that makes another version of a material what m is. Whose it is and whether it is archived
// stay: these are acts of their own.
func (m Material) Restore() MaterialPatch {
	p := MaterialPatch{URL: Some(m.URL), PubMedID: Some(m.PubMedID), Metadata: Some(slices.Clone(m.Metadata)),
		Title: Some(m.Title), Reference: Null[string]{true, m.Reference},
		NeedsMTA: Some(m.NeedsMTA), NeedsIRB: Some(m.NeedsIRB), NeedsAbstract: Some(m.NeedsAbstract),
		Imported: Some(m.Imported), ImportSource: Some(m.ImportSource),
		PublicationTitle: Null[string]{true, m.PublicationTitle}, PrePrintDOI: Null[string]{true, m.PrePrintDOI},
		PrePrintTitle: Null[string]{true, m.PrePrintTitle},
		Citation:      Null[string]{true, m.Citation}, AdditionalInfo: Null[string]{true, m.AdditionalInfo},
		EmbargoDate: Null[Date]{true, m.EmbargoDate},
		Contact:     Some(UserRef(m.ContactID)), MTAShown: Null[Ref]{true, (*Ref)(m.MTAAttachmentID)},
		Shipping: Null[Ref]{true, (*Ref)(m.ShippingID)}}
	if p.Organisms = Cleared[Names](); m.Organisms != nil {
		p.Organisms = NullOf(Names(m.Organisms))
	}
	return p
}
