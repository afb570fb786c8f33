package browser

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe.min.js
var axe string

// violation is what axe says of a page.
type violation struct {
	ID, Help string
	Nodes    []struct {
		Target         []any
		FailureSummary string
		HTML           string
	}
}

// everyRule are the rules that a page is held to: WCAG 2.2 AA and good practice; contrast are those that see
// colours, layout those that see where things are, too.
const (
	everyRule = `{ type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }`
	contrast  = `{ type: "rule", values: ["color-contrast", "link-in-text-block"] }`
	layout    = `{ type: "rule", values: ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"] }`
)

// inspect has axe look at the page as it is.
func (t *tab) inspect(what, rules string) {
	t.Helper()
	for _, v := range see[[]violation](t, `axe.run(document, { resultTypes: ["violations"], preload: false, runOnly: `+rules+` }).then((r) => r.violations)`) {
		for i, n := range v.Nodes {
			if i == 3 {
				t.Errorf("%s: %s: and %d more", what, v.ID, len(v.Nodes)-i)
				break
			}
			t.Errorf("%s: %s (%s)\n  %v\n  %.300s\n  %s", what, v.ID, v.Help, n.Target, n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", "\n  "))
		}
	}
}

// fit makes the window so wide, and as tall as the page: what scrolls under a bar that stays would count as covered.
func (t *tab) fit(width int64) {
	t.Helper()
	t.resize(width, 900)
	t.resize(width, see[int64](t, "Math.min(12000, Math.max(900, document.documentElement.scrollHeight))"))
}

// looker looks at pages one after the other in one tab of each role.
type looker struct {
	*testing.T
	site *site
	tabs map[string]*tab
	open *sync.Map // menus and sheets that were looked at
}

func (l *looker) tab(role string) *tab {
	if l.tabs[role] == nil {
		t := l.site.open(roles[role])
		_, err := chromedp.Call(t.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: axe})
		t.must(err)
		l.tabs[role] = t
	}
	return l.tabs[role]
}

var widths = []int64{1280, 768, 320}

func (l *looker) look(f found) {
	l.Helper()
	t := l.tab(f.role)
	t.dress("light")
	t.resize(widths[0], 900)
	if status := t.visit(f.path); status != f.status {
		l.Errorf("%s: %s answered %d, now %d", f.role, f.path, f.status, status)
	}
	if moved := see[float64](t, "window.moved"); moved >= 0.02 {
		l.Errorf("%s: %s moves by itself while it loads: %.3f", f.role, f.path, moved)
	}
	see[int](t, thinned)
	in := func(width int64, scheme, more string) string {
		return fmt.Sprintf("%s: %s at %d px, %s%s", f.role, f.path, width, scheme, more)
	}
	for _, width := range widths {
		t.fit(width)
		rules := everyRule
		if width == widths[1] {
			rules = layout
		}
		t.inspect(in(width, "light", ""), rules)
		if over := see[string](t, overflowing); over != "" {
			l.Errorf("%s: wider than the window: %s", in(width, "light", ""), over)
		}
		if width != widths[1] {
			t.dress("dark")
			t.inspect(in(width, "dark", ""), contrast)
			t.dress("light")
		}
	}
	for _, id := range see[[]string](t, `[...document.querySelectorAll("[popovertarget]")].filter((e) => e.checkVisibility()).map((e) => e.getAttribute("popovertarget"))`) {
		if _, looked := l.open.LoadOrStore(f.pattern+id, true); looked {
			continue
		}
		see[bool](t, `(document.getElementById(`+quoted(id)+`).showPopover(), true)`)
		t.inspect(in(320, "light", ", "+id+" open"), everyRule)
		t.dress("dark")
		t.inspect(in(320, "dark", ", "+id+" open"), contrast)
		t.dress("light")
		see[bool](t, `(document.getElementById(`+quoted(id)+`).hidePopover(), true)`)
	}
	if see[bool](t, `(() => { const all = [...document.querySelectorAll("details:not([open])")]; for (const d of all) d.open = true; return all.length > 0; })()`) {
		for _, width := range []int64{320, 1280} {
			t.fit(width)
			t.inspect(in(width, "light", ", all open"), everyRule)
		}
		t.dress("dark")
		t.inspect(in(1280, "dark", ", all open"), contrast)
	}
}

// thinned is script that leaves a few of the many elements of a kind in one place, which stand for all: axe takes
// more than a minute for the documentation of the API.
const thinned = `(() => {
	let gone = 0;
	for (const parent of document.querySelectorAll("body *")) {
		const kinds = new Map();
		for (const e of [...parent.children]) {
			const kind = e.tagName + e.className;
			kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
			if (kinds.get(kind) > 8 && !["TR", "TD", "TH", "OPTION", "use"].includes(e.tagName) && !e.querySelector("[aria-current]")) { e.remove(); gone++; }
		}
	}
	return gone;
})()`

// overflowing is script that names what makes a page wider than its window.
const overflowing = `(() => {
	const wide = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth <= wide) return "";
	return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > wide + 1).map((e) => e.outerHTML.slice(0, 120)).slice(0, 3).join(" | ") || "something";
})()`

// TestEveryPage follows all links as each role. What it finds has no dead link and violates no rule of
// accessibility, at three widths, light and dark, with its menus, sheets and details closed and open.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.furnish()
	all := everyPage(s)
	t.Run("has links that lead somewhere", func(t *testing.T) {
		t.Parallel()
		linksLeadSomewhere(t, all)
	})
	t.Run("violates no rule of accessibility", func(t *testing.T) {
		t.Parallel()
		accessible(t, s, all)
	})
}

// accessible looks at one page of each pattern at least, and at every page that has a kind of element which no page had
// before.
func accessible(t *testing.T, s *site, all []found) {
	var worth []found
	known := map[string]bool{}
	for _, f := range all {
		if !f.html {
			continue
		}
		before := len(known)
		for _, kind := range f.kinds {
			known[kind] = true
		}
		if len(known) > before {
			worth = append(worth, f)
		}
	}
	t.Logf("%d of %d pages", len(worth), len(all))
	var open sync.Map
	const tabs = 2
	for first := range tabs {
		t.Run(fmt.Sprintf("part %d", first+1), func(t *testing.T) {
			t.Parallel()
			l := &looker{T: t, site: s, tabs: map[string]*tab{}, open: &open}
			for i := first; i < len(worth); i += tabs {
				l.look(worth[i])
			}
		})
	}
}
