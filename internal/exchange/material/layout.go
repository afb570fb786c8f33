package material

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"

	"github.com/google/uuid"
)

// ColumnHeading is what one column of a spreadsheet was recognised as.
type ColumnHeading struct {
	Header     string `json:"header"`
	Field      string `json:"field"` // such as title or additional_metadata.disease; "": left out
	Own        bool   `json:"own"`   // a custom field of the lab
	Remembered bool   `json:"remembered"`
}

// columnTarget is a heading with the field that it names.
type columnTarget struct {
	ColumnHeading
	column *Column                    // a field of every category
	key    string                     // a key of additional_metadata
	keys   map[string]string          // by category, if the header is a label shared by several keys
	fields map[string]*category.Field // of the key, by category
}

// Layout is what the columns of one spreadsheet were recognised as.
type Layout struct {
	Headings []ColumnHeading
	places   []columnTarget
	category string // of rows that name none
	titled   bool
}

// ColumnMapping is how a lab wants its spreadsheet read.
type ColumnMapping struct {
	Category string            // of rows that name none; "": each row names one
	Mapping  map[string]string // from Fold of a header to a field, or to "" for a column that is left out
	KeepAll  bool              // unknown columns become custom fields of the lab
}

// Fold returns the form in which headers are compared.
func Fold(header string) string { return fold(header) }

// ReadHeader takes the first row of a spreadsheet as its headers. Unknown columns, and other problems with the headers,
// are field errors of "mapping"; the layout is returned with them too.
func ReadHeader(headers []string, r ColumnMapping) (Layout, error) {
	var f exchange.FieldErrors
	l := Layout{Headings: []ColumnHeading{}, category: categoryCode(r.Category)}
	if _, ok := category.Get(l.category); !ok && r.Category != "" {
		f.Add("category", "must be one of %s", strings.Join(category.Codes(), ", "))
	}
	taken, named := map[string]string{}, false
	for _, header := range headers {
		h, known := r.heading(header)
		if !known {
			f.Add("mapping", "the column %q is not recognised; map it to a field, or to \"\" to leave it out, or "+
				"keep unknown columns as custom keys", clip(header))
		}
		if h.Field != "" {
			if other, twice := taken[h.Field]; twice {
				f.Add("mapping",
					"the columns %q and %q are both %s; map one of them to another field, or to \"\" to leave it out",
					clip(other), clip(header), h.Field)
			}
			taken[h.Field] = header
		}
		l.titled = l.titled || h.Field == "title"
		named = named || slices.Contains([]string{"id", "reference", "category"}, h.Field)
		l.Headings, l.places = append(l.Headings, h.ColumnHeading), append(l.places, h)
	}
	if !named && l.category == "" && len(f) == 0 {
		f.Add("category", "is required, or a column of that name: one of %s", strings.Join(category.Codes(), ", "))
	}
	return l, f.Err()
}

// heading finds what a header means: by the lab's mapping, else by name, key, label and synonym.
func (r ColumnMapping) heading(header string) (h columnTarget, known bool) {
	folded := fold(header)
	if field, said := r.Mapping[folded]; said && folded != "" {
		h, known = fieldHeading(field)
		h.Header, h.Remembered = header, true
		return h, known || field == ""
	}
	h, known = fieldHeading(header)
	if field := fieldsByName[folded]; !known && field != "" {
		h, known = fieldHeading(field)
	}
	if keys := keysByLabel[folded]; !known && len(keys) > 0 {
		h, known = columnTarget{keys: keys}, true
		for _, code := range append([]string{categoryCode(r.Category)}, category.Codes()...) {
			if key := keys[code]; key != "" {
				h.Field = metadataPrefix + key
				break
			}
		}
	}
	if key := keysByName[folded]; !known && key != "" {
		h, known = fieldHeading(metadataPrefix + key)
	}
	switch {
	case known:
	case strings.TrimSpace(header) == "" || slices.Contains(readOnly, folded):
		known = true
	case r.KeepAll:
		h, known = fieldHeading(metadataPrefix + strings.TrimSpace(header))
	}
	h.Header = header
	return h, known
}

// OwnHeader reports whether templates and exports write this header, which then has a fixed meaning.
func OwnHeader(header string) bool { return ownHeaders[fold(header)] }

