package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestNote_IsLeftForThePageThatSomebodyLooksAt(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v := w.as("mario")
	at := fmt.Sprintf("/catalog/%d", w.material("LoVo").ID)
	v.post(at + "/archive").want(http.StatusSeeOther)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org"+at, http.NoBody)
	r.Header.Set("Sec-Fetch-Dest", "empty") // script brings the page before up to date meanwhile
	if a := v.send(r).want(http.StatusOK); a.has(".toast") {
		t.Errorf("script gets the message: %s", a.text(".toast"))
	}
	r = httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org"+at, http.NoBody)
	r.Header.Set("Sec-Fetch-Dest", "document")
	if a := v.send(r).want(http.StatusOK); !a.has(`.toast form[action^="/undo/"]`) {
		t.Error("the next page does not show the message")
	}
	if a := v.get(at); a.has(".toast") {
		t.Errorf("the page after it has the message again: %s", a.text(".toast"))
	}
}
