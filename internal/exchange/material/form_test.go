package material_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"

	"github.com/google/uuid"
)

// full returns a material of a category with a value in every field.
func full(t *testing.T, c category.Category) material.Material {
	t.Helper()
	values := map[string]any{"freezer": map[string]any{"box": 7, "of": "<us>"}}
	for _, f := range c.Fields {
		var value any = f.Example
		if f.Example == "" {
			value = "some text\nin two lines; and more"
		}
		switch {
		case f.Type == category.List && len(f.Options) > 0:
			value = []string{f.Options[0].Value, f.Options[len(f.Options)-1].Value}
		case f.Type == category.List && f.Vocabulary == "":
			value = []string{"one; two", `"three"`, "four"}
		case f.Type == category.List:
			value = []string{f.Example}
		case len(f.Options) > 0:
			value = f.Options[len(f.Options)-1].Value
		case f.Type == category.Boolean:
			value = true
		case f.Type == category.Number || f.Type == category.Integer:
			value = json.Number(f.Example)
		case f.Type == category.Date:
			value = "2026-02-18"
		case f.Type == category.Text:
			value = "some text"
		}
		values[f.Key] = value
	}
	raw, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	m, err := material.Patch{Category: exchange.Some(c.Code), Title: exchange.Some("A & B <c>"),
		Organization: exchange.Some(exchange.Ref(3)),
		Reference:    exchange.NullOf("LN2-3"), URL: exchange.Some("https://example.org/x"),
		PubMedID:         exchange.Some("13052828"),
		Organisms:        exchange.NullOf(exchange.Names{"Homo sapiens", "Mus musculus"}),
		PublicationTitle: exchange.NullOf("Paper"),
		PrePrintDOI:      exchange.NullOf("10.1101/2020.01.01.123456"), PrePrintTitle: exchange.NullOf("Before"),
		Citation:       exchange.NullOf("Cite\nme"),
		AdditionalInfo: exchange.NullOf("More\n\nof it"), EmbargoDate: exchange.NullOf(exchange.Date("2031-01-31")),
		NeedsMTA: exchange.Some(true),
		NeedsIRB: exchange.Some(true), Contact: exchange.Some(exchange.UserRef(uuid.New())),
		MTAAttachment: exchange.NullOf(exchange.Ref(5)),
		Shipping:      exchange.NullOf(exchange.Ref(6)), Metadata: exchange.Some(json.RawMessage(raw))}.Create()
	if err != nil {
		t.Fatalf("%s: %v", c.Code, err)
	}
	return m
}

func TestForm_UntouchedChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		strange := material.Material{Category: c.Code, Title: "x", OrganizationID: 1,
			Metadata: json.RawMessage(`{"own":{"a":[1,2]},"empty":null}`)}
		for _, f := range c.Fields { // values that no form control shows unchanged
			for _, value := range []string{`null`, `""`, `{"a":1}`, `[1,"b",null]`, `"F"`, `"  two  "`, `7.0`} {
				values := map[string]json.RawMessage{}
				if err := json.Unmarshal(strange.Metadata, &values); err != nil {
					t.Fatal(err)
				}
				values[f.Key] = json.RawMessage(value)
				m := strange
				m.Metadata, _ = json.Marshal(values)
				if p, faults := material.FormPatch(m.Form(), "", &m); p.Metadata.Set || faults != nil {
					t.Errorf("%s %s = %s is changed to %s: %v", c.Code, f.Key, value, p.Metadata.Value, faults)
				}
			}
		}
		m := full(t, c)
		p, faults := material.FormPatch(m.Form(), "", &m)
		if now, err := p.Patch(m); err != nil || faults != nil || len(material.Changes(m, now)) > 0 {
			t.Errorf("%s: %v %v %v", c.Code, material.Changes(m, now), err, faults)
		}
		if p, _ := material.FormPatch(url.Values{}, "", &m); p.Title.Set || p.Metadata.Set || p.NeedsMTA.Set {
			t.Errorf("%s: a form without fields changes something", c.Code)
		}
	}
}

func TestForm_CreatesWhatTheAPIWould(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		want := full(t, c)
		form := want.Form()
		own, err := json.Marshal(want.CustomValues())
		if err != nil {
			t.Fatal(err)
		}
		form.Set("additional_metadata", string(own))
		p, faults := material.FormPatch(form, c.Code, nil)
		got, err := p.Create()
		if err != nil || faults != nil || len(material.Changes(want, got)) > 0 {
			t.Errorf("%s: %v %v %v", c.Code, err, faults, material.Changes(want, got))
		}
	}
}

