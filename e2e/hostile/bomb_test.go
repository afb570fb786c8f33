package hostile

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"
)

// blanks reads that many blanks, which compress to a thousandth.
type blanks int

func (left *blanks) Read(p []byte) (int, error) {
	if *left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), int(*left))
	for i := range n {
		p[i] = ' '
	}
	*left -= blanks(n)
	return n, nil
}

// gzipped is a gzip file that unpacks to n bytes.
func gzipped(n int) string {
	var b bytes.Buffer
	w, all := gzip.NewWriter(&b), blanks(n)
	_, _ = io.Copy(w, &all) // writing to memory does not fail
	_ = w.Close()
	return b.String()
}

// zipped is a ZIP of parts, named name=content; a content of @n is n bytes of blanks.
func zipped(parts ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, p := range parts {
		name, content, _ := strings.Cut(p, "=")
		f, _ := w.Create(name)
		var all blanks
		if _, err := fmt.Sscanf(content, "@%d", &all); err == nil {
			_, _ = io.Copy(f, &all)
			continue
		}
		_, _ = io.WriteString(f, content)
	}
	_ = w.Close()
	return b.String()
}

// workbook is an XLSX with a sheet and more parts.
func workbook(sheet string, parts ...string) string {
	return zipped(append([]string{
		`xl/workbook.xml=<workbook xmlns:r="r"><sheets><sheet name="S" r:id="x"/></sheets></workbook>`,
		`xl/_rels/workbook.xml.rels=<Relationships><Relationship Id="x" Target="sheet1.xml"/></Relationships>`,
		"xl/sheet1.xml=" + sheet}, parts...)...)
}

