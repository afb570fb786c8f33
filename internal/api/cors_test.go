package api_test

import (
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"
)

func TestOptions_ListsTheMethodsOfAPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	for path, allow := range map[string]string{
		"/materials": "GET, HEAD, POST, OPTIONS", "/v1/material-requests/7/": "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
		"/login": "POST, OPTIONS",
	} {
		a := w.anonymous().call("OPTIONS", path, nil)
		if a.Status != 204 || a.Header.Get("Allow") != allow || len(a.Raw) > 0 ||
			a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d, Allow %q, want %q", path, a.Status, a.Header.Get("Allow"), allow)
		}
	}
	w.anonymous().refused(404, "NOT_FOUND", "OPTIONS", "/nothing", nil)
}

func TestCORS_OtherOriginsReadOnlyIfTheSettingAllowsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Open(t, storetest.SQLite), exchange.AccessMembers)
	const lab, other = "https://lab.example.org", "https://other.example.org"
	for _, c := range []struct {
		origins            []string
		origin, want, vary string
	}{
		{nil, lab, "", ""}, {[]string{"*"}, lab, "*", ""}, {[]string{"*"}, "", "*", ""},
		{[]string{lab}, "", "", "Origin"},
		{[]string{other, lab}, lab, lab, "Origin"}, {[]string{lab}, other, "", "Origin"},
		{[]string{lab}, "https://LAB.example.org", "", "Origin"},
		{[]string{lab}, lab + ".evil.example", "", "Origin"}, {[]string{lab}, "null", "", "Origin"},
	} {
		w.api.Origins = c.origins
		ask := map[string]string{"Origin": c.origin, "Access-Control-Request-Method": "PATCH",
			"Access-Control-Request-Headers": "authorization"}
		for _, call := range []struct {
			method, path string
			status       int
		}{{"GET", "/materials", 200}, {"GET", "/material-requests", 401}, {"OPTIONS", "/material-requests/1", 204}} {
			a := w.anonymous().callWith(ask, call.method, call.path, nil)
			h := a.Header
			vary := strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin")
			if a.Status != call.status || h.Get("Access-Control-Allow-Origin") != c.want || vary != (c.vary != "") ||
				h.Get("Access-Control-Allow-Credentials") != "" ||
				strings.Contains(h.Get("Access-Control-Expose-Headers"), "X-Total-Count") != (c.want != "") {
				t.Errorf("%s %s from %q with %v: %d %v", call.method, call.path, c.origin, c.origins, a.Status, h)
			}
			preflight := call.method == http.MethodOptions && c.want != ""
			if strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") != preflight ||
				strings.Contains(h.Get("Access-Control-Allow-Headers"), "Idempotency-Key") != preflight ||
				(h.Get("Access-Control-Max-Age") != "") != preflight {
				t.Errorf("%s from %q with %v: %v", call.method, c.origin, c.origins, h)
			}
		}
	}
}
