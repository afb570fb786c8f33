package web_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
)

func TestHelp_AnswersWhatNewcomersAsk(t *testing.T) {
	t.Parallel()
	v := alone(t).as("")
	a := v.get("/help").want(http.StatusOK)
	for _, id := range []string{"search", "requests", "mta", "irb", "labs", "words", "keys"} {
		if !a.has("section#" + id) {
			t.Errorf("nothing about %s", id)
		}
	}
	for _, page := range []string{"/help", "/accessibility", "/privacy"} {
		a := v.get(page).want(http.StatusOK)
		if a.doc.Find("h1").Length() != 1 || !a.has("meta[name=description]") {
			t.Errorf("%s has no heading or description", page)
		}
		for _, href := range a.foundLinks("main a[href^='#']") {
			if !a.has(href) {
				t.Errorf("%s: %s leads nowhere", page, href)
			}
		}
	}
	if keys := a.text("#keys"); !strings.Contains(keys, "g then s") || !strings.Contains(keys, "?") {
		t.Error(keys)
	}
}

func TestShortcuts_CanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	v := alone(t).as("")
	if !v.get("/help").has("body[data-keys]") {
		t.Error("they are off")
	}
	v.cookies["__Host-nokeys"] = "1"
	if v.get("/help").has("body[data-keys]") {
		t.Error("they are on")
	}
}

// A page with all that it loads.
const maxBytes = 60_000

func TestPages_AreSmall(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	for _, page := range []string{"/", "/catalog", "/catalog?q=human", w.at("HeLa"), "/help"} {
		a := v.get(page).want(http.StatusOK)
		total := zipped(t, a.body)
		for _, selector := range []string{"link[rel=stylesheet]", "script[src]"} {
			for _, n := range a.doc.Find(selector).EachIter() {
				total += zipped(t, v.get(n.AttrOr("href", n.AttrOr("src", ""))).want(http.StatusOK).body)
			}
		}
		total += zipped(t, v.get(strings.Split(a.doc.Find("use").First().AttrOr("href", ""),
			"#")[0]).want(http.StatusOK).body)
		if total > maxBytes {
			t.Errorf("%s: %d bytes", page, total)
		}
	}
}

// zipped is how many bytes a text has on its way.
func zipped(t *testing.T, text string) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
