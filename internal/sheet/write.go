package sheet

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"aliquot/internal/exchange/material"
)

// bookParts are the parts of an XLSX with one sheet, except the sheet (ECMA-376).
var bookParts = [][2]string{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default ` +
		`Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default ` +
		`Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override ` +
		`PartName="/xl/worksheets/sheet1.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" ` +
		`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" ` +
		`Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet ` +
		`name="Materials" ` +
		`sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels",
		`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" ` +
			`Target="worksheets/sheet1.xml"/></Relationships>`},
}

const (
	sheetBegins = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews>` +
		`<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>` +
		`</sheetView></sheetViews><sheetData>`
	sheetEnds = `</sheetData></worksheet>`
)

// xlsxWriter streams one sheet, because excelize would hold all of it in memory.
type xlsxWriter struct {
	archive *zip.Writer
	*bufio.Writer
	rows int
}

func newXLSX(out io.Writer) (Writer, error) {
	w := &xlsxWriter{archive: zip.NewWriter(out)}
	for _, part := range bookParts {
		file, err := w.archive.Create(part[0])
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(file, xml.Header+part[1]); err != nil {
			return nil, err
		}
	}
	file, err := w.archive.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, err
	}
	w.Writer = bufio.NewWriterSize(file, 64<<10)
	_, err = w.WriteString(xml.Header + sheetBegins)
	return w, err
}

func (w *xlsxWriter) Write(cells []string) error {
	w.rows++
	number := strconv.Itoa(w.rows)
	_, _ = w.WriteString(`<row r="` + number + `">`) // bufio reports an error at the end
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		_, _ = w.WriteString(`<c r="` + ColumnName(i) + number + `" t="inlineStr"><is><t xml:space="preserve">`)
		if err := xml.EscapeText(w.Writer, []byte(escape(shortenToCell(Defuse(cell))))); err != nil {
			return err
		}
		_, _ = w.WriteString("</t></is></c>")
	}
	_, err := w.WriteString("</row>")
	return err
}

func (w *xlsxWriter) Close() error {
	if _, err := w.WriteString(sheetEnds); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return w.archive.Close()
}

// escaped matches the characters that XML cannot represent, and what unescape would take for one of them.
var escaped = regexp.MustCompile("[\x00-\x08\x0b\x0c\r\x0e-\x1f\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")

// escape escapes characters that XML cannot represent; unescape reverses it.
func escape(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(found string) string {
		if strings.HasPrefix(found, "_") {
			return "_x005F" + found
		}
		return fmt.Sprintf("_x%04X_", []rune(found)[0])
	})
}

// maxInCell is how many UTF-16 code units a cell of Excel holds.
const maxInCell = 32767

// shortenToCell shortens a text to what a cell can hold.
func shortenToCell(text string) string {
	if len(text) > maxInCell && len(utf16.Encode([]rune(text))) > maxInCell {
		return material.TooLong
	}
	return text
}
