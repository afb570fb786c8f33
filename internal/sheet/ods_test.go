package sheet_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/sheet"
)

// openDocument is an ODS with this content of its spreadsheet, as LibreOffice writes it.
func openDocument(t testing.TB, content string) string {
	t.Helper()
	return archive(t, map[string]string{
		"mimetype": "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml": `<?xml version="1.0" encoding="UTF-8"?><office:document-content><office:automatic-styles>
			<style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>
			<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>
			</office:automatic-styles><office:body><office:spreadsheet>` + content +
			`</office:spreadsheet></office:body></office:document-content>`,
	})
}

const (
	odsHidden = `<table:table table:name="Lists" table:style-name="ta2"><table:table-row><table:table-cell office:value-type="string"><text:p>no</text:p></table:table-cell></table:table-row></table:table>`
	odsStock  = `<table:table table:name="Stock" table:style-name="ta1"><table:shapes><draw:frame><text:p>a picture</text:p></draw:frame></table:shapes>
	<table:table-column table:number-columns-repeated="3"/>
	<table:table-header-rows><table:table-row><table:table-cell office:value-type="string" calcext:value-type="string"><text:p>title</text:p></table:table-cell>
		<table:table-cell office:value-type="string"><office:annotation><text:p>a note</text:p></office:annotation><text:p>no<text:span>te</text:span>s</text:p></table:table-cell></table:table-row></table:table-header-rows>
	<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>
	<table:table-row><table:table-cell office:value-type="string"><text:p>HeLa<text:s text:c="2"/>x<text:tab/>y</text:p><text:p>two<text:line-break/>lines</text:p></table:table-cell>
		<table:covered-table-cell/><table:table-cell office:value-type="float" office:value="0.30000000000000004"><text:p>0,3</text:p></table:table-cell>
		<table:table-cell office:value-type="date" office:date-value="2024-02-29"><text:p>29.2.24</text:p></table:table-cell>
		<table:table-cell office:value-type="date" office:date-value="2024-02-29T10:30:00"><text:p>29.2.24 10:30</text:p></table:table-cell>
		<table:table-cell office:value-type="time" office:time-value="PT10H30M00S"><text:p>10:30</text:p></table:table-cell>
		<table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>WAHR</text:p></table:table-cell>
		<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>
		<table:table-cell table:formula="of:=A1"/></table:table-row>
	<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell></table:table-row>
	<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
	</table:table>`
)

func TestODS_CellsAreReadAsThoseOfXLSX(t *testing.T) {
	t.Parallel()
	r, err := sheet.Open(strings.NewReader(openDocument(t, odsHidden+odsStock)), "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Format != "ods" || r.Name != "Stock" || !slices.Equal(r.Others, []string{"Lists"}) {
		t.Errorf("%s, sheet %q, others %q", r.Format, r.Name, r.Others)
	}
	want := []string{
		`1 ["title" "notes"] map[]`,
		`4 ["HeLa  x\ty\ntwo\nlines" "" "0.3" "2024-02-29" "2024-02-29 10:30:00" "10:30:00" "true" "#DIV/0!" ""] ` +
			`map[7:holds the error #DIV/0! 8:is a formula whose value is not in the file; open it in a spreadsheet program and save it]`,
		`5 ["1" "1"] map[]`,
		`6 ["1" "1"] map[]`,
	}
	var got []string
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %q %v", row.Number, row.Cells, row.Wrong))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if rows, _, err := read([]byte(openDocument(t, odsHidden+odsStock)), "Lists"); err != nil ||
		fmt.Sprint(rows) != "[[no]]" {
		t.Errorf("a hidden sheet by its name: %v, %v", rows, err)
	}
}

func TestODS_HostileOnesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	row := func(cells string) string {
		return `<table:table table:name="S"><table:table-row>` + cells + `</table:table-row></table:table>`
	}
	cell := `<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>`
	for what, c := range map[string]struct{ content, sheet, say string }{
		"another sheet": {openDocument(t, odsStock), "No", "one of Stock"},
		"no sheet":      {openDocument(t, ""), "", "with a sheet"},
		"torn": {archive(t,
			map[string]string{"content.xml": "<office:document-content><table:table><table:table-row>"}), "",
			"not a complete"},
		"a password": {archive(t,
			map[string]string{"content.xml": "\x01\x02", "META-INF/manifest.xml": "<manifest:encryption-data/>"}), "",
			"password"},
		"a long text": {openDocument(t, row(fmt.Sprintf(cell, strings.Repeat("a", 64<<20)))), "",
			"more than"},
		"spaces without end": {openDocument(t,
			row(fmt.Sprintf(cell, strings.Repeat(`<text:s text:c="60000"/>`, 1<<16)))), "", "more than"},
		"cells without end": {openDocument(t,
			row(`<table:table-cell table:number-columns-repeated="999999999" office:value-type="float" office:value="1"/>`)), "", "columns"},
		"long cells, many times": {openDocument(t,
			row(strings.Replace(fmt.Sprintf(cell, strings.Repeat("a", 60<<10)), "<table:table-cell",
				`<table:table-cell table:number-columns-repeated="900"`, 1))), "", "row 1"},
		"rows without end": {openDocument(t,
			strings.Replace(row(fmt.Sprintf(cell, "a")), "<table:table-row",
				`<table:table-row table:number-rows-repeated="1000000"`, 1)), "", "rows"},
		"a list of parts without end": {func() string {
			parts := strings.Repeat("PK\x01\x02"+strings.Repeat("\x00", 42), 1<<19)
			end := binary.LittleEndian.AppendUint32([]byte("PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00"),
				uint32(len(parts)))
			return "PK\x03\x04" + parts + string(append(end, 4, 0, 0, 0, 0, 0))
		}(), "", "not a complete"},
	} {
		began := time.Now()
		_, _, err := read([]byte(c.content), c.sheet)
		if exchange.CodeOf(err) != exchange.InvalidInput || !strings.Contains(fmt.Sprint(err), c.say) ||
			time.Since(began) > 20*time.Second {
			t.Errorf("%s: %v after %s", what, err, time.Since(began))
		}
	}
}

// FuzzODS: whatever stands in the content of an ODS, it is read or refused, and its rows come in their order.
func FuzzODS(f *testing.F) {
	f.Add([]byte(odsHidden + odsStock))
	f.Add([]byte(`<table:table table:name="S"><table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="9"><text:p>a</text:p>`))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := sheet.Open(bytes.NewReader([]byte(openDocument(t, string(content)))), "")
		for last := 0; err == nil; {
			var row sheet.Row
			if row, err = r.Read(); err == nil && row.Number <= last {
				t.Fatalf("row %d after row %d", row.Number, last)
			}
			last = row.Number
		}
		if !errors.Is(err, io.EOF) && exchange.CodeOf(err) != exchange.InvalidInput {
			t.Fatalf("%v", err)
		}
	})
}
