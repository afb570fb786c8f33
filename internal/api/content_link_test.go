package api_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/files/filestest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// The test below needs an S3 server: without one there is nothing to test, and no test.

func TestDownload_OfASequenceMapMayComeFromTheBucket(t *testing.T) {
	t.Parallel()
	if !filestest.HasS3() {
		return
	}
	server := filestest.StartS3(t)
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bucket := server.Open(t)
		s := newScene(t, db, exchange.AccessMembers)
		s.app.Files, s.app.Presigned = bucket, bucket
		w, p := s.world, s.member
		mapOf := func(material obj) string {
			t.Helper()
			of := obj{"title": "M", "organization_id": s.id}
			maps.Copy(of, material)
			id := p.want(201, "POST", "/materials", of).id()
			made := p.upload("map 1.gb", []byte("LOCUS "+fmt.Sprint(id)), obj{"sequence_map_for": id})
			return made.Body["download_url"].(string)
		}
		plasmid := mapOf(obj{"category": "PLASMID"})
		a := p.call("GET", plasmid+"?redirect=true", nil)
		link := a.Header.Get("Location")
		if a.Status != http.StatusFound || a.Header.Get("Cache-Control") != "no-store" || link == "" || len(a.Raw) > 0 {
			t.Fatalf("%d %v %s", a.Status, a.Header, a.Raw)
		}
		got, err := http.Get(link)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		body, err := io.ReadAll(got.Body)
		if want := p.want(200, "GET", plasmid, nil).Raw; err != nil || !bytes.Equal(body, want) {
			t.Errorf("the bucket sent %q, %v; want %q", body, err, want)
		}
		for name, want := range map[string]string{"Content-Disposition": `attachment; filename="map 1.gb"`,
			"Content-Type": "text/plain", "Cache-Control": "private, no-store", "Content-Encoding": ""} {
			if got := got.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if a := w.anonymous().call("GET", plasmid+"?redirect=true", nil); a.Status != http.StatusFound {
			t.Errorf("whoever may read it: %d %s", a.Status, a.Raw)
		}
		for name, headers := range map[string]map[string]string{"a HEAD": nil, "a condition": {"If-None-Match": `"x"`},
			"no wish for it": {}} {
			method, path := "GET", plasmid+"?redirect=true"
			switch name {
			case "a HEAD":
				method = "HEAD"
			case "no wish for it":
				path = plasmid
			}
			if a := p.callWith(headers, method, path, nil); a.Status != 200 {
				t.Errorf("%s: %d %v", name, a.Status, a.Header)
			}
		}
		human := obj{"organism_ids": []string{"NCBITaxon:9606"}}
		cells := p.want(201, "POST", "/materials", obj{"category": "PLASMID", "title": "C", "organization_id": s.id})
		mta := p.upload("mta.gb", pdf, obj{"sequence_map_for": cells.id()})
		p.want(200, "PATCH", fmt.Sprintf("/materials/%d", cells.id()), obj{"mta_attachment_id": mta.id()})
		infected, unchecked := mapOf(obj{"category": "PLASMID"}), mapOf(obj{"category": "PLASMID"})
		for address, state := range map[string]string{infected: "INFECTED", unchecked: "CHECKING"} {
			if _, err := w.sql.Exec("UPDATE attachments SET scan = $1 WHERE '/v1/uploaded-file/attachment_' || id || "+
				"'/map%201.gb' = $2", state, address); err != nil {
				t.Fatal(err)
			}
		}
		archived := mapOf(obj{"category": "PLASMID"})
		if _, err := w.sql.Exec("UPDATE materials SET is_archived = TRUE WHERE title = 'M' AND id = (SELECT MAX(id) FROM " +
			"materials)"); err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			address string
			status  int
		}{
			"of human origin":        {mapOf(obj{"category": "CELL_LINE", "additional_metadata": human}), 200},
			"perhaps of human":       {mapOf(obj{"category": "OTHER"}), 200},
			"for which an IRB is":    {mapOf(obj{"category": "PLASMID", "needs_irb": true}), 200},
			"an agreement":           {mta.Body["download_url"].(string), 200},
			"no sequence map":        {p.upload("a.pdf", pdf, nil).Body["download_url"].(string), 200},
			"with a virus":           {infected, 409},
			"that was not examined":  {unchecked, 409},
			"that is not there":      {"/uploaded-file/attachment_999/a.pdf", 404},
			"under another name":     {plasmid[:len(plasmid)-3] + ".txt", 404},
			"of an unlisted plasmid": {archived, 401},
		} {
			by := p
			if test.status == 401 {
				by = w.anonymous()
			}
			if a := by.call("GET", test.address+"?redirect=true", nil); a.Status != test.status {
				t.Errorf("content %s: %d %v %s, want %d", name, a.Status, a.Header, a.Raw, test.status)
			}
		}
		document := s.linked("executed_mta_attachment")
		if a := s.member.call("GET", document.Body["download_url"].(string)+"?redirect=true", nil); a.Status != 200 {
			t.Errorf("a document of a request: %d %v", a.Status, a.Header)
		}
	})
}
