package institutions

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/sheet"
)

// signatoryRow is a row of a list of signatories, by column.
type signatoryRow struct {
	number int
	cells  map[string]string
	wrong  map[string]string
}

// readSignatories reads a list of signatories.
func (a Institutions) readSignatories(ctx context.Context, who exchange.Actor, content []byte) ([]signatoryRow, error) {
	file := bytes.NewReader(content)
	leave, err := a.Books.ForCaller(ctx, who.ID, file)
	if err != nil {
		return nil, err
	}
	defer leave()
	return parseSignatories(file)
}

// parseSignatories parses the spreadsheet of a list of signatories.
func parseSignatories(file *bytes.Reader) ([]signatoryRow, error) {
	r, err := sheet.Open(file, "")
	if err != nil {
		return nil, err
	}
	head, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil, core.FieldError("file", "is empty; its first row has the columns %s",
			strings.Join(signatoryColumns, ", "))
	} else if err != nil {
		return nil, err
	}
	columns, err := signatoryHeads(head)
	if err != nil {
		return nil, err
	}
	var rows []signatoryRow
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return nil, err
		}
		if len(rows) == maxSignatories {
			return nil, core.FieldError("file", "has more than %d rows; split it into parts", maxSignatories)
		}
		one := signatoryRow{number: row.Number, cells: map[string]string{}, wrong: map[string]string{}}
		for i, cell := range row.Cells {
			if i < len(columns) && columns[i] != "" {
				one.cells[columns[i]] = exchange.Tidy(cell)
			}
		}
		for i, why := range row.Wrong {
			if i < len(columns) {
				one.wrong[columns[i]] = why
			}
		}
		rows = append(rows, one)
	}
}

// signatoryHeads returns the column of each header.
func signatoryHeads(head sheet.Row) (columns []string, err error) {
	var f exchange.FieldErrors
	for i, cell := range head.Cells {
		name := strings.ReplaceAll(strings.ToLower(exchange.Tidy(cell)), " ", "_")
		switch {
		case name == "":
		case !slices.Contains(signatoryColumns, name):
			f.Add("file", "has the unknown column %s, %q; the columns are %s", sheet.ColumnName(i), cell,
				strings.Join(signatoryColumns, ", "))
		case slices.Contains(columns, name):
			f.Add("file", "has the column %s twice", name)
		}
		columns = append(columns, name)
	}
	for _, needed := range []string{institutionColumn, "family", "signed_on"} {
		if !slices.Contains(columns, needed) {
			f.Add("file", "has no column %s", needed)
		}
	}
	return columns, f.Err()
}
