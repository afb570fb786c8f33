package sheet_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/sheet"

	"github.com/xuri/excelize/v2"
	"pgregory.net/rapid"
)

// read returns the cells of every row, and the numbers of the rows.
func read(content []byte, name string) (rows [][]string, numbers []int, err error) {
	r, err := sheet.Open(bytes.NewReader(content), name)
	if err != nil {
		return nil, nil, err
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			if _, err := r.Read(); !errors.Is(err, io.EOF) {
				return rows, numbers, fmt.Errorf("after the end: %w", err)
			}
			return rows, numbers, nil
		}
		if err != nil {
			return rows, numbers, err
		}
		rows, numbers = append(rows, row.Cells), append(numbers, row.Number)
	}
}

func TestCSV_IsReadInEveryEncodingAndDialect(t *testing.T) {
	t.Parallel()
	want := [][]string{{"title", "notes"}, {"HeLa", "a, b; c\n\"d\""}, {"=1", ""}}
	for what, text := range map[string]string{
		"with commas":                "title,notes\nHeLa,\"a, b; c\n\"\"d\"\"\"\n'=1\n",
		"with semicolons":            "title;notes\r\nHeLa;\"a, b; c\r\n\"\"d\"\"\"\r\n'=1;\r\n",
		"with tabs":                  "title\tnotes\nHeLa\t\"a, b; c\n\"\"d\"\"\"\n'=1\n",
		"with a mark":                "\ufefftitle,notes\nHeLa,\"a, b; c\n\"\"d\"\"\"\n'=1",
		"with a line for Excel":      "sep=;\r\ntitle;notes\r\nHeLa;\"a, b; c\r\n\"\"d\"\"\"\r\n'=1;\r\n",
		"with a quoted line for it":  "\ufeff\"sep=|\"\ntitle|notes\nHeLa|\"a, b; c\n\"\"d\"\"\"\n'=1|\n",
		"with a line that says tabs": "sep=\\t\ntitle\tnotes\nHeLa\t\"a, b; c\n\"\"d\"\"\"\n'=1\n",
		"in UTF-16, little end first": inUTF16(binary.LittleEndian,
			"title\tnotes\r\nHeLa\t\"a, b; c\r\n\"\"d\"\"\"\r\n'=1\r\n"),
		"in UTF-16, big end first": inUTF16(binary.BigEndian,
			"sep=,\ntitle,notes\nHeLa,\"a, b; c\n\"\"d\"\"\"\n'=1\n"),
		"with empty rows and columns": "title,notes,,\n,,,\nHeLa,\"a, b; c\n\"\"d\"\"\", ,\n\n'=1,,,\n,,\n",
	} {
		rows, _, err := read([]byte(text), "")
		for i := range rows {
			rows[i] = append(rows[i], make([]string, 2-len(rows[i]))...)
		}
		if err != nil || fmt.Sprintf("%q", rows) != fmt.Sprintf("%q", want) {
			t.Errorf("%s: %q, %v", what, rows, err)
		}
	}
}

// inUTF16 is a text with the mark of its encoding.
func inUTF16(order binary.AppendByteOrder, text string) string {
	content := order.AppendUint16(nil, 0xfeff)
	for _, unit := range utf16.Encode([]rune(text)) {
		content = order.AppendUint16(content, unit)
	}
	return string(content)
}

func TestCSV_RowNumbersAreThoseOfASpreadsheet(t *testing.T) {
	t.Parallel()
	_, numbers, err := read([]byte("a,b\n\"1\n2\n3\",x\n,\n\nc,d\n"), "")
	if err != nil || !slices.Equal(numbers, []int{1, 2, 5}) {
		t.Errorf("%v, %v", numbers, err)
	}
}

