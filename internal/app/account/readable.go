package account

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"unicode"
)

// readable is a page that shows a list of JSON objects to people, in a temporary file.
type readable struct {
	file *os.File
	name string
	n    int
}

const readableHead = `<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>%[1]s</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;overflow-wrap:anywhere}
h2{font-size:1.1em;border-top:1px solid #999;padding-top:.6em}dl{margin:0 0 0 1.2em}dt{font-weight:600}
dd{margin:0 0 .3em 1.2em;white-space:pre-wrap}</style>
<h1>%[1]s</h1>
`

func newReadable(name string) (*readable, error) {
	file, err := os.CreateTemp("", "aliquot-export-*")
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(file, readableHead, title(name))
	return &readable{file: file, name: name}, errors.Join(err, os.Remove(file.Name())) // it goes with the process
}

// title is a name of JSON as words: "SavedSearches" and "saved_searches" are "Saved searches".
func title(name string) string {
	var b strings.Builder
	last := ' '
	for _, r := range strings.ReplaceAll(name, "_", " ") {
		switch {
		case b.Len() == 0:
			b.WriteRune(unicode.ToUpper(r))
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteRune(' ')
			fallthrough
		case !unicode.IsUpper(last):
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r) // an abbreviation, such as ID
		}
		last = r
	}
	return b.String()
}

// add adds an object.
func (p *readable) add(object []byte) error {
	p.n++
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var b strings.Builder
	fmt.Fprintf(&b, "<h2>%d</h2>\n", p.n)
	if err := show(&b, decoder); err != nil {
		return err
	}
	_, err := p.file.WriteString(b.String())
	return err
}

// show writes the next JSON value, in the order that it has.
func show(b *strings.Builder, d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		b.WriteString("<dl>\n")
		for n := 1; d.More(); n++ {
			name := fmt.Sprint(n)
			if v == '{' {
				key, err := d.Token()
				if err != nil {
					return err
				}
				name = title(fmt.Sprint(key))
			}
			b.WriteString("<dt>" + html.EscapeString(name) + "</dt><dd dir=\"auto\">")
			if err := show(b, d); err != nil {
				return err
			}
			b.WriteString("</dd>\n")
		}
		b.WriteString("</dl>")
		_, err = d.Token()
		return err
	case nil:
		b.WriteString("–")
	default:
		b.WriteString(html.EscapeString(fmt.Sprint(v)))
	}
	return nil
}

// take writes the page into a ZIP and ends the file.
func (p *readable) take(z *zip.Writer) error {
	defer func() { _ = p.file.Close() }() // it has no name any more
	if p.n == 0 {
		if _, err := p.file.WriteString("<p>Nothing is stored.</p>\n"); err != nil {
			return err
		}
	}
	w, err := z.Create(p.name + ".html")
	if err == nil {
		_, err = p.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(w, p.file)
	}
	return err
}
