package category_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"

	"github.com/google/go-cmp/cmp"
)

func TestCategories_AreTheContractsInOrder(t *testing.T) {
	t.Parallel()
	want := []string{"CELL_LINE", "PLASMID", "MODEL_ORGANISM", "PDX", "DATASET", "PROTOCOL", "OTHER"}
	var got []string
	for _, c := range category.All() {
		got = append(got, c.Code)
		if same, ok := category.Get(c.Code); !ok || same.Code != c.Code {
			t.Errorf("Get(%s) gives %s", c.Code, same.Code)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, category.Codes()); diff != "" {
		t.Error(diff)
	}
	if _, ok := category.Get("cell_line"); ok {
		t.Error("codes are in capitals only")
	}
	if files, _ := filepath.Glob("*.json"); len(files) != len(want) {
		t.Errorf("%d files for %d categories", len(files), len(want))
	}
}

func TestKeys_AreTheSpecifications(t *testing.T) {
	t.Parallel()
	for code, keys := range map[string]string{
		"CELL_LINE": "age sex disease cell_type ethnicity str_profile subculturing growth_medium cell_line_name " +
			"passage_number " +
			"storage_medium biosafety_level cryopreservation tissue_histology culture_conditions " +
			"population_doubling_time number_availible_cell_lines",
		"MODEL_ORGANISM": "genotype zygosity description strain_name construct_details genetic_background " +
			"number_availible_models",
		"DATASET":  "accession_code description platform technology num_samples",
		"PROTOCOL": "protocol_name abstract",
	} {
		c, _ := category.Get(code)
		for key := range strings.FieldsSeq(keys) {
			if _, ok := c.Field(key); !ok {
				t.Errorf("%s has no %s", code, key)
			}
		}
	}
	c, _ := category.Get("DATASET")
	if f, _ := c.Field("num_samples"); f.Type != category.Integer {
		t.Errorf("num_samples is an integer, not %s", f.Type)
	}
}

var types = []category.Type{category.Text, category.Long, category.Number, category.Integer, category.Date,
	category.Boolean, category.Choice, category.List, category.Identifier}

func TestFields_AreComplete(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		if c.Label == "" || c.Plural == "" || c.Icon == "" || !strings.HasSuffix(c.Help, ".") &&
			!strings.HasSuffix(c.Help, ").") {
			t.Errorf("%s lacks a label, plural, icon or help", c.Code)
		}
		keys := map[string]bool{}
		for _, f := range c.Fields {
			name := c.Code + "." + f.Key
			if keys[f.Key] || f.Key != strings.ToLower(f.Key) || f.Key == "" || f.Label == "" || f.Section == "" {
				t.Errorf("%s: key twice or in capitals, or no label or section", name)
			}
			keys[f.Key] = true
			if len(f.Help) < 15 || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s: help is %q", name, f.Help)
			}
			if !slices.Contains(types, f.Type) {
				t.Errorf("%s: no type %s", name, f.Type)
			}
			if f.Facet && !slices.Contains([]category.Type{category.Text, category.Choice, category.List,
				category.Boolean}, f.Type) {
				t.Errorf("%s: a %s is no facet", name, f.Type)
			}
			if f.Vocabulary != "" && !slices.Contains(identifier.Kinds(), f.Vocabulary) {
				t.Errorf("%s: no kind %s", name, f.Vocabulary)
			}
			if (f.Type == category.Identifier) != (f.Vocabulary != "") && f.Type != category.List {
				t.Errorf("%s: identifiers, and they alone, have a vocabulary", name)
			}
			if (f.Type == category.Choice) != (len(f.Options) > 0) && f.Type != category.List {
				t.Errorf("%s: choices, and they alone, have options", name)
			}
			if f.Unit != "" && f.Type != category.Number && f.Type != category.Integer {
				t.Errorf("%s: only a number has a unit", name)
			}
		}
	}
}

func TestOption_HasOneSpelling(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		for _, f := range c.Fields {
			seen := map[string]string{}
			for _, o := range f.Options {
				if o.Value == "" || o.Label == "" {
					t.Errorf("%s.%s: an option lacks a value or label", c.Code, f.Key)
				}
				for _, spelling := range append([]string{o.Value, o.Label}, o.Also...) {
					key := strings.ToLower(spelling)
					if other, taken := seen[key]; taken && other != o.Value {
						t.Errorf("%s.%s: %q means %s and %s", c.Code, f.Key, spelling, other, o.Value)
					}
					seen[key] = o.Value
					if found, ok := f.Option(strings.ToUpper(spelling)); !ok || found.Value != o.Value {
						t.Errorf("%s.%s: %q finds %q", c.Code, f.Key, spelling, found.Value)
					}
				}
			}
		}
	}
}

