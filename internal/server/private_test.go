package server_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"aliquot/internal/server"
)

func TestPrivate_ServesMetricsAndProfilesButNoArguments(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- server.Private(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "figures")
		}), slog.New(slog.DiscardHandler))
	}()
	for path, want := range map[string]int{"/metrics": 200, "/debug/pprof/": 200, "/debug/pprof/heap": 200,
		"/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 404, "/": 404, "/materials/": 404} {
		answer, err := http.Get("http://" + l.Addr().String() + path) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: got %d, want %d", path, answer.StatusCode, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
