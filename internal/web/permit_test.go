package web_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPermits_AreAddedForARequestAndCountThere, for both sides.
func TestPermits_AreAddedForARequestAndCountThere(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		josiah := w.as("josiah")
		q := w.requestFor("PDX model BL0269-F402") // its lab asks for the approval of a review board
		path := fmt.Sprintf("/requests/%d", q.ID)
		if page := josiah.get(path); !strings.Contains(page.text("#need-IRB"), "Owed by the requester") {
			t.Fatalf("the page says %q", page.text("#need-IRB"))
		}
		add := func(authority string) answer {
			return josiah.upload("/permit", "file", "irb.pdf", "%PDF-1.4 approval", "request", fmt.Sprint(q.ID), "regime",
				"IRB", "number", "2026-117", "authority", authority)
		}
		if text := add("").want(422).text("#new"); !strings.Contains(text, "Given by") {
			t.Errorf("without an authority: %q", text)
		}
		add("The board").want(303)
		for _, name := range []string{"josiah", "olivia"} {
			if text := w.as(name).get(path).text("#need-IRB"); !strings.Contains(text, "Done") ||
				!strings.Contains(text, "2026-117") {
				t.Errorf("%s sees %q", name, text)
			}
		}
	})
}