// picture is a PNG that says it has w times h points, whose data unpack to n bytes.
func picture(w, h uint32, n int) string {
	var b, data bytes.Buffer
	z, all := zlib.NewWriter(&data), blanks(n)
	_, _ = io.Copy(z, &all)
	_ = z.Close()
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, content []byte) {
		_ = binary.Write(&b, binary.BigEndian, uint32(len(content)))
		b.WriteString(kind)
		b.Write(content)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(append([]byte(kind), content...)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	chunk("IHDR", append(head, 8, 2, 0, 0, 0))
	chunk("IDAT", data.Bytes())
	chunk("IEND", nil)
	return b.String()
}

// paper is a PDF whose page unpacks to n bytes.
func paper(n int) string {
	var data bytes.Buffer
	z, all := zlib.NewWriter(&data), blanks(n)
	_, _ = io.Copy(z, &all)
	_ = z.Close()
	return "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
		"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj\n4 0 obj<</Filter/FlateDecode/Length " +
		fmt.Sprint(data.Len()) + ">>stream\n" + data.String() + "\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
}

// imported is a spreadsheet that a lab lists materials with.
func imported(name, content string) string {
	return parts("/organizations/{lab}/materials/bulk", part(`name="file"; filename="`+name+`"`, content)+"--b--\r\n")
}

// uploaded is a new attachment.
func uploaded(name, content string) string {
	return parts("/attachments", part(`name="file"; filename="`+name+`"`, content)+"--b--\r\n")
}

// bombs returns files that are small where they are sent and large where they are read. Some are kept, as any file is.
var bombs = sync.OnceValue(func() []attack {
	return []attack{
		{name: "a workbook with a sheet of 300 MiB", send: imported("a.xlsx", workbook("@314572800")),
			want: "400 INVALID_INPUT, ok"},
		{name: "a workbook with texts of 100 MiB", send: imported("a.xlsx", workbook("<worksheet/>",
			"xl/sharedStrings.xml=@104857600")), want: "400 INVALID_INPUT, ok"},
		{name: "a workbook with a cell of 50 MiB", send: imported("a.xlsx", workbook(
			`<worksheet><sheetData><row><c t="inlineStr"><is><t>`+strings.Repeat("a", 50<<20))),
			want: "400 INVALID_INPUT, ok"},
		{name: "a workbook with 10,000 parts", send: imported("a.xlsx", workbook("<worksheet/>",
			strings.Split(strings.TrimSuffix(many(10_000, "part-%d=a\n"), "\n"), "\n")...)),
			direct: "400 INVALID_INPUT", proxy: "400 INVALID_INPUT, ok"},
		{name: "a workbook with entities within entities", send: imported("a.xlsx", workbook(
			`<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>`+
				`<worksheet><sheetData><row><c t="inlineStr"><is><t>&c;</t></is></c></row></sheetData></worksheet>`)),
			want: "400 INVALID_INPUT, ok"},
		{name: "a workbook with elements within elements", send: imported("a.xlsx", workbook(
			many(100_000, "<a>"))), want: "400 INVALID_INPUT, ok"},
		{name: "a workbook whose part leads up", send: imported("a.xlsx", zipped("../../evil.xml=a",
			"xl/workbook.xml=<workbook/>")), want: "400 INVALID_INPUT, ok"},
		{name: "a workbook with a file from elsewhere", send: imported("a.xlsx", workbook(
			`<!DOCTYPE a SYSTEM "file:///etc/passwd"><worksheet/>`)), want: "400 INVALID_INPUT, ok"},
		{name: "a workbook that is cut off", send: imported("a.xlsx", workbook("<worksheet/>")[:200]),
			want: "415 UNSUPPORTED_MEDIA, ok"},
		{name: "a spreadsheet of ODS of 100 MiB", send: imported("a.ods", zipped(
			"mimetype=application/vnd.oasis.opendocument.spreadsheet", "content.xml=@104857600")),
			want: "400 INVALID_INPUT, ok"},
		{name: "a spreadsheet of gzip", send: imported("a.csv", gzipped(100<<20)), want: "400 INVALID_INPUT, ok"},
		{name: "a spreadsheet with a row without end", send: imported("a.csv", many(1_000_000, "a,")),
			direct: "400 INVALID_INPUT", proxy: "400 INVALID_INPUT, ok"},
		{name: "a spreadsheet with a quote without end", send: imported("a.csv", `Title,"`+many(10<<20, "a")),
			direct: "400 INVALID_INPUT", proxy: "400 INVALID_INPUT, ok"},
		{name: "a spreadsheet of NUL", send: imported("a.csv", many(1<<20, "\x00")), direct: "400 INVALID_INPUT",
			proxy: "400 INVALID_INPUT, ok"},
		{name: "a picture of 100,000 by 100,000 points", send: uploaded("a.png", picture(100_000, 100_000, 1<<20)),
			want: "201, ok"},
		{name: "a picture whose data unpack to 256 MiB", send: uploaded("a.png", picture(100, 100, 256<<20)),
			want: "201, ok"},
		{name: "a picture of 4 billion points a side", send: uploaded("a.png", picture(1<<32-1, 1<<32-1, 1)),
			want: "201, ok"},
		{name: "a paper whose page unpacks to 256 MiB", send: uploaded("a.pdf", paper(256<<20)), want: "201, ok"},
		{name: "a paper that is none", send: uploaded("a.pdf", "%PDF-1.7\n"+many(100_000, "1 0 obj")),
			want: "201, ok"},
		{name: "a ZIP that unpacks to 256 MiB", send: uploaded("a.zip", zipped("a=@268435456")), want: "201, ok"},
		{name: "a program under the name of a paper", send: uploaded("a.pdf", "MZ\x90\x00"+many(1000, "\x00")),
			want: "415 UNSUPPORTED_MEDIA, ok"},
		{name: "a page under the name of a picture",
			send: uploaded("a.png", "<!doctype html><script>alert(1)</script>"),
			want: "415 UNSUPPORTED_MEDIA, ok"},
		{name: "a drawing with a script", send: uploaded("a.svg",
			`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
			want: "415 UNSUPPORTED_MEDIA, ok"},
	}
})
