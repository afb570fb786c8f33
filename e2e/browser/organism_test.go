package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestOrganism_IsChosenAmongSuggestions: by its common name with the keyboard, and a second one with the pointer, which
// leaves the first.
func TestOrganism_IsChosenAmongSuggestions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit("/share/new?category=OTHER")
	see[bool](tab, `(document.querySelectorAll("main details").forEach((fold) => { fold.open = true }), true)`)
	const field = `document.querySelector("main [name=organisms]")`
	see[bool](tab, "("+field+".focus(), true)")
	tab.typed("zebraf")
	tab.until("the zebrafish is suggested", `document.querySelector("main [role=option]")?.textContent.startsWith("Danio rerio")`)
	tab.do("choose", chromedp.KeyEvent(kb.ArrowDown))
	tab.pressEnter()
	tab.until("it is entered", field+`.value === "Danio rerio"`)
	tab.typed("; laevis")
	tab.until("the frog is suggested", `document.querySelector("main [role=option]")?.textContent.startsWith("Xenopus laevis")`)
	tab.click("the frog", `document.querySelector("main [role=option]")`)
	tab.until("both are entered", field+`.value === "Danio rerio; Xenopus laevis"`)
}
