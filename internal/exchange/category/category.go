// Package category defines the categories of research material: what additional_metadata holds for each, and how its
// fields are asked for, checked, filtered by and explained (contract.md section 4, "Categories"). Each category is one
// JSON file in this directory; forms, validation, spreadsheet columns, facets and documentation all come from it. To
// add a field, edit only that file.
package category

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/exchange/identifier"
)

// Category is one category of material. Values are shared: do not change their slices.
type Category struct {
	Code    string  `json:"code"` // as in the API, such as CELL_LINE
	Label   string  `json:"label"`
	Plural  string  `json:"plural"`
	Icon    string  `json:"icon"` // name of the symbol in icons.svg, without its i-
	Help    string  `json:"help"`
	Digital bool    `json:"digital,omitempty"` // nothing is shipped
	Fields  []Field `json:"fields"`            // in the order of the form
}

// Field is one key of additional_metadata.
type Field struct {
	Key        string          `json:"key"`
	Label      string          `json:"label"`
	Type       Type            `json:"type"`
	Section    string          `json:"section"`             // heading that it appears under
	Help       string          `json:"help"`                // for the scientist who enters the value
	Example    string          `json:"example,omitzero"`    // one value; of a list, one item
	Unit       string          `json:"unit,omitzero"`       // of a number
	Options    []Option        `json:"options,omitempty"`   // of a choice or a list
	Closed     bool            `json:"closed,omitzero"`     // a value outside Options is an error, else only a warning
	Required   bool            `json:"required,omitzero"`   // to publish, not to save
	Vocabulary identifier.Kind `json:"vocabulary,omitzero"` // of an identifier, or of each item of a list
	Facet      bool            `json:"facet,omitzero"`      // search counts its values
	// it identifies a patient or donor: only the lab and accepted requesters see it
	Private bool `json:"private,omitzero"`
}

// Option is one value of a choice or a list. Also lists other spellings of it; values compare without regard to case.
type Option struct {
	Value string   `json:"value"`
	Label string   `json:"label"`
	Help  string   `json:"help,omitzero"`
	Also  []string `json:"also,omitempty"`
}

// Type is the type of a field's values. Every field also accepts null and "", which mean not known.
type Type string

// The types of a field. Text, long and choice also accept a number or a boolean, since clients send passage_number both
// as "18" and as 18.
const (
	Text       Type = "text"       // up to 255 characters
	Long       Type = "long"       // up to 20,000 characters, several lines
	Number     Type = "number"     // 37.5, or a string that holds a number
	Integer    Type = "integer"    // 12, or a string that holds a whole number; not below 0
	Date       Type = "date"       // "2026-02-18"
	Boolean    Type = "boolean"    // true or false, or a string with one of these meanings
	Choice     Type = "choice"     // the value of one option
	List       Type = "list"       // array of up to 200 strings, or one string
	Identifier Type = "identifier" // in the form of Vocabulary
)

// codes lists the codes in the order in which categories are offered.
var codes = []string{"CELL_LINE", "PLASMID", "MODEL_ORGANISM", "PDX", "DATASET", "PROTOCOL", "OTHER"}

//go:embed *.json
var files embed.FS

var all = func() []Category {
	list := make([]Category, len(codes))
	for i, code := range codes {
		if err := load(strings.ToLower(code)+".json", &list[i]); err != nil {
			panic(err) // the files are part of the program, and every test reads them
		}
	}
	return list
}()

func load(name string, c *Category) error {
	data, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// All returns the categories in the order in which they are offered.
func All() []Category { return slices.Clone(all) }

// Codes returns the codes of All.
func Codes() []string { return slices.Clone(codes) }

// Get returns the category with a code.
func Get(code string) (Category, bool) {
	i := slices.Index(codes, code)
	if i < 0 {
		return Category{}, false
	}
	return all[i], true
}

// Field returns the field with a key.
func (c Category) Field(key string) (Field, bool) {
	i := slices.IndexFunc(c.Fields, func(f Field) bool { return f.Key == key })
	if i < 0 {
		return Field{}, false
	}
	return c.Fields[i], true
}

// Section is a heading of the form with its fields.
type Section struct {
	Name   string
	Fields []Field
}

// Sections returns the fields grouped by heading, in the order of the form.
func (c Category) Sections() []Section {
	var sections []Section
	for _, f := range c.Fields {
		i := slices.IndexFunc(sections, func(s Section) bool { return s.Name == f.Section })
		if i < 0 {
			i = len(sections)
			sections = append(sections, Section{Name: f.Section})
		}
		sections[i].Fields = append(sections[i].Fields, f)
	}
	return sections
}

// Option returns the option that a value names, by value, label or another spelling, without regard to case.
func (f Field) Option(value string) (Option, bool) {
	for _, o := range f.Options {
		for _, spelling := range append([]string{o.Value, o.Label}, o.Also...) {
			if strings.EqualFold(spelling, value) {
				return o, true
			}
		}
	}
	return Option{}, false
}
