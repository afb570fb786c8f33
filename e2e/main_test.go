// Package e2e tests the real binary as people meet it: stories for each role (testdata), the
// commands of the manuals, the examples, and what happens when processes are killed, stopped or
// share their data.
package e2e

import (
	"cmp"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"aliquot/internal/store/storetest"
)

// aliquot is the binary under test.
var aliquot string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "aliquot-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	aliquot = filepath.Join(folder, "aliquot")
	if out, err := exec.Command("go", "build", "-o", aliquot, "aliquot/cmd/aliquot").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// installation is one place where data are kept: a folder, and an empty database of some kind
// that the binary itself migrates.
type installation struct {
	folder   string   // that commands run in; the data are in its folder "data"
	postgres string   // the URL of its database; empty for SQLite
	sources  []string // settings that say where it imports from
	binary   string   // that it runs; empty: aliquot
	before   []string // a command that commands of the binary are given to; empty: none
}

// install makes an installation in folder; its database goes when t ends.
func install(t testing.TB, kind, folder string) installation {
	t.Helper()
	in := installation{folder: folder}
	if kind == storetest.PostgreSQL {
		in.postgres = storetest.Clone(t, "aliquot_empty", func(string) error { return nil })
	}
	return in
}

// settings are those of the installation, as environment variables.
func (in installation) settings() []string {
	return append([]string{"ALIQUOT_DATA=" + filepath.Join(in.folder, "data"), "ALIQUOT_DATABASE=" + in.postgres},
		in.sources...)
}

// database opens the installation's database behind the binary's back.
func (in installation) database() (*sql.DB, error) {
	if in.postgres != "" {
		return sql.Open("pgx", in.postgres)
	}
	return sql.Open("sqlite", "file:"+filepath.Join(in.folder, "data", "aliquot.db")+"?_pragma=busy_timeout(5000)")
}

// eachKind runs test on an installation of each kind of database.
func eachKind(t *testing.T, test func(t *testing.T, in installation)) {
	t.Helper()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, install(t, kind, t.TempDir()))
		})
	}
}

// command prepares a command of the binary on the installation, in an environment that holds
// nothing else.
func (in installation) command(args ...string) *exec.Cmd {
	whole := slices.Concat(in.before, []string{cmp.Or(in.binary, aliquot)}, args)
	cmd := exec.Command(whole[0], whole[1:]...)
	cmd.Dir, cmd.Env = in.folder, in.settings()
	return cmd
}
