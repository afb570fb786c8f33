package material_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"

	"pgregory.net/rapid"
)

// TestHeaders_OfTemplatesAreKnown checks labels, field names and keys in any spelling.
func TestHeaders_OfTemplatesAreKnown(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		for _, column := range material.Columns(c) {
			key := strings.TrimPrefix(column.Field, "additional_metadata.")
			for _, header := range []string{column.Label, strings.ToUpper(column.Label), " " +
				strings.ReplaceAll(column.Label, " ", "_") + ":", column.Field, key} {
				l, err := material.ReadHeader([]string{header}, material.ColumnMapping{Category: c.Code})
				if err != nil || l.Headings[0].Field != column.Field {
					t.Errorf("%s: %q is %+v, want %s: %v", c.Code, header, l.Headings, column.Field, err)
				}
			}
			if column.Label == "" || column.Help == "" {
				t.Errorf("%s: %s has no label or help", c.Code, column.Field)
			}
		}
	}
}

func TestHeaders_AreMatched(t *testing.T) {
	t.Parallel()
	remembered := material.ColumnMapping{Category: "CELL_LINE",
		Mapping: map[string]string{"box": "additional_metadata.storage_box", "title": "reference", "junk": ""}}
	for _, c := range []struct {
		header, field string
		reading       material.ColumnMapping
		known         bool
	}{
		{"Name", "title", material.ColumnMapping{Category: "OTHER"}, true},
		{"Cat. Nr. 7", "", material.ColumnMapping{Category: "OTHER"}, false},
		{"Box", "", material.ColumnMapping{Category: "OTHER"}, false},
		{"Box", "additional_metadata.Box", material.ColumnMapping{Category: "OTHER", KeepAll: true}, true},
		{"BOX", "additional_metadata.storage_box", remembered, true},
		{"Title", "reference", remembered, true},
		{"junk!", "", remembered, true},
		{"Vendor", "additional_metadata.supplier", remembered, true},
		{"Created at", "", remembered, true},
		{"", "", remembered, true},
		{"Stock number", "additional_metadata.repository_id", material.ColumnMapping{Category: "MODEL_ORGANISM"}, true},
		{"Number available", "additional_metadata.number_availible_cell_lines",
			material.ColumnMapping{Category: "CELL_LINE"}, true},
		{"Number available", "additional_metadata.number_available", material.ColumnMapping{Category: "plasmids"},
			true},
		{"additional_metadata.My key", "additional_metadata.My key", remembered, true},
	} {
		l, err := material.ReadHeader([]string{c.header}, c.reading)
		if (err == nil) != c.known || l.Headings[0].Field != c.field {
			t.Errorf("%q: %+v, %v; want %q", c.header, l.Headings[0], err, c.field)
		}
	}
	for _, headers := range [][]string{{"Title", "Name"}, {"title"}} {
		if _, err := material.ReadHeader(headers, material.ColumnMapping{}); err == nil {
			t.Errorf("%q are understood", headers)
		}
	}
}

