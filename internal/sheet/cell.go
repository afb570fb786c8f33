package sheet

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
)

// maxPlaces is how many columns a sheet of Excel has.
const maxPlaces = 16384

func (b *book) cell(p *part, e xml.StartElement, row *Row) error {
	place := len(row.Cells)
	if n, ok := columnOf(attribute(e, "r")); ok && n >= place {
		place = n
	}
	if place >= maxPlaces {
		return unreadable("has more than %d columns", MaxColumns)
	}
	value, unknown, err := p.value()
	if err != nil {
		return err
	}
	text, why, err := b.read(attribute(e, "t"), attribute(e, "s"), value)
	if err != nil {
		return err
	}
	if unknown {
		why = "is a formula whose value is not in the file; open it in a spreadsheet program and save it"
	}
	if text == "" && why == "" {
		return nil
	}
	for len(row.Cells) <= place {
		row.Cells = append(row.Cells, "")
	}
	row.Cells[place] = text
	if why != "" {
		if row.Wrong == nil {
			row.Wrong = map[int]string{}
		}
		row.Wrong[place] = why
	}
	return nil
}

// value reads a cell to its end: the text of its v, or of its is; unknown: it has a formula and no v.
func (p *part) value() (value string, unknown bool, err error) {
	in, formula, known := "", false, false
	for {
		t, err := p.token()
		if err != nil {
			return "", false, err
		}
		switch t := t.(type) {
		case nil:
			return "", false, incompleteArchive()
		case xml.StartElement:
			if in = t.Name.Local; in == "is" {
				if value, err = p.text("is"); err != nil {
					return "", false, err
				}
			}
			formula, known = formula || in == "f", known || in == "v"
		case xml.EndElement:
			if t.Name.Local == "c" {
				return value, formula && !known, nil
			}
			in = ""
		case xml.CharData:
			if in == "v" && len(value) <= maxCell {
				value += string(t)
			}
		}
	}
}

// read returns the text of a cell of a type and style, or why it has none.
func (b *book) read(kind, style, value string) (text, why string, err error) {
	if kind != "s" {
		text, why = b.plain(kind, style, value)
		return text, why, nil
	}
	n, err := strconv.Atoi(value)
	known := err == nil && n >= 0
	if known {
		if text, known, err = b.texts.at(n); err != nil {
			return "", "", err
		}
	}
	if !known {
		why = "refers to text that is not in the file"
	}
	return text, why, nil
}

// plain reads a cell that contains its value itself.
func (b *book) plain(kind, style, value string) (text, why string) {
	switch kind {
	case "inlineStr":
		return value, ""
	case "str":
		return unescape(value), ""
	case "b":
		return map[string]string{"1": "true", "0": "false"}[value], ""
	case "e":
		return value, "holds the error " + value
	case "d":
		return strings.TrimSuffix(value, "T00:00:00"), ""
	}
	if value == "" {
		return "", ""
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return "", "is not a number"
	}
	if s, err := strconv.Atoi(style); err == nil && s >= 0 && s < len(b.dates) && b.dates[s] {
		if date, ok := b.from.date(n); ok {
			return date, ""
		}
	}
	return number(n), ""
}

// number formats a number as spreadsheet programs do: 15 digits, without an exponent if it has no more digits than
// that.
func number(n float64) string {
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64); err == nil {
		n = rounded
	}
	if a := math.Abs(n); a != 0 && (a >= 1e15 || a < 1e-9) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// columnOf returns the column of a cell such as B7, from 0.
func columnOf(cell string) (int, bool) {
	n := 0
	for i, c := range cell {
		if c < 'A' || c > 'Z' {
			return n - 1, i > 0
		}
		if n = n*26 + int(c-'A') + 1; n > maxPlaces {
			return maxPlaces, true
		}
	}
	return 0, false
}
