//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

func TestNewestVersionWins(t *testing.T) {
	t.Parallel()
	at := func(version string) string { return "/usr/lib/postgresql/" + version + "/bin/initdb" }
	for _, versions := range [][]string{{"9.6", "18", "15"}, {"18"}, {"9", "18", "9.6"}} {
		var paths []string
		for _, version := range versions {
			paths = append(paths, at(version))
		}
		if got := newest(paths); got != at("18") {
			t.Errorf("newest of %v is %s", versions, got)
		}
	}
}

// The tests below need an installed server: without one there is nothing to test, and no test.
func TestServer(t *testing.T) {
	t.Parallel()
	if _, err := findBin(t.Context()); err != nil {
		return
	}
	t.Run("the command's exit code is returned and nothing is left", exitCode)
	t.Run("an interrupt ends the command and nothing is left", interrupt)
	t.Run("a server that cannot start says why", cannotStart)
	t.Run("durable means durable", durable)
}

func exitCode(t *testing.T) {
	t.Parallel()
	note := filepath.Join(t.TempDir(), "note")
	script := `echo "$ALIQUOT_TEST_POSTGRES" > "$0"; exit 7`
	if code, err := run(t.Context(), false, []string{"sh", "-c", script, note}); code != 7 || err != nil {
		t.Errorf("got %d, %v, want 7", code, err)
	}
	url, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(t.Context(), strings.TrimSpace(string(url))); err == nil {
		_ = conn.Close(t.Context())
		t.Errorf("%s still answers", url)
	}
}

func interrupt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	began := time.Now()
	if code, err := run(ctx, false, []string{"sleep", "60"}); code != 1 || err == nil {
		t.Errorf("got %d, %v, want 1 and an error", code, err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

func cannotStart(t *testing.T) {
	t.Parallel()
	s, err := start(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	s.ended = make(chan struct{})
	if err := s.launch([]string{"max_connections=none"}); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "max_connections") {
		t.Errorf("got %v, want the server's log", err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

func durable(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{false, true} {
		s, err := start(t.Context(), durable)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		}()
		conn, err := pgx.Connect(t.Context(), s.url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		want := map[bool]string{true: "on", false: "off"}[durable]
		for _, setting := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
			var got string
			if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got); err != nil || got != want {
				t.Errorf("durable %t: %s = %s, %v, want %s", durable, setting, got, err, want)
			}
		}
	}
}
