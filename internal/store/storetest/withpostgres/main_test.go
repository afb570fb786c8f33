//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"aliquot/internal/store/storetest/pgserver"

	"github.com/jackc/pgx/v5"
)

// The tests below need an installed server: without one there is nothing to test, and no test.
func TestServer(t *testing.T) {
	t.Parallel()
	if !pgserver.Installed(t.Context()) {
		return
	}
	t.Run("the command's exit code is returned and nothing is left", exitCode)
	t.Run("an interrupt ends the command and nothing is left", interrupt)
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
	begun := filepath.Join(t.TempDir(), "begun") // a pipe, which the command writes to
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(begun)
		cancel()
	}()
	// The command ends as soon as it is interrupted, long before it would by itself.
	if code, err := run(ctx, false, []string{"sh", "-c", `echo > "$0"; exec sleep 1d`, begun}); code != 1 || err == nil {
		t.Errorf("got %d, %v, want 1 and an error", code, err)
	}
}
