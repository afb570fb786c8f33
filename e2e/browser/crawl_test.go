package browser

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// roles are those that people of the demo have, by who has them; "" is nobody, and the stranger is new.
var roles = map[string]string{
	"anonymous": "", "stranger": "0000-0002-1694-233X", "requester": "josiah", "member": "mario", "owner": "olivia",
	"admin": "ada",
}

// found is a page that somebody finds by following links.
type found struct {
	role, path, pattern string
	status              int
	html                bool
	from                string   // the page with the link
	kinds               []string // of its elements
}

// walker follows links as one role.
type walker struct {
	*site
	role, token string
	mux         *http.ServeMux
	seen        map[string]int // visits, by what one page of a kind is known by
	list        []found
}

// patterns gives a mux that tells the pattern of a page of ours.
func patterns() *http.ServeMux {
	mux := http.NewServeMux()
	for _, p := range append(web.Patterns(), "GET /docs", "GET /unsubscribe", "GET /assets/") {
		mux.Handle(p, http.NotFoundHandler())
	}
	return mux
}

// walk visits what a role finds from the start page and from some addresses that people type.
func (s *site) walk(role string) []found {
	s.Helper()
	w := &walker{site: s, role: role, mux: patterns(), seen: map[string]int{}}
	if name := roles[role]; name != "" {
		w.token = s.token(name)
	}
	type step struct{ path, from string }
	queue := []step{{"/", ""}, {"/signin", ""}, {"/catalog?q=no-such-thing", ""}, {"/nothing-here", ""},
		{"/welcome", ""}, {"/labs/new", ""},
		{fmt.Sprintf("/catalog/%d", s.material("pSample-EGFP (made up)")), ""}, // the one with a sequence map
		// the form of the inbox leads there
		{fmt.Sprintf("/requests/labels?id=%d&id=%d", s.request("HCT 116"), s.request("HeLa")), ""}}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		f, links := w.get(next.path, next.from)
		if f == nil {
			continue
		}
		w.list = append(w.list, *f)
		for _, link := range links {
			if w.wants(link) {
				queue = append(queue, step{link, next.path})
			}
		}
	}
	return w.list
}

// most is how many pages of a kind are visited, where that is more than two.
var most = map[string]int{"GET /requests/{id}": 60, "GET /catalog/{id}": 12, "GET /catalog/{id}/request": 6,
	"GET /labs/{id}": 6, "GET /labs/{id}/people": 6}

// chosen are the names in a query whose values make another page.
var chosen = []string{"category", "show", "turn", "to", "state"}

// wants reports whether a link leads to a page that is worth a visit: a kind of page is its pattern, the
// names in its query, and what is chosen there.
func (w *walker) wants(link string) bool {
	u, err := url.Parse(link)
	if err != nil {
		return true // get says so
	}
	if w.seen[link]++; w.seen[link] > 1 {
		return false
	}
	pattern := w.pattern(link)
	key := pattern
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		if key += " " + name; slices.Contains(chosen, name) {
			key += "=" + u.Query().Get(name)
		}
	}
	if pattern == "" {
		return true
	}
	if u.RawQuery == "" && w.seen[key] >= max(2, most[pattern]) || u.RawQuery != "" && w.seen[key] >= 1 {
		return false
	}
	w.seen[key]++
	return true
}

func (w *walker) pattern(path string) string {
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+path, http.NoBody)
	if err != nil {
		return ""
	}
	_, pattern := w.mux.Handler(r)
	return pattern
}

// direct is a client that follows nothing.
var direct = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// get visits an address and gives the links there.
func (w *walker) get(path, from string) (*found, []string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.url+path, http.NoBody)
	w.must(err)
	r.Header.Set("Accept", "text/html")
	if w.token != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-session", Value: w.token})
	}
	if strings.HasSuffix(r.URL.Path, "/stream") {
		return nil, nil
	}
	a, err := direct.Do(r)
	w.must(err)
	defer func() { _ = a.Body.Close() }()
	f := &found{role: w.role, path: path, pattern: w.pattern(path), status: a.StatusCode, from: from,
		html: strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")}
	if to := a.Header.Get("Location"); to != "" && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/demo/") {
		f.html = false
		return f, []string{to}
	}
	if !f.html {
		return f, nil
	}
	body, err := io.ReadAll(a.Body)
	w.must(err)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	w.must(err)
	f.kinds = kindsOf(doc, fmt.Sprintf("%s %d", f.pattern, f.status))
	var links []string
	if f.pattern == "GET /docs" {
		return f, nil
	}
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		to, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
		to = strings.TrimPrefix(to, w.url)
		if strings.HasPrefix(to, "?") {
			to = r.URL.Path + to
		}
		if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/signin") {
			links = append(links, to)
		}
	})
	return f, links
}

