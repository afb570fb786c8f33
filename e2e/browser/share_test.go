package browser

import (
	"fmt"
	"testing"
)

// TestMaterialForm_ShowsItsProgress while somebody types, in the list of its sections, and takes fields of the lab's
// own.
func TestMaterialForm_ShowsItsProgress(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit("/share/new?category=OTHER")
	needed := `document.querySelector("#to-needed").textContent`
	before := see[string](tab, needed)
	see[bool](tab, `(document.querySelector("#to-release").focus(), window.same = document.querySelector("#parts"), true)`)
	tab.fill("Title", "A thing of its own")
	tab.until("the list says that the title is there", needed+` !== `+quoted(before))
	if !see[bool](tab, `window.same === document.querySelector("#parts") && document.activeElement.name === "title"`) {
		t.Error("the list is another one, or the focus went away")
	}
	tab.pressIn("main", "Release and funding")
	tab.fill("Embargo until", "2001-01-01")
	tab.pressIn("#edit", "Custom fields")
	tab.fill("Name", "freezer box")
	tab.fill("Value", "B7")
	tab.pressIn("#own", "Add another field")
	tab.until("there is a line more",
		`document.querySelectorAll("[name=own_key]").length === 2 && document.querySelector("[name=own_key]").value === "freezer box"`)
}

func TestListingForm_OfACellLineIsUnderOneAndAHalfWindowsTall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	for _, window := range [][2]int64{{1280, 900}, {390, 844}} {
		tab.resize(window[0], window[1])
		tab.visit("/share/new?category=CELL_LINE")
		if tall := see[float64](tab, "document.documentElement.scrollHeight / innerHeight"); tall >= 1.5 {
			t.Errorf("%d px wide: %.2f windows tall, want less than 1.5", window[0], tall)
		}
	}
}

func TestListingForm_UnfoldsTheSectionThatALinkLeadsTo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit("/share/new?category=CELL_LINE")
	tab.scriptless()
	tab.pressIn(".share-nav", "Culture")
	tab.until("the section is open", fmt.Sprintf("document.querySelector(%q)", "details[open] #part-3"))
}
