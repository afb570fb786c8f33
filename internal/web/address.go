package web

import (
	"net/http"
	"strings"

	"aliquot/internal/web/ui"
)

// foundIn is the address to which mails about saved searches link; the API has nothing there.
const foundIn = "/search"

// forPeople redirects that address to the catalog; next answers the rest, in JSON whatever a browser accepts.
func forPeople(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == foundIn && len(r.URL.RawQuery) <= ui.MaxAddress &&
			(r.Method == http.MethodGet || r.Method == http.MethodHead) {
			values := r.URL.Query()
			if values.Has("search") {
				values.Set("q", strings.Join(values["search"], " "))
				values.Del("search")
			}
			http.Redirect(w, r, ui.CatalogAddress(values), http.StatusSeeOther)
			return
		}
		next.ServeHTTP(w, r)
	})
}
