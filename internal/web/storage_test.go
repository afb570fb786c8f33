package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"aliquot/internal/app/core"
)

// TestStorage_AFormWhoseFileFindsNoRoomIsShownAgain with what to do, wherever a file is sent.
func TestStorage_AFormWhoseFileFindsNoRoomIsShownAgain(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.app.Quotas = core.Quotas{User: 10, Lab: 10}
	hela := w.material("HeLa").ID
	for _, form := range []struct{ who, path, field, name string }{
		{"josiah", w.askPath(stemCells), "irb_attachment", "a.pdf"},
		{"mario", fmt.Sprintf("/catalog/%d/edit", hela), "map_file", "a.pdf"},
		{"mario", fmt.Sprintf("/catalog/%d/edit", hela), "mta_file", "a.pdf"},
		{"mario", "/share/spreadsheet", "file", "a.csv"},
		{"mario", w.labOf("olivia") + "/documents", "file", "a.pdf"},
		{"josiah", w.at("PDX model BL0269-F402") + "/documents/irb", "file", "a.pdf"},
	} {
		v := w.as(form.who)
		v.cookies["__Host-lab"] = strings.TrimPrefix(w.labOf("olivia"), "/labs/")
		a := v.upload(form.path, form.field, form.name, pdf)
		text := a.text("main")
		if a.status != http.StatusRequestEntityTooLarge && a.status != http.StatusUnprocessableEntity ||
			a.text("h1") == "The storage quota is used up" ||
			!strings.Contains(text, "There is not enough storage for this file.") ||
			!strings.Contains(text, "Delete files that are no longer needed") {
			t.Errorf("%s %s: %d, %q: %.300s", form.path, form.field, a.status, a.text("h1"), text)
		}
	}
}

// TestStorage_PagesShowWhatIsUsedAndDeleteFiles of oneself and of one's lab; one that is in use stays, and the page
// says why.
func TestStorage_PagesShowWhatIsUsedAndDeleteFiles(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		w.app.Quotas = core.Quotas{User: 2_000_000_000, Lab: 3_000_000}
		mario, lab := w.as("mario"), w.labOf("olivia")
		mario.upload(lab+"/documents", "file", "large.pdf", pdf+strings.Repeat(" ", 500_000)).want(http.StatusSeeOther)
		a := mario.get(lab + "/storage").want(http.StatusOK)
		text := a.text("main")
		if !strings.Contains(text, "of 3.0 MB used") || !strings.Contains(text, "large.pdf") {
			w.Errorf("the lab's: %s", text)
		}
		remove := a.doc.Find("form[action*='/storage/']").AttrOr("action", "")
		mario.post(remove).want(http.StatusSeeOther)
		if text := mario.get(lab + "/storage").text("main"); strings.Contains(text, "large.pdf") ||
			!strings.Contains(text, "includes 500 KB of deleted files") {
			w.Errorf("after deleting: %s", text)
		}
		mta := w.furnished().Replace("{mta}")
		a = mario.post(lab + "/storage/" + mta + "/delete").want(http.StatusConflict)
		if a.text("[role=alert]") == "" {
			w.Errorf("one in use: %s", a.text("main"))
		}
		if text := mario.get("/account/storage").want(http.StatusOK).text("main"); !strings.Contains(text,
			"of 2.0 GB used") {
			w.Errorf("one's own: %s", text)
		}
		w.as("josiah").get(lab + "/storage").want(http.StatusForbidden)
	})
}
