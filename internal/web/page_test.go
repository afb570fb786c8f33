package web_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/store/storetest"
	"aliquot/internal/web"
)

func TestForms_OfAnotherSiteAreRefused(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("josiah")
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org/signout", http.NoBody)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	v.send(r).want(http.StatusForbidden)
	if v.cookies["__Host-session"] == "" || v.get("/").status != http.StatusOK {
		t.Error("the session ended")
	}
	v.post("/signout").want(http.StatusSeeOther)
	if v.cookies["__Host-session"] != "" {
		t.Error("the session did not end")
	}
}

func TestSignIn_ReturnsToThePage(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for next, want := range map[string]string{"/drafts?x=1": "/signin?next=%2Fdrafts%3Fx%3D1"} {
		if a := w.as("").get(next); a.status != http.StatusSeeOther || a.location != want {
			t.Errorf("%s: %d %s, want %s", next, a.status, a.location, want)
		}
	}
	for next, want := range map[string]string{"/catalog?q=x": "/catalog?q=x", "https://evil.example/": "/",
		"//evil.example": "/", `/\evil.example`: "/", "": "/"} {
		if a := w.as("josiah").get("/signin?next=" + strings.ReplaceAll(next, "&", "%26")); a.location != want {
			t.Errorf("%q leads to %s, want %s", next, a.location, want)
		}
	}
}

func TestPages_UnknownAddressIsNotFound(t *testing.T) {
	t.Parallel()
	a := alone(t).as("").get("/drafts/nothing").want(http.StatusNotFound)
	if !strings.Contains(a.text("h1"), "no page") || a.header.Get("Content-Security-Policy") == "" {
		t.Errorf("%s %v", a.text("h1"), a.header)
	}
}

// TestErrorSummary_HasTheOrderOfTheForm whatever they are called, and each line leads to its field.
func TestErrorSummary_HasTheOrderOfTheForm(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for _, c := range []struct {
		who, path string
		form      []string
		want      string
	}{
		{"mario", "/share/new", []string{"do", "save", "category", "CELL_LINE", "url", "no address", "pubmed_id",
			"none", "pre_print_doi", "none", "embargo_date", "soon"},
			"additional_metadata.cell_line_name additional_metadata.disease additional_metadata.cell_type " +
				"additional_metadata.biosafety_level url pubmed_id pre_print_doi embargo_date"},
		{"josiah", w.askPath(stemCells),
			[]string{"address", "new", "country", "United States", "note", strings.Repeat("x", 200_000),
				"payment_method", "SHIPPING_CODE", "account", "7", "courier", "FedEx"},
			"requester_abstract note name address_line_1 locality account"},
	} {
		var got []string
		for _, href := range w.as(c.who).post(c.path,
			c.form...).want(http.StatusUnprocessableEntity).foundLinks("#errors a") {
			got = append(got, strings.TrimPrefix(href, "#f-"))
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %v", c.path, got, c.want)
		}
	}
}

func TestPages_WritesFromOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	w := watched(t)
	v := w.as("josiah")
	before := w.snapshot()
	for _, path := range []string{"/signout", "/account/profile", "/share/new", "/account/tokens"} {
		for _, headers := range []map[string]string{
			{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, {"Sec-Fetch-Site": "same-site"},
			{"Origin": "https://evil.example"}, {"Origin": "null"},
		} {
			for _, kind := range []string{"application/x-www-form-urlencoded", "text/plain", ""} {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+path,
					strings.NewReader("name=x"))
				if kind != "" {
					r.Header.Set("Content-Type", kind)
				}
				for name, value := range headers {
					r.Header.Set(name, value)
				}
				a := v.send(r)
				if a.status != http.StatusForbidden || !strings.Contains(a.text("h1"), "another site") {
					t.Errorf("%s with %v as %q: %d %s", path, headers, kind, a.status, a.text("h1"))
				}
			}
		}
	}
	if before.changed() != "" || v.cookies["__Host-session"] == "" {
		t.Error("a form of another site changed something")
	}
}

func TestPages_AHostThatIsNotOursIsMisdirected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, openDemo(t, storetest.SQLite), func(cfg *web.Config) { cfg.Rest = programs{} })
	for _, path := range []string{"/", "/catalog", "/signin", "/signin/start", "/docs", "/unsubscribe?token=x",
		"/drafts/nothing", "/nothing"} {
		for host, want := range map[string]int{"evil.example": 421, "example.org.evil.example": 421, "10.0.0.1": 421,
			"example.org": 0, "localhost:1": 0, "[::1]:8080": 0} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org"+path, http.NoBody)
			r.Host = host
			r.Header.Set("Accept", "text/html")
			r.Header.Set("X-Forwarded-Host", "example.org")
			a := w.as("").send(r)
			if want == 421 && (a.status != want || !strings.Contains(a.text("main"), "http://example.org") ||
				a.location != "") || want == 0 && a.status == 421 {
				t.Errorf("%s of %s: %d %s", path, host, a.status, a.text("main"))
			}
		}
	}
}
