package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestDataUse_IsAskedWithARequestAndShownOnItsPage: what the terms forbid is sent only by somebody who confirms it, and
// the page of the request has the answers, which the requester changes.
func TestDataUse_IsAskedWithARequestAndShownOnItsPage(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		josiah, olivia := w.as("josiah"), w.as("olivia")
		id := w.newMaterial("PROTOCOL", "Reads")
		form := fmt.Sprintf("/catalog/%d/request", id)
		if josiah.get(form).has("#f-commercial") {
			t.Error("the form asks about terms that nobody stated")
		}
		olivia.post(fmt.Sprintf("/catalog/%d/transfer", id), "encumbered", "NO", "data_uses",
			"DUO:0000042; DUO:0000046").want(http.StatusSeeOther)
		page := josiah.get(form)
		if !page.has("#f-commercial") || page.has("#f-genetic") || page.has("#f-use_anyway") ||
			!strings.Contains(page.text("#checklist"), "Is it for a commercial purpose?") {
			t.Errorf("the form asks %q", page.text("#checklist"))
		}
		if text := josiah.post(form+"/checklist", page.filled("commercial", "NO")...).text("#checklist"); !strings.Contains(
			text, "They allow what you plan.") {
			t.Errorf("the checklist says %q", text)
		}
		refused := josiah.post(form, page.filled("commercial", "YES")...).want(http.StatusUnprocessableEntity)
		if text := refused.text(".errors"); !strings.Contains(text, "non-commercial use only") ||
			!refused.has(`select[name="commercial"] option[value="YES"][selected]`) {
			t.Errorf("what the terms forbid: %q", text)
		}
		sent := josiah.post(form, page.filled("commercial", "YES", "use_anyway", "1")...).want(http.StatusSeeOther)
		for _, v := range []*visitor{josiah, olivia} {
			if text := v.get(sent.location).text("#need-DATA_USE"); !strings.Contains(text, "Not allowed") ||
				!strings.Contains(text, "non-commercial use only") {
				t.Errorf("%s sees %q", v.actor.ID, text)
			}
		}
		if olivia.get(sent.location).has(`form[action$="/purpose"]`) {
			t.Error("the lab may answer for the requester")
		}
		page = josiah.post(sent.location+"/purpose", "commercial", "NO").follow()
		if text := page.text("#need-DATA_USE"); !strings.Contains(text, "Done") ||
			!strings.Contains(text, "allow this use") ||
			!page.has(`#need-DATA_USE select[name="commercial"] option[value="NO"][selected]`) {
			t.Errorf("after the answer: %q", text)
		}
	})
}
