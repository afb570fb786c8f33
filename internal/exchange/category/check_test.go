package category_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aliquot/internal/exchange/category"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// sampler has a field of every type.
var sampler = category.Category{Fields: []category.Field{
	{Key: "text", Type: category.Text, Required: true},
	{Key: "long", Type: category.Long},
	{Key: "number", Type: category.Number},
	{Key: "integer", Type: category.Integer},
	{Key: "date", Type: category.Date},
	{Key: "boolean", Type: category.Boolean},
	{Key: "choice", Type: category.Choice, Required: true, Options: []category.Option{
		{Value: "BSL-1", Label: "Level 1"}, {Value: "BSL-2", Label: "Level 2", Also: []string{"2"}}}},
	{Key: "closed", Type: category.Choice, Closed: true,
		Options: []category.Option{{Value: "yes", Label: "Yes"}, {Value: "no", Label: "No"}}},
	{Key: "list", Type: category.List, Required: true,
		Options: []category.Option{{Value: "a", Label: "A"}, {Value: "b", Label: "B"}}},
	{Key: "taxa", Type: category.List, Vocabulary: "taxonomy"},
	{Key: "rrid", Type: category.Identifier, Vocabulary: "rrid"},
	{Key: "pmid", Type: category.Identifier, Vocabulary: "pmid"},
}}

func TestCheck_KeepsOrExplainsEachValue(t *testing.T) {
	t.Parallel()
	items := strings.Repeat(`"a",`, 200) + `"a"`
	for _, test := range []struct{ key, sent, clean, fault, warning string }{ // clean "" means as sent
		{key: "text", sent: `"44 years"`},
		{key: "text", sent: `"  HT-29 \n"`, clean: `"HT-29"`},
		{key: "text", sent: `"e\u0301"`, clean: `"é"`},
		{key: "text", sent: `18`},
		{key: "text", sent: `true`},
		{key: "text", sent: `null`},
		{key: "text", sent: `""`},
		{key: "text", sent: `["a"]`, fault: "must be a text"},
		{key: "text", sent: `{"a": 1}`, fault: "must be a text"},
		{key: "text", sent: `"a\u0000b"`, fault: "must not contain control characters"},
		{key: "text", sent: quoted("é", 255)},
		{key: "text", sent: quoted("é", 256), fault: "must have at most 255 characters; it has 256"},
		{key: "long", sent: quoted("x", 20000)},
		{key: "long", sent: quoted("x", 20001), fault: "must have at most 20000 characters; it has 20001"},
		{key: "long", sent: `"one\ntwo"`},
		{key: "number", sent: `37.5`},
		{key: "number", sent: `-80`},
		{key: "number", sent: `"37.5"`},
		{key: "number", sent: `null`},
		{key: "number", sent: `"warm"`, fault: "must be a number, such as 37.5"},
		{key: "number", sent: `"Infinity"`, fault: "must be a number, such as 37.5"},
		{key: "number", sent: `"0x1p4"`, fault: "must be a number, such as 37.5"},
		{key: "number", sent: `true`, fault: "must be a number, such as 37.5"},
		{key: "integer", sent: `12`},
		{key: "integer", sent: `12.0`},
		{key: "integer", sent: `"12"`},
		{key: "integer", sent: `12.5`, fault: "must be a whole number of 0 or more, such as 12"},
		{key: "integer", sent: `-1`, fault: "must be a whole number of 0 or more, such as 12"},
		{key: "integer", sent: `"twelve"`, fault: "must be a whole number of 0 or more, such as 12"},
		{key: "date", sent: `"2026-02-18"`},
		{key: "date", sent: `"2026-02-30"`, fault: "must be a date as year-month-day, such as 2026-02-18"},
		{key: "date", sent: `20260218`, fault: "must be a date as year-month-day, such as 2026-02-18"},
		{key: "boolean", sent: `true`},
		{key: "boolean", sent: `"No"`},
		{key: "boolean", sent: `"true false"`, fault: "must be true or false"},
		{key: "boolean", sent: `1`, fault: "must be true or false"},
		{key: "choice", sent: `"BSL-2"`},
		{key: "choice", sent: `"level 2"`},
		{key: "choice", sent: `2`},
		{key: "choice", sent: `"BSL-2+"`, warning: `"BSL-2+" is not one of BSL-1, BSL-2`},
		{key: "choice", sent: `["BSL-1"]`, fault: "must be one of BSL-1, BSL-2"},
		{key: "closed", sent: `"Yes"`},
		{key: "closed", sent: `"maybe"`, fault: "must be one of yes, no"},
		{key: "list", sent: `["a","b"]`},
		{key: "list", sent: `[" a ", "", null]`, clean: `["a"]`},
		{key: "list", sent: `"a"`},
		{key: "list", sent: `["a","c","d"]`, warning: `"c" is not one of a, b; "d" is not one of a, b`},
		{key: "list", sent: `[["a"]]`, fault: "must be a list of strings"},
		{key: "list", sent: `[` + items + `]`, fault: "must have at most 200 items; it has 201"},
		{key: "taxa", sent: `["9606", 10090]`, clean: `["NCBITaxon:9606","NCBITaxon:10090"]`},
		{key: "taxa", sent: `["mouse"]`,
			fault: `"mouse": an NCBI Taxonomy ID is a number, such as NCBITaxon:9606 for Homo sapiens`},
		{key: "rrid", sent: `"cvcl_0030"`, clean: `"RRID:CVCL_0030"`},
		{key: "rrid", sent: `"RRID:NEW_1"`,
			warning: "NEW is not a known RRID authority; please check the identifier"},
		{key: "rrid", sent: `"CVCL_00"`, fault: "an RRID of CVCL is written like RRID:CVCL_0030"},
		{key: "rrid", sent: `""`},
		{key: "rrid", sent: `[]`, fault: "must be a text: RRID, such as RRID:CVCL_0030"},
		{key: "pmid", sent: `13052828`, clean: `"13052828"`},
		{key: "unknown", sent: `{"a": [1, 2 ]}`},
	} {
		clean, faults, warnings := sampler.Check(map[string]json.RawMessage{test.key: json.RawMessage(test.sent)})
		want := test.clean
		if want == "" {
			want = test.sent
		}
		if got := string(clean[test.key]); got != want {
			t.Errorf("%s %s: clean %s; want %s", test.key, test.sent, got, want)
		}
		if got := strings.Join(faults[test.key], "|"); got != test.fault {
			t.Errorf("%s %.100s: fault %q; want %q", test.key, test.sent, got, test.fault)
		}
		if got := strings.Join(warnings[test.key], "|"); got != test.warning {
			t.Errorf("%s %.100s: warning %q; want %q", test.key, test.sent, got, test.warning)
		}
	}
}

