// Package sheet reads spreadsheets, CSV, XLSX and ODS, and writes the first two, as streams of rows. It knows no field
// of a material: a cell is text. Its input is untrusted, so rows, columns, cells and the unpacked size of an archive
// are limited; formulas are not evaluated.
package sheet

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// The limits of a spreadsheet.
const (
	MaxRows    = 200_000  // that are not empty, including the header
	MaxColumns = 1000     // that are not empty
	maxCell    = 64 << 10 // bytes of one cell
	maxRow     = 2 << 20  // bytes of one row, or of one text in XLSX
)

// Row is a row that is not empty.
type Row struct {
	Number int            // as spreadsheet programs show it, from 1
	Cells  []string       // up to the last one that is not empty
	Wrong  map[int]string // cells whose value cannot be determined, and why
}

// Reader reads the rows of a spreadsheet.
type Reader struct {
	Format string // "csv", "xlsx" or "ods"
	Name   string // of the sheet; "" for CSV
	Others []string
	next   func() (Row, error)
	rows   int
}

// File is a spreadsheet to read.
type File = io.ReadSeeker

// Workbook reports whether a file is XLSX or ODS, which need memory to read.
func Workbook(f File) (bool, error) {
	head, err := headOf(f)
	return bytes.HasPrefix(head, []byte("PK\x03\x04")), err
}

// headOf returns the first bytes of a file and rewinds it.
func headOf(f File) ([]byte, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return head[:n], err
}

// Open opens a spreadsheet; its content decides the format. Of an XLSX or ODS it reads the sheet called name, or the
// first that is not hidden if name is "". Errors are InvalidInput on field "file", or those of f.
func Open(f File, name string) (*Reader, error) {
	head, err := headOf(f)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		parts, err := openArchive(f)
		if err != nil {
			return nil, err
		}
		if parts.has("content.xml") {
			return openODS(parts, name)
		}
		return openXLSX(parts, name)
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return nil, unreadable("is an old Excel file (.xls) or protected by a password; save it as .xlsx without " +
			"one, or as CSV")
	case name != "":
		return nil, exchange.FieldErrors{"sheet": {"is only for XLSX and ODS; a CSV has one unnamed sheet"}}.Err()
	}
	return openCSV(f)
}

// Read returns the next row that is not empty; io.EOF after the last one.
func (r *Reader) Read() (Row, error) {
	for {
		row, err := r.next()
		if err != nil {
			return row, err
		}
		length := 0
		for i, cell := range row.Cells {
			if length += len(cell); length > maxRow {
				return row, unreadable("has a row of more than %d bytes, row %d", maxRow, row.Number)
			}
			if len(cell) > maxCell {
				return row, unreadable("has a cell of more than %d characters, in row %d, column %s", maxCell,
					row.Number, ColumnName(i))
			}
			row.Cells[i] = Undefuse(cell)
		}
		full := len(row.Cells)
		for full > 0 && strings.TrimSpace(row.Cells[full-1]) == "" && row.Wrong[full-1] == "" {
			full--
		}
		if row.Cells = row.Cells[:full]; full == 0 || strings.HasPrefix(row.Cells[0], HelpMark) {
			continue
		}
		if full > MaxColumns {
			return row, unreadable("has more than %d columns", MaxColumns)
		}
		if r.rows++; r.rows > MaxRows {
			return row, unreadable("has more than %d rows; split it into parts", MaxRows)
		}
		return row, nil
	}
}

// HelpMark begins a row that explains the columns of a template; it is skipped on reading.
const HelpMark = "#help: "

// formulaStarts are the first characters of what a spreadsheet program may take for a formula, and of the result of
// Defuse.
const formulaStarts = "=+-@\t\r\n＝＋－＠'"

// Defuse returns text in a form that no spreadsheet program takes for a formula; Undefuse reverses it.
func Defuse(text string) string {
	if strings.IndexAny(text, formulaStarts) == 0 {
		return "'" + text
	}
	return text
}

// Undefuse reverses Defuse; it returns any other text unchanged.
func Undefuse(cell string) string {
	if text, quoted := strings.CutPrefix(cell, "'"); quoted && strings.IndexAny(text, formulaStarts) == 0 {
		return text
	}
	return cell
}

// ColumnName returns the name of a column, from 0: A, B, ..., Z, AA, AB.
func ColumnName(i int) string {
	var name []byte
	for i++; i > 0; i = (i - 1) / 26 {
		name = append(name, byte('A'+(i-1)%26))
	}
	slices.Reverse(name)
	return string(name)
}

// unreadable returns the error of a spreadsheet that cannot be read.
func unreadable(format string, args ...any) error {
	var f exchange.FieldErrors
	f.Add("file", format, args...)
	return f.Err()
}

// meteredReader fails if more than left bytes are read from r; readers reset left at each step, so that no single row
// or text fills the memory.
type meteredReader struct {
	r    io.Reader
	left int
	all  *int64 // limit of the total; nil: no limit
}

func (m *meteredReader) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, unreadable("has a row or a text of more than %d bytes; a quotation mark may be missing", maxRow)
	}
	if m.all != nil && *m.all <= 0 {
		return 0, unreadable("unpacks to more than %d MiB", maxUnpacked>>20)
	}
	n, err := m.r.Read(p)
	if m.left -= n; m.all != nil {
		*m.all -= int64(n)
	}
	return n, err
}
