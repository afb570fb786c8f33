package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/backup"
	"aliquot/internal/store/storetest"
)

// works runs a command of the binary, and returns what it printed.
func (in installation) works(t *testing.T, args ...string) string {
	t.Helper()
	out, err := in.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("aliquot %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// another is an installation of the same kind, which has nothing yet.
func (in installation) another(t *testing.T) installation {
	t.Helper()
	kind := storetest.SQLite
	if in.postgres != "" {
		kind = storetest.PostgreSQL
	}
	return install(t, kind, t.TempDir())
}

// outputAndPeak runs a command, and returns what it printed and the most memory that it held, in KiB: 0 where there is
// no /proc. The figure that wait4 has will not do: it is at least that of the process that started it.
func outputAndPeak(cmd *exec.Cmd) (out []byte, peak int, err error) {
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	if err := cmd.Start(); err != nil {
		return nil, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.Tick(5 * time.Millisecond); ; {
		select {
		case err := <-ended:
			return both.Bytes(), peak, err
		case <-tick:
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			if _, after, is := strings.Cut(string(status), "VmHWM:"); is {
				_, _ = fmt.Sscan(after, &peak)
			}
		}
	}
}

// TestBackup_TakenWhileOthersWriteIsRestoredWhole is the drill: people upload, delete and write while the backup is
// taken; then the machine is lost, and another one gets what the backup has.
func TestBackup_TakenWhileOthersWriteIsRestoredWhole(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--rate-limit", "off")
		l := p.lab(t)
		var written atomic.Int64
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				file, err := did(l.manager.upload(fmt.Sprintf("counts %d.csv", n), []byte(fmt.Sprintf("gene,count\nA,%d\n", n))))
				if err == nil && n%2 == 0 {
					id, _ := file.at("id")
					_, err = did(l.manager.call("DELETE", "/attachments/"+id, ""))
				}
				if err != nil {
					stopped <- err
					return
				}
				written.Add(1)
			}
		}()
		if err := poll(func() error {
			if written.Load() < 3 {
				return fmt.Errorf("%d files were written", written.Load())
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(in.folder, "backup.alq")
		taking := in.command("backup", archive)
		out, used, err := outputAndPeak(taking)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		// mostly the program itself, which does not grow with the instance
		if used > 96<<10 {
			t.Errorf("the backup used %d KiB of memory", used)
		}
		before := written.Load()
		if err := poll(func() error {
			if written.Load() == before {
				return fmt.Errorf("nobody writes")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		p.kill()
		if out, err := in.command("backup", archive).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "there is a file") {
			t.Errorf("the same file again: %s", out)
		}
		if out, err := in.command("restore", archive).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "empty") {
			t.Errorf("into a place that is in use: %s", out)
		}

		other := in.another(t)
		said := other.works(t, "restore", archive)
		if !strings.Contains(said, "Restored and verified") || !strings.Contains(said, "secret-key: put the key") ||
			!strings.Contains(said, "record-key: put the key") {
			t.Errorf("restore said %s", said)
		}
		for _, name := range keyFiles {
			key, err := os.ReadFile(filepath.Join(in.folder, "data", name))
			if err == nil {
				err = os.WriteFile(filepath.Join(other.folder, "data", name), key, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if said := other.works(t, "verify"); !strings.Contains(said, ": 0 faults") {
			t.Errorf("verify said %s", said)
		}
		again := client{base: other.serve(t).base, token: l.manager.token, id: l.manager.id}
		if a, err := did(again.call("GET", "/attachments/2", "")); err != nil ||
			!strings.Contains(string(a.body), "counts") {
			t.Errorf("the files of before: %v %s", err, a.body)
		}
		if _, err := did(again.upload("more.csv", []byte("gene,count\n"))); err != nil {
			t.Error(err)
		}
	})
}

func TestBackup_TakesKeysOnlyIfAsked(t *testing.T) {
	t.Parallel()
	in := install(t, storetest.SQLite, t.TempDir())
	if err := in.serve(t).stop(); err != nil {
		t.Fatal(err)
	}
	for _, with := range []bool{false, true} {
		archive := filepath.Join(in.folder, fmt.Sprint(with, ".alq"))
		in.works(t, "backup", archive, fmt.Sprint("--with-keys=", with))
		content, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		other := install(t, storetest.SQLite, t.TempDir())
		other.works(t, "restore", archive)
		for _, name := range keyFiles {
			key, err := os.ReadFile(filepath.Join(in.folder, "data", name))
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Contains(content, bytes.TrimSpace(key)); got != with {
				t.Errorf("%s is in the archive: %v, want %v", name, got, with)
			}
			if got, _ := os.ReadFile(filepath.Join(other.folder, "data", name)); bytes.Equal(got, key) != with {
				t.Errorf("%s is restored: %q, want %v", name, got, with)
			}
		}
	}
}

// TestRestore_RefusesWhatVerifyRefuses: faults that no chain of the present format shows.
func TestRestore_RefusesWhatVerifyRefuses(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		in.works(t, "seed", "--materials", "3", "--requests", "4")
		if err := in.serve(t).stop(); err != nil { // which signs the log
			t.Fatal(err)
		}
		db, err := in.database()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		wants := []string{"request 1: event 1 was altered", "request 2: the account of its turns was altered",
			"log, checkpoint of size "}
		for i, statement := range []string{"UPDATE request_events SET kind = 'message' WHERE request_id = 1 AND seq = 1",
			"UPDATE request_turns SET began_at = '2020-01-01 00:00:00+00:00' WHERE request_id = 2",
			"UPDATE log_checkpoints SET note = replace(note, '— ', '- ')"} {
			if r, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			} else if n, err := r.RowsAffected(); n == 0 || err != nil {
				t.Fatalf("no row for %s", wants[i])
			}
		}
		in.works(t, "backup", "altered.alq")
		archive := filepath.Join(in.folder, "altered.alq")
		verified, verifyErr := in.command("verify", "--files").CombinedOutput()
		other := in.another(t)
		restored, restoreErr := other.command("restore", archive).CombinedOutput()
		for _, want := range wants {
			if !strings.Contains(string(verified), want) || !strings.Contains(string(restored), want) {
				t.Errorf("no %q in\n%s\n%s", want, verified, restored)
			}
		}
		if verifyErr == nil || restoreErr == nil {
			t.Errorf("verify %v, restore %v", verifyErr, restoreErr)
		}
		if _, err := os.Stat(filepath.Join(other.folder, "data", "aliquot.db")); err == nil {
			t.Error("the database was kept")
		}
	})
}

// keyFiles are the keys of an instance, in its data folder.
var keyFiles = []string{"secret.key", "record.key"}

// rawPart is a part of an archive under any name; its checksum is wrong.
func rawPart(name string) []byte {
	b := append([]byte{byte(len(name))}, name...)
	b = binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 1, 'x'), 0)
	return append(b, make([]byte, 40)...)
}

func TestRestore_OfAHostileArchiveNamesThePlaceAndLeavesNothing(t *testing.T) {
	t.Parallel()
	in := install(t, storetest.SQLite, t.TempDir())
	in.works(t, "seed", "--materials", "3", "--requests", "2")
	in.works(t, "backup", "good.alq")
	good, err := os.ReadFile(filepath.Join(in.folder, "good.alq"))
	if err != nil {
		t.Fatal(err)
	}
	const magic = "aliquot backup 1\n"
	about := bytes.Index(good, []byte("database/")) - 1 // the end of the first part
	damaged := bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	var many bytes.Buffer
	w, err := backup.NewWriter(&many)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Read(bytes.NewReader(good), func(name string, r io.Reader) error {
		if name == "files/gone" {
			for n := range 100_000 { // the reader's own test has a million
				if err := w.Add(fmt.Sprintf("files/%064x", n), strings.NewReader("")); err != nil {
					return err
				}
			}
		}
		return w.Add(name, r)
	}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		archive []byte
		want    string
	}{
		"empty":           {nil, "beginning: the archive is cut off here"},
		"a ZIP":           {[]byte("PK\x03\x04" + strings.Repeat("\x00", 1<<16)), "this is no backup of Aliquot"},
		"cut at half":     {good[:len(good)/2], "the archive is cut off here"},
		"cut at the end":  {good[:len(good)-1], "manifest.json: the archive is cut off here"},
		"damaged":         {damaged, `part "`},
		"something after": {append(bytes.Clone(good), 0), "manifest.json: bytes follow it"},
		"absolute":        {slices.Concat(good[:about], rawPart("/tmp/x")), `part "/tmp/x": it is not a relative path`},
		"rising":          {slices.Concat(good[:about], rawPart("files/../../x")), `part "files/../../x": it is not a relative path`},
		"doubled":         {slices.Concat(good[:about], good[len(magic):]), `part "about.json": it comes after "about.json"`},
		"reordered":       {slices.Concat([]byte(magic), good[about:]), "there is no about.json"},
		"a bomb":          {slices.Concat(good[:about], []byte("\x01z\xff\xff\xff\xff")), `part "z"`},
		"many entries":    {many.Bytes(), `part "files/0`},
	} {
		outside := t.TempDir()
		place := installation{folder: filepath.Join(outside, "in", "it")}
		if err := os.MkdirAll(place.folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(in.folder, "bad.alq"), tc.archive, 0o600); err != nil {
			t.Fatal(err)
		}
		restoring := place.command("restore", filepath.Join(in.folder, "bad.alq"))
		out, used, err := outputAndPeak(restoring)
		if err == nil || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: %v, %s, want %q", name, err, out, tc.want)
		}
		if used > 256<<10 {
			t.Errorf("%s: %d KiB of memory", name, used)
		}
		var left []string
		if err := filepath.Walk(outside, func(path string, _ os.FileInfo, err error) error {
			left = append(left, strings.TrimPrefix(path, outside))
			return err
		}); err != nil || len(left) > 3 {
			t.Errorf("%s: it left %q, %v", name, left, err)
		}
	}
}