func quoted(s string, n int) string { return `"` + strings.Repeat(s, n) + `"` }

func TestMissing_NamesRequiredKeysWithoutAValue(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		meta string
		want []string
	}{
		{`{}`, []string{"text", "choice", "list"}},
		{`{"text": " ", "choice": null, "list": [""]}`, []string{"text", "choice", "list"}},
		{`{"text": 0, "choice": "other", "list": "a"}`, nil},
		{`{"text": "a", "choice": false, "list": []}`, []string{"list"}},
	} {
		if diff := cmp.Diff(test.want, sampler.Missing(object(t, test.meta))); diff != "" {
			t.Errorf("%s: %s", test.meta, diff)
		}
	}
}

func TestTerms_UniteSpellingsOfAnOption(t *testing.T) {
	t.Parallel()
	choice, _ := sampler.Field("choice")
	for raw, want := range map[string][]string{
		`"BSL-2"`: {"BSL-2"}, `"LEVEL 2"`: {"BSL-2"}, `2`: {"BSL-2"}, `"BSL-9"`: {"BSL-9"},
		`["Level 1", 2]`: {"BSL-1", "BSL-2"}, `null`: nil, `""`: nil, `{}`: nil, `true`: {"true"},
	} {
		if diff := cmp.Diff(want, choice.Terms(json.RawMessage(raw))); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

// What the specification's samples may hold, in their types.
func TestCheck_TakesMetadataOfTheSpecification(t *testing.T) {
	t.Parallel()
	for code, meta := range map[string]string{
		"CELL_LINE": `{"age":"44 years","sex":"Female","disease":"Colon adenocarcinoma","cell_type":"Epithelial","ethnicity":"","str_profile":"",
			"subculturing":"1:3","growth_medium":"McCoy's 5A","cell_line_name":"HT-29","passage_number":"p18-20","storage_medium":null,
			"biosafety_level":"1","cryopreservation":"","tissue_histology":"Colon","culture_conditions":"37 C","population_doubling_time":"19.5 hours",
			"number_availible_cell_lines":24}`,
		"MODEL_ORGANISM": `{"genotype":"","zygosity":"Homozygous","description":"x","strain_name":"B6","construct_details":"","genetic_background":"C57BL/6","number_availible_models":"3"}`,
		"DATASET":        `{"accession_code":"SRP045225","description":"x","platform":"Illumina","technology":"RNA-seq","num_samples":37}`,
		"PROTOCOL":       `{"protocol_name":"x","abstract":"y"}`,
	} {
		c, _ := category.Get(code)
		sent := object(t, meta)
		clean, faults, warnings := c.Check(sent)
		if len(faults)+len(warnings) > 0 {
			t.Errorf("%s: %v %v", code, sorted(faults), sorted(warnings))
		}
		if diff := cmp.Diff(text(sent), text(clean)); diff != "" {
			t.Errorf("%s does not come back as it was sent: %s", code, diff)
		}
	}
}

func object(t *testing.T, s string) (meta map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &meta); err != nil {
		t.Fatal(err)
	}
	return meta
}

// anyJSON draws a JSON value of any shape.
func anyJSON() *rapid.Generator[any] {
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.String().AsAny(), rapid.Int64().AsAny(),
			rapid.Float64Range(-1e300, 1e300).AsAny(),
			rapid.SampledFrom([]any{"RRID:CVCL_0030", "9606", "2026-02-18", "yes", "12", "1e999", "\x00", "BSL-2"}),
		}
		if depth > 0 {
			kinds = append(kinds, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(),
				rapid.MapOfN(rapid.String(), value(depth-1), 0, 3).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	return value(2)
}

func TestCheck_TakesAnyJSONAndKeepsUnknownKeys(t *testing.T) {
	t.Parallel()
	categories := append(category.All(), sampler)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(categories).Draw(t, "category")
		meta := map[string]json.RawMessage{}
		for _, f := range c.Fields {
			if rapid.Bool().Draw(t, "sent "+f.Key) {
				meta[f.Key], _ = json.Marshal(anyJSON().Draw(t, f.Key))
			}
		}
		for key, value := range rapid.MapOfN(rapid.StringMatching(`x_[a-z]{0,5}`), anyJSON(), 0, 4).Draw(t, "unknown") {
			meta[key], _ = json.Marshal(value)
		}
		before := text(meta)
		clean, faults, warnings := c.Check(meta)
		if diff := cmp.Diff(before, text(meta)); diff != "" {
			t.Fatalf("Check changed its argument: %s", diff)
		}
		if len(clean) != len(meta) {
			t.Fatalf("%d keys became %d", len(meta), len(clean))
		}
		for key := range meta {
			if _, known := c.Field(key); !known && string(clean[key]) != string(meta[key]) {
				t.Fatalf("unknown %s became %s", meta[key], clean[key])
			}
			if !json.Valid(clean[key]) {
				t.Fatalf("%s: %s is no JSON", key, clean[key])
			}
		}
		again, faultsAgain, warningsAgain := c.Check(clean)
		if diff := cmp.Diff(text(clean), text(again)) + cmp.Diff(sorted(faults),
			sorted(faultsAgain)) + cmp.Diff(warnings, warningsAgain); diff != "" {
			t.Fatalf("a second check differs: %s", diff)
		}
		c.Missing(clean)
		for _, f := range c.Fields {
			f.Terms(clean[f.Key])
		}
	})
}

func TestCheck_BrokenJSONIsAnError(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "{", "[1", "nul", `"a`} {
		for _, f := range sampler.Fields {
			_, faults, _ := sampler.Check(map[string]json.RawMessage{f.Key: json.RawMessage(raw)})
			if len(faults[f.Key]) == 0 {
				t.Errorf("%s: %q is no fault", f.Key, raw)
			}
		}
	}
}
