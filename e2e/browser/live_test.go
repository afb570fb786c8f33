package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLive_MessageChangesTheBellWithoutLoading: a message of the lab changes the bell of the requester's open page.
func TestLive_MessageChangesTheBellWithoutLoading(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	requester, lab := s.open("josiah"), s.open("mario")
	requester.visit("/")
	bell := `document.querySelector("#bell").getAttribute("aria-label")`
	before := see[string](requester, bell)
	see[bool](requester, "window.here = true")
	lab.visit(fmt.Sprintf("/requests/%d", s.request("HeLa")))
	lab.fill("Message", "We ship on Monday.")
	lab.followIn("main", "Send message")
	lab.says("We ship on Monday.")
	requester.until("the bell says so", bell+" !== "+quoted(before)+" && window.here")
	requester.visit("/notifications")
	requester.says("HeLa")
	requester.says("Mario Manager")
}

// TestOpenRequest_FollowsTheOtherSide, and what the reader is typing stays.
func TestOpenRequest_FollowsTheOtherSide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	requester, lab := s.open("josiah"), s.open("mario")
	path := fmt.Sprintf("/requests/%d", s.request("HeLa"))
	requester.visit(path)
	requester.fill("Message", "Half a sent")
	see[bool](requester, "window.here = true")
	lab.visit(path)
	lab.fill("Message", "We ship on Monday.")
	lab.followIn("main", "Send message")
	requester.until("the message is in the timeline",
		`document.querySelector("#events").innerText.includes("We ship on Monday.") && window.here`)
	requester.until("what was typed is there", `document.querySelector("#f-message-text").value === "Half a sent"`)
}

// TestSpreadsheet_ListsManyMaterials: rows are checked first, a wrong value is named and
// corrected, and all are listed.
func TestSpreadsheet_ListsManyMaterials(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*tab){"with script": func(*tab) {},
		"without script": func(tab *tab) { tab.scriptless() }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			tab := s.open("olivia")
			set(tab)
			path := filepath.Join(t.TempDir(), "freezer.csv")
			rows := "title,category,organisms,freezer box,disease,cell type,biosafety level\n"
			for i := range 30 {
				rows += fmt.Sprintf("Line %d,CELL_LINE,Homo sapiens,B%d,not known,not known,1\n", i, i)
			}
			s.must(os.WriteFile(path, []byte(rows+"Wrong,STONE,Homo sapiens,B99,not known,not known,1\n"), 0o600))
			tab.visit("/share")
			tab.visit("/share/spreadsheet")
			tab.choose("main input[type=file]", path)
			tab.followIn("main", "Upload")
			tab.says("Check the columns")
			tab.says("freezer box")
			tab.fill("Keep unrecognised columns as custom fields", "yes")
			tab.followIn("main", "Check the rows")
			tab.again("List rows without errors")
			tab.says("must be one of")
			tab.fill("What STONE should be", "Cell line")
			tab.followIn("main", "Replace and check again")
			tab.again("List all")
			tab.followIn("main", "List all")
			tab.again("31 listed")
			tab.visit("/catalog?q=Line+17")
			tab.says("Line 17")
		})
	}
}

// TestUnknownAddress_IsAPage for people, in any part of the site.
func TestUnknownAddress_IsAPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("")
	for _, path := range []string{"/nothing", "/catalog/999999", "/materials-and-more", "/labs/999999"} {
		if status := tab.visit(path); status != 404 {
			t.Errorf("%s: %d", path, status)
		}
		tab.says("There is no page at this address")
	}
}
