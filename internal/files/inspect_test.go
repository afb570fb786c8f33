package files_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/files"

	"github.com/xuri/excelize/v2"
)

// archiveOf returns a ZIP with these parts, names and contents in turn.
func archiveOf(t testing.TB, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		file, err := w.Create(parts[i])
		if err == nil {
			_, err = file.Write([]byte(parts[i+1]))
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

// behind returns content that begins otherwise and has text at a place.
func behind(place int, text string) string {
	return "%PDF-1.7" + strings.Repeat("\x00", place-8) + text + strings.Repeat("\x00", 4096)
}

func utf16(text string) string {
	b := []byte("\xff\xfe")
	for _, r := range text {
		b = binary.LittleEndian.AppendUint16(b, uint16(r))
	}
	return string(b)
}

const (
	contentTypes = `<Types><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	macroTypes   = `<Types><Override PartName="/word/document.xml" ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"/></Types>`
	compoundFile = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
)

// TestInspect_RefusesDangerousContent: under a harmless name, or none, however they begin.
func TestInspect_RefusesDangerousContent(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	for name, test := range map[string]struct{ content, says string }{
		"XLL, a library of Windows": {"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00",
			"a Windows program"},
		"ISO 9660": {strings.Repeat("\x00", 32768) + "\x01CD001\x01" +
			strings.Repeat("\x00", 4096), "a disk image"},
		"ISO 9660 that begins like a PDF": {behind(32768, "\x01CD001\x01"), "a disk image"},
		"ISO 9660, raw":                   {behind(16*2352+16, "\x01CD001\x01"), "a disk image"},
		"UDF":                             {behind(32768, "\x00BEA01\x01"), "a disk image"},
		"VHD":                             {"conectix\x00\x00\x00\x02", "a disk image"},
		"VHD of fixed size": {strings.Repeat("\x00", 8192) + "conectix" + strings.Repeat("\x00", 504),
			"a disk image"},
		"VHDX": {"vhdxfile\x00\x00", "a disk image"},
		"DMG": {strings.Repeat("x", 8192) + "koly" + strings.Repeat("\x00", 508),
			"a disk image"},
		"OneNote": {"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3\x00\x00",
			"a notebook of OneNote"},
		"OneNote's contents": {"\xa1\x2f\xff\x43\xd9\xef\x76\x4c\x9e\xe2\x10\xea\x57\x22\x76\x5f\x00",
			"a notebook of OneNote"},
		"cabinet":                      {"MSCF\x00\x00\x00\x00\x2c\x00", "a Windows cabinet"},
		"url":                          {"[InternetShortcut]\r\nURL=file://evil/a.exe\r\n", "a shortcut"},
		"url behind other sections":    {"; mine\r\n[{000214A0-0000-0000-C000-000000000046}]\r\nProp3=19,2\r\n[InternetShortcut]\r\nURL=x\r\n", "a shortcut"},
		"url in UTF-16":                {utf16("[InternetShortcut]\r\nURL=file://evil\r\n"), "a shortcut"},
		"lnk":                          {"\x4c\x00\x00\x00\x01\x14\x02\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46", "a Windows shortcut"},
		"desktop":                      {"#!/usr/bin/env xdg-open\n[Desktop Entry]\nExec=sh\n", "a script"},
		"desktop without a first line": {"# mine\n\n[Desktop Entry]\nExec=sh\n", "a shortcut"},
		"webloc":                       {`<?xml version="1.0"?><plist version="1.0"><dict><key>URL</key><string>x</string></dict></plist>`, "a shortcut"},
		"webloc, binary":               {"bplist00\xd1\x01\x02SURL_\x10\x10http://evil", "a shortcut"},
		"hta":                          {`<hta:application id="x"/>`, "an HTML application"},
		"scriptlet":                    {`<?xml version="1.0"?><scriptlet><script/></scriptlet>`, "a script"},
		"wsf":                          {`<job id="a"><script language="VBScript">x</script></job>`, "a script"},
		"chm":                          {"ITSF\x03\x00\x00\x00", "a Windows help file"},
		"settings":                     {`<PCSettings><SearchableContent/></PCSettings>`, "a Windows shortcut"},
		"library":                      {`<libraryDescription xmlns="x"/>`, "a Windows library"},
		"docm": {archiveOf(t, "[Content_Types].xml", macroTypes, "word/document.xml", "x"),
			"macros"},
		"docm that says docx": {archiveOf(t, "[Content_Types].xml", contentTypes, "word/document.xml", "x",
			"word/vbaProject.bin", "x"), "macros"},
		"xlsm": {archiveOf(t, "[Content_Types].xml", contentTypes, "xl/workbook.xml", "x",
			`XL\VBAPROJECT.BIN`, "x"), "macros"},
		"xlsm with old macros": {archiveOf(t, "[Content_Types].xml", contentTypes,
			"xl/macrosheets/sheet1.xml", "x"), "macros"},
		"ODF with Basic": {archiveOf(t, "mimetype", "application/vnd.oasis.opendocument.text",
			"Basic/Standard/Module1.xml", "x"), "macros"},
		"docm behind a PDF": {"%PDF-1.7\n" + archiveOf(t, "[Content_Types].xml", macroTypes), "macros"},
		"jar behind a picture": {"\x89PNG\r\n\x1a\n" + archiveOf(t, "META-INF/MANIFEST.MF", "x"),
			"a Java program"},
		"jar behind a PDF": {"%PDF-1.7\n" + archiveOf(t, "a.txt", "x", "META-INF/MANIFEST.MF", "x"),
			"a Java program"},
		"appx":           {archiveOf(t, "AppxManifest.xml", "x"), "a Windows program"},
		"broken archive": {archiveOf(t, "a.txt", "x")[:40], "a broken archive"},
		"old Word with macros": {compoundFile + strings.Repeat("\x00",
			70_000) + utf16("_VBA_PROJECT")[2:] + strings.Repeat("\x00", 512), "macros"},
		"old Word with macros across": {compoundFile + strings.Repeat("\x00",
			65536-8-5) + utf16("_VBA_PROJECT")[2:] + strings.Repeat("\x00", 512), "macros"},
	} {
		got, err := store.Put(t.Context(), strings.NewReader(test.content), 1<<20)
		if exchange.CodeOf(err) != exchange.UnsupportedMedia || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %+v, %v, want a refusal of %s", name, got, err, test.says)
		}
	}
	for left, err := range store.Keys(t.Context()) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestInspect_RefusesDangerousNames(t *testing.T) {
	t.Parallel()
	for _, ending := range strings.Fields(".xll .iso .one .url .docm .xlsm .pptm .dotm .xlam .hta .chm .jar .msi " +
		".vhd .vhdx .scr .lnk .webloc .desktop .ONE .Url") {
		if _, err := files.Sniff(nil, "map"+ending); exchange.CodeOf(err) != exchange.UnsupportedMedia {
			t.Errorf("%s: %v", ending, err)
		}
	}
}

// TestInspect_AcceptsFilesOfLabs: what labs send stays welcome, also where it looks a little like what is not.
func TestInspect_AcceptsFilesOfLabs(t *testing.T) {
	t.Parallel()
	store := open(t, t.TempDir())
	var book bytes.Buffer
	if err := excelize.NewFile().Write(&book); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ content, kind string }{
		"XLSX": {book.String(),
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		"DOCX": {archiveOf(t, "[Content_Types].xml", contentTypes, "word/document.xml", "x"),
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		"ODT": {archiveOf(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml",
			"x", "META-INF/manifest.xml", "x"), ""},
		"ZIP with a folder Scripts": {archiveOf(t, "scripts/run.R", "x", "data.csv", "a,b"), "application/zip"},
		"old Word":                  {compoundFile + strings.Repeat("\x00", 4096) + utf16("WordDocument")[2:], ""},
		"PDF":                       {"%PDF-1.7\n" + strings.Repeat("x", 70_000) + "\n%%EOF\n", "application/pdf"},
		"PDF about macros": {"%PDF-1.7\n_VBA_PROJECT vbaProject.bin [InternetShortcut]\n%%EOF\n",
			"application/pdf"},
		"text about shortcuts": {"Windows keeps links in files that begin with\n[InternetShortcut]\n",
			"text/plain"},
		"INI of a microscope": {"[Scanner]\nGain=3\n[Stage]\nX=1\n", "text/plain"},
		"TIFF":                {"II*\x00\x08\x00\x00\x00" + strings.Repeat("\x00", 40_000), "image/tiff"},
		"XML of assemblies":   {`<?xml version="1.0"?><assembly accession="GCA_1"/>`, "text/xml"},
		"GenBank": {"LOCUS       SCU49845     5028 bp    DNA             PLN       21-JUN-1999\n",
			files.GenBank},
		"SnapGene": {"\x09\x00\x00\x00\x0eSnapGene\x00\x01\x00\x0f\x00\x13",
			"application/octet-stream"},
		"NIfTI": {"\x5c\x01\x00\x00" + strings.Repeat("\x00", 340) + "n+1\x00" +
			strings.Repeat("\x05", 40_000), "application/octet-stream"},
	} {
		got, err := store.Put(t.Context(), strings.NewReader(test.content), 1<<20)
		if err != nil || test.kind != "" && got.MediaType != test.kind || got.Size != int64(len(test.content)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add([]byte(archiveOf(f, "[Content_Types].xml", macroTypes)))
	f.Add([]byte(compoundFile + "_\x00V\x00"))
	f.Add([]byte("PK\x03\x04PK\x05\x06"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := files.Inspect(bytes.NewReader(content), int64(len(content))); err != nil &&
			exchange.CodeOf(err) != exchange.UnsupportedMedia {
			t.Error(err)
		}
	})
}