func TestOpen_RefusesWhatIsNotASpreadsheet(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ content, say string }{
		"half of UTF-16":   {"\xff\xfet\x00i", "UTF-16"},
		"UTF-16 unmarked":  {"t\x00i\x00\n\x00", "UTF-16"},
		"Latin 1":          {"title\nK\xf6ln\n", "UTF-8"},
		"a picture":        {"\x89PNG\r\n\x1a\n\x00\x00\x00", "neither CSV in UTF-8 or UTF-16 nor XLSX"},
		"old Excel":        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ".xls"},
		"a broken archive": {"PK\x03\x04 and no more", "not a complete XLSX"},
		"another archive":  {archive(t, map[string]string{"word/document.xml": "<w/>"}), "XLSX"},
		"an open quote":    {"title\n\"" + strings.Repeat("a,b\n", 1<<20), "quotation mark"},
		"a bad quote":      {"title\na \"b\" c\n", "line 2"},
		"a long cell":      {"title\n" + strings.Repeat("x", 1<<17) + "\n", "row 2, column A"},
		"many columns":     {strings.Repeat("x,", sheet.MaxColumns+1) + "\n", "columns"},
		"many rows":        {strings.Repeat("x\n", sheet.MaxRows+1), "rows"},
	} {
		_, _, err := read([]byte(c.content), "")
		if exchange.CodeOf(err) != exchange.InvalidInput || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// archive is a ZIP of some parts.
func archive(t testing.TB, parts map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range parts {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// workbook is an XLSX of one sheet and these further parts.
func workbook(t testing.TB, rows string, more map[string]string) string {
	t.Helper()
	parts := map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="r"><sheets><sheet name="S" r:id="x"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="x" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   "<worksheet><sheetData>" + rows + "</sheetData></worksheet>",
	}
	for name, text := range more {
		parts[name] = text
	}
	return archive(t, parts)
}

func TestXLSX_RefusesHostileWorkbooks(t *testing.T) {
	t.Parallel()
	cell := `<row r="1"><c r="A1" t="inlineStr"><is><t>%s</t></is></c></row>`
	shared := `<row r="1"><c r="A1" t="s"><v>70</v></c></row>` // texts are read as far as a cell needs them
	for what, content := range map[string]string{
		"a text that fills the memory": workbook(t, fmt.Sprintf(cell, strings.Repeat("a", 64<<20)), nil),
		"a text in many runs":          workbook(t, fmt.Sprintf(cell, strings.Repeat("aaaa</t><t>", 4<<20)), nil),
		"entities that grow": workbook(t, fmt.Sprintf(cell, "&b;"),
			map[string]string{"xl/sharedStrings.xml": `<!DOCTYPE sst [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sst><si><t>&b;</t></si></sst>`}),
		"shared texts that fill the memory": workbook(t, shared, map[string]string{
			"xl/sharedStrings.xml": "<sst>" + strings.Repeat("<si><t>"+strings.Repeat("a", 1<<20)+"</t></si>", 65) +
				"</sst>"}),
		"a column far out": workbook(t, `<row r="1"><c r="ZZZZZZZ1"><v>1</v></c></row>`, nil),
		"an end too early": workbook(t, `<row r="1"><c r="A1"><v>1</v>`, nil),
		"another encoding": workbook(t, shared,
			map[string]string{"xl/sharedStrings.xml": `<?xml version="1.0" encoding="UTF-7"?><sst/>`}),
	} {
		began := time.Now()
		_, _, err := read([]byte(content), "")
		if exchange.CodeOf(err) != exchange.InvalidInput || time.Since(began) > 20*time.Second {
			t.Errorf("%s: %v after %s", what, err, time.Since(began))
		}
	}
	rows, _, err := read([]byte(workbook(t,
		`<row r="1"><c r="A1" t="s"><v>7</v></c></row><row r="9999999"><c><v>1E3</v></c></row><row r="2"><c r="B2"><v>x</v></c></row>`, nil)), "")
	if err != nil || len(rows) != 3 {
		t.Errorf("odd numbers: %q, %v", rows, err)
	}
}

func TestXLSX_CellsAreReadAsShown(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	defer f.Close()
	day, err := f.NewStyle(&excelize.Style{NumFmt: 14})
	if err != nil {
		t.Fatal(err)
	}
	own, err := f.NewStyle(&excelize.Style{CustomNumFmt: new(`dd"."mm"."yyyy`)})
	if err != nil {
		t.Fatal(err)
	}
	percent, err := f.NewStyle(&excelize.Style{CustomNumFmt: new(`0.00" days"`)})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 2, 18, 0, 0, 0, 0, time.UTC)
	for cell, value := range map[string]any{"A1": "text", "B1": "000123", "C1": 7e5, "D1": 0.1 + 0.2, "E1": true,
		"F1": at, "G1": at, "H1": 46071,
		"I1": "a\r\nb", "J1": "_x000D_", "K1": -80.5, "L1": 1e21, "M1": 12.5, "N1": at.Add(90 * time.Minute),
		"O1": " kept "} {
		if err := f.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
	}
	for cell, style := range map[string]int{"F1": day, "G1": own, "M1": percent, "N1": day} {
		if err := f.SetCellStyle("Sheet1", cell, cell, style); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.SetCellFormula("Sheet1", "A2", "1+1"), f.MergeCell("Sheet1", "B3", "C4"),
		f.SetCellValue("Sheet1", "B3", "merged")); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	r, err := sheet.Open(bytes.NewReader(b.Bytes()), "")
	if err != nil {
		t.Fatal(err)
	}
	row, err := r.Read()
	want := []string{"text", "000123", "700000", "0.3", "true", "2026-02-18", "2026-02-18", "46071", "a\r\nb", "\r",
		"-80.5", "1e+21", "12.5", "2026-02-18 01:30:00", " kept "}
	if err != nil || !slices.Equal(row.Cells, want) {
		t.Errorf("%q, want %q: %v", row.Cells, want, err)
	}
	if row, err = r.Read(); err != nil || row.Number != 2 || !strings.Contains(row.Wrong[0], "formula") {
		t.Errorf("a formula without a value: %+v, %v", row, err)
	}
	if row, err = r.Read(); err != nil || !slices.Equal(row.Cells, []string{"", "merged"}) || row.Number != 3 {
		t.Errorf("merged cells: %+v, %v", row, err)
	}
}

func TestXLSX_ReadsTheFirstOrTheNamedSheet(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	defer f.Close()
	for i, name := range []string{"Hidden", "Stock"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellValue(name, "A1", i); err != nil {
			t.Fatal(err)
		}
	}
	f.SetActiveSheet(2)
	if err := errors.Join(f.DeleteSheet("Sheet1"), f.SetSheetVisible("Hidden", false)); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "1", "Stock": "1", "Hidden": "0"} {
		if rows, _, err := read(b.Bytes(), name); err != nil || len(rows) != 1 || rows[0][0] != want {
			t.Errorf("%q: %q, %v", name, rows, err)
		}
	}
	if _, _, err := read(b.Bytes(), "Other"); err == nil || !strings.Contains(err.Error(), "Hidden, Stock") {
		t.Errorf("an unknown sheet: %v", err)
	}
	if _, _, err := read([]byte("a\n"), "Stock"); exchange.CodeOf(err) != exchange.InvalidInput {
		t.Errorf("a sheet of a CSV: %v", err)
	}
}

