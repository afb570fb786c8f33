package web

import (
	"net/http"
	"regexp"
	"strings"
)

// known are the addresses by which materials and labs are known for ever: citations, linked data and feeds have
// them. They belong to the API.
var known = regexp.MustCompile(`^/(materials|organizations)/([1-9][0-9]{0,18})/?$`)

// foundIn is where mails about saved searches lead to; the API has nothing there.
const foundIn = "/search"

// forPeople leads whoever follows such an address with a browser to the page; next answers everybody else.
func forPeople(next http.Handler) http.Handler {
	pages := map[string]string{"materials": "/catalog/", "organizations": "/labs/"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == foundIn && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			values := r.URL.Query()
			if values.Has("search") {
				values.Set("q", strings.Join(values["search"], " "))
				values.Del("search")
			}
			http.Redirect(w, r, catalogAt(values), http.StatusSeeOther)
			return
		}
		at := known.FindStringSubmatch(r.URL.Path)
		if at == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Add("Vary", "Accept")
		if accept := r.Header.Get("Accept"); strings.Contains(accept, "text/html") && !strings.Contains(accept, "json") {
			http.Redirect(w, r, pages[at[1]]+at[2], http.StatusSeeOther)
			return
		}
		next.ServeHTTP(w, r)
	})
}
