package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long anything may take that should be a matter of milliseconds, on a machine that does much else.
const patience = 2 * time.Minute

// tab is somebody's browser: cookies of its own, one page. What should never happen in it fails the test.
type tab struct {
	*site
	ctx  context.Context
	name string // of whose it is
	keys bool   // whoever uses it has a keyboard alone

	clicks int // how often something was pressed

	broken bool   // failures of the server are what is looked for
	part   string // of the page that axe looks at, in script

	mu     sync.Mutex
	faults []string
	status map[string]int // of documents, by address
	weight float64        // bytes that came since begin

	next network.RequestID // of the document that is about to take the place of the page; empty: the page stays
}

// open gives the browser of a person who is signed in, or of nobody.
func (s *site) open(name string) *tab {
	s.Helper()
	ctx, cancel := chromedp.NewContext(running, chromedp.WithNewBrowserContext())
	s.Cleanup(cancel)
	t := &tab{site: s, ctx: ctx, name: name, status: map[string]int{}}
	s.must(chromedp.Listen(ctx, t.heard))
	// Layout that moves by itself is counted from the beginning of each document.
	_, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.moved = 0;
		new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.moved += e.value; })
			.observe({ type: "layout-shift", buffered: true });`})
	s.must(err)
	if name != "" {
		_, err := chromedp.Call(ctx, network.SetCookie,
			network.SetCookieParams{Name: "__Host-session", Value: s.token(name), URL: s.url, Path: "/",
				Secure: new(true), HTTPOnly: new(true), SameSite: network.CookieSameSiteLax})
		s.must(err)
	}
	t.resize(1280, 900)
	t.dress("light")
	s.Cleanup(t.blame)
	return t
}

// heard records the browser's own messages. It runs in the loop that reads the browser's messages. What a page that is
// being left says does not count: its requests are cut off, and script says so on the console.
func (t *tab) heard(event any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fault := func(format string, args ...any) { t.faults = append(t.faults, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
		fault("an exception: %s", text)
	case *runtime.EventConsoleAPICalled:
		if (e.Type == "error" || e.Type == "warning") && t.next == "" {
			var words []string
			for _, a := range e.Args {
				words = append(words, string(a.Value)+a.Description)
			}
			fault("the console: %s", strings.Join(words, " "))
		}
	case *log.EventEntryAdded:
		// The source "network" says that an answer had a status of 400 or more, which tests see themselves.
		if e.Entry.Level == "error" && e.Entry.Source != "network" || e.Entry.Source == "security" {
			fault("the browser: %s", e.Entry.Text)
		}
	case *runtime.EventExecutionContextsCleared: // the page was left
		t.next = ""
	case *network.EventLoadingFailed:
		t.stays(e.RequestID)
	case *network.EventRequestWillBeSent:
		if e.Type == network.ResourceTypeDocument {
			t.next = e.RequestID
		}
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && "http://"+u.Host != t.url {
			fault("a request to another host: %s", e.Request.URL)
		}
	case *network.EventResponseReceived:
		if e.Type == network.ResourceTypeDocument {
			t.status[e.Response.URL] = int(e.Response.Status)
		} else if e.Response.Status >= 400 && e.Response.Status != 422 && e.Response.Status != 409 {
			fault("%d for %s", int(e.Response.Status), e.Response.URL)
		}
		if e.Response.Status >= 500 && !t.broken {
			fault("%d for %s", int(e.Response.Status), e.Response.URL)
		}
	case *network.EventLoadingFinished:
		t.weight += e.EncodedDataLength
		t.stays(e.RequestID)
	}
}

// stays notes that a request ended: the page stays if it was for the next one, which was a file or did not come.
func (t *tab) stays(ended network.RequestID) {
	if t.next == ended {
		t.next = ""
	}
}

// blame fails the test with what the browser said.
func (t *tab) blame() {
	t.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, fault := range t.faults {
		t.Errorf("%s: %s", t.who(), fault)
	}
	t.faults = nil
}

func (t *tab) who() string {
	if t.name == "" {
		return "nobody"
	}
	return t.name
}

func (t *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %s: %v\n%s", t.who(), what, err, t.where())
	}
}

// where tells what the tab shows, for messages of failures.
func (t *tab) where() string {
	text, _ := evaluate[string](t,
		`location.pathname + location.search + " | " + document.title + "\n" + document.body.innerText.slice(0, 1500)`)
	return text
}

func evaluate[T any](t *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// see gives what an expression of script is.
func see[T any](t *tab, expression string) T {
	t.Helper()
	v, err := evaluate[T](t, expression)
	if err != nil {
		t.Fatalf("%s: %.200s: %v\n%s", t.who(), expression, err, t.where())
	}
	return v
}

// until waits until an expression of script is true.
func (t *tab) until(what, expression string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if yes, err := evaluate[bool](t, "!!("+expression+")"); err == nil && yes {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: waited without success: %s\n%s", t.who(), what, t.where())
		}
	}
}

// visit goes to an address and gives the status of the answer.
func (t *tab) visit(path string) int {
	t.Helper()
	t.mu.Lock()
	t.weight = 0
	t.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	response, err := chromedp.Run(ctx, chromedp.NavigateResponse(t.url+path))
	if err != nil {
		t.Fatalf("%s: %s: %v", t.who(), path, err)
	}
	if response == nil { // only the fragment is another one
		return 200
	}
	return int(response.Status)
}

func (t *tab) resize(width, height int64) {
	t.Helper()
	t.do("resize", chromedp.EmulateViewport(width, height))
}

// dress asks for light or dark.
func (t *tab) dress(scheme string) {
	t.Helper()
	_, err := chromedp.Call(t.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	t.must(err)
}

// scriptless switches script off.
func (t *tab) scriptless() {
	t.Helper()
	_, err := chromedp.Call(t.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	t.must(err)
}

// finder is script that gives the visible control with a name that begins with, or else has, the words that it is
// asked for; in a part of the page that a selector names.
const finder = `((words, among, within) => {
	const name = (e) => {
		const by = (e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
		const labels = [...(e.labels ?? [])].map((l) => l.textContent).join(" ");
		return (by || e.getAttribute("aria-label") || labels || e.textContent || e.value || "").replace(/\s+/g, " ").trim();
	};
	const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: false }) || e.type === "file" || e.type === "radio" || e.type === "checkbox";
	const all = [...document.querySelectorAll(among)].filter((e) => e.closest(within) && shown(e) && !e.disabled);
	const low = words.toLowerCase();
	return all.find((e) => name(e).toLowerCase() === low) ?? all.find((e) => name(e).toLowerCase().startsWith(low)) ?? all.find((e) => name(e).toLowerCase().includes(low));
})`

const (
	buttons = "button,a[href],summary,[role=button],input[type=submit]"
	fields  = "input:not([type=hidden]):not([type=submit]),select,textarea"
)

func quoted(words string) string {
	text, _ := json.Marshal(words) // of a string alone
	return string(text)
}

func find(words, among, within string) string {
	return finder + "(" + quoted(words) + "," + quoted(among) + "," + quoted(within) + ")"
}

// pressIn clicks a button or link of a part of the page by its words.
func (t *tab) pressIn(within, words string) {
	t.Helper()
	t.click(words, find(words, buttons, within))
}

func (t *tab) click(what, element string) {
	t.Helper()
	t.until("there is "+what, element)
	t.clicks++
	if t.keys {
		t.reach(what, element)
		key := kb.Enter
		if see[bool](t, "/radio|checkbox|file/.test(document.activeElement.type)") {
			key = " "
		}
		t.do("press "+what, chromedp.KeyEvent(key))
		return
	}
	type point struct{ X, Y float64 }
	at := see[point](t, `(async () => { const e = `+element+
		`; e.scrollIntoView({ block: "center", behavior: "instant" });
		const r = e.getClientRects()[0]; return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }; })()`)
	t.do("click "+what, chromedp.MouseClickXY(at.X, at.Y))
}

// reach goes to a control with the Tab key, among radio buttons of a group with the arrows.
func (t *tab) reach(what, element string) {
	t.Helper()
	const there = `((e) => { const a = document.activeElement, c = e.control ?? e; return a === c || e.contains(a) && a.matches("input") ? "there" : a?.type === "radio" && a.name === c.name ? "group" : ""; })`
	for range 300 {
		switch see[string](t, there+"("+element+")") {
		case "there":
			return
		case "group":
			t.do("go to "+what, chromedp.KeyEvent(kb.ArrowDown))
		default:
			t.do("go to "+what, chromedp.KeyEvent(kb.Tab))
		}
	}
	t.Fatalf("%s: the Tab key never reaches %s\n%s", t.who(), what, t.where())
}

// follow presses and waits for another document.
func (t *tab) follow(words string) {
	t.Helper()
	t.followIn("body", words)
}

func (t *tab) followIn(within, words string) {
	t.Helper()
	t.leave("press "+words, func() { t.pressIn(within, words) })
}

// leave does what loads another document, or by script another address, and waits until it is there.
func (t *tab) leave(what string, how func()) {
	t.Helper()
	before := see[string](t, "(window.here = true, location.href)")
	how()
	t.until(what+" leads on", `(!window.here || location.href !== `+quoted(before)+
		`) && document.readyState === "complete" && !document.querySelector(".htmx-request")`)
}

// fill types into a field by its label.
func (t *tab) fill(label, text string) {
	t.Helper()
	element := find(label, fields, "main")
	t.until("there is the field "+label, element)
	switch see[string](t, element+".type") {
	case "radio", "checkbox":
		if t.keys && see[string](t, element+".type") == "radio" {
			t.reach(label, element) // the arrows choose, too
			t.do("choose "+label, chromedp.KeyEvent(" "))
		} else if see[bool](t, element+".checked") != (text != "") {
			t.click(label, "("+element+".closest('label') ?? "+element+")")
		}
	case "select-one":
		see[bool](t, `(() => { const e = `+element+`; const o = [...e.options].find((o) => o.text.includes(`+
			quoted(text)+`)); e.value = o.value;
			e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	case "date", "number", "time", "datetime-local":
		see[bool](t, `(() => { const e = `+element+`; e.value = `+quoted(text)+`;
			e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`)
	default:
		if t.keys {
			t.reach(label, element)
		}
		see[bool](t, `(() => { const e = `+element+`; e.focus(); e.select?.(); return true; })()`)
		t.do("type into "+label, chromedp.KeyEvent(text))
	}
}

