// Package browser tests the pages in a real browser: what they look like to assistive technology, what
// happens when people use them, and what they cost. It needs Chromium, or a browser like it, at the path
// that TEST_BROWSER names; without it there is nothing to test, and no test.
package browser

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// update has the pictures of docs/pages taken again ("make pictures").
var update bool

// running is the browser that all tests share; each tab has a profile of its own in it.
var running context.Context

func TestMain(m *testing.M) {
	flag.BoolVar(&update, "update", false, "rewrite the pictures of docs/pages")
	flag.Parse()
	path := os.Getenv("TEST_BROWSER")
	if path == "" {
		return
	}
	os.Exit(withSample(func() int { return withBrowser(path, m.Run) }))
}

// withSample runs the tests with the sample data.
func withSample(run func() int) (code int) {
	folder, err := os.MkdirTemp("", "aliquot-browser-")
	if err == nil {
		err = fill(context.Background(), folder)
	}
	code = 1
	if err == nil {
		code = run()
		err = content.Close()
	}
	if err = errors.Join(err, os.RemoveAll(folder)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// withBrowser runs the tests with a browser that ends with them.
func withBrowser(path string, run func() int) int {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true))
	allocated, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	var stop context.CancelFunc
	running, stop = chromedp.NewContext(allocated, chromedp.WithErrorf(func(string, ...any) {}))
	defer stop()
	if err := chromedp.Do(running); err != nil {
		fmt.Fprintf(os.Stderr, "the browser %s does not start: %v\n", path, err)
		return 1
	}
	return run()
}
