package web

import (
	"net/http"
	"regexp"
	"strings"
)

// known are the addresses by which materials and labs are known for ever: citations, linked data and feeds have
// them. They belong to the API.
var known = regexp.MustCompile(`^/(materials|organizations)/([1-9][0-9]{0,18})/?$`)

// ForPeople leads whoever follows such an address with a browser to the page; next answers everybody else.
func ForPeople(next http.Handler) http.Handler {
	pages := map[string]string{"materials": "/catalog/", "organizations": "/labs/"}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
