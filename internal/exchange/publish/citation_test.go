package publish_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
)

// entry is a reference as a bibliography program reads it.
type entry struct{ title, author, doi, note string }

// FuzzPublish publishes materials with any texts. References read back in every format as they were written, whatever
// an attacker enters, and linked data is safe inside of a script element.
func FuzzPublish(f *testing.F) {
	const rrid = `{"rrid": "RRID:CVCL_0320", "disease": "a"}`
	for _, seed := range []string{
		"HT-29", `\{}`, "a}, url = {http://evil", "}}\n@misc{x,", "%#&_$~^\\<>|\"@", "{", "}", `\`,
		"a\r\nER  - \r\nTY  - JOUR", "\u2028UR  - x\u0085TY  - ",
		"</script><script>alert(1)</script>", "<!--", "Müller–Łukasz 日本 🧬", "\xff\xff\x00\x1b", "", " ",
		"doi:10.1000/(a{b}c)).", "https://doi.org/10.1/x", "a\tb\vc",
	} {
		f.Add(0, seed, "Lab", "", "", rrid)
		f.Add(1, "A", seed, seed, "10.1000/"+seed, rrid)
		f.Add(4, seed, seed, seed, seed, `{"accession_code": "GSE2122", "description": `+string(marshal(f, seed))+`}`)
		f.Add(6, "A", "B", "doi:10.1000/"+seed, "", `{"material_type": [`+string(marshal(f, seed))+`, 1e999, null]}`)
	}
	f.Fuzz(func(t *testing.T, kind int, title, lab, citation, doi, metadata string) {
		codes := category.Codes()
		l := publish.Listing{Site: "https://aliquot.example.org", Now: now}
		l.ID, l.Title, l.Organization.Name, l.Citation, l.PrePrintDOI = 1, title, lab, &citation, &doi
		l.Category = codes[uint(kind)%uint(len(codes))]
		l.Metadata = json.RawMessage(metadata)
		mustBeSafe(t, l)
		written := map[publish.Format][]entry{}
		for _, format := range publish.Formats {
			raw, err := publish.Citation(l, format)
			if err != nil {
				t.Fatal(err)
			}
			list := map[publish.Format]func(*testing.T, []byte) []entry{
				publish.BibTeX: readBibTeX, publish.RIS: readRIS, publish.CSLJSON: readCSL,
			}[format](t, raw)
			for i := range list {
				// the escapes used for BibTeX
				list[i].doi = strings.NewReplacer("%5C", `\`, "%7B", "{", "%7D", "}").Replace(list[i].doi)
			}
			written[format] = list
		}
		want := written[publish.CSLJSON]
		if len(want) < 1 || !strings.HasPrefix(want[0].title, words(title)) || want[0].author != words(lab) {
			t.Errorf("%q of %q is cited as %+v", title, lab, want)
		}
		for format, got := range written {
			if !slices.Equal(got, want) {
				t.Errorf("%s reads back as\n%+v\nCSL-JSON as\n%+v", format, got, want)
			}
		}
	})
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// words returns a text on one line.
func words(s string) string {
	return strings.Join(strings.FieldsFunc(string([]rune(s)),
		func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
}

var bibField = regexp.MustCompile(`^\s*(\w+)\s*=\s*`)

// readBibTeX reads as BibTeX does: a value ends where its braces are closed, even after a backslash.
func readBibTeX(t *testing.T, raw []byte) (list []entry) {
	t.Helper()
	rest := string(raw)
	for strings.TrimSpace(rest) != "" {
		head := regexp.MustCompile(`^\s*@(misc|article)\{aliquot-1(-article|-preprint)?`).FindString(rest)
		if head == "" {
			t.Fatalf("no entry begins at %q of %s", rest, raw)
		}
		rest = rest[len(head):]
		var e entry
		for strings.HasPrefix(rest, ",") {
			name := bibField.FindStringSubmatch(rest[1:])
			if name == nil {
				t.Fatalf("no field begins at %q of %s", rest, raw)
			}
			rest = rest[1+len(name[0]):]
			var value string
			value, rest = braced(t, rest)
			switch name[1] {
			case "title":
				e.title = fromTeX(t, value)
			case "author":
				e.author = fromTeX(t, value)
			case "doi":
				e.doi = value
			case "note":
				e.note = fromTeX(t, value)
			case "publisher", "year", "month", "url", "pmid":
			default:
				t.Fatalf("a field %s in %s", name[1], raw)
			}
		}
		if rest = strings.TrimSpace(rest); !strings.HasPrefix(rest, "}") {
			t.Fatalf("no entry ends at %q of %s", rest, raw)
		}
		rest = rest[1:]
		list = append(list, e)
	}
	return list
}

// braced returns the value at the beginning of a text, and the rest.
func braced(t *testing.T, s string) (value, rest string) {
	t.Helper()
	depth := 0
	for i, c := range s {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 && (c == '}' || i+1 < len(s) && s[i+1] == ',') {
			return strings.TrimSuffix(strings.TrimPrefix(s[:i+1], "{"), "}"), s[i+1:]
		}
	}
	t.Fatalf("braces stay open in %q", s)
	return "", ""
}

// fromTeX returns what TeX prints.
func fromTeX(t *testing.T, s string) string {
	t.Helper()
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	s = regexp.MustCompile(`\\(?:text[a-z]+\{\}|[$&#%_])|[\\{}~^$&#%_<>|]`).ReplaceAllStringFunc(s,
		func(command string) string {
			if len(command) == 2 {
				return command[1:]
			}
			printed := map[string]string{"backslash": `\`, "braceleft": "{", "braceright": "}", "asciitilde": "~",
				"asciicircum": "^",
				"less":        "<", "greater": ">",
				"bar": "|"}[strings.TrimSuffix(strings.TrimPrefix(command, `\text`), "{}")]
			if printed == "" {
				t.Errorf("TeX would not print %q of %q", command, s)
			}
			return printed
		})
	return s
}

// readRIS reads lines, which any line break known to a program ends.
func readRIS(t *testing.T, raw []byte) (list []entry) {
	t.Helper()
	if !bytes.HasSuffix(raw, []byte("\r\n")) {
		t.Fatalf("no break at the end of %q", raw)
	}
	lines := strings.FieldsFunc(string(raw), func(r rune) bool {
		return r != '\t' && r != ' ' && r != '\u00a0' && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029')
	})
	if len(lines) != bytes.Count(raw, []byte("\r\n")) {
		t.Fatalf("other breaks than CR LF in %q", raw)
	}
	last := "ER"
	for _, line := range lines {
		if len(line) < 6 || line[2:6] != "  - " {
			t.Fatalf("the line %q in %q", line, raw)
		}
		tag, value := line[:2], line[6:]
		if (last == "ER") != (tag == "TY") {
			t.Fatalf("%s after %s in %q", tag, last, raw)
		}
		last = tag
		switch tag {
		case "TY":
			list = append(list, entry{})
		case "TI":
			list[len(list)-1].title = value
		case "AU":
			list[len(list)-1].author = value
		case "DO":
			list[len(list)-1].doi = value
		case "N1":
			list[len(list)-1].note = value
		}
	}
	if last != "ER" {
		t.Fatalf("no end of %q", raw)
	}
	return list
}

// readCSL reads the part of csl-data.json that our output uses.
func readCSL(t *testing.T, raw []byte) (list []entry) {
	t.Helper()
	var items []struct {
		ID, Type, Genre, Title, Publisher, DOI, PMID, URL, Note string
		Author                                                  []struct{ Literal string }
		Issued                                                  struct {
			Parts [][]int `json:"date-parts"`
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&items); err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		e := entry{title: i.Title, doi: i.DOI, note: i.Note}
		if len(i.Author) > 0 {
			e.author = i.Author[0].Literal
		}
		if i.ID == "" || !slices.Contains([]string{"dataset", "document", "article-journal", "article"}, i.Type) {
			t.Fatalf("id %q, type %q", i.ID, i.Type)
		}
		list = append(list, e)
	}
	return list
}

// TestCitation_HasTheNumberOfTheAuthority: once, where every citation style shows it.
func TestCitation_HasTheNumberOfTheAuthority(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]entry{
		`{"category": "CELL_LINE", "title": "HT-29", "additional_metadata": {"rrid": "CVCL_0320"}}`:                           {title: "HT-29 (RRID:CVCL_0320)"},
		`{"category": "CELL_LINE", "title": "HT-29, RRID:CVCL_0320", "additional_metadata": {"rrid": "CVCL_0320"}}`:           {title: "HT-29, RRID:CVCL_0320"},
		`{"category": "PLASMID", "title": "p", "additional_metadata": {"rrid": "RRID:Addgene_17448", "addgene_id": "17448"}}`: {title: "p (RRID:Addgene_17448)", note: "Plasmid, RRID:Addgene_17448, Aliquot listing 1482"},
		`{"category": "PLASMID", "title": "p", "additional_metadata": {"addgene_id": "17448"}}`:                               {title: "p (Addgene 17448)"},
		`{"category": "DATASET", "title": "d", "additional_metadata": {"accession_code": "srp045225"}}`:                       {title: "d (SRP045225)"},
		`{"category": "DATASET", "title": "d", "additional_metadata": {"accession_code": "10.5061/DRYAD.1"}}`:                 {title: "d", doi: "10.5061/dryad.1"},
		`{"category": "PROTOCOL", "title": "p", "additional_metadata": {"doi": "10.1038/nprot.2006.17"}}`:                     {title: "p", doi: "10.1038/nprot.2006.17"},
		`{"category": "OTHER", "title": "o"}`: {title: "o", note: "Other material, Aliquot listing 1482"},
	} {
		raw, err := publish.Citation(listing(t, []byte(body)), publish.CSLJSON)
		if err != nil {
			t.Fatal(err)
		}
		got := readCSL(t, raw)[0]
		if got.title != want.title || got.doi != want.doi || want.note != "" && got.note != want.note {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}

// TestCitation_DOIIsFound: however the sentence around it ends.
func TestCitation_DOIIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fogh J. 1977. doi:10.1093/jnci/59.1.221.":                "10.1093/jnci/59.1.221",
		"Fogh J (https://doi.org/10.1093/JNCI/59.1.221).":         "10.1093/jnci/59.1.221",
		"Cell 2000, DOI 10.1016/S0092-8674(00)81683-9":            "10.1016/s0092-8674(00)81683-9",
		"[doi: 10.1016/S0092-8674(00)81683-9]; reprinted in 2001": "10.1016/s0092-8674(00)81683-9",
		"version 10.1000/x": "",
		"doi:11.1000/x":     "",
	} {
		l := publish.Listing{Shown: material.Shown{Material: material.Material{Category: "OTHER",
			Citation: &text}}}
		raw, err := publish.Citation(l, publish.CSLJSON)
		if err != nil {
			t.Fatal(err)
		}
		if got := readCSL(t, raw)[1].doi; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
