package material

import (
	"cmp"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

// Replacement replaces a value in one column of a spreadsheet by another value.
type Replacement struct {
	Header string `json:"header"`
	From   string `json:"from"`
	To     string `json:"to"`
}

const maxReplaced = 1000 // values

// Replace returns list with more replacements added. A replacement whose new value is replaced in turn leads directly
// to the final value.
func Replace(list []Replacement, more []Replacement) ([]Replacement, error) {
	var f exchange.FieldErrors
	list = slices.Clone(list)
	for _, r := range more {
		if r.To = exchange.Tidy(r.To); r.To == "" || len(r.To) > exchange.LineLength ||
			len(r.From) > exchange.LineLength {
			f.Add("values", "the replacement for %q must be text of up to %d bytes", clip(r.From), exchange.LineLength)
		}
		for i := range list {
			if list[i].Header == r.Header && list[i].To == r.From {
				list[i].To = r.To
			}
		}
		list = append(slices.DeleteFunc(list,
			func(old Replacement) bool { return old.Header == r.Header && old.From == r.From }), r)
	}
	if len(list) > maxReplaced {
		f.Add("values", "can be at most %d", maxReplaced)
	}
	return list, f.Err()
}

// Replaced holds replacements by header and value.
type Replaced map[[2]string]string

// NewReplaced builds a Replaced from a list.
func NewReplaced(list []Replacement) Replaced {
	replaced := Replaced{}
	for _, r := range list {
		replaced[[2]string{r.Header, r.From}] = r.To
	}
	return replaced
}

// Read applies the replacements to the cells of a row.
func (l Layout) Read(cells []string, replaced Replaced) {
	for i := range min(len(cells), len(l.Headings), len(replaced)*len(cells)) { // none without replacements
		if to, is := replaced[[2]string{l.Headings[i].Header, strings.TrimSpace(cells[i])}]; is {
			cells[i] = to
		}
	}
}

// Cells returns the values of a row in the columns with problems, by header; only those that fit on one line.
func (l Layout) Cells(cells []string, problems map[string][]string) map[string]string {
	var list map[string]string
	for i, h := range l.Headings {
		if problems[h.Header] == nil || i >= len(cells) {
			continue
		}
		if cell := strings.TrimSpace(cells[i]); cell != "" && len(cell) <= exchange.LineLength &&
			!strings.ContainsAny(cell, "\r\n") {
			if list == nil {
				list = map[string]string{}
			}
			list[h.Header] = cell
		}
	}
	return list
}

// WrongValue is a value that is refused in a column, in any number of rows.
type WrongValue struct {
	Header, Value string
	Why           []string
	Rows          int
	Choices       []category.Option // of a column that accepts nothing else
}

// WrongValues returns the refused values that occur in the most rows, at most limit of them. headings describe the
// columns, code is the category of rows that name none.
func WrongValues(rows []RowResult, headings []ColumnHeading, code string, limit int) []WrongValue {
	found := map[[2]string]*WrongValue{}
	for _, o := range rows {
		for header, value := range o.Values {
			key := [2]string{header, value}
			if found[key] == nil {
				found[key] = &WrongValue{Header: header, Value: value, Why: o.Problems[header]}
			}
			found[key].Rows++
		}
	}
	var list []WrongValue
	for _, w := range found {
		list = append(list, *w)
	}
	slices.SortFunc(list, func(a, b WrongValue) int {
		return cmp.Or(b.Rows-a.Rows, strings.Compare(a.Header, b.Header), strings.Compare(a.Value, b.Value))
	})
	list = list[:min(len(list), limit)]
	for i := range list {
		for _, h := range headings {
			if h.Header == list[i].Header {
				list[i].Choices = choices(h.Field, code)
			}
		}
	}
	return list
}

// choices returns the values of a field that accepts no others; of any category if code is "".
func choices(field, code string) []category.Option {
	yesNo := []category.Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}}
	key, ofCategory := strings.CutPrefix(field, metadataPrefix)
	var list []category.Option
	for _, c := range category.All() {
		if field == "category" {
			list = append(list, category.Option{Value: c.Code, Label: c.Label})
		}
		f, known := c.Field(key)
		switch {
		case !ofCategory || !known || code != "" && code != c.Code:
		case f.Type == category.Boolean:
			return yesNo
		case f.Closed && f.Type != category.List:
			for _, o := range f.Options {
				if !slices.ContainsFunc(list, func(other category.Option) bool { return other.Value == o.Value }) {
					list = append(list, o)
				}
			}
		}
	}
	for _, c := range materialColumns {
		if c.Field == field && slices.Equal(c.Values, []string{"true", "false"}) {
			return yesNo
		}
	}
	return list
}
