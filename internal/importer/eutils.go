package importer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// found is the answer of esearch.
type found struct {
	count int // of all
	ids   []string
}

// search asks E-utilities for the records of a database that match a term.
func (im *Importer) search(ctx context.Context, db, term string) (found, error) {
	return ask(ctx, im, im.eutils, "esearch.fcgi", url.Values{
		"db": {db}, "term": {term}, "retmode": {"json"}, "retmax": {strconv.Itoa(searchPage)},
	}, readSearch)
}

const searchPage = 10_000 // the maximum of esearch

// readSearch reads the JSON of esearch. An unknown term is not an error there: it finds nothing.
func readSearch(r io.Reader) (found, error) {
	var answer struct {
		Result *struct {
			Count flexString `json:"count"`
			IDs   []string   `json:"idlist"`
			Error string     `json:"ERROR"`
		} `json:"esearchresult"`
		Error string `json:"error"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return found{}, err
	}
	if answer.Result == nil || answer.Result.Error != "" {
		return found{}, fmt.Errorf("esearch: no result: %s", answer.Error)
	}
	count, err := strconv.Atoi(string(answer.Result.Count))
	if err != nil || count < 0 {
		return found{}, fmt.Errorf("esearch: the count is %q", answer.Result.Count)
	}
	for _, id := range answer.Result.IDs {
		if _, err := strconv.ParseUint(id, 10, 63); err != nil {
			return found{}, fmt.Errorf("esearch: %q is no uid", id)
		}
	}
	return found{count, answer.Result.IDs}, nil
}

// summaries asks E-utilities for the summaries of records.
func summaries[T any](ctx context.Context, im *Importer, db string, ids ...string) ([]T, error) {
	return ask(ctx, im, im.eutils, "esummary.fcgi",
		url.Values{"db": {db}, "id": {strings.Join(ids, ",")}, "retmode": {"json"}}, readSummaries[T])
}

// readSummaries reads an answer of esummary, in JSON or in its XML of version 1.0, whose names differ from those of
// JSON only in case. Unknown records have an error instead and are left out; if all are unknown, that is a failure.
func readSummaries[T any](r io.Reader) ([]T, error) {
	b := bufio.NewReader(r)
	first, err := b.Peek(1)
	if err != nil {
		return nil, errors.New("esummary: an empty answer")
	}
	var records []json.RawMessage
	if first[0] == '<' {
		records, err = readDocSums(b)
	} else {
		records, err = readResult(b)
	}
	if err != nil {
		return nil, err
	}
	list := []T{}
	for _, raw := range records {
		var record struct {
			Error string `json:"error"`
		}
		var value T
		if err := errors.Join(json.Unmarshal(raw, &record), json.Unmarshal(raw, &value)); err != nil {
			return nil, fmt.Errorf("esummary: %w", err)
		}
		if record.Error == "" {
			list = append(list, value)
		}
	}
	if len(list) == 0 {
		return nil, &failure{kind: unknown, cause: errors.New("esummary: no record")}
	}
	return list, nil
}

func readResult(r io.Reader) ([]json.RawMessage, error) {
	var answer struct {
		Result map[string]json.RawMessage `json:"result"`
		Error  string                     `json:"error"`
	}
	if err := json.NewDecoder(r).Decode(&answer); err != nil {
		return nil, fmt.Errorf("esummary: %w", err)
	}
	var ids []string
	if err := json.Unmarshal(answer.Result["uids"], &ids); err != nil {
		return nil, fmt.Errorf("esummary: no list of uids: %s", answer.Error)
	}
	var records []json.RawMessage
	for _, id := range ids {
		if raw, ok := answer.Result[id]; ok {
			records = append(records, raw)
		}
	}
	return records, nil
}

// docSum is a record in the XML of version 1.0.
type docSum struct {
	ID    string `xml:"Id"`
	Items []item `xml:"Item"`
}

type item struct {
	Name  string `xml:"Name,attr"`
	Type  string `xml:"Type,attr"`
	Text  string `xml:",chardata"`
	Items []item `xml:"Item"`
}

// value returns the item as JSON has it.
func (i item) value() any {
	if i.Type == "Structure" {
		return members(i.Items)
	}
	if i.Type != "List" {
		return line(i.Text)
	}
	list := []any{}
	for _, part := range i.Items {
		list = append(list, part.value())
	}
	return list
}

func members(items []item) map[string]any {
	object := map[string]any{}
	for _, i := range items {
		object[strings.ToLower(i.Name)] = i.value()
	}
	return object
}

func readDocSums(r io.Reader) ([]json.RawMessage, error) {
	var records []json.RawMessage
	err := elements(r, "eSummaryResult", func(d *xml.Decoder, start xml.StartElement) error {
		if start.Name.Local != "DocSum" {
			return nil
		}
		var doc docSum
		if err := d.DecodeElement(&doc, &start); err != nil {
			return err
		}
		object := members(doc.Items)
		object["uid"] = doc.ID
		raw, err := json.Marshal(object)
		records = append(records, raw)
		return err
	})
	return records, err
}

// elements streams through XML whose root element must be one of roots, separated by a blank, and calls each for every
// element inside; each may decode it. Entities other than those of XML itself are an error, and no document type is
// read.
func elements(r io.Reader, roots string, each func(*xml.Decoder, xml.StartElement) error) error {
	b := bufio.NewReader(r)
	if first, err := b.Peek(1); err != nil || first[0] != '<' { // otherwise the decoder searches for one to the end
		return fmt.Errorf("XML: it begins with %q: %w", first, errors.Join(err, errors.New("no XML")))
	}
	d := xml.NewDecoder(b)
	root := ""
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && root != "":
			return nil
		case err != nil:
			return fmt.Errorf("XML: %w", err)
		}
		start, ok := token.(xml.StartElement)
		switch {
		case !ok:
		case root != "":
			if err := each(d, start); err != nil {
				return fmt.Errorf("XML: %w", err)
			}
		default:
			if root = start.Name.Local; !strings.Contains(" "+roots+" ", " "+root+" ") {
				return fmt.Errorf("XML: the outermost element is %.50s, not %s", root, roots)
			}
		}
	}
}

// fragment reads XML without a root element, as esummary has it inside a text.
func fragment(s string, into any) error {
	return xml.NewDecoder(io.MultiReader(strings.NewReader("<r>"), bytes.NewReader([]byte(s)),
		strings.NewReader("</r>"))).Decode(into)
}
