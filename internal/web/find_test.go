package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestFind_FindsOnlyWhatTheVisitorMaySee(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		request := w.requestFor("HeLa").ID
		for name, sees := range map[string]bool{"mario": true, "newlab": false, "": false} {
			a := w.as(name).get("/find?q=HeLa").want(http.StatusOK)
			if !a.has(`section[aria-label="Materials and labs"] a[href^="/catalog/"]`) {
				w.Errorf("%s: no material: %s", name, a.text("main"))
			}
			if got := a.has(fmt.Sprintf(`section[aria-label="Requests"] a[href="/requests/%d"]`, request)); got != sees {
				w.Errorf("%s: sees the request: %v", name, got)
			}
		}
		v := w.as("mario")
		if a := v.get("/find?q=Josiah"); !a.has(`section[aria-label="People"] a`) {
			w.Error(a.text("main"))
		}
		if a := v.get("/find?q=28"); a.text(`section[aria-label="Requests"] a[href="/requests/28"]`) != "Request 28" {
			w.Error(a.text("main"))
		}
		if a := v.get("/find?q=zzzzzzzz").want(http.StatusOK); !strings.Contains(a.text("main"), "Nothing found") {
			w.Error(a.text("main"))
		}
		v.get("/find?q=" + strings.Repeat("x", 2000)).want(http.StatusBadRequest)
	})
}

func TestFind_ActionsFollowWhoTheVisitorIs(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for name, want := range map[string][3]bool{"": {true, false, false}, "josiah": {true, true, false},
		"ada": {true, true, true}} {
		v := w.as(name)
		a := v.get("/find").want(http.StatusOK)
		for i, address := range []string{"/help", "/share", "/admin"} {
			link := a.doc.Find(fmt.Sprintf(`section[aria-label="Actions"] a[href=%q]`, address))
			if (link.Length() == 1) != want[i] {
				w.Errorf("%q: %s %d times", name, address, link.Length())
			}
			if want[i] && v.get(address).status != http.StatusOK {
				w.Errorf("%q: %s leads nowhere", name, address)
			}
		}
	}
	var list []struct{ Text, Kind, Address string }
	a := w.as("josiah").get("/find/suggest?q=list+mat").want(http.StatusOK)
	w.must(json.Unmarshal([]byte(a.body), &list))
	if len(list) == 0 || list[0].Address != "/share" || list[0].Kind != "Action" {
		w.Errorf("%+v", list)
	}
}
