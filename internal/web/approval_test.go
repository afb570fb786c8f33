package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestApprovals_AreDraftedSignedAndWithdrawnByAnOfficer on one page, which says what is wrong.
func TestApprovals_AreDraftedSignedAndWithdrawnByAnOfficer(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		names, olivia := w.furnished(), w.as("olivia")
		path := names.Replace("/offices/{institution}/approvals")
		if !olivia.get(path).want(http.StatusOK).has(".empty") {
			w.Error("a new institution has approvals")
		}
		now := time.Now().UTC()
		draft := []string{"direction", "PROVIDE", "largest_bsl", "1", "human", "NO", "from", now.Format(time.DateOnly),
			"until", now.AddDate(1, 0, 0).Format(time.DateOnly), "families", "UBMTA_LETTER"}
		wrong := olivia.post(path, draft...).want(http.StatusUnprocessableEntity)
		if !wrong.has("#f-categories.wrong") || !wrong.has("input[name=families][value=UBMTA_LETTER][checked]") {
			w.Error("the page does not say that the categories are missing, or forgot what was typed")
		}
		olivia.post(path, append(draft, "categories", "PLASMID")...).want(http.StatusSeeOther)
		form := olivia.get(path).want(http.StatusOK).doc.Find(".lines form").First()
		one, version := form.AttrOr("action", ""), form.Find("[name=version]").AttrOr("value", "")
		olivia.post(one, "do", "sign", "version", version).want(http.StatusSeeOther)
		if text := olivia.get(path).doc.Find(".lines").Text(); !strings.Contains(text, "Signs letters") {
			w.Errorf("signed: %s", text)
		}
		olivia.post(one, "do", "withdraw").want(http.StatusSeeOther)
		if text := olivia.get(path).doc.Find(".lines").Text(); !strings.Contains(text, "Withdrawn on") {
			w.Errorf("withdrawn: %s", text)
		}
	})
}
