package web_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
)

// TestPersonalLab_IsHiddenUntilItListsSomething from others, in the list and the search of labs, among people and in
// suggestions; its owner finds it, and its page has an address.
func TestPersonalLab_IsHiddenUntilItListsSomething(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		quokka, others := w.as("Quokka"), []*visitor{w.as("olivia"), w.as("")}
		places := []string{"/labs?q=Quokka", "/catalog?show=labs&q=Quokka", "/catalog?show=people&q=Quokka",
			"/catalog/suggest?q=Quokka"}
		link := fmt.Sprintf("/labs/%d", quokka.actor.Owns[0])
		shows := func(v *visitor, path string) bool {
			page := v.get(path).want(200)
			return strings.Contains(page.body, link+`"`) ||
				strings.HasSuffix(path, "suggest?q=Quokka") && strings.Contains(page.body, "Quokka New lab")
		}
		for _, path := range places {
			for _, v := range others {
				if shows(v, path) {
					w.Errorf("%s shows a lab that has listed nothing", path)
				}
			}
		}
		if !shows(quokka, places[0]) {
			w.Error("the owner does not find their own lab")
		}
		others[0].get(link).want(200)
		_, _, err := w.app.Materials.CreateMaterial(w.Context(), quokka.actor,
			material.Patch{Category: exchange.Some("OTHER"), Title: exchange.Some("Serum"),
				Organization: exchange.Some(exchange.Ref(quokka.actor.Owns[0]))})
		w.must(err)
		for _, path := range places {
			for _, v := range others {
				if !shows(v, path) {
					w.Errorf("%s does not show a lab that has listed something: %.2000s", path, v.get(path).body)
				}
			}
		}
	})
}
