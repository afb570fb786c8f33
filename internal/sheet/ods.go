package sheet

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// sheetListLimit is how many bytes of an ODS are searched for the names of its sheets.
const sheetListLimit = 16 << 20

// ods reads a sheet of an ODS: a ZIP whose part content.xml has all sheets one after the other (OpenDocument 1.3, part
// 3, section 9).
type ods struct {
	*part
	last int // the number of the previous row
	row  Row // that is repeated
	more int // remaining repetitions
	over bool
}

func openODS(parts archive, name string) (*Reader, error) {
	manifest, err := parts.open("META-INF/manifest.xml")
	if err != nil {
		return nil, err
	}
	err = manifest.each(func(e xml.StartElement) error {
		if e.Name.Local == "encryption-data" {
			return unreadable("is protected by a password; save it without one")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sheets, err := parts.odsSheets()
	if err != nil {
		return nil, err
	}
	r := &Reader{Format: "ods", Name: name}
	for _, s := range sheets {
		if r.Name == "" && !s.hidden {
			r.Name = s.name
		}
	}
	for _, s := range sheets {
		if s.name != r.Name {
			r.Others = append(r.Others, s.name)
		}
	}
	content, err := parts.open("content.xml")
	if err != nil {
		return nil, err
	}
	found := false
	for t := (xml.Token)(nil); !found; {
		if t, err = content.token(); err != nil {
			return nil, err
		}
		if t == nil {
			break
		}
		e, begins := t.(xml.StartElement)
		found = begins && e.Name.Local == "table" && attribute(e, "name") == r.Name
	}
	switch {
	case len(sheets) == 0:
		return nil, unreadable("is not an ODS file with a sheet")
	case !found:
		return nil, exchange.FieldErrors{"sheet": {"must be one of " + strings.Join(r.Others, ", ")}}.Err()
	}
	r.next = (&ods{part: content}).next
	return r, nil
}

// odsSheets lists the sheets at the beginning of an ODS, which in most files are all.
func (a archive) odsSheets() ([]worksheet, error) {
	content, err := a.open("content.xml")
	if err != nil {
		return nil, err
	}
	var list []worksheet
	hidden, style, depth := map[string]bool{}, "", 0
	for content.InputOffset() < sheetListLimit {
		t, err := content.token()
		if err != nil || t == nil {
			return list, err
		}
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "style":
				style = attribute(e, "name")
			case "table-properties":
				if attribute(e, "display") == "false" && len(hidden) < maxStyles {
					hidden[style] = true
				}
			case "table":
				if depth++; depth == 1 && len(list) < maxSheets {
					list = append(list, worksheet{name: attribute(e, "name"),
						hidden: hidden[attribute(e, "style-name")]})
				}
			}
		case xml.EndElement:
			if e.Name.Local == "table" {
				depth--
			}
		}
	}
	return list, nil
}

// next returns the next row.
func (o *ods) next() (Row, error) {
	if o.more > 0 {
		o.more--
		o.last++
		again := o.row
		again.Number, again.Cells = o.last, slices.Clone(o.row.Cells)
		return again, nil
	}
	for !o.over {
		t, err := o.token()
		if err != nil {
			return Row{}, err
		}
		switch t := t.(type) {
		case nil:
			return Row{}, incompleteArchive()
		case xml.StartElement:
			if t.Name.Local == "table-row" {
				return o.read(repeated(t, "number-rows-repeated"))
			}
			if t.Name.Local == "table" || t.Name.Local == "shapes" {
				if err := o.skip(); err != nil {
					return Row{}, err
				}
			}
		case xml.EndElement:
			o.over = t.Name.Local == "table"
		}
	}
	return Row{}, io.EOF
}

// repeated returns how often a row or a cell is repeated.
func repeated(e xml.StartElement, name string) int {
	n, err := strconv.Atoi(attribute(e, name))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, 1<<20)
}

