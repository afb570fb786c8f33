package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestKeys_DoWhatTheHelpSays, and nothing while somebody types.
func TestKeys_DoWhatTheHelpSays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	press := func(keys string) {
		t.Helper()
		for _, key := range keys {
			tab.do("press "+keys, chromedp.KeyEvent(string(key)))
		}
	}
	focus := func(selector string) {
		t.Helper()
		tab.until(selector+" has the focus", "document.activeElement?.matches("+quoted(selector)+")")
	}
	tab.visit("/")
	press("/")
	focus("main input[type=search]")
	press("gr?")
	tab.until("that is typed", `document.activeElement.value.endsWith("gr?") && !document.getElementById("keys-shown")`)
	press(kb.Escape)
	tab.leave("g and r", func() {
		for pressed := time.Now().Add(-patience); ; time.Sleep(10 * time.Millisecond) {
			if here, err := evaluate[string](tab, "location.pathname"); err == nil && here != "/" {
				return
			}
			// on a busy machine, r may come later than the 1.5 s after g that it counts
			if time.Since(pressed) > 3*time.Second {
				press("gr")
				pressed = time.Now()
			}
		}
	})
	tab.until("the requests are there", `location.pathname === "/requests"`)
	press("jj")
	focus("tbody tr:nth-child(2) a")
	press("k")
	focus("tbody tr:first-child a")
	press("x")
	tab.until("the row is chosen", `document.querySelector("tbody tr:first-child [name=id]").checked`)
	press("?")
	tab.until("the list of keys is there", `document.getElementById("keys-shown")?.matches(":popover-open")`)
	press(kb.Escape)
	tab.until("the list of keys is gone", `!document.getElementById("keys-shown").matches(":popover-open")`)
	press("j")
	tab.leave("Enter", func() { press(kb.Enter) })
	tab.until("a request is there", `/^\/requests\/\d+$/.test(location.pathname)`)
	press("m")
	focus("#f-message-text")
	tab.visit(fmt.Sprintf("/requests/%d", s.request("HeLa")))
	tab.leave("r", func() { press("r") })
	tab.says("Why do you decline?")
	tab.visit("/requests")
	controlK(tab)
	tab.typed("list a mat")
	tab.until("the action is found", `document.querySelector(".find-dialog [role=option]")?.textContent.startsWith("List a material")`)
	tab.leave("choose it", func() { press(kb.ArrowDown); tab.pressEnter() })
	tab.until("the page of the action is there", `location.pathname === "/share"`)
}

// TestSuggestions_ALateAnswerLeavesTheChosenOne: somebody chooses among the suggestions for the first letters while
// the answer for all of them is on its way; Enter then goes where the chosen one leads.
func TestSuggestions_ALateAnswerLeavesTheChosenOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	quokka := s.newMaterial("Quokka fibroblasts")
	tab := s.open("josiah")
	tab.visit("/")
	see[bool](tab, "("+find("", "main form[role=search] input[type=search]", "main")+".focus(), true)")
	tab.do("type", chromedp.KeyEvent("Quok"))
	tab.until("there is the suggestion", `document.querySelector("main [role=option]")`)
	see[bool](tab, `(() => {
		const real = window.fetch;
		window.fetch = (...asked) => new Promise((resolve) => {
			window.answerLate = async () => { resolve(await real(asked[0])); await new Promise((done) => setTimeout(done, 50)); return true };
		});
		return true;
	})()`)
	tab.do("type on", chromedp.KeyEvent("ka"))
	tab.until("the rest is asked for", "window.answerLate")
	tab.do("choose", chromedp.KeyEvent(kb.ArrowDown))
	see[bool](tab, "window.answerLate()")
	tab.leave("go there", tab.pressEnter)
	tab.until("the material is there", fmt.Sprintf("location.pathname === '/catalog/%d'", quokka))
}
