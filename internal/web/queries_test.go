package web_test

import (
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/web"
)

// maxReads is how many statements a page may run, whatever it shows; which pages need more than usual says why.
const maxReads = 20

// moreReads are the pages that need more.
var moreReads = map[string]int64{
	"GET /{$}": 31, // with inquiries to answer, agreements to sign or why not yet, and what an import listed
	// with the texts that the lab keeps, what the requester asked and requested before, which agreement fits, what the
	// transfer needs, and permits to choose from
	"GET /requests/{id}":           45,
	"GET /requests/{id}/move":      44,
	"GET /catalog/{id}":            22, // under which agreement it is passed on, what was agreed before, where it came from
	"GET /letters/{id}":            46, // who may sign, what it is made of today, approvals, and what could be chosen
	"GET /offices/{id}/report":     28, // the same register, for the tabs
	"GET /letters/{id}/sign":       46,
	"GET /offices/{id}/authority":  22, // whether the visitor is an officer, then the whole register
	"GET /offices/{id}/approvals":  26, // the same, and the approvals with the names that they have
	"GET /offices/{id}/playbook":   26, // the same, and the playbook with the names that it has and offers
	"GET /offices/{id}/letters":    30, // the same, the letters, and what they can be filtered by
	"GET /offices/{id}/requests":   28, // the same, and the requests with the names that they have
	"GET /account/export/data.zip": 44, // one or two for each kind of thing that is kept about a person
	"GET /requests/{id}/dossier":   30, // the events, documents and names of a request, and proofs
}

// TestStatements_OfEachPageAreBounded on either database, as the owner of the lab sees it.
func TestStatements_OfEachPageAreBounded(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		names, olivia := w.furnished(), w.as("olivia")
		// who downloads the first record of a request has the log signed for it
		if err := w.app.Evidence.SignNow(w.Context()); err != nil {
			w.Fatal(err)
		}
		// who looks first on a day has the numbers of those before kept
		olivia.get(names.Replace("/labs/{lab}/insights"))
		for _, row := range access {
			if !strings.HasPrefix(row.pattern, "GET ") || strings.HasSuffix(row.path, "/stream") {
				continue
			}
			path := names.Replace(row.path)
			before := w.db.Queries()
			a := olivia.get(path)
			n, most := w.db.Queries()-before, max(int64(maxReads), moreReads[row.pattern])
			if a.status == http.StatusOK && n > most {
				w.Errorf("%s runs %d statements, at most %d are allowed", row.pattern, n, most)
			}
		}
	})
	for pattern := range moreReads {
		if !strings.Contains(strings.Join(web.Patterns(), "\n"), pattern) {
			t.Errorf("there is no %s", pattern)
		}
	}
}
