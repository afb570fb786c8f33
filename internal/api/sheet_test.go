package api_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// openDocument is an ODS of one sheet, whose rows have texts alone.
func openDocument(t *testing.T, rows [][]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	content := "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"Stock\">"
	for _, row := range rows {
		content += "<table:table-row>"
		for _, cell := range row {
			content += `<table:table-cell office:value-type="string"><text:p>` + cell + "</text:p></table:table-cell>"
		}
		content += "</table:table-row>"
	}
	content += "</table:table></office:spreadsheet></office:body></office:document-content>"
	for _, part := range [][2]string{{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"},
		{"content.xml", content}} {
		f, err := w.Create(part[0])
		if err == nil {
			_, err = io.WriteString(f, part[1])
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

// TestBulk_SpreadsheetsOfOtherPrograms lists the same materials from whatever laboratories save them as.
func TestBulk_SpreadsheetsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		wide := "\xff\xfe"
		for _, r := range "Reference\tCategory\tName\r\nB\tOTHER\tTube\r\n" {
			wide += string([]byte{byte(r), 0})
		}
		for _, c := range []struct{ name, kind, body string }{
			{"ODS", "application/vnd.oasis.opendocument.spreadsheet",
				openDocument(t, [][]string{{"Reference", "Category", "Name"}, {"A", "OTHER", "Tube"}})},
			{"UTF-16", "text/csv; charset=utf-16", wide},
			{"a line for Excel", "text/csv", "sep=;\nReference;Category;Name\nC;OTHER;Tube\n"},
		} {
			a := s.member.sendWith(nil, "POST", fmt.Sprintf("/organizations/%d/materials/bulk", s.id), c.kind,
				strings.NewReader(c.body))
			if a.Status != 202 {
				t.Errorf("%s: %d %s", c.name, a.Status, a.Raw)
			} else if a = s.over(s.member, a.id()); counts(a) != "true 1 0 0 0" {
				t.Errorf("%s: %s", c.name, a.Raw)
			}
		}
		// Numbers that a program wrote with .0 behind them are ids.
		if a := s.bulk(s.member, "",
			fmt.Sprintf("id,organization_id,title,pubmed_id\n%d.0,%d.0,HT-29 renamed,12345.0\n", s.material,
				s.id)); counts(a) != "true 0 1 0 0" {
			t.Errorf("ids with .0: %s %q", a.Raw, s.report(s.member, a))
		}
		if got := s.member.want(200, "GET", fmt.Sprintf("/materials/%d", s.material),
			nil).Body["pubmed_id"]; got != "12345" {
			t.Errorf("the PubMed id is %v", got)
		}
		for _, id := range []string{"1.5", "-1.0", ".0", "1.0e3"} {
			if a := s.bulk(s.member, "", "id,title\n"+id+",x\n"); counts(a) != "false 0 0 0 1" {
				t.Errorf("id %s: %s", id, a.Raw)
			}
		}
	})
}

// TestBulk_AMappingIsRememberedWhereRowsAreListed, not by a trial, and never for a name that our templates write.
func TestBulk_AMappingIsRememberedWhereRowsAreListed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		path := fmt.Sprintf("/organizations/%d/materials/bulk", s.id)
		mapping := "&mapping=" +
			url.QueryEscape(`{"Box": "additional_metadata.storage_box", "Title": "reference", "Shelf": "title"}`)
		body := "Category,Title,Shelf,Box\nCELL_LINE,R-%d,HeLa,7\n"
		before := s.rows()["column_mappings"]
		if a := s.bulk(s.member, "mode=dry-run"+mapping, fmt.Sprintf(body, 1)); counts(a) != "false 1 0 0 0" ||
			s.rows()["column_mappings"] != before {
			t.Errorf("a trial remembers: %s", a.Raw)
		}
		if a := s.member.sendWith(nil, "POST", path, "text/csv",
			strings.NewReader(fmt.Sprintf(body, 1))); a.Status != 400 || a.at("fields.mapping") == nil {
			t.Errorf("after a trial: %d %s", a.Status, a.Raw)
		}
		if a := s.bulk(s.member, mapping[1:], fmt.Sprintf(body, 1)); counts(a) != "true 1 0 0 0" ||
			s.rows()["column_mappings"] != before+2 {
			t.Errorf("what is listed: %s, %d more", a.Raw, s.rows()["column_mappings"]-before)
		}
		a := s.bulk(s.member, "mode=dry-run", "Category,Title,Box\nCELL_LINE,HeLa,7\n")
		if counts(a) != "false 1 0 0 0" ||
			!strings.Contains(string(a.Raw), `{"header":"Title","field":"title","own":false,"remembered":false}`) ||
			!strings.Contains(string(a.Raw), `"field":"additional_metadata.storage_box","own":true,"remembered":true`) {
			t.Errorf("afterwards: %s", a.Raw)
		}
	})
}

// TestBulk_WhatWasRememberedOfOurNamesBefore by an older version has no effect.
func TestBulk_WhatWasRememberedOfOurNamesBefore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := stocking(t, db)
		if err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			return tx.Bulk.SetMapping(ctx, s.id, "title", new("reference"))
		}); err != nil {
			t.Fatal(err)
		}
		if a := s.bulk(s.member, "", "Category,Title\nOTHER,Tube\n"); !strings.Contains(string(a.Raw),
			`"header":"Title","field":"title"`) {
			t.Errorf("%s", a.Raw)
		}
	})
}