func TestRow_IsReadByTheRulesOfItsColumns(t *testing.T) {
	t.Parallel()
	headers := strings.Split("Title|Category|Organisms|Embargo until|Needs an MTA|Cell line type|Sex|STR tested "+
		"on|Genetically modified|Organism IDs|Box", "|")
	l, err := material.ReadHeader(headers, material.ColumnMapping{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	p, faults := l.Patch([]string{"HT-29", "cell lines", "Homo sapiens; \"Mus; musculus\"", "46071", "Yes",
		"Cancer line", "F", "2026-02-18 00:00:00", "no", "NCBITaxon:9606\n10090", "7"}, 7, nil)
	m, err := p.Create()
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	want := `{"Box":"7","is_genetically_modified":false,"line_type":"cancer","organism_ids":["NCBITaxon:9606","NCBITaxon:10090"],"sex":"female","str_test_date":"2026-02-18"}`
	if m.Category != "CELL_LINE" || !slices.Equal(m.Organisms, []string{"Homo sapiens", "Mus; musculus"}) ||
		*m.EmbargoDate != "2026-02-18" || !m.NeedsMTA || string(m.Metadata) != want {
		t.Errorf("%+v %s", m, m.Metadata)
	}
	for cells, field := range map[string]string{"HT-29|CELL_LINE|||maybe": "needs_mta",
		"HT-29|CELL_LINE||soon": "embargo_date", "HT-29|VIRUS": "category", "|CELL_LINE": "title",
		"HT-29|CELL_LINE||||||never": "additional_metadata.str_test_date", material.TooLong + "|CELL_LINE": "title"} {
		p, faults := l.Patch(strings.Split(cells, "|"), 7, nil)
		_, err := p.Create()
		wrong, _ := errors.AsType[*exchange.Error](err)
		if faults[field] == nil && (wrong == nil || wrong.Fields[field] == nil) {
			t.Errorf("%s: %v %v, want a fault of %s", cells, faults, err, field)
		}
	}
	old := m
	p, _ = l.Patch([]string{"HT-29", "", "", "", "", "", "", "", "", "", ""}, 7, &old)
	cleared, err := p.Patch(old)
	if err != nil || cleared.EmbargoDate != nil || cleared.Organisms != nil || string(cleared.Metadata) != "{}" ||
		!cleared.NeedsMTA || cleared.Category != "CELL_LINE" {
		t.Errorf("emptied: %+v %s, %v", cleared, cleared.Metadata, err)
	}
}

// genMaterial makes a material as the API stores it.
func genMaterial(t *rapid.T) material.Material {
	text := rapid.StringOf(rapid.RuneFrom([]rune("abc 07E+-=@'\";,é株\n[]{}")))
	line := rapid.StringOf(rapid.RuneFrom([]rune("abc 07E+-=@'\";,é株[]{}")))
	c := rapid.SampledFrom(category.All()).Draw(t, "category")
	values := map[string]any{}
	for _, f := range c.Fields {
		if !rapid.Bool().Draw(t, f.Key) {
			continue
		}
		switch f.Type {
		case category.List:
			if f.Vocabulary == "" && !f.Closed {
				values[f.Key] = rapid.SliceOf(line).Draw(t, f.Key)
			}
		case category.Number, category.Integer:
			values[f.Key] = rapid.SampledFrom([]any{12, "12", 7e5, nil, ""}).Draw(t, f.Key)
		case category.Boolean:
			values[f.Key] = rapid.SampledFrom([]any{true, false, "yes", nil}).Draw(t, f.Key)
		case category.Date:
			values[f.Key] = "2026-02-18"
		case category.Long:
			values[f.Key] = text.Draw(t, f.Key)
		default:
			if f.Vocabulary == "" && !f.Closed {
				values[f.Key] = rapid.SampledFrom([]any{"18", 18, "µ; x", " y", nil, true}).Draw(t, f.Key)
			}
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "own") {
		values[rapid.StringMatching(`[A-Za-z_é][A-Za-z0-9 _é]{0,8}[a-z]`).Draw(t, "key")] = rapid.SampledFrom([]any{"x",
			18, "18", 1.5, true, nil, []any{1, "a", nil}, map[string]any{"a": []any{"b"}}, " z ", "[1]", "{"}).Draw(t,
			"value")
	}
	raw, err := category.Encode(values)
	if err != nil {
		t.Fatal(err)
	}
	optional := func(name string) exchange.Null[string] {
		if rapid.Bool().Draw(t, name) {
			return exchange.NullOf(line.Draw(t, name))
		}
		return exchange.Cleared[string]()
	}
	p := material.Patch{Category: exchange.Some(c.Code), Title: exchange.Some("t" + line.Draw(t, "title")),
		Organization: exchange.Some(exchange.Ref(7)),
		Metadata:     exchange.Some(raw), Reference: optional("reference"),
		Organisms:        exchange.NullOf(exchange.Names(rapid.SliceOf(line).Draw(t, "organisms"))),
		PublicationTitle: optional("publication"), PrePrintTitle: optional("preprint"), Citation: optional("citation"),
		AdditionalInfo: optional("info"),
		NeedsMTA:       exchange.Some(rapid.Bool().Draw(t, "mta")),
		NeedsIRB:       exchange.Some(rapid.Bool().Draw(t, "irb")),
		Imported:       exchange.Some(rapid.Bool().Draw(t, "imported"))}
	m, err := p.Create()
	if err != nil {
		t.Fatalf("%v", err)
	}
	m.ID, m.Archived = 9, rapid.Bool().Draw(t, "archived")
	if rapid.Bool().Draw(t, "linked") {
		m.MTAAttachmentID, m.ShippingID, m.EmbargoDate = new(int64(3)), new(int64(4)), new(exchange.Date("2030-01-02"))
	}
	return m
}

// keysOf returns the keys of additional_metadata.
func keysOf(t *rapid.T, m material.Material) (list []string) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(m.Metadata, &values); err != nil {
		t.Fatal(err)
	}
	for key := range values {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}

func TestExport_ImportedAgainChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := genMaterial(t)
		keys := keysOf(t, m)
		cells, err := m.Cells(keys)
		if err != nil {
			t.Fatal(err)
		}
		l, err := material.ReadHeader(material.ExportHeaders(keys), material.ColumnMapping{})
		if err != nil {
			t.Fatal(err)
		}
		e := l.RowTarget(cells, 7)
		p, faults := l.Patch(cells, 7, &m)
		again, err := p.Patch(m)
		was, _ := json.Marshal(m)
		is, _ := json.Marshal(again)
		if err != nil || len(faults) > 0 || len(e.Faults) > 0 || e.ID != 9 || string(was) != string(is) {
			t.Fatalf("%q\n%s\n%s: %v %v %v", cells, was, is, err, faults, e)
		}
	})
}

func FuzzUnderstand(f *testing.F) {
	f.Add("Title\nName\n\nadditional_metadata.\nadditional_metadata.x", "CELL_LINE", "x\ny")
	f.Add("Number available\nRRID", "plasmids", "a")
	f.Fuzz(func(t *testing.T, headers, code, cells string) {
		for _, keep := range []bool{false, true} {
			l, err := material.ReadHeader(strings.Split(headers, "\n"),
				material.ColumnMapping{Category: code, KeepAll: keep})
			if err != nil && exchange.CodeOf(err) != exchange.InvalidInput {
				t.Fatal(err)
			}
			row := strings.Split(cells, "\n")
			e := l.RowTarget(row, 7)
			p, _ := l.Patch(row, 7, nil)
			m, err := p.Create()
			if err != nil || len(e.Faults) > 0 {
				continue
			}
			p, faults := l.Patch(row, 7, &m)
			if _, err := p.Patch(m); err != nil || len(faults) > 0 {
				t.Fatalf("the same row is refused as a change: %v %v", err, faults)
			}
		}
	})
}
