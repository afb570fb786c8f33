package instrument

import (
	"slices"
	"strings"
	"testing"

	"aliquot/internal/agreement/party"
)

// letterOfBox returns an instrument of the box that has a text.
func letterOfBox(t *testing.T) Instrument {
	t.Helper()
	list, err := Box()
	if err != nil {
		t.Fatal(err)
	}
	return list[slices.IndexFunc(list, func(i Instrument) bool { return i.ID == "UBMTA_LETTER" })]
}

func TestLint_NamesTheFieldOfEachFault(t *testing.T) {
	t.Parallel()
	retext := func(text string) func(*Instrument) {
		return func(i *Instrument) { i.Template += text; i.SHA256 = Hash(i.Template) }
	}
	for want, change := range map[string]func(*Instrument){
		"id: must be a code":                        func(i *Instrument) { i.ID = "a letter" },
		"family: must be a code":                    func(i *Instrument) { i.Family = "" },
		"version: must be":                          func(i *Instrument) { i.Version = "../1" },
		"title: is required":                        func(i *Instrument) { i.Title = "" },
		"title: must be one line":                   func(i *Instrument) { i.Title = "two\nlines" },
		"citation: must be one line":                func(i *Instrument) { i.Citation = strings.Repeat("x", 501) },
		"from: is required":                         func(i *Instrument) { i.From = "" },
		"until: must be later than from":            func(i *Instrument) { i.Until = i.From },
		`parties: there is no kind of party "CLUB"`: func(i *Instrument) { i.Parties = []party.Kind{"CLUB"} },
		"subjects: has no subject":                  func(i *Instrument) { i.Subjects = nil },
		`purposes: there is no purpose "FUN"`:       func(i *Instrument) { i.Purposes = []string{"FUN"} },
		`signers: there is no signer "WITNESS"`:     func(i *Instrument) { i.Signers = []string{"WITNESS"} },
		"signers: has LAWYER twice":                 func(i *Instrument) { i.Signers = []string{"LAWYER", "LAWYER"} },
		`excludes: there is no fact "HEAVY"`:        func(i *Instrument) { i.Excludes = []string{"HEAVY"} },
		`terms: there is no term "FIRSTBORN"`:       func(i *Instrument) { i.Terms = []string{"FIRSTBORN"} },
		"master: must be the code":                  func(i *Instrument) { i.Master = "the UBMTA" },
		`least_level: there is no level ""`:         func(i *Instrument) { i.LeastLevel = "" },
		"sha256: differs":                           func(i *Instrument) { i.Template += " " },
		"template: must be at most":                 retext(strings.Repeat("x", maxTemplate)),
		"template: must not contain control":        retext("\x00"),
		"template: has braces that are no place":    retext("{{range .}}{{{title}}}{{end}}"),
		"template: has the place {{title}}":         retext("{{title}}"),
		`fields: "Name of it" must be a name`:       func(i *Instrument) { i.Fields[0].Name = "Name of it" },
		"has the unknown source \"ORACLE\"":         func(i *Instrument) { i.Fields[0].Source = "ORACLE" },
		"fields: address has no place":              func(i *Instrument) { i.Fields[0].Name = "address" },
		"fields: has materials twice":               func(i *Instrument) { i.Fields[0].Name = "materials" },
		"template: has the place {{provider_name}}": func(i *Instrument) { i.Fields = i.Fields[1:] },
	} {
		i := letterOfBox(t)
		change(&i)
		if err := Lint([]Instrument{i}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not found: %v", want, err)
		}
	}
}

func TestLint_RefusesTwoVersionsInForceAtOnce(t *testing.T) {
	t.Parallel()
	old := letterOfBox(t)
	next := old
	next.Version, next.From = "2", "2027-01-01"
	if Lint([]Instrument{old, next}) == nil {
		t.Error("two are in force since 2027")
	}
	if err := Lint(With([]Instrument{old}, []Instrument{next})); err != nil {
		t.Errorf("the next does not end the one before: %v", err)
	}
	old.Until = "2027-01-01"
	if err := Lint([]Instrument{old, next}); err != nil {
		t.Error(err)
	}
	if Lint([]Instrument{old, old}) == nil {
		t.Error("one is there twice")
	}
}
