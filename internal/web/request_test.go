package web_test

import (
	"net/http"
	"testing"
)

func TestEveryRequestOfTheDemoIsShown(t *testing.T) {
	t.Parallel()
	w := alone(t)
	for _, name := range []string{"josiah", "mario", "ada", "nadia", "mina", "priya", "gabriel", "olivia"} {
		v := w.as(name)
		for id := range 30 {
			a := v.get("/requests/" + string(rune('0'+id/10)) + string(rune('0'+id%10)))
			t.Log(name, id, a.status, a.text("h1"), "|", a.text("#next"))
			if a.status != http.StatusOK && a.status != 404 && a.status != 403 {
				t.Error(a.text("main"))
			}
		}
	}
}
