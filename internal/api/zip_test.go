package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"
)

func TestCompression_OfLargeJSONOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	ada := w.person("ada")
	id := ada.want(201, "POST", "/materials",
		obj{"category": "OTHER", "title": "A", "organization_id": ada.Lab,
			"additional_info": strings.Repeat("long ", 500)}).id()
	large, small := fmt.Sprintf("/materials/%d", id), "/shipping-requirements"
	plain := ada.want(200, "GET", large, nil)
	for accept, zipped := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=x": false, "identity": false, "": false,
		"br": false, "xgzip": false,
	} {
		for _, path := range []string{large, small} {
			head := ada.callWith(map[string]string{"Accept-Encoding": accept}, "HEAD", path, nil)
			want := zipped && path == large
			if got := head.Header.Get("Content-Encoding") == "gzip"; got != want {
				t.Errorf("Accept-Encoding %q, %s: compressed %v, want %v", accept, path, got, want)
			}
			if head.Header.Get("Vary") != "Accept-Encoding, Authorization" {
				t.Errorf("Accept-Encoding %q, %s: Vary %q", accept, path, head.Header.Get("Vary"))
			}
			if got := strings.HasSuffix(head.Header.Get("ETag"), `-gzip"`); got != want {
				t.Errorf("Accept-Encoding %q, %s: ETag %s", accept, path, head.Header.Get("ETag"))
			}
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+large, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.ContentLength != int64(len(body)) || len(body) >= len(plain.Raw) {
		t.Errorf("%d bytes of %d, Content-Length %d, %v", len(body), len(plain.Raw), response.ContentLength, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, plain.Raw) {
		t.Errorf("unpacked: %s, %v", text, err)
	}
	tag := response.Header.Get("ETag")
	for _, accept := range []string{"gzip", "identity"} {
		a := ada.callWith(map[string]string{"Accept-Encoding": accept, "If-None-Match": tag}, "GET", large, nil)
		if a.Status != 304 || a.Header.Get("ETag") != tag || a.Header.Get("Content-Encoding") != "" ||
			a.Header.Get("Vary") != "Accept-Encoding, Authorization" {
			t.Errorf("If-None-Match %s, accepting %s: %d %v", tag, accept, a.Status, a.Header)
		}
	}
	if a := ada.callWith(map[string]string{"If-Match": tag}, "PATCH", large, obj{"title": "B"}); a.Status != 200 {
		t.Errorf("If-Match with the tag of the compressed body: %d %s", a.Status, a.Raw)
	}
	// What is kept for a retry is the body as it is, whatever the first caller took.
	made := obj{"category": "OTHER", "title": "C", "organization_id": ada.Lab,
		"additional_info": strings.Repeat("long ", 500)}
	first := ada.callWith(key("z"), "POST", "/materials", made)
	again := ada.callWith(key("z"), "POST", "/materials", made)
	if first.Status != 201 || !bytes.Equal(first.Raw, again.Raw) || len(again.Header.Values("Vary")) != 1 ||
		len(first.Header.Values("Vary")) != 1 {
		t.Errorf("%d %v, again: %d %v", first.Status, first.Header, again.Status, again.Header)
	}
}
