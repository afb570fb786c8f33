package browser

import (
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func TestToast_StaysUntilSomebodyIsThereToReadIt(t *testing.T) {
	t.Parallel()
	me := newStrangeSite(t, strange{named: true}).open("josiah")
	_, err := chromedp.Call(me.ctx, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: `window.setTimeout = (f) => f();`}) // no time is left
	me.must(err)
	me.newPasskey("Office laptop")
	me.says("Passkey registered.")
	me.pressEnter()
	me.until("the toast is gone", `!document.querySelector(".toast")`)
}
