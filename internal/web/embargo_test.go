package web_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
)

// TestEmbargoedMaterial_EveryPage checks that no page shows outsiders anything of a material under embargo: what is
// asked of it is answered as of an id that nothing has, and what counts materials counts as before.
func TestEmbargoedMaterial_EveryPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		filled := w.furnished()
		lab := filled.Replace("/labs/{lab}")
		outside := []string{"", "nadia", "josiah"}
		counters := map[string]string{}
		count := func(visit func(key, got string)) {
			for _, name := range outside {
				for _, page := range []string{"/", "/catalog", lab, "/labs", "/catalog?q=zyzzyvine",
					"/catalog?organisms=Unobtainia"} {
					visit(name+" "+page, w.as(name).get(page).want(http.StatusOK).text("main"))
				}
			}
		}
		count(func(key, got string) { counters[key] = got })
		m, _, err := w.app.Materials.CreateMaterial(w.Context(), w.as("olivia").actor,
			material.Patch{Category: exchange.Some("CELL_LINE"), Title: exchange.Some("Zyzzyvine carcinoma"),
				Organization: exchange.Some(exchange.Ref(w.material("HeLa").OrganizationID)),
				EmbargoDate:  exchange.NullOf(exchange.Date("2999-12-31")),
				Organisms:    exchange.NullOf(exchange.Names{"Unobtainia"}),
				Metadata:     exchange.Some(json.RawMessage(`{"rrid": "CVCL_0291", "disease": "Zyzzyvine disease"}`))})
		w.must(err)
		count(func(key, got string) {
			if got != counters[key] {
				t.Errorf("%s: %s\nbefore: %s", key, got, counters[key])
			}
		})
		id := strconv.FormatInt(m.ID, 10)
		for _, name := range outside {
			for _, row := range access {
				// which has their own notifications, and no end
				if !strings.HasPrefix(row.pattern, "GET ") || strings.HasSuffix(row.pattern, "/stream") {
					continue
				}
				page := filled.Replace(strings.ReplaceAll(row.path, "{material}", id))
				a := w.as(name).get(page)
				if tells(a) {
					t.Errorf("%q reads of it at %s: %d %v %s", name, page, a.status, a.header, a.text("main"))
				}
				if !strings.Contains(row.path, "/catalog/{material}") || strings.HasSuffix(row.path, "/request") {
					continue
				}
				if nothing := w.as(name).get(strings.ReplaceAll(page, id, "999999")); a.status != nothing.status ||
					a.text("main") != nothing.text("main") {
					t.Errorf("%q at %s: %d %s; of nothing: %d %s", name, page, a.status, a.text("main"), nothing.status,
						nothing.text("main"))
				}
			}
			if name == "" {
				continue
			}
			if a := w.as(name).get("/catalog/" + id +
				"/request").want(http.StatusConflict); !strings.Contains(a.text("main"), "2999-12-31") {
				t.Errorf("%q who asks for it: %s", name, a.text("main"))
			}
		}
		for _, name := range []string{"mario", "olivia", "ada"} {
			w.as(name).get("/catalog/" + id).want(http.StatusOK)
		}
	})
}

// tells reports whether an answer has anything that only the embargoed material has.
func tells(a answer) bool {
	all := strings.ToLower(a.body)
	for _, values := range a.header {
		all += strings.ToLower(strings.Join(values, "\n"))
	}
	for _, trace := range []string{"zyzzyvine", "cvcl_0291", "unobtainia"} {
		if strings.Contains(all, trace) {
			return true
		}
	}
	return false
}
