package instrument

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
)

// fileOf returns the file of an instrument.
func fileOf(t *testing.T, i Instrument) []byte {
	t.Helper()
	b, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParse_TakesOneInstrumentWithItsText(t *testing.T) {
	t.Parallel()
	i := letterOfBox(t)
	i.Until = "2030-01-01"
	file := string(fileOf(t, i))
	if got, err := Parse([]byte(file)); err != nil || got.SHA256 != i.SHA256 {
		t.Errorf("%v: %v", got, err)
	}
	i.Template, i.Fields = "", nil
	for wrong, field := range map[string]string{
		"":                                  "file",
		"[]":                                "file",
		file + file:                         "file",
		file + strings.Repeat(" ", MaxFile): "file",
		strings.Replace(file, "{", `{"notes": "",`, 1):           "file",
		strings.Replace(file, "UBMTA_LETTER", "\xff", 1):         "file",
		strings.Replace(file, `"2030-01-01"`, `"2030-02-30"`, 1): "file",
		strings.Replace(file, `"2030-01-01"`, `"2020-01-01"`, 1): "until",
		string(fileOf(t, i)): "template",
		strings.Replace(file, `"id":"UBMTA_LETTER"`, `"id":"../"`, 1): "id",
	} {
		if _, err := Parse([]byte(wrong)); exchange.CodeOf(err) != exchange.InvalidInput ||
			len(exchange.FieldsOf(err)[field]) == 0 {
			t.Errorf("%.60s…: %v, nothing of %s", wrong, exchange.FieldsOf(err), field)
		}
	}
}

// FuzzParse: whatever a file has, it is an instrument that passes the lint, or wrong input.
func FuzzParse(f *testing.F) {
	list, err := Box()
	if err != nil {
		f.Fatal(err)
	}
	for _, i := range list {
		b, err := json.Marshal(i)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		i, err := Parse(file)
		if err == nil {
			err = Lint([]Instrument{i})
		} else if exchange.CodeOf(err) == exchange.InvalidInput {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestWith_InstalledTextsTakeTheirPlaces(t *testing.T) {
	t.Parallel()
	list, err := Box()
	if err != nil {
		t.Fatal(err)
	}
	text := func(id, version string, from exchange.Date) Instrument {
		i := list[slices.IndexFunc(list, func(i Instrument) bool { return i.ID == id })]
		i.Version, i.From, i.Template, i.SHA256, i.Fields = version, from, "A text.", Hash("A text."), nil
		return i
	}
	installed := []Instrument{text("AUTM_HUMAN", "1", "2026-01-01"), text("SMTA", "2006", "2006-06-16"),
		text("UBMTA_LETTER", "2", "2027-01-01")}
	l, err := NewLibrary(With(list, installed))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Instruments()) != len(list)+1 {
		t.Errorf("%d instruments", len(l.Instruments()))
	}
	for _, c := range []struct {
		id, version   string
		day, from     exchange.Date
		want          string
		text, inForce bool
	}{
		{"AUTM_HUMAN", "", "2026-06-15", "2026-01-01", "1", true, true},
		{"SMTA", "", "2026-06-15", "2006-06-16", "2006", true, true},
		{"UBMTA_LETTER", "", "2026-12-31", "2026-01-01", "1", true, true},
		{"UBMTA_LETTER", "", "2027-01-01", "2027-01-01", "2", true, true},
		{"UBMTA_LETTER", "1", "2027-01-01", "2026-01-01", "1", true, false},
		{"UBMTA_LETTER", "", "1990-01-01", "2027-01-01", "2", true, false},
		{"BRUNSWICK", "", "2026-06-15", "2026-01-01", "1", false, true},
	} {
		got, known := l.Newest(c.id, c.day)
		if c.version != "" {
			got, known = l.Find(c.id, c.version)
		}
		if !known || got.Version != c.want || got.From != c.from || got.Template != "" != c.text ||
			got.InForce(c.day) != c.inForce {
			t.Errorf("%v: %v %v", c, known, got)
		}
	}
	if _, known := l.Find("UBMTA_LETTER", "3"); known {
		t.Error("a version that was never installed is known")
	}
}

func TestAdd_NeverEditsATextAndEndsNoneInThePast(t *testing.T) {
	t.Parallel()
	l := installed(t)
	i := letterOfBox(t)
	if err := l.Add(i, day); len(exchange.FieldsOf(err)["version"]) == 0 {
		t.Errorf("the same version again: %v", err)
	}
	i.Version = "2"
	if err := l.Add(i, day); len(exchange.FieldsOf(err)["from"]) == 0 {
		t.Errorf("one that was in force ends in the past: %v", err)
	}
	i.From = day
	if err := l.Add(i, day); err != nil {
		t.Errorf("the next version: %v", err)
	}
}