// cells are texts as materials have them, and what a spreadsheet program might run.
var cells = rapid.OneOf(rapid.SampledFrom([]string{"", "=1+1", "+49", "-80", "@x", "'", "'=x", "''", "\tx", "＝1", "a;b",
	"a,b", "\"q\"", "l1\nl2", "7E+05", "000123", "_x0041_", "<&>", "1/2", "µ株🧬"}),
	rapid.StringOf(rapid.RuneFrom([]rune("ab =+-@'\"\n,;\t<&_x041é株🧬"))))

func TestSheet_ReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	for _, format := range sheet.Formats {
		rapid.Check(t, func(t *rapid.T) {
			rows := append([][]string{{"title", "notes", "sex"}},
				rapid.SliceOfN(rapid.SliceOfN(cells, 1, 5), 1, 5).Draw(t, "rows")...)
			var b bytes.Buffer
			w, err := sheet.Create(&b, format)
			if err != nil {
				t.Fatal(err)
			}
			var want [][]string
			for _, row := range rows {
				if err := w.Write(row); err != nil {
					t.Fatal(err)
				}
				for len(row) > 0 && strings.TrimSpace(row[len(row)-1]) == "" {
					row = row[:len(row)-1]
				}
				if len(row) > 0 {
					want = append(want, row)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, _, err := read(b.Bytes(), "")
			if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Fatalf("%s: %q, want %q: %v", format, got, want, err)
			}
			for _, row := range rows {
				for _, cell := range row {
					if d := sheet.Defuse(cell); strings.IndexAny(d, "=+-@\t\r\n＝＋－＠") == 0 ||
						sheet.Undefuse(d) != cell {
						t.Fatalf("%q is defused as %q", cell, d)
					}
				}
			}
		})
	}
}

func TestXLSX_MarksTextTooLongForACell(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := sheet.Create(&b, "xlsx")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write([]string{strings.Repeat("é", 32767), strings.Repeat("a", 32768)}),
		w.Close()); err != nil {
		t.Fatal(err)
	}
	rows, _, err := read(b.Bytes(), "")
	if err != nil || len([]rune(rows[0][0])) != 32767 || rows[0][1] != material.TooLong {
		t.Errorf("%d cells: %v", len(rows), err)
	}
}

func TestXLSX_ExcelReadsWhatIsWritten(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := sheet.Create(&b, "xlsx")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write([]string{"title", "=1", "", "a\nb"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := excelize.OpenReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.GetRows("Materials")
	if err != nil || len(rows) != 1 || !slices.Equal(rows[0], []string{"title", "'=1", "", "a\nb"}) {
		t.Errorf("%q, %v", rows, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("title,notes\nHeLa,\"a\nb\"\n"))
	f.Add([]byte("\ufeffa;b\n'=1;x"))
	f.Add([]byte(workbook(f,
		`<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" s="1"><v>46071.5</v></c><c t="b"><v>1</v></c></row>`,
		map[string]string{
			"xl/sharedStrings.xml": "<sst><si><t>a</t><r><t>b</t></r></si></sst>",
			"xl/styles.xml":        `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`})))
	f.Fuzz(func(t *testing.T, content []byte) {
		rows, numbers, err := read(content, "")
		if err != nil && exchange.CodeOf(err) != exchange.InvalidInput {
			t.Fatalf("%v", err)
		}
		for i, row := range rows {
			if len(row) == 0 || len(row) > sheet.MaxColumns || i > 0 && numbers[i] <= numbers[i-1] {
				t.Fatalf("row %d of %v: %q", i, numbers, row)
			}
		}
	})
}
