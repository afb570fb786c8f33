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
		form := []string{"families", "ubmta_letter; SIMPLE_LETTER", "categories", "PLASMID", "counterparties", "",
			"accept", "SIMPLE_LETTER"}
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
		if !refused.has("#f-provide-e") || !refused.has("input[name=families][value=TEA]") ||
			!refused.has("#f-provide-REPORT option[value=REQUIRED][selected]") {
			w.Error("the page does not say what is wrong, or forgot what was typed")
		}
		form[1], form[5] = "UBMTA_LETTER", "Sample"
		if refused := olivia.post(path, form...).want(http.StatusUnprocessableEntity); !strings.Contains(
			refused.text("#errors"), "must be numbers") || !refused.has("input[name=counterparties][value=Sample]") {
			w.Errorf("the name of an institution: %s", refused.text("#errors"))
		}
		if refused := olivia.get(path + "?with=Sample").want(http.StatusUnprocessableEntity); !refused.has("#f-with-e") {
			w.Error("the comparison with a name is not refused at its field")
		}
	})
}
