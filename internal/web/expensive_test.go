package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/server"
)

// TestExpensivePages_TakeTurns has somebody else keep the only slot of the server: each page and file that reads much
// is refused in a sentence then, before anything of it is sent, and there as usual afterwards.
func TestExpensivePages_TakeTurns(t *testing.T) {
	t.Parallel()
	w := alone(t)
	w.app.Capacity = core.Capacity{Slots: 1, Share: 1, Queue: 1, Wait: 10 * time.Millisecond, Time: time.Minute}
	v, admin := w.as("mario"), w.as("ada")
	lab := w.labOf("olivia")
	paths := map[string]*visitor{"/catalog?q=hela": v, "/labs?q=bank": v, "/requests": v, "/requests/list.csv": v, lab +
		"/insights": v, lab + "/insights.csv": v,
		"/share/spreadsheet/export?lab=" + strings.TrimPrefix(lab, "/labs/"): v, "/account/export/data.zip": v,
		"/admin/users?q=a": admin, "/admin/organizations?q=a": admin}
	begun, done, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- w.app.Expensive(t.Context(), "somebody else", func(context.Context) error {
			close(begun)
			<-done
			return nil
		})
	}()
	<-begun
	for path, v := range paths {
		if a := v.get(path); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" ||
			!strings.Contains(a.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s while all slots are taken: %d %v", path, a.status, a.header)
		}
	}
	close(done)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for path, v := range paths {
		v.get(path).want(http.StatusOK)
	}
}

func TestPages_WhatTakesTooLongIsRefused(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, pages := w.as("mario"), w.pages
	w.pages = server.Deadline(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		pages.ServeHTTP(answer, r)
	}), time.Nanosecond)
	for _, path := range []string{"/", "/catalog", "/requests"} {
		if a := v.get(path); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" ||
			!strings.Contains(a.body, "longer than the server allows") {
			t.Errorf("%s: %d %v %s", path, a.status, a.header, a.body)
		}
	}
}

// TestSearchFields_RefuseWhatIsTooLong at each page that searches: the limit of the API holds for its pages.
func TestSearchFields_RefuseWhatIsTooLong(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, admin := w.as("mario"), w.as("ada")
	long := strings.Repeat("a", 1001)
	for path, v := range map[string]*visitor{"/catalog?q=": v, "/labs?q=": v, "/requests?search=": v,
		"/requests/list.csv?search=": v, "/admin/users?q=": admin, "/admin/organizations?q=": admin} {
		v.get(path + "hela").want(http.StatusOK)
		if a := v.get(path + long); a.status != http.StatusBadRequest && a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s and 1001 characters: %d", path, a.status)
		}
	}
}