// pressEnter presses Enter as a keyboard does: a page that prevents what the key does by itself also prevents its
// character, which chromedp.KeyEvent would send all the same.
func (t *tab) pressEnter() {
	t.Helper()
	const code = 13
	down := input.DispatchKeyEventParams{Type: "keyDown", Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: code}
	up := input.DispatchKeyEventParams{Type: "keyUp", Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: code}
	t.do("press Enter", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, down); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, up)
		return err
	}))
}

// typed types into what has the focus.
func (t *tab) typed(text string) {
	t.Helper()
	t.do("type", chromedp.KeyEvent(text))
}

// choose gives files to the file field of a form.
func (t *tab) choose(selector string, files ...string) {
	t.Helper()
	t.until("there is "+selector, "document.querySelector("+quoted(selector)+")")
	t.do("choose files", chromedp.SetUploadFiles(chromedp.CSS(selector), files, chromedp.NodeReady))
}

// says waits until the page's text has some words.
func (t *tab) says(words string) {
	t.Helper()
	t.until("it says "+words, `document.body.innerText.toLowerCase().includes(`+quoted(strings.ToLower(words))+`)`)
}

// again reloads the page until it has some words, for those without script.
func (t *tab) again(words string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(300 * time.Millisecond) {
		t.do("load again", chromedp.Reload())
		if see[bool](t, `document.body.innerText.toLowerCase().includes(`+quoted(strings.ToLower(words))+`)`) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: waited without success for %q\n%s", t.who(), words, t.where())
		}
	}
}