// kindsOf are the kinds of elements that a page has, each with what it is in: not how often, and not what they say; its
// address and status; and what it says is missing, where it is empty.
func kindsOf(doc *goquery.Document, answer string) []string {
	kinds := map[string]bool{answer: true, answer + " " + doc.Find(".empty h2, .empty h3").Text(): true}
	var visit func(n *html.Node, parent string)
	visit = func(n *html.Node, parent string) {
		kind := n.Data
		for _, a := range n.Attr {
			switch a.Key {
			case "class", "type", "role", "aria-current", "aria-invalid":
				kind += " " + a.Key + "=" + a.Val
			}
		}
		kinds[parent+">"+kind] = true
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && c.Data != "use" {
				visit(c, kind)
			}
		}
	}
	visit(doc.Find("body").Get(0), "")
	return slices.Collect(maps.Keys(kinds))
}

// furnish makes what the sample data lack, so that there are pages of it.
func (s *site) furnish() {
	s.Helper()
	ctx, lab := s.Context(), s.lab("Sample Cell Bank")
	olivia, err := s.app.Accounts.Actor(ctx, s.token("olivia"))
	s.must(err)
	grant, err := s.app.Grants.CreateGrant(ctx, olivia,
		person.GrantPatch{Title: exchange.Some("Models of tumours"),
			FunderID: exchange.Some("https://doi.org/10.13039/100000002")})
	s.must(err)
	_, _, err = s.app.Grants.Fund(ctx, olivia, grant.ID,
		material.FundingBody{Material: exchange.Some(exchange.Ref(s.material("HT-29")))})
	s.must(err)
	_, err = s.app.Webhooks.Create(ctx, olivia, lab,
		notify.WebhookPatch{URL: exchange.Some("https://hooks.example.org/"), Description: exchange.Some("Freezer")})
	s.must(err)
	content, err := s.app.Spreadsheets.StoreBulk(ctx, olivia, lab, strings.NewReader("title,category\nA,CELL_LINE\n,STONE\n"))
	s.must(err)
	_, err = s.app.Spreadsheets.Bulk(ctx, olivia, lab, material.BulkOptions{Mode: material.BulkDryRun}, content)
	s.must(err)
	_, err = s.app.Inquiries.Ask(ctx, s.actor("josiah"), s.material("HT-29"),
		request.TextBody{Text: exchange.Some("Which passage would I get?")})
	s.must(err)
	paper, err := s.app.Documents.Store(ctx, olivia, strings.NewReader("%PDF-1.7\n"))
	s.must(err)
	kept, err := s.app.Documents.CreateAttachment(ctx, olivia,
		document.AttachmentPatch{Filename: exchange.Some("licence.pdf")}, &paper)
	s.must(err)
	_, err = s.app.Requirements.AddPermit(ctx, olivia, patch[requirement.Permit](s, map[string]any{
		"regime": "EXPORT_LICENCE", "number": "L-7", "authority": "Export Office", "from": "2020-01-01",
		"document": kept.ID}))
	s.must(err)
	s.providing(map[string]any{"holder": s.actor("olivia").ID})
	s.sent(s.asked("pUC19"))
}

// everyPage is all that all roles find on one site, walked once.
func everyPage(s *site) []found {
	s.Helper()
	var all []found
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		all = append(all, s.walk(role)...)
	}
	return all
}

// The pages that no link leads to: what they are is in their name, or a mail does.
var unlinked = map[string]string{
	"GET /signin/start": "leads to another host", "GET /signin/callback": "the identity provider leads here",
	"GET /signin/callback/{provider}": "another identity provider leads here", "GET /signin/link": "so does this",
	"GET /basket/{lab}": "a basket with something in it leads here",
	"GET /join":         "a mail leads here", "GET /account/closed": "a form leads here",
	"GET /signed-out": "a form leads here",
	"GET /sign":       "a mail leads here", "GET /sign/document": "a link from a mail leads here",
	"GET /notifications/stream":     "script asks for it",
	"GET /catalog/suggest":          "script asks for it",
	"GET /find/suggest":             "script asks for it",
	"GET /share/organisms":          "script asks for it",
	"GET /share/number":             "a form leads here",
	"GET /robots.txt":               "crawlers read it",
	"GET /sitemap.xml":              "crawlers read it",
	"GET /sitemap/{id}":             "crawlers read it",
	"GET /share/spreadsheet/export": "a form leads here", "GET /share/spreadsheet/template": "a form leads here",
	"GET /funding/{id}/report": "a signed link leads here", "GET /funding/{id}/report.csv": "a signed link leads here",
}

// linksLeadSomewhere for whoever sees them: to a page, a file, or on; never to what is not there or not theirs.
func linksLeadSomewhere(t *testing.T, all []found) {
	visited, told := map[string]bool{}, map[string]bool{}
	for _, f := range all {
		visited[f.pattern] = true
		if f.status >= 400 && f.from != "" && !told[f.path] {
			told[f.path] = true
			t.Errorf("%s: %s has a link to %s, which answers %d", f.role, f.from, f.path, f.status)
		}
	}
	for _, p := range web.Patterns() {
		if strings.HasPrefix(p, "GET ") && !visited[p] && unlinked[p] == "" {
			t.Errorf("no link of any page leads to %s", p)
		}
	}
}
