package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// slow has a tab send n bytes a second; 0: as fast as it can.
func (t *tab) slow(n float64) {
	t.Helper()
	if n == 0 {
		n = -1
	}
	_, err := chromedp.Call(t.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: n}}})
	t.must(err)
}

// TestUpload_OfARequestShowsProgressAndCanBeStopped: it can be stopped, nothing typed or chosen is lost, and it goes in the
// end.
func TestUpload_OfARequestShowsProgressAndCanBeStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("josiah")
	path := filepath.Join(t.TempDir(), "irb approval.pdf")
	s.must(os.WriteFile(path, []byte("%PDF-1.4\n"+strings.Repeat("% approved\n", 200_000)), 0o600))
	tab.visit(fmt.Sprintf("/catalog/%d/request", s.material("WA01 (H1) hESC")))
	tab.fill("Quantity", "2 vials")
	tab.choose("#f-irb_attachment", path)
	tab.slow(256 << 10)
	tab.pressIn("main .save-bar", "Send request")
	tab.until("there is a bar with a percent", `/MB, \d+%/.test(document.querySelector("[data-uploads]").innerText)`)
	tab.until("a quarter is said",
		`[...document.querySelectorAll("[role=status]")].some((e) => /irb approval.pdf, (25|50|75) percent/.test(e.textContent))`)
	tab.pressIn("main .save-bar", "Cancel sending")
	tab.says("Nothing was sent")
	tab.slow(0)
	const chosen = `document.querySelector("#f-irb_attachment").files.length === 1 && document.querySelector("[name=quantity]").value === "2 vials"`
	tab.until("what was typed and chosen is there", chosen)
	tab.pressIn("main .save-bar", "Send request")
	tab.until("what is wrong has the focus", `document.activeElement.id === "errors"`)
	tab.until("what was typed and chosen is there", chosen+` && !document.querySelector("[data-gone]")`)
	tab.fill("Research abstract", "Aim, method, and who will handle it.")
	tab.followIn("main .save-bar", "Send request")
	tab.until("the request is there", `/^\/requests\/\d+$/.test(location.pathname)`)
	tab.says("irb approval.pdf")
	tab.says("Request sent")
}

func TestUpload_RefusesADocumentOfAnotherType(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("josiah")
	path := filepath.Join(t.TempDir(), "approval.txt")
	s.must(os.WriteFile(path, []byte("approved"), 0o600))
	tab.visit(fmt.Sprintf("/catalog/%d/request", s.material("WA01 (H1) hESC")))
	tab.choose("#f-irb_attachment", path)
	tab.says("“approval.txt” was not chosen. IRB approval or exemption: choose a PDF, PNG, JPEG or TIFF file.")
	tab.until("the field is empty", `document.querySelector("#f-irb_attachment").files.length === 0`)
	tab.choose("#f-irb_attachment", s.pdf("approval.pdf"))
	tab.until("a PDF is chosen", `document.querySelector("#f-irb_attachment").files.length === 1`)
	tab.until("the sentence is gone", `!document.querySelector("[data-not-taken]")`)
}
