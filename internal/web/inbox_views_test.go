package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestInboxViews_KeepTabFiltersAndOrder(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v := w.as("mario")
		a := v.get("/requests?turn=all&status=OPEN&sort=due&after=1.1&nonsense=1").want(http.StatusOK)
		kept := a.doc.Find(`#inbox-views [name="query"]`).AttrOr("value", "")
		if kept != "sort=due&status=OPEN&turn=all" {
			w.Fatalf("it would keep %q", kept)
		}
		v.post("/requests/views", "query", kept, "name", " Open, due ").want(http.StatusSeeOther)
		a = v.get("/requests").want(http.StatusOK)
		link := a.doc.Find(`#inbox-views li a`)
		if link.Text() != "Open, due" || link.AttrOr("href", "") != "/requests?"+kept {
			w.Fatal(a.text("#inbox-views"))
		}
		if other := w.as("olivia").get("/requests"); other.has("#inbox-views li") {
			w.Error("another member sees the view")
		}
		// One without a name is refused, and says so at the field.
		a = v.post("/requests/views", "query", kept, "name", " ").want(http.StatusUnprocessableEntity)
		if a.text("#f-name-e") != "Enter a name" || a.input("status") != "OPEN" {
			w.Error(a.text("main"))
		}
		v.post("/requests/views", "query", kept, "name", strings.Repeat("x", 61)).want(http.StatusUnprocessableEntity)
		id := a.doc.Find("#inbox-views li button").AttrOr("value", "")
		w.as("olivia").post("/requests/views/delete", "id", id).want(http.StatusNotFound)
		v.post("/requests/views/delete", "id", id).want(http.StatusSeeOther)
		if a = v.get("/requests"); a.has("#inbox-views li") {
			w.Error("the view is still there")
		}
		for i := range 20 {
			v.post("/requests/views", "query", kept, "name", fmt.Sprint("View ", i)).want(http.StatusSeeOther)
		}
		v.post("/requests/views", "query", kept, "name", "One more").want(http.StatusUnprocessableEntity)
	})
}

func TestInbox_IsFilteredByMaterial(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	a := v.get("/requests?turn=all").want(http.StatusOK)
	option := a.doc.Find(`#f-material option:contains("HeLa")`)
	a = v.get("/requests?turn=all&material=" + option.AttrOr("value", "")).want(http.StatusOK)
	rows := a.doc.Find("#list tbody tr th a b")
	if rows.Length() == 0 {
		w.Fatal(a.text("main"))
	}
	for _, row := range rows.EachIter() {
		if !strings.Contains(row.Text(), "HeLa") {
			w.Errorf("a request for %s", row.Text())
		}
	}
	if strings.Contains(w.as("newlab").get("/requests").text("#f-material"), "HeLa") {
		w.Error("a stranger can filter by what others requested")
	}
}
