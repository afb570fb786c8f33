package api_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"
)

// TestQueryParameters_UnknownIsRefusedByEveryRoute holds that nothing is done or shown then.
func TestQueryParameters_UnknownIsRefusedByEveryRoute(t *testing.T) {
	t.Parallel()
	document, err := contract()
	if err != nil {
		t.Fatal(err)
	}
	s := newScene(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	for _, c := range visits {
		methods, path := c.methods()
		for _, method := range methods {
			v := c.make(s, c.by)
			v.path, _, _ = strings.Cut(v.path, "?")
			v.path += "?organisation=999999"
			s.unchanged(method+" "+v.path, func() {
				a := v.call(s.people[c.by], method)
				if a.Status != 400 || a.Body["error_code"] != "INVALID_INPUT" || a.at("fields.organisation") == nil {
					t.Errorf("%s: %d %.200s", v.path, a.Status, a.Raw)
				}
				for _, p := range document.Paths.Value(path).GetOperation(method).Parameters {
					if p.Value.In == "query" && !strings.Contains(string(a.Raw), p.Value.Name) {
						t.Errorf("%s does not say that it takes %s: %s", v.path, p.Value.Name, a.Raw)
					}
				}
			})
		}
	}
}

func TestQueryParameters_NamesUnknownAndWrongOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	for _, path := range []string{
		"/materials?limit=0&colour=red&taste=", "/search/materials?limit=0&colour=red&taste=1",
		"/v1/search/suggest/?limit=0&taste=1&colour=red",
	} {
		a := w.anonymous().call("GET", path, nil)
		for _, name := range []string{"limit", "colour", "taste"} {
			if a.Status != 400 || a.at("fields."+name) == nil {
				t.Errorf("%s: %d %s", path, a.Status, a.Raw)
			}
		}
	}
	long := w.anonymous().call("GET", "/materials?"+strings.Repeat("é", 500)+"&%FF=1&%00", nil)
	if long.Status != 400 || len(long.Raw) > 2000 {
		t.Errorf("%d with %d bytes", long.Status, len(long.Raw))
	}
}
