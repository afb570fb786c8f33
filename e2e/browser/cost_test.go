package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Most of what a page may weigh when a browser comes for the first time: with style, script and icons, compressed.
const maxBytes = 60_000

// How far a page may move by itself while it loads, a fifth of what Core Web Vitals call good.
const maxShift = 0.02

// shift is how far the page of a tab moved by itself while it loaded. What moves once may have been painted while a
// busy machine parsed it; what is at fault moves each time, so the page is loaded again before it counts.
func (t *tab) shift(path string) float64 {
	t.Helper()
	moved := see[float64](t, "window.moved")
	if moved >= maxShift {
		t.visit(path)
		moved = min(moved, see[float64](t, "window.moved"))
	}
	return moved
}

// mainPages are those that people see most, by who sees them, with the ids of the sample data filled in.
func (s *site) mainPages() []shown {
	s.Helper()
	material := s.material("HT-29")
	waiting, open, approved := s.request("HeLa"), s.request("PDX model CN0375-F725"), s.request("PDX model BL0269-F402")
	lab := s.lab("Sample Cell Bank")
	for _, title := range []string{"HT-29", "MCF-7", "pSample-EGFP (made up)"} {
		_, err := s.app.Groups.AddToBasket(s.Context(), s.actor("josiah"), s.material(title))
		s.must(err)
	}
	return []shown{
		{"home", "", "/"},
		{"tasks", "josiah", "/"},
		{"search", "", "/catalog?q=carcinoma"},
		{"material", "", fmt.Sprintf("/catalog/%d", material)},
		{"request-form", "josiah", fmt.Sprintf("/catalog/%d/request", material)},
		{"basket", "josiah", "/basket"},
		{"request", "josiah", fmt.Sprintf("/requests/%d", approved)},
		{"request-lab", "mario", fmt.Sprintf("/requests/%d", waiting)},
		{"inbox", "mario", "/requests"},
		{"shipping", "mario", "/requests/shipping"},
		{"replies", "olivia", fmt.Sprintf("/labs/%d/replies", lab)},
		{"insights", "olivia", fmt.Sprintf("/labs/%d/insights", lab)},
		{"lab", "olivia", fmt.Sprintf("/labs/%d", lab)},
		{"spreadsheet", "olivia", "/share/spreadsheet"},
		{"notifications", "josiah", "/notifications"},
		{"settings", "josiah", "/account"},
		{"request-decide", "priya", fmt.Sprintf("/requests/%d", open)},
	}
}

// shown is a page, by the name of its picture.
type shown struct{ name, who, path string }

func TestPages_AreSmallAndDoNotShift(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tabs := map[string]*tab{}
	for _, p := range s.mainPages() {
		if tabs[p.who] == nil {
			tabs[p.who] = s.open(p.who)
			_, err := chromedp.Call(tabs[p.who].ctx, network.SetCacheDisabled,
				network.SetCacheDisabledParams{CacheDisabled: true})
			s.must(err)
		}
		tab := tabs[p.who]
		if status := tab.visit(p.path); status != 200 {
			t.Errorf("%s: %d", p.path, status)
		}
		tab.until("everything is there", `document.readyState === "complete"`)
		if tab.bytes() > maxBytes {
			t.Errorf("%s weighs %.0f bytes", p.path, tab.bytes())
		}
		if moved := tab.shift(p.path); moved >= maxShift {
			t.Errorf("%s moves by itself: %.3f", p.path, moved)
		}
	}
}

// A page is painted once it is parsed: rows of a table that come after the first paint would change its columns.
func TestPages_DoNotMoveWhileASlowMachineParsesThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("mario")
	_, err := chromedp.Call(tab.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 20})
	s.must(err)
	for _, path := range []string{"/requests?turn=all", "/requests/shipping"} {
		tab.visit(path)
		if moved := see[float64](tab, "window.moved"); moved != 0 {
			t.Errorf("%s moves: %.3f", path, moved)
		}
	}
}

// bytes are those that came since the last visit began.
func (t *tab) bytes() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.weight
}

// TestTheme_ChosenOneHoldsOnEveryDevice
func TestTheme_ChosenOneHoldsOnEveryDevice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tab := s.open("")
	ground := func(scheme, chosen string) string {
		_, err := chromedp.Call(tab.ctx, network.SetCookie,
			network.SetCookieParams{Name: "__Host-theme", Value: chosen, URL: s.url, Path: "/", Secure: new(true)})
		s.must(err)
		tab.dress(scheme)
		tab.visit("/")
		return see[string](tab, `getComputedStyle(document.documentElement).backgroundColor + getComputedStyle(document.body).backgroundColor`)
	}
	light, dark := ground("light", "none"), ground("dark", "none")
	if light == dark {
		t.Fatalf("light and dark are both %s", light)
	}
	if got := ground("dark", "light"); got != light {
		t.Errorf("light on a dark device: %s, want %s", got, light)
	}
	if got := ground("light", "dark"); got != dark {
		t.Errorf("dark on a light device: %s, want %s", got, dark)
	}
}
