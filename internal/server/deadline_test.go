package server_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"aliquot/internal/server"
)

func TestDeadline_EndsTheContextOfASlowRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		extend func(*http.ResponseController)
		want   time.Duration
	}{
		"nothing":           {func(*http.ResponseController) {}, time.Minute},
		"an upload":         {func(c *http.ResponseController) { _ = c.SetReadDeadline(time.Now().Add(time.Hour)) }, time.Hour},
		"a download":        {func(c *http.ResponseController) { _ = c.SetWriteDeadline(time.Now().Add(time.Hour)) }, time.Hour},
		"an earlier moment": {func(c *http.ResponseController) { _ = c.SetWriteDeadline(time.Now().Add(time.Second)) }, time.Minute},
		"a stream": {func(c *http.ResponseController) {
			_ = c.SetReadDeadline(time.Time{})
			_ = c.SetWriteDeadline(time.Now().Add(2 * time.Minute))
		}, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
				server.Deadline(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					r.Pattern = "GET /here"
					began := time.Now()
					c.extend(http.NewResponseController(w))
					select {
					case <-r.Context().Done():
					case <-time.After(24 * time.Hour):
					}
					took := time.Since(began)
					if took != c.want || server.TimedOut(r.Context()) != (c.want < 24*time.Hour) {
						t.Errorf("ended after %s, timed out: %t", took, server.TimedOut(r.Context()))
					}
				}), time.Minute).ServeHTTP(httptest.NewRecorder(), r)
				if r.Pattern != "GET /here" {
					t.Errorf("whoever watches the request sees the pattern %q", r.Pattern)
				}
			})
		})
	}
}