func TestExamples_PassTheirCheck(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		meta := map[string]json.RawMessage{}
		for _, f := range c.Fields {
			example := f.Example
			if len(f.Options) > 0 {
				example = f.Options[0].Value
			}
			if example == "" && f.Type == category.Boolean {
				example = "true"
			}
			if example == "" && f.Type != category.Date {
				t.Errorf("%s.%s has no example", c.Code, f.Key)
			}
			meta[f.Key], _ = category.Encode(example)
		}
		clean, faults, warnings := c.Check(meta)
		if len(faults)+len(warnings) > 0 {
			t.Errorf("%s: faults %v, warnings %v", c.Code, faults, warnings)
		}
		if diff := cmp.Diff(text(meta), text(clean)); diff != "" {
			t.Errorf("%s: examples are in canonical form: %s", c.Code, diff)
		}
		if missing := c.Missing(clean); missing != nil {
			t.Errorf("%s: missing %v", c.Code, missing)
		}
	}
}

func text(meta map[string]json.RawMessage) map[string]string {
	texts := map[string]string{}
	for key, raw := range meta {
		texts[key] = string(raw)
	}
	return texts
}

func TestSections_HoldEveryFieldOnceInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		var keys []string
		names := map[string]bool{}
		for _, s := range c.Sections() {
			if names[s.Name] {
				t.Errorf("%s: section %s twice", c.Code, s.Name)
			}
			names[s.Name] = true
			for _, f := range s.Fields {
				keys = append(keys, f.Key)
			}
		}
		want := slices.Collect(func(yield func(string) bool) {
			for _, f := range c.Fields {
				if !yield(f.Key) {
					return
				}
			}
		})
		if diff := cmp.Diff(want, keys); diff != "" {
			t.Errorf("%s: %s", c.Code, diff)
		}
	}
}

// PDX-MI has 45 fields; ours adds the host species and the number available.
func TestPDX_CoversTheMinimalInformationStandard(t *testing.T) {
	t.Parallel()
	c, _ := category.Get("PDX")
	if len(c.Fields) != 47 {
		t.Errorf("%d fields", len(c.Fields))
	}
	// Essential according to Meehan et al. 2017, table 1, except for the type of humanization, which only a humanized
	// host has.
	essential := "submitter_patient_id sex age diagnosis consent_to_share submitter_tumor_id " +
		"primary_tissue_of_origin tumor_type " +
		"specimen_tumor_tissue tissue_histology tumor_grade disease_stage specific_markers is_from_untreated_patient " +
		"submitter_pdx_id " +
		"host_strain is_strain_humanized tumor_preparation injection_type_and_site tumor_characterization_technology " +
		"is_not_of_mouse_or_ebv_origin is_passage_qa_performed"
	if diff := cmp.Diff(strings.Fields(essential), c.Missing(nil)); diff != "" {
		t.Error(diff)
	}
}

func TestIcons_AreInTheSheet(t *testing.T) {
	t.Parallel()
	names := []string{"cell-line", "plasmid", "organism", "pdx", "dataset", "protocol", "other"} // design/ui/icons.svg
	for _, c := range category.All() {
		if !slices.Contains(names, c.Icon) {
			t.Errorf("%s: no icon %s", c.Code, c.Icon)
		}
	}
}

func TestCategoryFiles_HaveNoUnknownKeys(t *testing.T) {
	t.Parallel()
	for _, c := range category.All() {
		data, err := os.ReadFile(strings.ToLower(c.Code) + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var file, read any
		back, _ := json.Marshal(c)
		if json.Unmarshal(data, &file) != nil || json.Unmarshal(back, &read) != nil {
			t.Fatal(c.Code)
		}
		if diff := cmp.Diff(file, read); diff != "" {
			t.Errorf("%s: %s", c.Code, diff)
		}
	}
}

func TestCategories_ListIsACopy(t *testing.T) {
	t.Parallel()
	category.All()[0].Code = "X"
	category.Codes()[0] = "X"
	if category.All()[0].Code != "CELL_LINE" || category.Codes()[0] != "CELL_LINE" {
		t.Error("a caller changed the categories")
	}
}

// sorted returns the keys of errors or warnings.
func sorted(m map[string][]string) []string { return slices.Sorted(maps.Keys(m)) }
