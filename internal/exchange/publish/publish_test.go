package publish_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/publish"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite what is made of the materials in testdata")

var now = time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)

// listing publishes a material that is written as the body of POST /materials.
func listing(t testing.TB, body []byte) publish.Listing {
	t.Helper()
	var p material.Patch
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	p.Organization = exchange.Some(exchange.Ref(7))
	m, err := p.Create()
	if err != nil {
		t.Fatal(err)
	}
	m.ID, m.Archived = 1482, p.Archived.Value
	m.CreatedAt, m.UpdatedAt = now.AddDate(-1, 0, 0), now
	return publish.Listing{
		Shown: material.Shown{Material: m,
			Contact: person.User{FirstName: "Mario", LastName: "Manager", Email: "mario@example.org"}},
		Organization: lab.Organization{ID: 7, Name: "Epithelial Biology Laboratory, Example University",
			Description: "We study barriers."},
		Site: "https://aliquot.example.org", Now: now,
	}
}

// goldens returns the archives of testdata by category: a material, and all output for it.
func goldens(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	all := map[string]*txtar.Archive{}
	for _, c := range category.All() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", strings.ToLower(c.Code)+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		all[c.Code] = archive
	}
	return all
}

// TestPublish_EveryCategoryAsItsFileSays compares with testdata, which -update writes; the line breaks of RIS are
// plain ones there.
func TestPublish_EveryCategoryAsItsFileSays(t *testing.T) {
	t.Parallel()
	for code, archive := range goldens(t) {
		l := listing(t, archive.Files[0].Data)
		linked, err := publish.LinkedData(l)
		if err != nil {
			t.Fatal(err)
		}
		made := &txtar.Archive{Files: []txtar.File{archive.Files[0], {Name: "linked.json", Data: indented(t, linked)}}}
		for _, f := range publish.Formats {
			raw, err := publish.Citation(l, f)
			if err != nil {
				t.Fatal(err)
			}
			if f == publish.CSLJSON {
				raw = indented(t, raw)
			}
			made.Files = append(made.Files,
				txtar.File{Name: string(f), Data: bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))})
		}
		var page strings.Builder
		for _, m := range l.Metas() {
			fmt.Fprintf(&page, "%s: %s\n", m.Name, m.Content)
		}
		for _, link := range l.Links() {
			fmt.Fprintf(&page, "Link: %s\n", link)
		}
		made.Files = append(made.Files, txtar.File{Name: "page", Data: []byte(page.String())})
		file := filepath.Join("testdata", strings.ToLower(code)+".txtar")
		if *update {
			if err := os.WriteFile(file+".new", txtar.Format(made), 0o644); err != nil { //nolint:gosec // for everyone
				t.Fatal(err)
			}
			if err := os.Rename(file+".new", file); err != nil { // atomically: other tests read it meanwhile
				t.Fatal(err)
			}
			continue
		}
		if got, want := txtar.Format(made), txtar.Format(archive); !bytes.Equal(got, want) {
			t.Errorf("%s is not what is made; run make golden and look at the difference. Made:\n%s", file, got)
		}
	}
}

func indented(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
