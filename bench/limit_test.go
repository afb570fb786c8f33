package bench

import (
	"fmt"
	"net/http"
	"reflect"
	"testing"
)

// BenchmarkMaterial reads materials without a token: one statement.
func BenchmarkMaterial(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		get := func(side, client, n int) *http.Request {
			return w.request(side, "GET", w.material(client*131+n), "", "")
		}
		w.alike(get, 1)
		compare(b, 0.7, get)
	})
}

// BenchmarkMaterials reads the longest page of materials: two statements.
func BenchmarkMaterials(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		get := func(side, _, _ int) *http.Request { return w.request(side, "GET", "/v1/materials?limit=200", "", "") }
		w.alike(get, 2)
		compare(b, 0.5, get)
	})
}

// BenchmarkUnchanged asks for materials that the caller has already: one statement, and 304.
func BenchmarkUnchanged(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		tags := map[string]string{}
		for n := range w.materials {
			answer, err := http.DefaultClient.Do(w.request(ours, "HEAD", w.material(n), "", ""))
			if err != nil {
				b.Fatal(err)
			}
			answer.Body.Close()
			tags[w.material(n)] = answer.Header.Get("ETag")
		}
		get := func(side, client, n int) *http.Request {
			r := w.request(side, "GET", w.material(client*131+n), "", "")
			r.Header.Set("If-None-Match", tags[w.material(client*131+n)])
			return r
		}
		for side := range 2 {
			if answer, err := http.DefaultClient.Do(get(side, 0, 0)); err != nil || answer.Body.Close() != nil ||
				answer.StatusCode != http.StatusNotModified {
				b.Fatalf("side %d: %v, %v", side, answer, err)
			}
		}
		compare(b, 0.8, get)
	})
}

// BenchmarkRequest reads requests with a token: three statements.
func BenchmarkRequest(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		get := func(side, client, n int) *http.Request {
			return w.request(side, "GET", w.requestPath(client*31+n), w.member, "")
		}
		w.alike(get, 3)
		compare(b, 0.5, get)
	})
}

// BenchmarkStatus gives a request another status and back, each change with its event, its turn, its notifications, the
// job that tells the rest and its event of the record; every client of either side has a request of its own.
func BenchmarkStatus(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		path := func(side, client int) string { return w.requestPath(side*clients + client) }
		patch := func(side, client, n int) *http.Request {
			return w.request(side, "PATCH", path(side, client), w.member, [2]string{reopened, approved}[n%2])
		}
		for n, statements := range []int64{12, 13} { // to APPROVED the lab's other members hear too
			var changed, kept any
			before := w.db.Queries()
			w.read(patch(ours, 0, n), &changed)
			w.ran(before, statements)
			w.read(patch(bare, 0, n), &changed)
			w.read(w.request(ours, "GET", path(bare, 0), w.member, ""), &kept)
			if !reflect.DeepEqual(changed, kept) {
				b.Fatalf("bare answers %v, but kept %v", changed, kept)
			}
		}
		compare(b, 0.85, patch)
	})
}

func (w *world) material(n int) string {
	return fmt.Sprintf("/v1/materials/%d", w.materials[n%len(w.materials)])
}

func (w *world) requestPath(n int) string {
	return fmt.Sprintf("/v1/material-requests/%d", w.requests[n%len(w.requests)])
}

// alike fails unless both sides answer with the same JSON after the same number of statements.
func (w *world) alike(next call, statements int64) {
	var got [2]any
	before := w.db.Queries()
	w.read(next(ours, 0, 0), &got[ours])
	w.ran(before, statements)
	w.read(next(bare, 0, 0), &got[bare])
	if !reflect.DeepEqual(got[ours], got[bare]) {
		w.b.Fatalf("ours answers %v, bare %v", got[ours], got[bare])
	}
}

// ran fails unless ours ran as many statements as bare does.
func (w *world) ran(before, statements int64) {
	if n := w.db.Queries() - before; n != statements {
		w.b.Fatalf("ours runs %d statements, bare %d: bring bare_test.go up to date", n, statements)
	}
}
