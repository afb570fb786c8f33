package sheet

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// The bounds of what an XLSX unpacks to.
const (
	mostUnpacked = 512 << 20 // bytes of one part
	mostParts    = 10_000
	mostStrings  = 64 << 20 // bytes of all texts that cells share
	mostShared   = 2_000_000
	mostStyles   = 1 << 16
)

// book is an XLSX that is open: a ZIP of XML parts (ECMA-376).
type book struct {
	parts   map[string]*zip.File
	strings []string // that cells share
	dates   []bool   // styles that show a number as a date or time
	from    dateSystem
}

func openXLSX(f File, name string) (*Reader, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(at{f}, size)
	if err != nil || len(archive.File) > mostParts {
		return nil, wrong("is not a whole XLSX file")
	}
	b := &book{parts: map[string]*zip.File{}}
	for _, part := range archive.File {
		b.parts[strings.ToLower(strings.TrimPrefix(part.Name, "/"))] = part
	}
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
		return nil, exchange.Faults{"sheet": {"must be one of " + strings.Join(r.Others, ", ")}}.Err()
	}
	r.Name = chosen.name
	if err := b.readStrings(); err != nil {
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

// at reads a File at any place. Only one part of the archive is read at a time.
type at struct{ File }

func (a at) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := a.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(a.File, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// part is one XML part that is read.
type part struct {
	*xml.Decoder
	input *metered
}

// open begins to read a part; one that is missing is nil.
func (b *book) open(name string) (*part, error) {
	file := b.parts[strings.ToLower(name)]
	if file == nil {
		return nil, nil
	}
	content, err := file.Open()
	if err != nil {
		return nil, wrong("is not a whole XLSX file")
	}
	input := &metered{r: content, all: mostUnpacked}
	return &part{xml.NewDecoder(input), input}, nil
}

// token gives the next token; nil at the end of the part.
func (p *part) token() (xml.Token, error) {
	p.input.left = mostRow
	t, err := p.RawToken()
	switch _, ours := errors.AsType[*exchange.Error](err); {
	case err == nil || ours:
		return t, err
	case errors.Is(err, io.EOF):
		return nil, nil
	}
	return nil, wrong("is not a whole XLSX file")
}

// each calls do with each element that begins.
func (p *part) each(do func(xml.StartElement) error) error {
	for p != nil {
		t, err := p.token()
		if err != nil || t == nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok {
			if err := do(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relation is the attribute r:id, which names a part.
func relation(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

type worksheet struct {
	name, part string
	hidden     bool
}

// sheets lists the sheets of the workbook in its order.
func (b *book) sheets() ([]worksheet, error) {
	targets := map[string]string{}
	relations, err := b.open("xl/_rels/workbook.xml.rels")
	if err != nil {
		return nil, err
	}
	err = relations.each(func(e xml.StartElement) error {
		if e.Name.Local == "Relationship" && len(targets) < mostParts {
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
			s := worksheet{attribute(e, "name"), targets[relation(e)], attribute(e, "state") != "" && attribute(e, "state") != "visible"}
			if b.parts[strings.ToLower(s.part)] != nil && len(list) < mostParts {
				list = append(list, s)
			}
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = wrong("is not an XLSX file with a sheet")
	}
	return list, err
}

func (b *book) readStrings() error {
	p, err := b.open("xl/sharedStrings.xml")
	if err != nil || p == nil {
		return err
	}
	total := 0
	for {
		t, err := p.token()
		if err != nil || t == nil {
			return err
		}
		if e, ok := t.(xml.StartElement); !ok || e.Name.Local != "si" {
			continue
		}
		text, err := p.text("si")
		if err != nil {
			return err
		}
		if total += len(text); total > mostStrings || len(b.strings) == mostShared {
			return wrong("has more than %d MiB of texts, or %d of them", mostStrings>>20, mostShared)
		}
		b.strings = append(b.strings, text)
	}
}

// text gives the text of the elements t up to the end of an element, without what shows how to
// pronounce it.
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
			return "", wrong("is not a whole XLSX file")
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
				if text.Len() > mostRow {
					return "", wrong("has a text of more than %d bytes", mostRow)
				}
				text.Write(t)
			}
		}
	}
}

// unescape takes back _x000D_, by which XLSX writes characters that XML has not.
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
			if len(formats) < mostStyles {
				formats[attribute(e, "numFmtId")] = showsDate(attribute(e, "formatCode"))
			}
		case "cellXfs":
			inCells = true
		case "cellStyles", "dxfs":
			inCells = false
		case "xf":
			if inCells && len(b.dates) < mostStyles {
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

// row gives the next row of a sheet; last is the number of the one before.
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

// mostPlaces is how many columns a sheet of Excel has.
const mostPlaces = 16384

func (b *book) cell(p *part, e xml.StartElement, row *Row) error {
	place := len(row.Cells)
	if n, ok := columnOf(attribute(e, "r")); ok && n >= place {
		place = n
	}
	if place >= mostPlaces {
		return wrong("has more than %d columns", MostColumns)
	}
	value, formula, err := p.value()
	if err != nil {
		return err
	}
	text, why := b.read(attribute(e, "t"), attribute(e, "s"), value)
	if formula && value == "" && attribute(e, "t") != "str" {
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

// value reads a cell to its end: the text of its v, or of its is.
func (p *part) value() (value string, formula bool, err error) {
	in := ""
	for {
		t, err := p.token()
		if err != nil {
			return "", false, err
		}
		switch t := t.(type) {
		case nil:
			return "", false, wrong("is not a whole XLSX file")
		case xml.StartElement:
			if in = t.Name.Local; in == "is" {
				if value, err = p.text("is"); err != nil {
					return "", false, err
				}
			}
			formula = formula || in == "f"
		case xml.EndElement:
			if t.Name.Local == "c" {
				return value, formula, nil
			}
			in = ""
		case xml.CharData:
			if in == "v" && len(value) <= mostCell {
				value += string(t)
			}
		}
	}
}

// read gives the text of a cell of a type and style, or why there is none.
func (b *book) read(kind, style, value string) (text, why string) {
	switch kind {
	case "s":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n >= len(b.strings) {
			return "", "names a text that is not in the file"
		}
		return b.strings[n], ""
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

// number writes a number as spreadsheet programs show it: 15 digits, without an exponent where it has
// no more digits than that.
func number(n float64) string {
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64); err == nil {
		n = rounded
	}
	if a := math.Abs(n); a != 0 && (a >= 1e15 || a < 1e-9) {
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// columnOf is the column of a cell such as B7, from 0.
func columnOf(cell string) (int, bool) {
	n := 0
	for i, c := range cell {
		if c < 'A' || c > 'Z' {
			return n - 1, i > 0
		}
		if n = n*26 + int(c-'A') + 1; n > mostPlaces {
			return mostPlaces, true
		}
	}
	return 0, false
}
