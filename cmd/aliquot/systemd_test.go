package main

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"
)

// socketOfSystemd returns a socket that takes messages as systemd does, and the environment of its services.
func socketOfSystemd(t *testing.T, watchdog string) (*net.UnixConn, func(string) string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return socket, func(name string) string {
		return map[string]string{"NOTIFY_SOCKET": path, "WATCHDOG_USEC": watchdog}[name]
	}
}

// received returns the next message, or "" if none comes in time.
func received(t *testing.T, socket *net.UnixConn, patience time.Duration) string {
	t.Helper()
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 100)
	n, err := socket.Read(message)
	if err != nil {
		return ""
	}
	return string(message[:n])
}

func TestWatchdog_ReportsForAsLongAsTheProcessAnswers(t *testing.T) {
	t.Parallel()
	socket, getenv := socketOfSystemd(t, "20000")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watchdog(ctx, getenv, s.Listener.Addr(), slog.New(slog.NewTextHandler(io.Discard, nil)))
	}()
	for range 3 {
		if got := received(t, socket, time.Minute); got != "WATCHDOG=1" {
			t.Fatalf("got %q", got)
		}
	}
	s.Close()
	for received(t, socket, time.Second) != "" { // those that were under way
	}
	stop()
	<-ended
}

func TestSystemd_WithoutItNothingHappens(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	systemd(none, nil, "READY=1") // would panic if it logged a failure
	watchdog(t.Context(), none, nil, nil)
}
