package browser

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe.min.js
var axe string

// violation is a violation that axe reports.
type violation struct {
	ID, Help string
	Nodes    []struct {
		Target         []any
		FailureSummary string
		HTML           string
	}
}

// everyRule are the rules that a page is held to: WCAG 2.2 AA and good practice. In the dark only those of colors are
// asked, since the schemes differ in nothing else.
var everyRule = map[string]string{
	"light": `{ type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }`,
	"dark":  `{ type: "rule", values: ["color-contrast", "link-in-text-block"] }`,
}

// inspect has axe look at the page as it is, or at the part of it that an expression of script names.
func (t *tab) inspect(what, part string) {
	t.Helper()
	options := `{ resultTypes: ["violations"], preload: false, elementRef: false, runOnly: ` + everyRule[t.scheme] + ` }`
	for _, v := range see[[]violation](t, `axe.run(`+part+`, `+options+`).then((r) => r.violations)`) {
		for i, n := range v.Nodes {
			if i == 3 {
				t.Errorf("%s: %s: and %d more", what, v.ID, len(v.Nodes)-i)
				break
			}
			t.Errorf("%s: %s (%s)\n  %v\n  %.300s\n  %s", what, v.ID, v.Help, n.Target, n.HTML,
				strings.ReplaceAll(n.FailureSummary, "\n", "\n  "))
		}
	}
}

// fit makes the window so wide, and as tall as the page: what scrolls under a bar that stays would count as covered.
func (t *tab) fit(width int64) {
	t.Helper()
	t.resize(width, 900)
	t.resize(width, see[int64](t, "Math.min(12000, Math.max(900, document.documentElement.scrollHeight))"))
}

// looker looks at pages one after the other in one tab of each person.
type looker struct {
	*testing.T
	site *site
	tabs map[string]*tab
}

func (l *looker) tab(name string) *tab {
	if l.tabs[name] == nil {
		t := l.site.open(name)
		_, err := chromedp.Call(t.ctx, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: axe})
		t.must(err)
		l.tabs[name] = t
	}
	t := l.tabs[name]
	t.part = "document"
	t.dress("light")
	t.resize(widths[0], 900)
	return t
}

// look looks at a page that a link leads to.
func (l *looker) look(f found) {
	l.Helper()
	t := l.tab(roles[f.role])
	if status := t.visit(f.path); status != f.status {
		l.Errorf("%s: %s answered %d, now %d", f.role, f.path, f.status, status)
	}
	if moved := see[float64](t, "window.moved"); moved >= 0.02 {
		l.Errorf("%s: %s moves by itself while it loads: %.3f", f.role, f.path, moved)
	}
	l.everyWay(t, f.role+": "+f.path)
}

var (
	widths  = []int64{1280, 768, 320}
	schemes = []string{"light", "dark"}
)

// everyWay looks at the page of a tab at each width, light and dark: as it is, with each menu and sheet open, and with
// all details open.
func (l *looker) everyWay(t *tab, what string) {
	l.Helper()
	if loose := see[string](t, looseErrors); loose != "" {
		l.Errorf("%s: %s", what, loose)
	}
	see[int](t, thinned)
	each := func(more string, popovers bool) {
		for _, width := range widths {
			t.fit(width)
			if over := see[string](t, overflowing); over != "" {
				l.Errorf("%s at %d px%s: wider than the window: %s", what, width, more, over)
			}
			for _, scheme := range schemes {
				if scheme == "dark" && width == widths[1] {
					continue // the colors of the widest and the narrowest
				}
				t.dress(scheme)
				in := fmt.Sprintf("%s at %d px, %s%s", what, width, scheme, more)
				t.inspect(in, t.part)
				if popovers {
					t.inspectPopovers(in)
				}
			}
		}
	}
	each("", true)
	if see[bool](t, `(() => { const all = [...document.querySelectorAll("details:not([open])")]; for (const d of all) d.open = true; return all.length > 0; })()`) {
		each(", all open", false)
	}
}

// inspectPopovers opens one menu or sheet after the other and looks at it and its button.
func (t *tab) inspectPopovers(what string) {
	t.Helper()
	for _, id := range see[[]string](t,
		`[...document.querySelectorAll("[popovertarget]")].filter((e) => e.checkVisibility()).map((e) => e.getAttribute("popovertarget"))`) {
		see[bool](t, `(document.getElementById(`+quoted(id)+`).showPopover(), true)`)
		t.inspect(what+", "+id+" open", `{ include: [["#`+id+`"], ["[popovertarget=`+id+`]"]] }`)
		see[bool](t, `(document.getElementById(`+quoted(id)+`).hidePopover(), true)`)
	}
}

// looseErrors is script that says what is wrong with how a form tells what is wrong: each line of the summary leads to
// a field, each field says that it is the one and why, and the summary has the focus.
const looseErrors = `(() => {
	const summary = document.querySelector(".errors"), loose = [];
	for (const a of summary?.querySelectorAll('a[href^="#"]') ?? []) if (!document.getElementById(a.hash.slice(1))) loose.push("no field " + a.hash);
	for (const e of document.querySelectorAll(".err[id]")) {
		if (!document.querySelector(':is([aria-invalid="true"],fieldset)[aria-describedby~="' + e.id + '"]')) loose.push("no field says " + e.id);
	}
	if (summary && !summary.contains(document.activeElement)) loose.push("the summary has not the focus");
	return loose.join(", ");
})()`

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
	const scrolls = (e) => e && (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
	return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > wide + 1 && !scrolls(e.parentElement)).map((e) => e.outerHTML.slice(0, 120)).slice(0, 3).join(" | ") || "something";
})()`

// TestPages_BreakNoRuleOfAccessibility follows all links as each role, and does what leads to states that no link leads to. What it finds has
// no dead link and violates no rule of accessibility, at three widths, light and dark, with its menus, sheets and
// details closed and open.
func TestPages_BreakNoRuleOfAccessibility(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.furnish()
	all := everyPage(s)
	t.Run("has links that lead somewhere", func(t *testing.T) {
		t.Parallel()
		linksLeadSomewhere(t, all)
	})
	worth := worthALook(all)
	t.Logf("%d of %d pages", len(worth), len(all))
	t.Run("violates no rule of accessibility where no link leads", func(t *testing.T) {
		t.Parallel()
		everyState(t, worth)
	})
	var next atomic.Int64
	for part := range 2 {
		t.Run(fmt.Sprintf("violates no rule of accessibility, part %d", part+1), func(t *testing.T) {
			t.Parallel()
			l := &looker{T: t, site: s, tabs: map[string]*tab{}}
			for i := next.Add(1); int(i) <= len(worth); i = next.Add(1) {
				l.look(worth[i-1])
			}
		})
	}
}

// worthALook are as few pages as have every kind of element that any page has, each address with each status among
// them.
func worthALook(all []found) (worth []found) {
	missing := map[string]bool{}
	for _, f := range all {
		for _, kind := range f.kinds {
			missing[kind] = true
		}
	}
	news := func(f found) (n int) {
		for _, kind := range f.kinds {
			if missing[kind] {
				n++
			}
		}
		return n
	}
	for len(missing) > 0 {
		most := slices.MaxFunc(all, func(a, b found) int { return news(a) - news(b) })
		for _, kind := range most.kinds {
			delete(missing, kind)
		}
		worth = append(worth, most)
	}
	return worth
}
