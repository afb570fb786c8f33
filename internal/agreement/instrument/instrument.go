// Package instrument has the instruments, which are the forms of agreements, as data files, and the resolver that finds
// the one for a transfer.
package instrument

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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
	Until      exchange.Date `json:"until"`
}

// Field is a place in the template, and whose record fills it.
type Field struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

// What instruments are made of.
var (
	subjects = []string{"BIOLOGICAL", "ORGANISM", "HUMAN", "DATA", "PLANT", "CHEMICAL", "PROTOCOL"}
	purposes = []string{"RESEARCH", "COMMERCIAL", "CLINICAL"}
	excludes = []string{"EXPORT_CONTROLLED", "ENCUMBERED", "PROPRIETARY"}
	signers  = []string{"PROVIDER_SCIENTIST", "RECIPIENT_SCIENTIST", "PROVIDER_OFFICIAL", "RECIPIENT_OFFICIAL"}
	sources  = []string{"PROVIDER_INSTITUTION", "RECIPIENT_INSTITUTION", "REQUESTS", "REQUESTER", "LAB"}
)

// Signers returns the roles in which letters are signed.
func Signers() []string { return slices.Clone(signers) }

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

// Find returns an instrument in one version, also one that is no longer in force.
func (l *Library) Find(id, version string) (Instrument, bool) {
	n := slices.IndexFunc(l.instruments, func(i Instrument) bool { return i.ID == id && i.Version == version })
	if n < 0 {
		return Instrument{}, false
	}
	return l.instruments[n], true
}

// HasFamily reports whether there are instruments of a family, in force or not.
func (l *Library) HasFamily(family string) bool {
	return slices.ContainsFunc(l.instruments, func(i Instrument) bool { return i.Family == family })
}

// IsOfFamily reports whether an instrument is one of a family.
func (l *Library) IsOfFamily(id, family string) bool {
	return slices.ContainsFunc(l.instruments, func(i Instrument) bool { return i.ID == id && i.Family == family })
}

var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// Lint returns every fault of the instruments: what is not a known value, a field without a source or a place in the
// template, a place without a field, a template that differs from its hash, and two versions of a family in force at
// once.
func Lint(instruments []Instrument) error {
	var faults []error
	for n, i := range instruments {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("instrument %s: "+format, append([]any{i.ID}, args...)...))
		}
		if i.ID == "" || i.Family == "" || i.Version == "" || i.Title == "" || i.Citation == "" || i.From == "" {
			fault("has no id, family, version, title, citation or first day")
		}
		for _, k := range i.Parties {
			if !slices.Contains(party.Kinds(), string(k)) {
				fault("has the unknown kind of party %q", k)
			}
		}
		for _, list := range []struct {
			name        string
			have, known []string
		}{{"subject", i.Subjects, subjects}, {"purpose", i.Purposes, purposes}, {"signer", i.Signers, signers}} {
			if len(list.have) == 0 {
				fault("has no %s", list.name)
			}
			for _, v := range list.have {
				if !slices.Contains(list.known, v) {
					fault("has the unknown %s %q", list.name, v)
				}
			}
		}
		for _, v := range i.Excludes {
			if !slices.Contains(excludes, v) {
				fault("excludes the unknown fact %q", v)
			}
		}
		if !slices.Contains(party.Levels(), i.LeastLevel) {
			fault("has the unknown level %q", i.LeastLevel)
		}
		if i.Template != "" {
			if sum := sha256.Sum256([]byte(i.Template)); hex.EncodeToString(sum[:]) != i.SHA256 {
				fault("has a template that differs from its SHA-256")
			}
			faults = append(faults, i.lintFields()...)
		}
		for _, other := range instruments[:n] {
			if other.ID == i.ID && other.Version == i.Version {
				fault("is there twice in version %s", i.Version)
			} else if other.Family == i.Family && (i.Until == "" || other.From < i.Until) &&
				(other.Until == "" || i.From < other.Until) {
				fault("is in force at the same time as %s, version %s", other.ID, other.Version)
			}
		}
	}
	return errors.Join(faults...)
}

func (i Instrument) lintFields() (faults []error) {
	places := map[string]bool{}
	for _, found := range placeholder.FindAllStringSubmatch(i.Template, -1) {
		places[found[1]] = true
	}
	for _, f := range i.Fields {
		if !slices.Contains(sources, f.Source) {
			faults = append(
				faults,
				fmt.Errorf("instrument %s: field %s has the unknown source %q", i.ID, f.Name, f.Source),
			)
		}
		if !places[f.Name] {
			faults = append(faults, fmt.Errorf("instrument %s: field %s has no place in the template", i.ID, f.Name))
		}
		delete(places, f.Name)
	}
	for name := range places {
		faults = append(faults, fmt.Errorf("instrument %s: the place %s has no field", i.ID, name))
	}
	return faults
}
