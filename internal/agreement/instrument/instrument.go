// Package instrument has the instruments, which are the forms of agreements, as data files, and the resolver that finds
// the one for a transfer.
package instrument

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/table"
	"aliquot/internal/exchange"
)

// Instrument is a form of agreement in one version. It is never edited: a change is a new version.
type Instrument struct {
	ID         string        `json:"id"`
	Family     string        `json:"family"`
	Version    string        `json:"version"`
	Title      string        `json:"title"`
	Citation   string        `json:"citation"`
	Parties    []party.Kind  `json:"parties"`  // kinds that both must be of
	Subjects   []string      `json:"subjects"` // what it fits
	Excludes   []string      `json:"excludes"` // facts that rule it out
	Purposes   []string      `json:"purposes"`
	Master     string        `json:"master"` // family of the master agreement that both need; empty: none
	FixedText  bool          `json:"fixed_text"`
	Signers    []string      `json:"signers"`
	LeastLevel string        `json:"least_level"`
	Fields     []Field       `json:"fields"`
	Terms      []string      `json:"terms"`
	Template   string        `json:"template"`    // empty until the operator has installed the official text
	SHA256     string        `json:"sha256"`      // of the template, in hexadecimal
	OnlyChosen bool          `json:"only_chosen"` // gives up so much that it never takes the place of another by itself
	Reviewed   bool          `json:"reviewed"`    // by counsel
	From       exchange.Date `json:"from"`
	Until      exchange.Date `json:"until,omitempty"`
}

// Field is a place in the template, and whose record fills it.
type Field struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// Agreed is the source of a field that no record has: people fill in what both sides agreed on.
const Agreed = "AGREED"

// UsualPurpose is what a transfer is for where nobody says something else.
const UsualPurpose = "RESEARCH"

// What instruments are made of.
var (
	subjects = []string{"BIOLOGICAL", "ORGANISM", "HUMAN", "DATA", "PLANT", "CHEMICAL", "PROTOCOL"}
	purposes = []string{UsualPurpose, "COMMERCIAL", "CLINICAL"}
	excludes = []string{"EXPORT_CONTROLLED", "ENCUMBERED", "PROPRIETARY"}
	sources  = []string{"PROVIDER_INSTITUTION", "RECIPIENT_INSTITUTION", "REQUESTS", "REQUESTER", "LAB", Agreed}
)

// Purposes returns what a transfer may be for.
func Purposes() []string { return slices.Clone(purposes) }

//go:embed box/*.json
var box embed.FS

//go:embed defaults.json
var defaultsFile []byte

// Box returns the instruments that the program brings along: letters in plain words, not reviewed by counsel, and the
// families whose official text an operator may install.
func Box() ([]Instrument, error) {
	entries, err := box.ReadDir("box")
	if err != nil {
		return nil, err
	}
	var list []Instrument
	for _, e := range entries {
		b, err := box.ReadFile("box/" + e.Name())
		if err != nil {
			return nil, err
		}
		var i Instrument
		if err := json.Unmarshal(b, &i); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		list = append(list, i)
	}
	return list, nil
}

// Library is a set of instruments that passed Lint, and the table of defaults. It is safe for concurrent use.
type Library struct {
	instruments []Instrument
	defaults    *table.Table
}

// Instruments returns those of the library.
func (l *Library) Instruments() []Instrument { return slices.Clone(l.instruments) }

// Find returns an instrument in one version, also one that is no longer in force.
func (l *Library) Find(id, version string) (Instrument, bool) {
	n := slices.IndexFunc(l.instruments, func(i Instrument) bool { return i.ID == id && i.Version == version })
	if n < 0 {
		return Instrument{}, false
	}
	return l.instruments[n], true
}

// Texts returns the SHA-256 of the texts of some families that hold on the day or later, as far as they are here.
func (l *Library) Texts(families []string, day exchange.Date) []string {
	texts := []string{}
	for _, i := range l.instruments {
		if slices.Contains(families, i.Family) && i.SHA256 != "" && (i.Until == "" || day < i.Until) {
			texts = append(texts, i.SHA256)
		}
	}
	return texts
}

// Newest returns the version of an instrument that is in force on the day or, if none is, the last one.
func (l *Library) Newest(id string, day exchange.Date) (newest Instrument, known bool) {
	for _, i := range l.instruments {
		switch {
		case i.ID != id:
		case i.InForce(day):
			return i, true
		case i.From >= newest.From:
			newest, known = i, true
		}
	}
	return newest, known
}

// InForce reports whether the instrument holds on the day.
func (i Instrument) InForce(day exchange.Date) bool {
	return party.Period{From: i.From, Until: i.Until}.Holds(day)
}

// NewLibrary returns a library of the instruments, or all that Lint finds.
func NewLibrary(instruments []Instrument) (*Library, error) {
	var file struct {
		Columns []table.Column
		Rules   []table.Rule
	}
	if err := json.Unmarshal(defaultsFile, &file); err != nil {
		return nil, err
	}
	defaults, err := table.New(file.Columns, file.Rules)
	if err != nil {
		return nil, err
	}
	return &Library{slices.Clone(instruments), defaults}, Lint(instruments)
}

// HasFamily reports whether there are instruments of a family, in force or not.
func (l *Library) HasFamily(family string) bool {
	return slices.ContainsFunc(l.instruments, func(i Instrument) bool { return i.Family == family })
}

// IsOfFamily reports whether an instrument is one of a family.
func (l *Library) IsOfFamily(id, family string) bool {
	return slices.ContainsFunc(l.instruments, func(i Instrument) bool { return i.ID == id && i.Family == family })
}
