package material

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
)

// Column is one column of a spreadsheet of materials: a writable field, or a key of additional_metadata as a category
// defines it.
type Column struct {
	Field   string // name in errors, such as title or additional_metadata.disease
	Label   string
	Help    string
	Example string
	Values  []string // options
	Closed  bool     // only the options are accepted
	also    []string // other headers that mean this column
	keeps   bool     // an empty cell keeps the value; in other columns it clears it
	show    func(Material) string
	read    func(cell string, p *Patch) error
}

const metadataPrefix = "additional_metadata."

// TooLong replaces a text that does not fit in a cell of a spreadsheet; on import it keeps the stored value.
const TooLong = "#too long for a cell of a spreadsheet; it stays as it is"

// materialColumns are the columns of every category, in the order of templates. The id and the reference identify the
// material of a row; RowTarget reads them.
var materialColumns = func() []Column {
	fields := slices.DeleteFunc(slices.Clone(Descriptors), func(d Descriptor) bool { return d.Sheet == 0 })
	slices.SortStableFunc(fields, func(x, y Descriptor) int { return x.Sheet - y.Sheet })
	list := make([]Column, len(fields))
	for i, d := range fields {
		list[i] = Column{Field: d.Name, Label: d.Label, Help: d.Help, Example: d.Example, Values: d.Values,
			Closed: d.Values != nil, also: d.Also, keeps: d.Keeps,
			show: func(m Material) string { return d.Text(&m) },
			read: func(cell string, p *Patch) error { return readCell(d, cell, d.Slot(p)) }}
		if d.IsFlag() {
			list[i].Values, list[i].Closed, list[i].keeps = []string{"true", "false"}, true, true
		}
	}
	return list
}()

// readOnly lists the headers that exports or lists contain and that nobody can write.
var readOnly = []string{"createdat", "updatedat", "grants", "importidentifier", "warnings"}

// fromCell reads a cell as a JSON string; an empty cell is null.
func fromCell[T any](cell string, into *exchange.Null[T]) error {
	if cell == "" {
		*into = exchange.Cleared[T]()
		return nil
	}
	raw, err := json.Marshal(cell)
	if err != nil {
		return err
	}
	return into.UnmarshalJSON(raw)
}

// parseBool reads the words for yes and no.
func parseBool(cell string) (value, known bool) {
	switch strings.ToLower(cell) {
	case "true", "yes", "y", "1", "x":
		return true, true
	case "false", "no", "n", "0":
		return false, true
	}
	return false, false
}

// categoryCode returns the code of the category with that code, label or plural, or the cell unchanged if there is
// none.
func categoryCode(cell string) string {
	if _, ok := category.Get(cell); ok || cell == "" {
		return cell
	}
	for _, c := range category.All() {
		if f := fold(cell); f == fold(c.Code) || f == fold(c.Label) || f == fold(c.Plural) {
			return c.Code
		}
	}
	return cell
}

// fold returns the form in which headers are compared: letters and digits, without case and accents.
func fold(header string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, exchange.SortKey(header))
}

// Columns returns the columns of a category, in the order of its template.
func Columns(c category.Category) []Column {
	list := slices.Clone(materialColumns)
	for _, f := range c.Fields {
		list = append(list, metadataColumn(f))
	}
	return list
}

// metadataColumn returns the column of a key.
func metadataColumn(f category.Field) Column {
	c := Column{Field: metadataPrefix + f.Key, Label: f.Label, Help: f.Help, Example: f.Example, Closed: f.Closed}
	if f.Unit != "" {
		c.Help += fmt.Sprintf(" In %s.", f.Unit)
	}
	if f.Type == category.List {
		c.Help += " Separate several with a semicolon."
		return c // a cell holds several values, so a list of options does not apply
	}
	for _, o := range f.Options {
		c.Values = append(c.Values, o.Value)
	}
	if f.Type == category.Boolean {
		c.Values, c.Closed = []string{"true", "false"}, true
	}
	return c
}

// metadataSynonyms are other headers for keys; each occurs once.
var metadataSynonyms = map[string][]string{
	"cell_line_name":  {"cell line", "line"},
	"line_type":       {"kind of line"},
	"plasmid_type":    {"kind of plasmid"},
	"plasmid_name":    {"plasmid"},
	"strain_name":     {"strain"},
	"rrid":            {"cellosaurus", "cvcl", "cellosaurus accession"},
	"biosafety_level": {"bsl", "biosafety", "safety level"},
	"passage_number":  {"passage", "passage no"},
	"growth_medium":   {"medium", "media", "culture medium"},
	"supplier":        {"vendor", "provider"},
	"addgene_id":      {"addgene"},
	"accession_code":  {"accession number", "geo accession"},
	"num_samples":     {"samples", "sample count"},
	"sex":             {"gender"},
	"storage":         {"storage conditions"},
	"storage_medium":  {"freezing medium"},
}

// registryID returns the registry id in a cell that names a person: an ORCID iD in any form, or an id as the provider
// writes it.
func registryID(cell string) string {
	if id, err := identifier.ORCID(cell); err == nil {
		return id
	}
	return cell
}
