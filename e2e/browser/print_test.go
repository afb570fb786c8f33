package browser

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// printed is how many sheets the page of a tab takes on paper.
func (t *tab) printed() int {
	t.Helper()
	pdf, err := chromedp.Call(t.ctx, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true)})
	t.must(err)
	return bytes.Count(pdf.Data, []byte("/Type /Page\n"))
}

// TestPrint_LabelsOfManyRequestsTogether: they are chosen in the inbox, and each parcel's label has a sheet of its
// own.
func TestPrint_LabelsOfManyRequestsTogether(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit("/requests?turn=all")
	for _, material := range []string{"HCT 116", "HeLa"} {
		tab.fill(fmt.Sprintf("Select request %d", s.request(material)), "yes")
	}
	tab.followIn("main", "Labels")
	tab.says("Labels for 2 requests")
	chosen := url.Values{"id": {fmt.Sprint(s.request("HCT 116")), fmt.Sprint(s.request("HeLa"))}}.Encode()
	for query, want := range map[string]int{"what=parcel": 2, "what=parcel&size=inch": 2, "what=parcel&size=a4": 1,
		"what=slip": 2, "what=tubes&tubes=9": 1} {
		tab.visit("/requests/labels?" + chosen + "&" + query)
		if n := tab.printed(); n != want {
			t.Errorf("%s is printed on %d sheets, want %d", query, n, want)
		}
	}
}

// TestPrint_RequestNamesPeopleAndDays, not the reader and the day of printing.
func TestPrint_RequestNamesPeopleAndDays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	path := fmt.Sprintf("/requests/%d", s.request("HeLa"))
	tab.visit(path)
	tab.fill("Message", "On paper, too.")
	tab.followIn("main", "Send message")
	tab.says("On paper, too.")
	_, err := chromedp.Call(tab.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	tab.must(err)
	// What stands on paper: of an element with another text there, that text.
	text := see[string](tab, `(() => {
		for (const e of document.querySelectorAll(".bubble")) e.remove(); // what people wrote
		for (const e of document.querySelectorAll("[data-printed]")) e.textContent = e.dataset.printed;
		return document.querySelector("main").innerText;
	})()`)
	for _, word := range []string{"today", "yesterday", "You", "you", "Your", "your"} {
		if regexp.MustCompile(`\b` + word + `\b`).MatchString(text) {
			t.Errorf("the paper says %q:\n%s", word, text)
		}
	}
	for _, want := range []string{"Mario Manager", "Josiah", "Printed " + time.Now().Format("2 Jan 2006"), path} {
		if !strings.Contains(text, want) {
			t.Errorf("the paper lacks %q:\n%s", want, text)
		}
	}
}
