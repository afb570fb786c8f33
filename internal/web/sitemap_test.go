package web_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
)

// locations returns the addresses in a sitemap or an index of sitemaps, without the host.
func (w *world) locations(path string) []string {
	w.Helper()
	a := w.as("").get(path).want(http.StatusOK)
	var doc struct {
		Entries []struct {
			Location string `xml:"loc"`
		} `xml:",any"`
	}
	if err := xml.Unmarshal([]byte(a.body), &doc); err != nil {
		w.Fatalf("%s: %v\n%s", path, err, a.body)
	}
	var list []string
	for _, e := range doc.Entries {
		location, ok := strings.CutPrefix(e.Location, w.app.PublicURL)
		if !ok {
			w.Errorf("%s lists %s", path, e.Location)
		}
		list = append(list, location)
	}
	return list
}

func TestSitemap_ListsWhatEverybodyMaySeeAndNothingElse(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("olivia")
		add := func(title, embargo string) string {
			p := material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some(title),
				Organization: exchange.Some(exchange.Ref(v.actor.Owns[0]))}
			if embargo != "" {
				p.EmbargoDate = exchange.NullOf(exchange.Date(embargo))
			}
			m, _, err := w.app.Materials.CreateMaterial(t.Context(), v.actor, p)
			w.must(err)
			return "/catalog/" + strconv.FormatInt(m.ID, 10)
		}
		open, hidden := add("Open", ""), add("Hidden", time.Now().AddDate(1, 0, 0).Format(time.DateOnly))
		archived := w.listing("LoVo")
		id, err := strconv.ParseInt(strings.TrimPrefix(archived, "/catalog/"), 10, 64)
		w.must(err)
		w.must(w.app.Materials.ArchiveMaterial(t.Context(), v.actor, id, nil))
		var all []string
		for _, part := range w.locations("/sitemap.xml") {
			all = append(all, w.locations(part)...)
		}
		if !slices.Contains(all, open) || slices.Contains(all, hidden) || slices.Contains(all, archived) {
			t.Errorf("%v", all)
		}
		for _, location := range all {
			w.as("").get(location).want(http.StatusOK)
		}
	})
}

func TestRobots_NamesTheSitemap(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		a := w.as("").get("/robots.txt").want(http.StatusOK)
		if !strings.Contains(a.body, "\nSitemap: "+w.app.PublicURL+"/sitemap.xml\n") {
			t.Error(a.body)
		}
	})
}

func TestMaterialPage_LinksToItsDescriptionsForPrograms(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		a := w.as("").get(w.listing("LoVo")).want(http.StatusOK)
		relations := map[string]string{}
		for _, link := range a.header.Values("Link") {
			target, rest, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">; rel=\"")
			relation, _, _ := strings.Cut(rest, "\"")
			relations[relation] = target
			if path, ours := strings.CutPrefix(target, w.app.PublicURL); ours && relation == "author" {
				w.as("").get(path).want(http.StatusOK)
			}
		}
		for _, relation := range []string{"cite-as", "describedby", "author", "type"} {
			if relations[relation] == "" {
				t.Errorf("no link %s in %v", relation, a.header.Values("Link"))
			}
		}
		if !a.has(`meta[name=citation_title]`) || !a.has(`meta[name="DC.identifier"]`) {
			t.Error("no citation tags")
		}
	})
}

// TestMaterialPage_NamesALicenceOfTheSPDXList to programs: in the link header, in the tags and as linked data.
func TestMaterialPage_NamesALicenceOfTheSPDXList(t *testing.T) {
	t.Parallel()
	w := alone(t)
	const license = "https://spdx.org/licenses/CC-BY-4.0.html"
	for _, kind := range []string{"DATASET", "PROTOCOL"} {
		id := w.as("mario").listed("Licensed", material.Patch{Category: exchange.Some(kind),
			Metadata: exchange.Some(json.RawMessage(`{"license": "https://creativecommons.org/licenses/by/4.0/"}`))})
		a := w.as("").get(fmt.Sprintf("/catalog/%d", id)).want(http.StatusOK)
		links := strings.Join(a.header.Values("Link"), "\n")
		if !strings.Contains(links, "<"+license+`>; rel="license"`) {
			t.Errorf("the links of a %s: %s", kind, links)
		}
		if !a.has(`meta[name="DC.rights"]`) ||
			!strings.Contains(a.text(`script[type="application/ld+json"]`), license) {
			t.Errorf("a %s does not name its licence: %s", kind, a.text("head"))
		}
	}
}