func TestForm_SaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	c, _ := category.Get("CELL_LINE")
	m := full(t, c)
	form := m.Form()
	form["additional_metadata.disease"] = []string{""}
	form["not_known"] = []string{"disease"}
	form["additional_metadata.sex"] = []string{""}
	form["needs_irb"] = []string{""}
	form["citation"] = []string{"two\r\nlines"}
	p, faults := material.FormPatch(form, "", &m)
	now, err := p.Patch(m)
	if err != nil || faults != nil {
		t.Fatal(err, faults)
	}
	var changed []string
	for _, change := range material.Changes(m, now) {
		changed = append(changed, change.Field+"="+change.New)
	}
	if want := []string{"citation=two\nlines", "needs_irb=false", "additional_metadata.disease=not known",
		"additional_metadata.sex="}; !slices.Equal(changed, want) {
		t.Errorf("%q, want %q", changed, want)
	}
	if !m.NeedsIRB || len(now.MissingForListing()) > 0 || len(now.CustomValues()) != 1 {
		t.Errorf("%v %v", now.MissingForListing(), now.CustomValues())
	}
	if now.Metadata = json.RawMessage(`{}`); len(now.MissingForListing()) == 0 {
		t.Error("nothing is needed")
	}
}

func TestRestore_MakesAMaterialWhatItWas(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		was := full(t, c)
		now := material.Material{Category: c.Code, Title: "another", OrganizationID: was.OrganizationID,
			ContactID: uuid.New(), Metadata: json.RawMessage(`{"a":1}`)}
		got, err := was.Restore().Patch(now)
		if err != nil || len(material.Changes(was, got)) > 0 {
			t.Errorf("%s: %v %v", c.Code, err, material.Changes(was, got))
		}
		if got, err = now.Restore().Patch(was); err != nil || len(material.Changes(now, got)) > 0 {
			t.Errorf("%s back: %v %v", c.Code, err, material.Changes(now, got))
		}
	}
}

func TestForm_HasLinesForTheLabsOwnFields(t *testing.T) {
	t.Parallel()
	m := material.Material{Category: "CELL_LINE", Title: "x", OrganizationID: 1, Metadata: json.RawMessage(
		`{"box":"B7","shelf":3,"tags":["a","b"],"text":" two\r\nlines ","nothing":null,"empty":"","sex":"FEMALE"}`)}
	lines := material.ShowCustomFields(m.CustomValues())
	form := func(lines []material.CustomField) url.Values {
		f := url.Values{}
		for _, l := range lines {
			f.Add("own_key", l.Key)
			f.Add("own_value", l.Value)
			f.Add("own_was", l.Was)
		}
		return f
	}
	if p, faults := material.FormPatch(form(append(lines, material.CustomField{})), "", &m); p.Metadata.Set ||
		faults != nil {
		t.Errorf("nobody touched them: %s, %v", p.Metadata.Value, faults)
	}
	typed := slices.Clone(lines)
	for i := range typed {
		typed[i].Value = map[string]string{"box": "", "shelf": "4", "tags": `["a"]`, "text": "one line"}[typed[i].Key]
	}
	typed = append(typed, material.CustomField{Key: "rack", Value: "7"}, material.CustomField{})
	p, faults := material.FormPatch(form(typed), "", &m)
	now, err := p.Patch(m)
	if err != nil || faults != nil ||
		string(now.Metadata) != `{"empty":"","nothing":null,"rack":"7","sex":"FEMALE","shelf":4,"tags":["a"],"text":"one line"}` {
		t.Errorf("%s, %v, %v", now.Metadata, err, faults)
	}
	for _, wrong := range []material.CustomField{{Key: "", Value: "7"}, {Key: "sex", Value: "MALE"},
		{Key: "box", Value: "B8"}, {Key: "rack"}} {
		if p, faults := material.FormPatch(form([]material.CustomField{wrong}), "", &m); faults["own"] == nil ||
			p.Metadata.Set {
			t.Errorf("%+v passes: %s", wrong, p.Metadata.Value)
		}
	}
	other := m // somebody changed the box in the meantime
	other.Metadata = json.RawMessage(`{"box":"C1","shelf":3}`)
	if p, _ := material.FormPatch(form(lines[:1]), "", &other); p.Metadata.Set {
		t.Errorf("a line that nobody touched undoes what somebody else did: %s", p.Metadata.Value)
	}
}
