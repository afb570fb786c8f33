package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestAPI_WhatTakesTooLongIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessOpen)
		late := server.Deadline(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.apiHandler.ServeHTTP(answer, r)
		}), time.Nanosecond)
		for _, c := range []struct{ method, path, body string }{{"GET", "/v1/materials", ""}, {"GET", "/v1/organizations/1", ""},
			{"POST", "/v1/materials", `{"category": "OTHER", "title": "Late", "organization_id": 1}`}} {
			r := httptest.NewRequest(c.method, publicURL+c.path, strings.NewReader(c.body))
			r.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			server.Record(late, w.app.Log).ServeHTTP(answer, r)
			if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" ||
				!strings.Contains(answer.Body.String(), `"error_code":"UNAVAILABLE"`) ||
				!strings.Contains(answer.Body.String(), "longer than the server allows") {
				t.Errorf("%s %s: got %d %v %s", c.method, c.path, answer.Code, answer.Header(), answer.Body)
			}
		}
	})
}
