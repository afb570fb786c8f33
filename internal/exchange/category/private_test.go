package category_test

import (
	"encoding/json"
	"testing"

	"aliquot/internal/exchange/category"

	"pgregory.net/rapid"
)

func TestPublic_LeavesOutWhatIsPrivate(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`:                                     `{}`,
		`{"sex":"f"}`:                            `{"sex":"f"}`,
		`{"submitter_patient_id":"P"}`:           `{}`,
		`{"sex":"f","submitter_patient_id":"P"}`: `{"sex":"f"}`,
		`{"submitter_patient_id":{"sex":"}\"{"},"sex":[{"a":[1,"]"]}],"own":1,"shown":null}`: `{"sex":[{"a":[1,"]"]}],"shown":null}`,
		`{"s\u0065x":"f","o\"wn":2}`: `{"s\u0065x":"f"}`,
		`["sex"]`:                    `{}`,
		`{"sex" 1}`:                  `{}`,
		`{"sex":1`:                   `{}`,
		``:                           `{}`,
		`{ "sex": "f", "own": 1 }`:   `{"sex":"f"}`,
	} {
		got, hidden := category.Public("PDX", json.RawMessage(object), []string{"shown", "submitter_patient_id"})
		if string(got) != want || hidden != (object != want) {
			t.Errorf("%s: got %s, hidden %v; want %s", object, got, hidden, want)
		}
	}
}

// TestPublic_AndPrivateAreAll checks that each key is in one of the two, whatever JSON it holds.
func TestPublic_AndPrivateAreAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{"sex", "age", "submitter_tumor_id", "shown"})), rapid.OneOf(
			rapid.Just(any(nil)), rapid.Map(rapid.String(), func(s string) any { return s }),
			rapid.Map(rapid.SliceOf(rapid.String()), func(s []string) any { return s }),
			rapid.Map(rapid.MapOf(rapid.String(), rapid.Float64()),
				func(m map[string]float64) any { return m }))).Draw(t, "values")
		object, err := category.Encode(values)
		if err != nil {
			t.Fatal(err)
		}
		var all, public map[string]json.RawMessage
		shown, hidden := category.Public("PDX", object, []string{"shown"})
		if err := json.Unmarshal(shown, &public); err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		if err := json.Unmarshal(object, &all); err != nil {
			t.Fatal(err)
		}
		private := category.Private("PDX", object, []string{"shown"})
		if len(public)+len(private) != len(all) || hidden != (len(private) > 0) {
			t.Fatalf("%s: %s and %v, hidden %v", object, shown, private, hidden)
		}
		for key := range all {
			if _, is := public[key]; is != category.IsPublic("PDX", key, []string{"shown"}) {
				t.Fatalf("%s: %q is shown: %v", object, key, is)
			}
		}
	})
}
