package material

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
)

// notKnown is the form field that lists the keys whose values are marked as not known.
const notKnown = "not_known"

// formless lists the fields of a material that no form changes: its identity, and what has actions of its own.
var formless = []string{"id", "category", "is_archived"}

// Form returns m as the values of a form: under the names that errors use, each key of its category and each field of
// every material. A list with options has one value for each chosen option, and one for all the other items.
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

// values returns the values of additional_metadata.
func (m Material) values() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	_ = json.Unmarshal(m.Metadata, &values) // it is always an object
	return values
}

// CustomValues returns the values of additional_metadata that the category does not define, by key, as JSON. A form
// shows them as rows, so that none is lost.
func (m Material) CustomValues() map[string]json.RawMessage {
	values := m.values()
	c, _ := category.Get(m.Category)
	for _, f := range c.Fields {
		delete(values, f.Key)
	}
	return values
}

// formTexts returns the form values of a key.
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
		others = append(others, field.JoinItems([]string{item}))
	}
	return append(chosen, strings.Join(others, "\n"))
}

// FormPatch reads a form as a change of old; if old is nil, as a new material of a category. A value equal to that of
// old changes nothing, and a field that the form does not have is kept. A new material may have custom fields, given as
// JSON.
func FormPatch(form url.Values, code string, old *Material) (Patch, exchange.FieldErrors) {
	var p Patch
	var f exchange.FieldErrors
	if old != nil {
		code = old.Category
	} else {
		p.Category = exchange.Some(code)
	}
	for _, c := range materialColumns {
		typed, sent := form[c.Field]
		if !sent || slices.Contains(formless, c.Field) {
			continue
		}
		cell := plainText(lastOf(typed))
		if c.Closed && cell == "" {
			cell = "false" // an unticked box
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
		p.Metadata = exchange.Some(objectOf(values))
	}
	if typed, sent := form["title"]; sent && plainText(lastOf(typed)) == "" {
		if name := nameOf(code, values); name != "" {
			p.Title = exchange.Some(name)
		}
	}
	return p, f
}

// readForm is like read, but accepts the organization too, which a spreadsheet cannot change.
func (c Column) readForm(cell string, p *Patch) error {
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

// formValues returns the values of additional_metadata according to a form, and whether that changes them.
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

// formValue returns what was typed as the value of a key; nil: nothing.
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
		for _, item := range field.SplitItems(text) {
			items = append(items, meant(f, item))
		}
	}
	if len(items) == 0 {
		return nil
	}
	return category.Quote(items)
}

// lastOf returns the last of some values: that of a box follows the hidden field that marks the box as present.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// plainText normalises the line ends of a text from a form and trims it.
func plainText(text string) string { return strings.TrimSpace(lines.Replace(text)) }

// tidyAll returns the texts of a form that are not empty, each as plainText returns it.
func tidyAll(texts []string) []string {
	var list []string
	for _, text := range texts {
		if text = plainText(text); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// MissingFields returns the fields that the category requires before the pages or a spreadsheet list the material, and
// that have no value.
func (m Material) MissingFields() []category.Field {
	var list []category.Field
	c, _ := category.Get(m.Category)
	for _, key := range c.Missing(m.values()) {
		field, _ := c.Field(key)
		list = append(list, field)
	}
	return list
}

// MissingForListing reports MissingFields as errors of the form.
func (m Material) MissingForListing() exchange.FieldErrors {
	var f exchange.FieldErrors
	for _, field := range m.MissingFields() {
		text := "is required; if it is not known, tick Not known"
		if len(field.Options) > 0 {
			text = "is required: choose one"
		}
		f.Add(metadataPrefix+field.Key, "%s", text)
	}
	return f
}

// FieldChange is a field whose value differs between two versions of a material.
type FieldChange struct {
	Field, Label string
	Old, New     string
}

// Changes returns the fields in which two versions of a material differ, in the order of forms.
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

// FieldLabel returns the label of a field of a category's materials; field is the name that errors use.
func FieldLabel(code, field string) string {
	key, ofCategory := strings.CutPrefix(field, metadataPrefix)
	if field == "own" {
		return "Custom fields"
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

// Restore returns the patch that gives another version of a material the values of m. Its organization and whether it
// is archived stay: they have actions of their own.
func (m Material) Restore() Patch {
	var p Patch
	for _, d := range Descriptors {
		if slot := d.Slot(&p); slot != nil && !d.Stays {
			d.Send(&m, slot)
		}
	}
	p.MTAShown, p.MTAAttachment = p.MTAAttachment, exchange.Null[exchange.Ref]{}
	return p
}
