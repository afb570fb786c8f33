package browser

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
	"aliquot/internal/importer"
	"aliquot/internal/job/jobtest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// bar is a row of the table in docs/pages.md: what people do, how much it may take at most, and what it took.
type bar struct {
	what, most string
	measure    func(s *site) (took string, met bool)
}

// bars are those that the pages must keep.
var bars = []bar{
	{"A returning requester, from the search to the sent request", "2 clicks", measureReturning},
	{"A new lab, until its first cell line is listed by RRID", "4 clicks, 2 typed fields", measureFirstListing},
	{"A request arrives, until it is shipped, nothing missing", "4 clicks", measureShipping},
	{"The form that lists a cell line, at 1280 and 390 px", "under 1.5 windows tall", measureListing},
	{"In an inbox of 200 requests, accept 20", "3 clicks, one mail per person", measureAcceptingMany},
	{"The widest page at 320 px, with names of 200 characters", "320 px", measureWidth},
	{"Counts of the filters of a search, in the sample data", "exact", measureFacets},
}

const (
	pagesDocument = "../../docs/pages.md"
	barsBegin     = "<!-- bars: make clicks -->\n"
	barsEnd       = "<!-- end of bars -->\n"
)

// TestClicks_MeetTheBars measures what people do in the browser; "make clicks" also writes the table of docs/pages.md.
func TestClicks_MeetTheBars(t *testing.T) {
	t.Parallel()
	took := make([]string, len(bars))
	t.Run("bars", func(t *testing.T) {
		for i, b := range bars {
			t.Run(b.what, func(t *testing.T) {
				t.Parallel()
				var met bool
				s := mailing(t)
				if took[i], met = b.measure(s); !met {
					t.Errorf("%s: took %s, want %s", b.what, took[i], b.most)
				}
			})
		}
	})
	content, err := os.ReadFile(pagesDocument)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(content), barsBegin)
	table, after, ends := strings.Cut(rest, barsEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table", pagesDocument)
	}
	var fresh strings.Builder
	fresh.WriteString("| What | At most | Measured |\n|---|---|---|\n")
	for i, b := range bars {
		fmt.Fprintf(&fresh, "| %s | %s | %s |\n", b.what, b.most, took[i])
		if !strings.Contains(table, fmt.Sprintf("| %s | %s | ", b.what, b.most)) && !update {
			t.Errorf("the table of %s has no row %q; make clicks writes it", pagesDocument, b.what)
		}
	}
	if update && !t.Failed() {
		whole := before + barsBegin + fresh.String() + barsEnd + after
		if err := os.WriteFile(pagesDocument, []byte(whole), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// clicked returns the number of clicks since the tab was opened, as words.
func (t *tab) clicked() string { return fmt.Sprint(t.clicks, " clicks") }

// newMaterial lists a material of Mario's lab that asks for nothing but an address.
func (s *site) newMaterial(title string) exchange.Ref {
	s.Helper()
	mario := s.actor("mario")
	m, _, err := s.app.Materials.CreateMaterial(s.Context(), mario, material.Patch{Category: exchange.Some("OTHER"),
		Title: exchange.Some(title), Organization: exchange.Some(exchange.Ref(s.lab("Sample Cell Bank")))})
	s.must(err)
	return exchange.Ref(m.ID)
}

func measureReturning(s *site) (took string, met bool) {
	s.newMaterial("Quokka fibroblasts")
	t := s.open("josiah")
	t.visit("/")
	search := find("", "main form[role=search] input[type=search]", "main")
	t.until("there is a search", search)
	see[bool](t, "("+search+".focus(), true)")
	t.do("type", chromedp.KeyEvent("Quokka"))
	// Suggestions for what was typed before may be there, which those for all of it then replace.
	t.until("there is the suggestion", `performance.getEntriesByType("resource").some((e) => e.name.endsWith("?q=Quokka")) &&
		document.querySelector("main [role=option]")`)
	t.leave("choose it", func() { t.do("choose", chromedp.KeyEvent(kb.ArrowDown)); t.pressEnter() })
	t.followIn("main", "Request Quokka fibroblasts")
	t.followIn("main", "Send request")
	t.until("it is sent", `/^\/requests\/\d+$/.test(location.pathname)`)
	return t.clicked(), t.clicks <= 2
}

// asks makes a request of somebody for a material, with a new address.
func (s *site) asks(name string, m exchange.Ref) {
	s.Helper()
	who := s.actor(name)
	address, err := s.app.Documents.CreateAddress(s.Context(), who, who.ID, person.AddressPatch{
		Name: exchange.Some(name), Line1: exchange.Some("1 Main St"), Locality: exchange.Some("Basel"),
		PostalCode: exchange.Some("4051"), Country: exchange.Some("CH")})
	s.must(err)
	_, err = s.app.Requests.CreateRequest(s.Context(), who, request.New{Material: exchange.Some(m),
		Submission: request.Submission{Address: exchange.NullOf(exchange.Ref(address.ID))}})
	s.must(err)
}

func measureShipping(s *site) (took string, met bool) {
	s.asks("josiah", s.newMaterial("Quokka fibroblasts"))
	t := s.open("mario")
	t.visit("/requests")
	t.followIn("main", "Quokka fibroblasts")
	t.followIn("#next", "Accept")
	t.again("Ship it")
	t.followIn("#next", "Ship it")
	t.fill("Tracking number", "7946 1234 5678")
	t.followIn("main form", "Ship it")
	t.again("Shipped")
	return t.clicked(), t.clicks <= 4
}

func measureFirstListing(s *site) (took string, met bool) {
	file, err := os.Open("../../internal/importer/testdata/cellosaurus.txt")
	s.must(err)
	_, err = s.app.Materials.LoadCellLines(s.Context(), importer.CellLines(file), func(int) {})
	s.must(err)
	s.must(file.Close())
	t := s.open("newcomer")
	t.visit("/")
	t.followIn("header", "List a material")
	t.fill("Paste its number", "RRID:CVCL_0030")
	t.followIn("main", "Look up")
	t.fill("Cell type", "Epithelial")
	t.fill("Biosafety level", "Level 2")
	t.clicks++ // the choice of the level
	t.followIn("main", "Publish")
	t.until("it is listed", `/^\/catalog\/\d+$/.test(location.pathname) && document.querySelector("h1").textContent === "HeLa"`)
	return t.clicked() + ", 2 typed fields", t.clicks <= 4
}

func measureListing(s *site) (took string, met bool) {
	t := s.open("mario")
	var all []string
	met = true
	for _, window := range [][2]int64{{1280, 900}, {390, 844}} {
		t.resize(window[0], window[1])
		t.visit("/share/new?category=CELL_LINE")
		tall := see[float64](t, "document.documentElement.scrollHeight / innerHeight")
		all, met = append(all, fmt.Sprintf("%.2f", tall)), met && tall < 1.5
	}
	return strings.Join(all, " and ") + " windows", met
}

func measureAcceptingMany(s *site) (took string, met bool) {
	const people, requests, accepted = 20, 200, 20
	var list []exchange.Actor
	for i := range people {
		name := fmt.Sprintf("requester%d", i)
		signed, err := s.app.Accounts.SignIn(s.Context(), identity.Person{RegistryID: name, GivenName: name,
			Email: name + "@example.org"}, person.Registration{})
		s.must(err)
		who, err := s.app.Accounts.Actor(s.Context(), signed.Token)
		s.must(err)
		list = append(list, who)
	}
	m := s.newMaterial("Quokka fibroblasts")
	for i := range requests {
		_, err := s.app.Requests.CreateRequest(s.Context(), list[i%people], request.New{Material: exchange.Some(m)})
		s.must(err)
	}
	t := s.open("mario")
	t.visit("/requests?search=Quokka")
	row := func(n int) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#list tbody [name=id]")][%d]`, n)
	}
	t.click("the first request", row(0))
	t.until("there is the last one", row(accepted-1))
	see[bool](t, `(`+row(accepted-1)+`.dispatchEvent(new MouseEvent("click", { shiftKey: true, bubbles: true })), true)`)
	t.clicks++
	t.until("they are selected", fmt.Sprintf(`document.querySelector("[data-selected]").textContent === "%d selected"`, accepted))
	t.followIn("#bulk", "Accept")
	counts := func() (mails map[string]int, all int) {
		mails = map[string]int{}
		for _, l := range s.letters.Messages() {
			if strings.HasPrefix(l.To, "requester") {
				mails[l.To]++
				all++
			}
		}
		return mails, all
	}
	jobtest.Poll(s.T, "everybody has mail", func() bool { _, all := counts(); return all >= accepted })
	mails, _ := counts()
	most := 0
	for _, n := range mails {
		most = max(most, n)
	}
	return fmt.Sprintf("%d clicks, %d mail per person", t.clicks, most), t.clicks <= 3 && most == 1
}

func measureWidth(s *site) (took string, met bool) {
	pages := s.mainPages()
	for _, column := range []string{"organizations name", "users last_name", "materials title", "attachments filename",
		"material_requests quantity", "material_requests note"} {
		table, name, _ := strings.Cut(column, " ")
		s.change("UPDATE "+table+" SET "+name+" = $1 WHERE "+name+" IS NOT NULL AND "+name+" <> ''", unbroken)
	}
	widest := 0.0
	for _, p := range pages {
		t := s.open(p.who)
		t.resize(320, 800)
		t.visit(p.path)
		width := see[float64](t, "document.documentElement.scrollWidth")
		if width > 320 {
			t.Logf("%s is %.0f px wide: %s", p.path, width, see[string](t, overflowing))
		}
		widest = max(widest, width)
	}
	return fmt.Sprintf("%.0f px", widest), widest <= 320
}

var digits = regexp.MustCompile(`[\d,]+`)

func measureFacets(s *site) (took string, met bool) {
	t := s.open("")
	t.visit("/catalog")
	type facet struct{ Name, Value, Count string }
	facets := see[[]facet](t, `[...document.querySelectorAll(".facet label")].filter((l) => l.querySelector("input") && l.querySelector(".n")).map(
		(l) => ({ Name: l.querySelector("input").name, Value: l.querySelector("input").value, Count: l.querySelector(".n").textContent }))`)
	wrong := 0
	for _, f := range facets {
		text := see[string](t, fmt.Sprintf(`fetch("/catalog?" + new URLSearchParams([[%s, %s]])).then((r) => r.text()).then(
			(text) => new DOMParser().parseFromString(text, "text/html").querySelector("#results [role=status]").textContent)`,
			quoted(f.Name), quoted(f.Value)))
		if digits.FindString(text) != digits.FindString(f.Count) {
			t.Logf("%s=%s: the filter says %q, the search %q", f.Name, f.Value, f.Count, text)
			wrong++
		}
	}
	return fmt.Sprintf("%d of %d exact", len(facets)-wrong, len(facets)), wrong == 0 && len(facets) > 10
}
