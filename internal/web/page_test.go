package web_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestAFormOfAnotherSiteIsNotTaken(t *testing.T) {
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

func TestWhoIsNotSignedInComesBackAfterwards(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for next, want := range map[string]string{"/drafts?x=1": "/signin?next=%2Fdrafts%3Fx%3D1"} {
		if a := w.as("").get(next); a.status != http.StatusSeeOther || a.location != want {
			t.Errorf("%s: %d %s, want %s", next, a.status, a.location, want)
		}
	}
	for next, want := range map[string]string{"/catalog?q=x": "/catalog?q=x", "https://evil.example/": "/", "//evil.example": "/", `/\evil.example`: "/", "": "/"} {
		if a := w.as("josiah").get("/signin?next=" + strings.ReplaceAll(next, "&", "%26")); a.location != want {
			t.Errorf("%q leads to %s, want %s", next, a.location, want)
		}
	}
}

func TestAPageThatIsNotThereSaysSo(t *testing.T) {
	t.Parallel()
	a := alone(t).as("").get("/drafts/nothing").want(http.StatusNotFound)
	if !strings.Contains(a.text("h1"), "no page") || a.header.Get("Content-Security-Policy") == "" {
		t.Errorf("%s %v", a.text("h1"), a.header)
	}
}

// TestASummaryHasTheFieldsInTheOrderOfTheForm whatever they are called, and each line leads to its field.
func TestASummaryHasTheFieldsInTheOrderOfTheForm(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for _, c := range []struct {
		who, path string
		form      []string
		want      string
	}{
		{"mario", "/share/new", []string{"do", "save", "category", "CELL_LINE", "url", "no address", "pubmed_id", "none", "pre_print_doi", "none", "embargo_date", "soon"},
			"title url additional_metadata.cell_line_name additional_metadata.disease additional_metadata.cell_type additional_metadata.biosafety_level pubmed_id pre_print_doi embargo_date"},
		{"josiah", w.askPath(stemCells), []string{"address", "new", "country", "United States", "note", strings.Repeat("x", 200_000), "payment_method", "SHIPPING_CODE", "account", "7", "courier", "FedEx"},
			"requester_abstract note name address_line_1 locality account"},
	} {
		var got []string
		for _, href := range w.as(c.who).post(c.path, c.form...).want(http.StatusUnprocessableEntity).foundLinks("#errors a") {
			got = append(got, strings.TrimPrefix(href, "#f-"))
		}
		if !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %v", c.path, got, c.want)
		}
	}
}
