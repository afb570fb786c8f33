package publish_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/publish"
)

// feedOf reads a feed strictly, and checks what RFC 4287 requires of every feed and entry.
func feedOf(t testing.TB, raw []byte) *node {
	t.Helper()
	var feed node
	decoder := xml.NewDecoder(strings.NewReader(string(raw)))
	if err := decoder.Decode(&feed); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	if token, err := decoder.Token(); err == nil && strings.TrimSpace(fmt.Sprintf("%s", token)) != "" || err != nil &&
		!errors.Is(err, io.EOF) {
		t.Errorf("behind the feed: %v", err)
	}
	ids := map[string]bool{}
	for i, n := range append([]*node{&feed}, feed.all("entry")...) {
		name := map[bool]string{true: "feed", false: "entry"}[i == 0]
		if n.XMLName.Space != "http://www.w3.org/2005/Atom" || n.XMLName.Local != name {
			t.Errorf("%v is no %s", n.XMLName, name)
		}
		for _, one := range []string{"id", "title", "updated"} {
			if len(n.all(one)) != 1 || n.all(one)[0].Text == "" {
				t.Errorf("%s has %d times %s", name, len(n.all(one)), one)
			}
		}
		if authors := n.all("author"); len(authors) != 1 || len(authors[0].all("name")) != 1 ||
			authors[0].all("name")[0].Text == "" {
			t.Errorf("%s has no author", name)
		}
		if at, err := time.Parse(time.RFC3339, n.text("updated")); err != nil || at.After(now) {
			t.Errorf("%s is updated %q", name, n.text("updated"))
		}
		if id := n.text("id"); ids[id] || !strings.HasPrefix(id, "https://aliquot.example.org/") {
			t.Errorf("%s has the id %q", name, id)
		}
		ids[n.text("id")] = true
	}
	return &feed
}

// node is an XML element.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []*node    `xml:",any"`
}

func (n *node) all(name string) (list []*node) {
	for _, c := range n.Nodes {
		if c.XMLName.Local == name {
			list = append(list, c)
		}
	}
	return list
}

func (n *node) text(name string) string { return n.all(name)[0].Text }

func (n *node) link(rel string) string {
	for _, l := range n.all("link") {
		href, is := "", false
		for _, a := range l.Attrs {
			is = is || a.Name.Local == "rel" && a.Value == rel
			if a.Name.Local == "href" {
				href = a.Value
			}
		}
		if is {
			return href
		}
	}
	return ""
}

func TestFeed_IsWellFormedForAnyText(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"HT-29":                            "HT-29",
		"<b>A & B</b>]]><!-- \"'\u2028":    "<b>A & B</b>]]><!-- \"'",
		"&amp;&#0;&lt;script>":             "&amp;&#0;&lt;script>",
		"a\x00b\x1b[2Jc\r\nd\te\ufffe\xff": "a b [2Jc d e\ufffd\ufffd",
		"\u202egnp.exe 🧬 ﷽":                "\u202egnp.exe 🧬 ﷽",
	} {
		l := listing(t, []byte(`{"category": "CELL_LINE", "title": "x"}`))
		l.Title, l.Organization.Name = title, title
		l.AdditionalInfo = &title
		raw, err := publish.Atom(publish.Feed{Title: title, Self: "https://aliquot.example.org/f?a=1&b=%00",
			Search:   "https://aliquot.example.org/s?a=1&b=%00",
			Listings: []publish.Listing{l}})
		if err != nil {
			t.Fatal(err)
		}
		feed := feedOf(t, raw)
		entry := feed.all("entry")[0]
		if feed.text("title") != want || entry.text("title") != want || entry.all("author")[0].text("name") != want {
			t.Errorf("%q is shown as %q", title, entry.text("title"))
		}
		if feed.link("self") != feed.text("id") ||
			feed.link("alternate") != "https://aliquot.example.org/s?a=1&b=%00" ||
			entry.link("alternate") != "https://aliquot.example.org/catalog/1482" ||
			entry.text("id") != "https://aliquot.example.org/materials/1482" {
			t.Errorf("the addresses are wrong: %s", raw)
		}
	}
}

func TestFeed_IsAsNewAsItsNewestEntry(t *testing.T) {
	t.Parallel()
	if feed := feedOf(t, atom(t)); feed.text("updated") != "1970-01-01T00:00:00Z" {
		t.Errorf("an empty feed is of %s", feed.text("updated"))
	}
	a := listing(t, []byte(`{"category": "CELL_LINE", "title": "A"}`))
	a.UpdatedAt = now.AddDate(0, -2, 0)
	b := a
	b.ID, b.EmbargoDate = 7, new(exchange.Date("2026-10-05"))
	feed := feedOf(t, atom(t, a, b))
	if a, b := feed.all("entry")[0], feed.all("entry")[1]; a.text("updated") != "2026-09-21T18:00:00Z" ||
		a.text("published") != "2025-11-21T00:00:00Z" ||
		b.text("updated") != "2026-10-05T00:00:00Z" || b.text("published") != "2026-10-05T00:00:00Z" ||
		feed.text("updated") != b.text("updated") {
		t.Errorf("%v", feed)
	}
}

func atom(t testing.TB, listings ...publish.Listing) []byte {
	t.Helper()
	raw, err := publish.Atom(publish.Feed{Title: "All", Self: "https://aliquot.example.org/f",
		Search: "https://aliquot.example.org/s", Listings: listings})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
