package files_test

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"mime"
	"os"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
)

func TestSniff_NamesTheType(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ head, want string }{
		"PDF":  {"%PDF-1.7\n<html>", "application/pdf"},
		"PNG":  {"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png"},
		"JPEG": {"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"},
		"TIFF": {"II*\x00\x08\x00\x00\x00", "image/tiff"},
		"GIF":  {"GIF89a", "image/gif"},
		"WebP": {"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"},
		"gzip": {"\x1f\x8b\x08\x00", "application/gzip"},
		"zip":  {zipOf(t, "a.txt"), "application/zip"},
		"Word": {zipOf(t, "[Content_Types].xml", "word/document.xml"),
			"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		"Excel": {zipOf(t, "[Content_Types].xml", "xl/workbook.xml"),
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		"text":                  {"We wrote <html> in a text.\n", "text/plain"},
		"text in Latin-1":       {"Sch\xf6n\n", "text/plain"},
		"CSV":                   {"name,volume\nA,1\nB,2\n", "text/csv"},
		"spectra":               {"MZ intensity\n100.1 7\n", "text/plain"},
		"names of strains":      {"CWS1,JN-2\r\nFWS4,K\t12\n", "text/plain"},
		"JSON":                  {`{"a": 1}`, "application/json"},
		"SBML with XHTML notes": {`<?xml version="1.0"?><sbml><notes><body xmlns="http://www.w3.org/1999/xhtml"/></notes></sbml>`, "text/xml"},
		"Ensembl GTF":           {"#!genome-build GRCh38.p14\n1\thavana\tgene\n", "text/plain"},
		"GenBank": {"LOCUS       SCU49845     5028 bp    DNA             PLN       " +
			"21-JUN-1999\nDEFINITION  ...\n", files.GenBank},
		"GenBank of a protein":     {"LOCUS       AAA98665 890 aa linear\n", files.GenBank},
		"text on a locus":          {"LOCUS of control is a notion.\n", "text/plain"},
		"FASTA":                    {">seq1 Mus musculus\nACGTNacgt-\nACGT\n", files.FASTA},
		"FASTA of Windows":         {"\ufeff>seq1\r\nMKV*\r\n", files.FASTA},
		"FASTA with a long line":   {">seq1\n" + strings.Repeat("ACGT", 1000), files.FASTA},
		"a quotation":              {"> she said\nthat it works\n", "text/plain"},
		"a PDF behind other bytes": {"\x1b%-12345X@PJL\r\n%PDF-1.7", "text/plain"},
		"SnapGene": {"\x09\x00\x00\x00\x0eSnapGene\x00\x01\x00\x0f\x00\x13",
			"application/octet-stream"},
	} {
		if got, err := files.Sniff([]byte(test.head), ""); err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestSniff_RefusesProgramsAndPages(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ head, says string }{
		"this test":                   {string(program[:4096]), "program"},
		"ELF":                         {elf.ELFMAG + "\x02\x01\x01", "a Linux program"},
		"ELF that is a PDF too":       {elf.ELFMAG + "\x02\x01\x01%PDF-1.7", "a Linux program"},
		"Flash":                       {"CWS\x0a\x7c\x9e\x00\x00x\xda", "a Flash program"},
		"Flash without a zero byte":   {"FWS\x08abc", "a Flash program"},
		"PE":                          {"MZ\x90\x00\x03\x00\x00\x00", "a Windows program"},
		"Mach-O, 64 bits":             {"\xcf\xfa\xed\xfe\x07\x00\x00\x01", "a macOS program"},
		"Mach-O, 32 bits, big endian": {"\xfe\xed\xfa\xce\x00\x00\x00\x12", "a macOS program"},
		"Java class":                  {"\xca\xfe\xba\xbe\x00\x00\x00\x34", "a Java or macOS program"},
		"jar":                         {zipOf(t, "META-INF/MANIFEST.MF", "A.class"), "a Java program"},
		"apk":                         {zipOf(t, "AndroidManifest.xml", "classes.dex"), "an Android program"},
		"WebAssembly":                 {"\x00asm\x01\x00\x00\x00", "a WebAssembly program"},
		"shell":                       {"#!/bin/sh\necho\n", "a script"},
		"env":                         {"\ufeff#! /usr/bin/env python3\n", "a script"},
		"PHP":                         {"<?php echo 1;", "a PHP script"},
		"shell that is a tape too":    {tape("#!/bin/sh\n"), "a script"},
		"HTML":                        {"<!DOCTYPE html><title>x</title>", "an HTML page"},
		"HTML without a root":         {" \n<script>alert(1)</script>", "an HTML page"},
		"HTML named .pdf":             {"<html>%PDF-1.7", "an HTML page"},
		"HTML behind a comment":       {"\ufeff<!-- %PDF-1.7 --><html>", "an HTML page"},
		"script that is a PDF too":    {"<script>/*%PDF-1.7*/</script>", "an HTML page"},
		"XHTML": {`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">`,
			"an HTML page"},
		"XHTML with a prefix":        {`<?xml version="1.0" encoding="latin1"?><x:html xmlns:x="http://www.w3.org/1999/xhtml">`, "an HTML page"},
		"SVG":                        {`<svg xmlns="http://www.w3.org/2000/svg">`, "an SVG drawing"},
		"SVG behind a document type": {`<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]><s:svg xmlns:s="http://www.w3.org/2000/svg">`, "an SVG drawing"},
	} {
		got, err := files.Sniff([]byte(test.head), "map.pdf")
		if exchange.CodeOf(err) != exchange.UnsupportedMedia || !strings.Contains(err.Error(), test.says) ||
			!strings.Contains(err.Error(), "Accepted are PDF") {
			t.Errorf("%s: got %q, %v, want a refusal of %s", name, got, err, test.says)
		}
	}
}

func TestSniff_NameAloneCanRefuse(t *testing.T) {
	t.Parallel()
	for name, fine := range map[string]bool{
		"mta.pdf": true, "README": true, "analysis.py": true, "plasmid.gb": true, "exe": true, "html.txt": true,
		"":          true,
		"setup.exe": false, "SETUP.EXE": false, "setup.exe. .": false, "a.pdf.js": false, "page.htm": false,
		"x.svg": false, "lib.dll": false, "run.bat": false,
	} {
		for _, head := range []string{"", "text"} {
			if _, err := files.Sniff([]byte(head), name); (err == nil) != fine {
				t.Errorf("%q: got %v, want fine = %v", name, err, fine)
			}
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("%PDF-1.7"), "a.pdf")
	f.Add([]byte("\ufeff<?xml?><svg>"), "a")
	f.Add([]byte(">a\nACGT"), "a.fa")
	f.Fuzz(func(t *testing.T, head []byte, name string) {
		mediaType, err := files.Sniff(head, name)
		if err != nil {
			if exchange.CodeOf(err) != exchange.UnsupportedMedia || mediaType != "" {
				t.Errorf("got %q, %v", mediaType, err)
			}
			return
		}
		if _, _, err := mime.ParseMediaType(mediaType); err != nil {
			t.Errorf("%q is no media type: %v", mediaType, err)
		}
	})
}

// zipOf returns an archive with small files of these names.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		file, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte("content")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tape returns a block that starts with s and has the mark of a tar archive where it belongs.
func tape(s string) string {
	return s + strings.Repeat("\x00", 257-len(s)) + "ustar\x0000" + strings.Repeat("\x00", 247)
}