// skip reads to the end of the current element.
func (p *part) skip() error {
	for depth := 1; depth > 0; {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t.(type) {
		case nil:
			return incompleteArchive()
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

// read reads a row that is repeated times times to its end.
func (o *ods) read(times int) (Row, error) {
	row := Row{Number: o.last + 1}
	place := 0 // of the next cell; empty ones before it are only counted
	for {
		t, err := o.token()
		if err != nil {
			return row, err
		}
		switch t := t.(type) {
		case nil:
			return row, incompleteArchive()
		case xml.EndElement:
			if o.last = row.Number; len(row.Cells) == 0 {
				o.last += times - 1
			} else {
				o.row, o.more = Row{Cells: slices.Clone(row.Cells), Wrong: row.Wrong}, times-1
			}
			return row, nil
		case xml.StartElement:
			text, why := "", ""
			if t.Name.Local == "table-cell" {
				text, why, err = o.cell(t)
			} else {
				err = o.skip()
			}
			if err != nil {
				return row, err
			}
			n := repeated(t, "number-columns-repeated")
			if text != "" || why != "" {
				if place+n > maxPlaces {
					return row, unreadable("has more than %d columns", MaxColumns)
				}
				row.put(place, n, text, why)
			}
			place += n
		}
	}
}

// put sets n cells from place on to a value.
func (r *Row) put(place, n int, text, why string) {
	for len(r.Cells) < place {
		r.Cells = append(r.Cells, "")
	}
	for range n {
		if why != "" {
			if r.Wrong == nil {
				r.Wrong = map[int]string{}
			}
			r.Wrong[len(r.Cells)] = why
		}
		r.Cells = append(r.Cells, text)
	}
}

// cell reads a cell to its end: its value in the same form as from XLSX, or why it has none.
func (o *ods) cell(e xml.StartElement) (text, why string, err error) {
	shown, err := o.shown()
	if err != nil {
		return "", "", err
	}
	kind := attribute(e, "value-type")
	for _, a := range e.Attr { // of LibreOffice, which otherwise types errors as text
		if a.Name.Local == "value-type" && a.Value == "error" {
			kind = "error"
		}
	}
	switch kind {
	case "error":
		return shown, "holds the error " + shown, nil
	case "float", "percentage", "currency":
		n, err := strconv.ParseFloat(attribute(e, "value"), 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return "", "is not a number", nil
		}
		return number(n), "", nil
	case "boolean":
		return attribute(e, "boolean-value"), "", nil
	case "date":
		day, clock, _ := strings.Cut(attribute(e, "date-value"), "T")
		return strings.TrimSuffix(day+" "+strings.TrimSuffix(clock, "00:00:00"), " "), "", nil
	case "time":
		if m := timeValue.FindStringSubmatch(attribute(e, "time-value")); m != nil {
			return m[1] + ":" + m[2] + ":" + m[3], "", nil
		}
	case "string":
		for _, a := range e.Attr {
			if a.Name.Local == "string-value" {
				return a.Value, "", nil
			}
		}
	}
	if shown == "" && kind == "" && attribute(e, "formula") != "" {
		why = "is a formula whose value is not in the file; open it in a spreadsheet program and save it"
	}
	return shown, why, nil
}

var timeValue = regexp.MustCompile(`^PT(\d\d)H(\d\d)M(\d\d)(?:[.,]\d+)?S$`)

// shown reads the paragraphs of a cell to the end of the cell, without notes and drawings.
func (p *part) shown() (string, error) {
	var text strings.Builder
	paragraphs, inside := 0, false
	for depth := 1; ; {
		t, err := p.token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case nil:
			return "", incompleteArchive()
		case xml.StartElement:
			depth++
			switch name := t.Name.Local; {
			case depth == 2 && name == "p":
				if paragraphs++; paragraphs > 1 {
					text.WriteByte('\n')
				}
				inside = true
			case !inside || name == "annotation" || name == "note":
				if err := p.skip(); err != nil {
					return "", err
				}
				depth--
			case name == "s":
				n := repeated(t, "c")
				if n > maxCell {
					return "", unreadable("has a text of more than %d bytes", maxRow)
				}
				text.WriteString(strings.Repeat(" ", n))
			case name == "tab":
				text.WriteByte('\t')
			case name == "line-break":
				text.WriteByte('\n')
			}
		case xml.EndElement:
			if depth--; depth == 0 {
				return text.String(), nil
			}
			inside = inside && depth > 1
		case xml.CharData:
			if inside {
				text.Write(t)
			}
		}
		if text.Len() > maxRow {
			return "", unreadable("has a text of more than %d bytes", maxRow)
		}
	}
}
