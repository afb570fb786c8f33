package sheet

import (
	"encoding/xml"
	"io"
	"path"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// The limits of the parts of an XLSX.
const (
	maxSheets = 10_000
	maxStyles = 1 << 16
)

// book is an open XLSX (ECMA-376).
type book struct {
	archive
	texts texts  // the shared strings
	dates []bool // styles that show a number as a date or time
	from  dateSystem
}

func openXLSX(parts archive, name string) (*Reader, error) {
	b := &book{archive: parts}
	sheets, err := b.sheets()
	if err != nil {
		return nil, err
	}
	r := &Reader{Format: "xlsx"}
	var chosen *worksheet
	for i, s := range sheets {
		if chosen == nil && (s.name == name || name == "" && !s.hidden) {
			chosen = &sheets[i]
			continue
		}
		r.Others = append(r.Others, s.name)
	}
	if chosen == nil {
		return nil, exchange.FieldErrors{"sheet": {"must be one of " + strings.Join(r.Others, ", ")}}.Err()
	}
	r.Name = chosen.name
	if b.texts.part, err = b.open("xl/sharedStrings.xml"); err != nil {
		return nil, err
	}
	if err := b.readStyles(); err != nil {
		return nil, err
	}
	rows, err := b.open(chosen.part)
	if err != nil {
		return nil, err
	}
	last := 0
	r.next = func() (Row, error) { return b.row(rows, &last) }
	return r, nil
}

type worksheet struct {
	name, part string
	hidden     bool
}

// sheets returns the sheets of the workbook in its order.
func (b *book) sheets() ([]worksheet, error) {
	targets := map[string]string{}
	relations, err := b.open("xl/_rels/workbook.xml.rels")
	if err != nil {
		return nil, err
	}
	err = relations.each(func(e xml.StartElement) error {
		if e.Name.Local == "Relationship" && len(targets) < maxSheets {
			target := attribute(e, "Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join("/xl", target)
			}
			targets[attribute(e, "Id")] = strings.TrimPrefix(path.Clean(target), "/")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []worksheet
	workbook, err := b.open("xl/workbook.xml")
	if err != nil {
		return nil, err
	}
	err = workbook.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			if v := attribute(e, "date1904"); v == "1" || v == "true" {
				b.from = since1904
			}
		case "sheet":
			s := worksheet{attribute(e, "name"), targets[relation(e)], attribute(e, "state") != "" &&
				attribute(e, "state") != "visible"}
			if b.has(s.part) && len(list) < maxSheets {
				list = append(list, s)
			}
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = unreadable("is not an XLSX file with a sheet")
	}
	return list, err
}

// text returns the text of the elements t up to the end of an element, without phonetic hints.
func (p *part) text(end string) (string, error) {
	var text strings.Builder
	inText, phonetic := false, false
	for {
		t, err := p.token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case nil:
			return "", incompleteArchive()
		case xml.StartElement:
			inText = t.Name.Local == "t"
			phonetic = phonetic || t.Name.Local == "rPh"
		case xml.EndElement:
			if t.Name.Local == end {
				return unescape(text.String()), nil
			}
			inText = false
			phonetic = phonetic && t.Name.Local != "rPh"
		case xml.CharData:
			if inText && !phonetic {
				if text.Len() > maxRow {
					return "", unreadable("has a text of more than %d bytes", maxRow)
				}
				text.Write(t)
			}
		}
	}
}

// unescape reverses the escapes such as _x000D_, by which XLSX writes characters that XML cannot represent.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i+7 <= len(s) && s[i] == '_' && s[i+1] == 'x' && s[i+6] == '_' {
			if n, err := strconv.ParseUint(s[i+2:i+6], 16, 16); err == nil && n != 0 && (n < 0xd800 || n > 0xdfff) {
				b.WriteRune(rune(n))
				i += 6
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// readStyles finds the styles that show a number as a date.
func (b *book) readStyles() error {
	p, err := b.open("xl/styles.xml")
	if err != nil {
		return err
	}
	formats, inCells := map[string]bool{}, false
	return p.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			if len(formats) < maxStyles {
				formats[attribute(e, "numFmtId")] = showsDate(attribute(e, "formatCode"))
			}
		case "cellXfs":
			inCells = true
		case "cellStyles", "dxfs":
			inCells = false
		case "xf":
			if inCells && len(b.dates) < maxStyles {
				id := attribute(e, "numFmtId")
				date, own := formats[id]
				if !own {
					date = dateFormat(id)
				}
				b.dates = append(b.dates, date)
			}
		}
		return nil
	})
}

// row returns the next row of a sheet; last is the number of the previous one.
func (b *book) row(p *part, last *int) (Row, error) {
	var row Row
	for inside := false; ; {
		t, err := p.token()
		if err != nil {
			return row, err
		}
		switch t := t.(type) {
		case nil:
			return row, io.EOF
		case xml.StartElement:
			switch {
			case t.Name.Local == "row":
				inside = true
				row = Row{Number: *last + 1}
				if n, err := strconv.Atoi(attribute(t, "r")); err == nil && n > *last && n <= 1<<20 {
					row.Number = n
				}
				*last = row.Number
			case inside && t.Name.Local == "c":
				if err := b.cell(p, t, &row); err != nil {
					return row, err
				}
			}
		case xml.EndElement:
			if inside && t.Name.Local == "row" {
				return row, nil
			}
			if t.Name.Local == "sheetData" {
				return row, io.EOF
			}
		}
	}
}
