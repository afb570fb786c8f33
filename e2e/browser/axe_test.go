package browser

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// rules are sets of those that a page is held to: WCAG 2.2 AA and good practice. Those of style take as long as all
// others together. In the dark only those of colors are asked, since the schemes differ in nothing else.
const (
	everyRule   = `runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }`
	styleRules  = `runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block", "target-size"] }`
	colorRules  = `runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] }`
	notOfStyles = everyRule + `, rules: { "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false }, "target-size": { enabled: false } }`
)

// inspect has axe hold the part of the page that an expression of script names to rules.
func (t *tab) inspect(what, part, rules string) {
	t.Helper()
	options := `{ resultTypes: ["violations"], preload: false, elementRef: false, ` + rules + ` }`
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

	looked *looked
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
	if moved := t.shift(f.path); moved >= maxShift {
		l.Errorf("%s: %s moves by itself while it loads: %.3f", f.role, f.path, moved)
	}
	l.everyWay(t, f.role+": "+f.path)
}

var widths = []int64{1280, 768, 320}

// everyWay looks at the page of a tab at each width, light and dark: as it is, with each menu and sheet open, and with
// all details open. In the widest window and light that is the whole page, but for its style. Style, and the rest in any
// other way, is that of what has not been looked at in that way: an element of the same kind, in a parent of the same
// kind, is drawn by the same rules.
func (l *looker) everyWay(t *tab, what string) {
	l.Helper()
	if loose := see[string](t, looseErrors); loose != "" {
		l.Errorf("%s: %s", what, loose)
	}
	see[int](t, thinned)
	each := func(more, whole string) {
		for _, width := range widths {
			t.fit(width)
			in := fmt.Sprintf("%s at %d px%s", what, width, more)
			if over := see[string](t, overflowing); over != "" {
				l.Errorf("%s: wider than the window: %s", in, over)
			}
			way, rules := fmt.Sprint(width), everyRule
			if width == widths[0] {
				t.inspect(in, whole, notOfStyles)
				rules = styleRules
			}
			kinds, popovers := see[[]string](t, "[...new Set("+kinds+"("+t.part+").map((e) => e[1]))]"), [][2]string(nil)
			if more == "" {
				popovers = see[[][2]string](t, openable)
			}
			l.inspectNew(t, in, rules, l.looked.add(way, kinds))
			l.inspectPopovers(t, in, everyRule, l.newPopovers(way, popovers))
			if width == widths[1] {
				continue // the colors of the widest and the narrowest
			}
			news, newPopovers := l.looked.add("dark", kinds), l.newPopovers("dark", popovers)
			if len(news)+len(newPopovers) > 0 {
				t.dress("dark")
				l.inspectNew(t, in+", dark", colorRules, news)
				l.inspectPopovers(t, in+", dark", colorRules, newPopovers)
				t.dress("light")
			}
		}
	}
	each("", t.part)
	if see[bool](t, `(() => { const all = [...document.querySelectorAll("details:not([open])")]; for (const d of all) d.open = true; return all.length > 0; })()`) {
		whole := t.part
		if whole == "document" {
			whole = `{ include: [["details"]] }`
		}
		each(", all open", whole)
	}
}

// looked are the kinds of elements, and the menus and sheets, that were looked at in each way.
type looked struct {
	mu   sync.Mutex
	seen map[string]bool
}

// add returns those of a list that were not looked at in a way, and counts them as looked at.
func (l *looked) add(way string, list []string) (news []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, kind := range list {
		if !l.seen[way+kind] {
			l.seen[way+kind] = true
			news = append(news, kind)
		}
	}
	return news
}

// inspectNew looks at the elements of the page that are of new kinds.
func (l *looker) inspectNew(t *tab, what, rules string, news []string) {
	l.Helper()
	if len(news) == 0 {
		return
	}
	list, _ := json.Marshal(news) // of strings alone
	see[int](t, `(() => {
		const news = new Set(`+string(list)+`), all = `+kinds+`(`+t.part+`).filter((e) => news.has(e[1]));
		for (const [e] of all) e.setAttribute("data-look", "");
		return all.length;
	})()`)
	t.inspect(what, `{ include: [["[data-look]"]] }`, rules)
	see[int](t, `document.querySelectorAll("[data-look]").forEach((e) => e.removeAttribute("data-look")) ?? 0`)
}

// kinds is script that gives the elements of a part of the page that are seen, each with its kind: what it is, and what
// its parent is. See kindsOf.
const kinds = `((part) => {
	const own = (e) => e.localName + ["class", "type", "role", "aria-current", "aria-invalid", "style"].map((a) => e.hasAttribute(a) ? " " + a + "=" + e.getAttribute(a) : "").join("");
	return [...(part === document ? document.body : part).querySelectorAll("*")].filter((e) => e.checkVisibility({ visibilityProperty: true }))
		.map((e) => [e, own(e.parentElement) + ">" + own(e)]);
})`

// openable is script that gives the id of each menu and sheet that can be opened, and its markup and that of its button,
// whatever its numbers.
const openable = `[...document.querySelectorAll("[popovertarget]")].filter((e) => e.checkVisibility())
	.map((e) => [e.getAttribute("popovertarget"), (e.outerHTML + document.getElementById(e.getAttribute("popovertarget")).outerHTML).replace(/\d+/g, "0")])`

// newPopovers returns the ids of the menus and sheets whose markup was not looked at in a way.
func (l *looker) newPopovers(way string, popovers [][2]string) (ids []string) {
	for _, popover := range popovers {
		if len(l.looked.add(way, popover[1:])) > 0 {
			ids = append(ids, popover[0])
		}
	}
	return ids
}

// inspectPopovers opens one menu or sheet after the other and looks at it and its button.
func (l *looker) inspectPopovers(t *tab, what, rules string, ids []string) {
	l.Helper()
	for _, id := range ids {
		see[bool](t, `(document.getElementById(`+quoted(id)+`).showPopover(), true)`)
		t.inspect(what+", "+id+" open", `{ include: [["#`+id+`"], ["[popovertarget=`+id+`]"]] }`, rules)
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
	worth, seen := worthALook(all), &looked{seen: map[string]bool{}}
	t.Logf("%d of %d pages", len(worth), len(all))
	t.Run("violates no rule of accessibility where no link leads", func(t *testing.T) {
		t.Parallel()
		everyState(t, worth, seen)
	})
	var next atomic.Int64
	for part := range 2 {
		t.Run(fmt.Sprintf("violates no rule of accessibility, part %d", part+1), func(t *testing.T) {
			t.Parallel()
			l := &looker{T: t, site: s, tabs: map[string]*tab{}, looked: seen}
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
