package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aliquot/internal/server"
)

// record runs one request through a handler and returns the answer and the log records.
func record(t *testing.T, h http.HandlerFunc, r *http.Request) (*httptest.ResponseRecorder, []map[string]any) {
	t.Helper()
	var log bytes.Buffer
	w := httptest.NewRecorder()
	server.Record(h, slog.New(slog.NewJSONHandler(&log, nil))).ServeHTTP(w, r)
	var records []map[string]any
	for line := range strings.Lines(log.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		records = append(records, one)
	}
	return w, records
}

func TestLog_HasOneRecordPerRequest(t *testing.T) {
	t.Parallel()
	w, records := record(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short")
	}, httptest.NewRequest(http.MethodGet, "/kettle?secret=1", http.NoBody))
	id := w.Header().Get("X-Request-Id")
	if len(records) != 1 || len(id) < 20 {
		t.Fatalf("%d records, id %q", len(records), id)
	}
	for key, want := range map[string]any{"msg": "request", "request_id": id, "method": "GET", "path": "/kettle",
		"status": 418.0, "bytes": 5.0} {
		if records[0][key] != want {
			t.Errorf("%s: got %v, want %v", key, records[0][key], want)
		}
	}
}

func TestPanic_IsAnInternalErrorWithoutDetails(t *testing.T) {
	t.Parallel()
	w, records := record(t, func(http.ResponseWriter, *http.Request) { panic("the cause") },
		httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "cause") ||
		!strings.Contains(w.Body.String(), w.Header().Get("X-Request-Id")) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if len(records) != 2 || records[0]["panic"] != "the cause" || records[0]["request_id"] != records[1]["request_id"] {
		t.Errorf("got %v", records)
	}
}

func TestAbortedHandler_EndsTheConnection(t *testing.T) {
	t.Parallel()
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // the very value
			t.Errorf("got %v", p)
		}
	}()
	record(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		httptest.NewRequest(http.MethodGet, "/", http.NoBody))
}

func TestReady_OnlyWhenEverythingAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		want int
	}{"all is well": {nil, 200}, "the database is gone": {errors.New("gone"), 503},
		"it can be read": {server.ErrStorageFull, 200}} {
		mux := http.NewServeMux()
		server.Health(mux, slog.New(slog.DiscardHandler), server.Need{Name: "files", Ready: func(context.Context) error { return nil }},
			server.Need{Name: "database", Ready: func(context.Context) error { return c.err }})
		for path, want := range map[string]int{"/healthz": 200, "/readyz": c.want} {
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			if w.Code != want || strings.Contains(w.Body.String(), "gone") ||
				strings.Contains(w.Body.String(), `"waits_for":"database"`) != (w.Code == 503) ||
				(want == 503) != (w.Header().Get("Retry-After") != "") {
				t.Errorf("%s: %s: got %d %s", name, path, w.Code, w.Body)
			}
		}
	}
}

func TestReady_IsDegradedWithoutWhatIsOptional(t *testing.T) {
	t.Parallel()
	for want, down := range map[string]error{`{"status":"ready"}`: nil,
		`{"status":"degraded","waits_for":"clamd"}`: errors.New("gone")} {
		mux := http.NewServeMux()
		server.Health(mux, slog.New(slog.DiscardHandler), server.Need{Name: "clamd", Optional: true,
			Ready: func(context.Context) error { return down }})
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != want {
			t.Errorf("got %d %s, want %s", w.Code, got, want)
		}
	}
}

func TestServe_FinishesRequestsUnderWay(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	begun, goOn := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(begun)
			<-goOn
			_, _ = io.WriteString(w, "done")
		}), nil, slog.New(slog.DiscardHandler))
	}()
	answered := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + l.Addr().String()) //nolint:noctx // the server is what ends
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		answered <- string(body) + errText(err)
	}()
	<-begun
	stop()
	for { // nobody new is let in
		c, err := net.DialTimeout("tcp", l.Addr().String(), time.Second)
		if err != nil {
			break
		}
		_ = c.Close()
	}
	close(goOn)
	if got := <-answered; got != "done" {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestHealth_ChecksOnceASecondHoweverOftenItIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mux, checks := http.NewServeMux(), 0
		server.Health(mux, slog.New(slog.DiscardHandler), server.Need{Name: "files", Ready: func(context.Context) error {
			checks++
			return nil
		}})
		for range 3 {
			for range 5 {
				mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
			}
			time.Sleep(time.Second)
		}
		if checks != 3 {
			t.Errorf("%d checks in three seconds", checks)
		}
	})
}
