package web_test

import (
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/agreement/term"
)

// TestPlaybook_IsWrittenAndComparedOnItsPage also checks that what is wrong is named, with what was typed.
func TestPlaybook_IsWrittenAndComparedOnItsPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		names, olivia := w.furnished(), w.as("olivia")
		path := names.Replace("/offices/{institution}/playbook")
		if !olivia.get(path).want(http.StatusOK).has(".empty") {
			w.Error("a new institution has a playbook")
		}
		if page := olivia.get(path); page.doc.Find(`select[name=families_1] option[value=UBMTA_LETTER]`).First().Text() !=
			"Implementing letter of the UBMTA" || !page.has(`datalist option[value^="Sample University ("]`) {
			w.Errorf("the choices have no names: %s", page.text("main"))
		}
		form := []string{"families_1", "UBMTA_LETTER", "counterparties_1", "", "families_1", "SIMPLE_LETTER",
			"categories_1", "PLASMID", "accept", "SIMPLE_LETTER", "accept", ""}
		for _, t := range term.All() {
			form = append(form, "provide_"+string(t), "REQUIRED", "receive_"+string(t), "ACCEPTED", "note_"+string(t), "")
		}
		olivia.post(path, form...).want(http.StatusSeeOther)
		text := olivia.get(path).want(http.StatusOK).text("main")
		for _, want := range []string{"Implementing letter of the UBMTA, then Simple letter", "No redistribution",
			"Required"} {
			if !strings.Contains(text, want) {
				w.Errorf("the playbook does not show %q: %s", want, text)
			}
		}
		form[1] = "TEA"
		refused := olivia.post(path, form...).want(http.StatusUnprocessableEntity)
		if !refused.has("#f-provide-e") || !refused.has("select[name=families_1] option[value=TEA][selected]") ||
			!refused.has("#f-provide-REPORT option[value=REQUIRED][selected]") {
			w.Error("the page does not say what is wrong, or forgot what was typed")
		}
		form[1], form[3] = "UBMTA_LETTER", "Sample"
		if refused := olivia.post(path, form...).want(http.StatusUnprocessableEntity); !strings.Contains(
			refused.text("#errors"), "among those proposed") || !refused.has("input[name=counterparties_1][value=Sample]") {
			w.Errorf("the name of an institution: %s", refused.text("#errors"))
		}
		form[3] = olivia.get(path).doc.Find(`datalist option[value^="Sample University ("]`).AttrOr("value", "")
		olivia.post(path, form...).want(http.StatusSeeOther)
		if a := olivia.get(path); !a.has(`input[name=counterparties_1][value="`+form[3]+`"]`) ||
			!a.has("input[name=categories_1][value=PLASMID][checked]") {
			w.Errorf("the form forgot what was saved: %s", a.text("main"))
		}
		if refused := olivia.get(path + "?with=Sample").want(http.StatusUnprocessableEntity); !refused.has("#f-with-e") {
			w.Error("the comparison with a name is not refused at its field")
		}
	})
}
