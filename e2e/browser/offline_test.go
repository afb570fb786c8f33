package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// offline has the page of a tab believe that the device is offline, or online again.
func (t *tab) offline(is bool) {
	t.Helper()
	_, err := chromedp.Call(t.ctx, network.OverrideNetworkState,
		network.OverrideNetworkStateParams{Offline: is, Latency: 0,
			DownloadThroughput: -1, UploadThroughput: -1})
	t.must(err)
}

// TestSendingWhileOffline_KeepsWhatWasTyped: nothing is sent and the page stays; once online again, it can be sent.
func TestSendingWhileOffline_KeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit(fmt.Sprintf("/requests/%d", s.request("HeLa")))
	tab.fill("Message", "We ship on Monday.")
	tab.offline(true)
	tab.pressIn("main", "Send message")
	tab.says("You are offline. Nothing was sent")
	if !see[bool](tab, `[...document.querySelectorAll("textarea")].some((e) => e.value === "We ship on Monday.")`) {
		t.Error("what was typed is gone")
	}
	tab.offline(false)
	tab.until("the page knows that it is online", `!document.getElementById("offline")`)
	tab.followIn("main", "Send message")
	tab.says("We ship on Monday.")
}

// TestChartsOfMonths_ShowTheNewestOnATelephone without and with script, and without a touch.
func TestChartsOfMonths_ShowTheNewestOnATelephone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("olivia")
	tab.resize(390, 844)
	tab.visit(fmt.Sprintf("/labs/%d/insights", s.lab("Sample Cell Bank")))
	const chart = `document.querySelector("[aria-label='Chart of requests by state and month']")`
	if hidden := see[float64](tab, `(() => { const c = `+chart+`, r = c.getBoundingClientRect();
		return c.querySelector("svg").getBoundingClientRect().right - r.right; })()`); hidden > 0 {
		t.Errorf("%v px of the newest months are out of sight", hidden)
	}
	if !see[bool](tab, chart+".scrollWidth > "+chart+".clientWidth") {
		t.Error("the chart fits: nothing was tested")
	}
}

// TestKeysHelp_WithoutConnectionSaysSo and reports no error: the list of keys is fetched when it is first asked for.
func TestKeysHelp_WithoutConnectionSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	tab.visit("/requests")
	// OverrideNetworkState only has the page believe that it is offline; its requests are still answered.
	see[bool](tab, `(window.fetch = () => Promise.reject(new TypeError("Failed to fetch")), true)`)
	tab.do("?", chromedp.KeyEvent("?"))
	tab.until("it says so", `[...document.querySelectorAll("[role=status]")].some((e) => e.textContent.startsWith("Not shown"))`)
}