var ownHeaders = func() map[string]bool {
	own := map[string]bool{}
	for _, c := range materialColumns {
		own[fold(c.Field)], own[fold(c.Label)] = true, true
	}
	for _, c := range category.All() {
		for _, f := range c.Fields {
			own[fold(f.Key)], own[fold(metadataPrefix+f.Key)], own[fold(f.Label)] = true, true, true
		}
	}
	return own
}()

// fieldHeading returns the heading of a field, or of a key with or without its prefix.
func fieldHeading(field string) (columnTarget, bool) {
	for i := range materialColumns {
		if materialColumns[i].Field == field {
			return columnTarget{ColumnHeading: ColumnHeading{Field: field}, column: &materialColumns[i]}, true
		}
	}
	key, prefixed := strings.CutPrefix(field, metadataPrefix)
	fields := keys[key]
	if fields == nil && !prefixed || key == "" {
		return columnTarget{}, false
	}
	return columnTarget{ColumnHeading: ColumnHeading{Field: metadataPrefix + key, Own: fields == nil}, key: key,
		fields: fields}, true
}

// keys holds the fields of additional_metadata by key and category.
var keys = map[string]map[string]*category.Field{}

// The known headers, folded: names of the fields of a material; labels of keys, each with the key in every category
// that has the label; and names of keys.
var fieldsByName, keysByLabel, keysByName = knownHeaders()

func knownHeaders() (fields map[string]string, labels map[string]map[string]string, names map[string]string) {
	fields, labels, names = map[string]string{}, map[string]map[string]string{}, map[string]string{}
	for _, c := range materialColumns {
		for _, name := range append([]string{c.Field, c.Label}, c.also...) {
			fields[fold(name)] = c.Field
		}
	}
	for _, c := range category.All() {
		for i, f := range c.Fields {
			if keys[f.Key] == nil {
				keys[f.Key] = map[string]*category.Field{}
			}
			keys[f.Key][c.Code] = &c.Fields[i]
			names[fold(f.Key)], names[fold(metadataPrefix+f.Key)] = f.Key, f.Key
			if labels[fold(f.Label)] == nil {
				labels[fold(f.Label)] = map[string]string{}
			}
			labels[fold(f.Label)][c.Code] = f.Key
		}
	}
	for key, others := range metadataSynonyms {
		for _, other := range others {
			names[fold(other)] = key
		}
	}
	return fields, labels, names
}

// RowTarget is the material that a row is for, with the values that must be checked against other rows and records.
type RowTarget struct {
	ID        int64
	Reference string
	Contact   string // registry id of a person, "" if the row names none
	Faults    exchange.FieldErrors
}

// RowTarget returns the target of a row; organization is the one that imports.
func (l Layout) RowTarget(cells []string, organization int64) RowTarget {
	var e RowTarget
	for i, h := range l.places {
		cell := ""
		if i < len(cells) {
			cell = exchange.Tidy(cells[i])
		}
		switch {
		case cell == "":
		case h.Field == "id":
			id, err := strconv.ParseInt(whole(cell), 10, 64)
			if err != nil || id < 1 {
				e.Faults.Add("id", "must be the id of a material, or empty")
			}
			e.ID = id
		case h.Field == "reference":
			e.Faults.Line("reference", exchange.Some(cell), exchange.LineLength, &e.Reference)
		case h.Field == "organization_id" && whole(cell) != strconv.FormatInt(organization, 10):
			e.Faults.Add("organization_id", "is %s, but this import is into organization %d", clip(cell), organization)
		case h.Field == "contact_user_id":
			if _, err := uuid.Parse(cell); err != nil || len(cell) != 36 {
				e.Contact = registryID(cell)
			}
		}
	}
	for i := len(l.Headings); i < len(cells); i++ {
		if strings.TrimSpace(cells[i]) != "" {
			e.Faults.Add("row", "has more cells than there are columns")
			break
		}
	}
	return e
}

