package browser

import "testing"

// TestTheFormOfAMaterialSaysHowFarItIs while somebody types, in the list of its sections, and takes fields of the lab's
// own.
func TestTheFormOfAMaterialSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit("/share/new?category=OTHER")
	about := `document.querySelector("#to-about").textContent`
	before := see[string](tab, about)
	see[bool](tab, `(document.querySelector("#to-release").focus(), window.same = document.querySelector("#parts"), true)`)
	tab.fill("Title", "A thing of its own")
	tab.until("the list says that the title is there", about+` !== `+quoted(before))
	if !see[bool](tab, `window.same === document.querySelector("#parts") && document.activeElement.name === "title"`) {
		t.Error("the list is another one, or the focus went away")
	}
	tab.fill("Embargo until", "2001-01-01")
	tab.fill("Name", "freezer box")
	tab.fill("Value", "B7")
	tab.pressIn("#own", "Add another field")
	tab.until("there is a line more",
		`document.querySelectorAll("[name=own_key]").length === 2 && document.querySelector("[name=own_key]").value === "freezer box"`)
}
