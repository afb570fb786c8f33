//go:build unix

package pgserver

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestNewest_VersionWins(t *testing.T) {
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
	if !Installed(t.Context()) {
		return
	}
	t.Run("a server that cannot start says why", cannotStart)
	t.Run("durable means durable", durable)
}

func cannotStart(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	s.settings = []string{"max_connections=none"}
	if err := s.launch(t.Context()); err == nil || !strings.Contains(err.Error(), "max_connections") {
		t.Errorf("got %v, want the server's log", err)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

func durable(t *testing.T) {
	t.Parallel()
	for _, durable := range []bool{false, true} {
		s, err := Start(t.Context(), durable)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(); err != nil {
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
			if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got); err != nil ||
				got != want {
				t.Errorf("durable %t: %s = %s, %v, want %s", durable, setting, got, err, want)
			}
		}
	}
}
