package material

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
)

// readCell makes a body say what a cell of a spreadsheet says.
func readCell(d Descriptor, cell string, slot any) error {
	if d.Number {
		cell = whole(cell)
	}
	if d.Read != nil {
		return d.Read(cell, slot)
	}
	switch slot := slot.(type) {
	case *exchange.Opt[string]:
		*slot = exchange.Some(cell)
	case *exchange.Null[string]:
		if *slot = exchange.Cleared[string](); cell != "" {
			*slot = exchange.NullOf(cell)
		}
	case *exchange.Opt[bool]:
		value, known := parseBool(cell)
		if !known {
			return errors.New("must be true or false")
		}
		*slot = exchange.Some(value)
	case *exchange.Null[exchange.Ref]:
		return fromCell(whole(cell), slot)
	case *exchange.Null[exchange.Date]:
		return fromCell(isoDate(cell), slot)
	case *exchange.Null[exchange.Names]:
		if *slot = exchange.Cleared[exchange.Names](); cell != "" {
			*slot = exchange.NullOf(exchange.Names(field.SplitItems(cell)))
		}
	}
	return nil
}

// showValue formats a value of additional_metadata for a cell; list means that the key holds a list.
func showValue(raw json.RawMessage, list bool) string {
	if raw == nil {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil { // null leaves the cell empty
		return text
	}
	var items []string
	if list && json.Unmarshal(raw, &items) == nil {
		return field.JoinItems(items)
	}
	return string(raw)
}

// readValue reads a cell that is not empty as the value of a key; f is nil for a custom field.
func readValue(cell string, f *category.Field) json.RawMessage {
	if f == nil {
		if (cell[0] == '{' || cell[0] == '[') && json.Valid([]byte(cell)) {
			return json.RawMessage(cell)
		}
		return category.Quote(cell)
	}
	switch f.Type {
	case category.List:
		items := field.SplitItems(cell)
		for i, item := range items {
			items[i] = meant(f, item)
		}
		return category.Quote(items)
	case category.Number, category.Integer:
		if f.Type == category.Integer {
			cell = whole(cell)
		}
		if json.Valid([]byte(cell)) {
			if _, err := strconv.ParseFloat(cell, 64); err == nil {
				return json.RawMessage(cell)
			}
		}
	case category.Boolean:
		if value, known := parseBool(cell); known {
			return json.RawMessage(strconv.FormatBool(value))
		}
	case category.Date:
		return category.Quote(isoDate(cell))
	}
	return category.Quote(meant(f, cell))
}

// whole returns a whole number without the ".0" that programs append which format all numbers alike, and any other text
// unchanged.
func whole(cell string) string {
	digits, zeros, ok := strings.Cut(cell, ".")
	if ok && zeros != "" && digits != "" && strings.Trim(zeros, "0") == "" && strings.Trim(digits, "0123456789") == "" {
		return digits
	}
	return cell
}

// meant returns the value of the option that a text names, or the text itself if it names none.
func meant(f *category.Field, text string) string {
	if o, ok := f.Option(text); ok {
		return o.Value
	}
	return text
}

// The range in which a number in a date column is read as a spreadsheet's day number: the days from 1954 to 2119, so
// that no year is taken for a day number.
const (
	firstSerial = 20_000
	lastSerial  = 80_000
)

// isoDate returns the date in a cell as year-month-day: the cell holds such a date with a time, or a number of days
// since the end of 1899. Any other text is returned unchanged.
func isoDate(cell string) string {
	if day, _, ok := strings.Cut(cell, " "); ok {
		if _, err := time.Parse(time.DateOnly, day); err == nil {
			return day
		}
	}
	if n, err := strconv.Atoi(cell); err == nil && n >= firstSerial && n <= lastSerial {
		return time.Date(1899, 12, 30+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	}
	return cell
}

// objectOf writes values that are already JSON as an object.
func objectOf(values map[string]json.RawMessage) json.RawMessage {
	raw := []byte{'{'}
	for key, value := range values {
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw = append(append(append(raw, category.Quote(key)...), ':'), value...)
	}
	return append(raw, '}')
}

// alike reports whether a cell equals the value that a material has, except for surrounding white space and the form of
// line ends, which spreadsheets do not preserve.
func alike(cell, shown string) bool {
	if shown == "" {
		return strings.TrimSpace(cell) == ""
	}
	return cell == shown || strings.TrimSpace(lines.Replace(cell)) == strings.TrimSpace(lines.Replace(shown))
}

var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")