// Patch reads a row as a change of old; if old is nil, as a new material. A cell equal to the value of old changes
// nothing; an empty one clears a field that may be empty.
func (l Layout) Patch(cells []string, organization int64, old *Material) (Patch, exchange.FieldErrors) {
	var p Patch
	var f exchange.FieldErrors
	code := l.code(cells, old)
	if old == nil {
		p.Category, p.Organization = exchange.Some(code), exchange.Some(exchange.Ref(organization))
	}
	values := map[string]json.RawMessage{}
	if old != nil {
		_ = json.Unmarshal(old.Metadata, &values) // it is always an object
	}
	changed := false
	for i, h := range l.places {
		raw := ""
		if i < len(cells) {
			raw = cells[i]
		}
		cell := strings.TrimSpace(raw)
		switch {
		case raw == TooLong && old == nil:
			f.Add(h.Field, "is a placeholder for text that was too long for the spreadsheet")
		case raw == TooLong, h.column != nil && h.column.keeps && cell == "":
		case h.column != nil:
			if old != nil && alike(raw, h.column.show(*old)) || old == nil && cell == "" {
				continue
			}
			if err := h.column.read(cell, &p); err != nil {
				f.Add(h.Field, "%v", err)
			}
		default:
			changed = h.set(values, code, raw, cell) || changed
		}
		if h.Field == "" && cell != "" && strings.TrimSpace(h.Header) == "" {
			f.Add("row", "has a value in a column without a header: %q", clip(cell))
		}
	}
	if changed {
		p.Metadata = exchange.Some(objectOf(values))
	}
	if old == nil && !l.titled {
		p.Title = exchange.Some(nameOf(code, values))
	}
	return p, f
}

// set writes a cell into the values of additional_metadata and reports whether that changes them.
func (h columnTarget) set(values map[string]json.RawMessage, code, raw, cell string) bool {
	key, fields := h.key, h.fields
	if h.keys != nil {
		if key = h.keys[code]; key == "" {
			key = strings.TrimPrefix(h.Field, metadataPrefix)
		}
		fields = keys[key]
	}
	if key == "" {
		return false
	}
	field := fields[code]
	was, there := values[key]
	switch {
	case alike(raw, showValue(was, field != nil && field.Type == category.List)):
		return false
	case cell == "":
		delete(values, key)
		return there
	}
	values[key] = readValue(cell, field)
	return true
}

// code returns the category of a row.
func (l Layout) code(cells []string, old *Material) string {
	if old != nil {
		return old.Category
	}
	for i, h := range l.places {
		if h.Field == "category" && i < len(cells) && strings.TrimSpace(cells[i]) != "" {
			return categoryCode(exchange.Tidy(cells[i]))
		}
	}
	return l.category
}

// nameOf returns the title of a material for which a spreadsheet has none: its name field in its category.
func nameOf(code string, values map[string]json.RawMessage) string {
	if c, ok := category.Get(code); ok && strings.HasSuffix(c.Fields[0].Key, "_name") {
		return showValue(values[c.Fields[0].Key], false)
	}
	return ""
}

// Header returns the header of the column in which a problem of a field is shown; the field itself if no column has it.
func (l Layout) Header(field string) string {
	for _, h := range l.places {
		if h.Field == field {
			return h.Header
		}
		for _, key := range h.keys {
			if metadataPrefix+key == field {
				return h.Header
			}
		}
	}
	return field
}

// Field returns the field under which a problem of a column is reported.
func (l Layout) Field(column int) string {
	if column < len(l.Headings) && l.Headings[column].Field != "" {
		return l.Headings[column].Field
	}
	return "row"
}

// Names reports whether rows can name existing materials.
func (l Layout) Names() bool {
	return slices.ContainsFunc(l.Headings,
		func(h ColumnHeading) bool { return h.Field == "id" || h.Field == "reference" })
}

// ExportHeaders returns the headers of an export: every field of a material, and the given keys of additional_metadata.
func ExportHeaders(keys []string) []string {
	var list []string
	for _, c := range materialColumns {
		list = append(list, c.Field)
	}
	for _, key := range keys {
		list = append(list, exportedKey(key))
	}
	return list
}

// exportedKey returns the header of a key: the key itself if a category defines it, else with the prefix.
func exportedKey(key string) string {
	if keys[key] != nil {
		return key
	}
	return metadataPrefix + key
}

// Cells returns the cells of a material under Exported(keys).
func (m Material) Cells(known []string) ([]string, error) {
	cells := make([]string, 0, len(materialColumns)+len(known))
	for _, c := range materialColumns {
		cells = append(cells, c.show(m))
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(m.Metadata, &values); err != nil {
		return nil, fmt.Errorf("metadata of material %d: %w", m.ID, err)
	}
	for _, key := range known {
		field := keys[key][m.Category]
		cells = append(cells, showValue(values[key], field != nil && field.Type == category.List))
	}
	return cells, nil
}

// clip shortens a text that a message repeats.
func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
