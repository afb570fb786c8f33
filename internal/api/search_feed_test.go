package api_test

import (
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// atomFeed is a feed as a reader of RFC 4287 takes it.
type atomFeed struct {
	XMLName xml.Name  `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string    `xml:"id"`
	Title   string    `xml:"title"`
	Updated time.Time `xml:"updated"`
	Author  string    `xml:"author>name"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Entries []struct {
		ID      string    `xml:"id"`
		Title   string    `xml:"title"`
		Updated time.Time `xml:"updated"`
		Author  string    `xml:"author>name"`
		Summary string    `xml:"summary"`
	} `xml:"entry"`
}

// feed reads one strictly; publish's own test holds it to RFC 4287.
func (p *testPerson) feed(query string) atomFeed {
	p.w.t.Helper()
	a := p.want(200, "GET", "/search/materials/feed?"+query, nil)
	var f atomFeed
	if err := xml.Unmarshal(a.Raw, &f); err != nil || a.Header.Get("Content-Type") != "application/atom+xml" {
		p.w.t.Fatalf("%s: %v: %s", a.Header.Get("Content-Type"), err, a.Raw)
	}
	return f
}

func TestSearchFeed_HasTheResultsOfItsSearch(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		anyone := s.people["anonymous"]
		hostile := "hela\x00 </title><script>alert(1)</script> & \"'\xff\u202e -nothing"
		for _, query := range []string{"search=" + url.QueryEscape(hostile), "needs_mta=true&search=hela&search=s3",
			""} {
			f := anyone.feed(query)
			address, err := url.Parse(f.Links[0].Href)
			if err != nil || f.ID != f.Links[0].Href || f.Links[0].Rel != "self" ||
				!strings.HasPrefix(f.ID, publicURL+"/v1/search/materials/feed") || f.Author != "Aliquot" {
				t.Fatalf("%s: %+v, %v", query, f, err)
			}
			again := anyone.feed(address.RawQuery)
			if fmt.Sprint(again) != fmt.Sprint(f) {
				t.Errorf("%s is at %s another feed: %v, %v", query, f.ID, f, again)
			}
			alternate, err := url.Parse(f.Links[1].Href)
			if err != nil || f.Links[1].Rel != "alternate" {
				t.Fatalf("%s: %+v, %v", query, f.Links, err)
			}
			if a := anyone.want(200, "GET", strings.TrimPrefix(alternate.String(), publicURL),
				nil); a.Body["count"] != float64(len(f.Entries)) {
				t.Errorf("%s: %d entries, %v found", query, len(f.Entries), a.Body["count"])
			}
		}
		f := anyone.feed("search=hela&category=CELL_LINE&category=PLASMID")
		if f.Title != "Materials on Aliquot: hela; Category: CELL_LINE, PLASMID" || len(f.Entries) != 3 {
			t.Errorf("%s: %v", f.Title, f.Entries)
		}
		newest := f.Entries[0]
		if newest.Title != "pcDNA3 TNFα" ||
			newest.ID != fmt.Sprintf("%s/materials/%d", publicURL, s.ids["pcDNA3 TNFα"]) ||
			newest.Author != "Epithelial Biology" ||
			newest.Summary != "Expresses <b>TNF-alpha</b> & more in HeLa cells." || !f.Updated.Equal(newest.Updated) {
			t.Errorf("the newest is %+v, the feed of %v", newest, f.Updated)
		}
		s.member.want(204, "DELETE", fmt.Sprintf("/materials/%d", s.ids["HeLa S3"]), nil)
		if f := anyone.feed("search=hela"); len(f.Entries) != 2 {
			t.Errorf("what is no longer offered is in the feed: %v", f.Entries)
		}
	})
}

func TestSearchFeed_AnswersNotModified(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newCatalogue(t, db)
		const path = "/search/materials/feed?search=hela"
		tag := s.people["anonymous"].want(200, "GET", path, nil).Header.Get("ETag")
		known := map[string]string{"If-None-Match": tag}
		if a := s.member.sendWith(known, "GET", path, "", nil); a.Status != 304 || len(a.Raw) > 0 || tag == "" {
			t.Errorf("%q is sent again: %d", tag, a.Status)
		}
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.ids["HT-29"]),
			obj{"additional_info": "Not of that kind"})
		if a := s.member.sendWith(known, "GET", path, "", nil); a.Status != 304 {
			t.Errorf("another material changed: %d", a.Status)
		}
		s.member.want(200, "PATCH", fmt.Sprintf("/materials/%d", s.ids["HeLa"]), obj{"additional_info": "Passage 12"})
		if a := s.member.sendWith(known, "GET", path, "", nil); a.Status != 200 {
			t.Errorf("a material of it changed: %d", a.Status)
		}
	})
}

func TestSearchFeed_HasTheNewestFifty(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for range 53 {
			s.newMaterial()
		}
		last := s.newMaterial()
		if f := s.people["anonymous"].feed(""); len(f.Entries) != 50 ||
			f.Entries[0].ID != fmt.Sprintf("%s/materials/%d", publicURL, last) {
			t.Errorf("%d entries, the first %v", len(f.Entries), f.Entries[0])
		}
	})
}
