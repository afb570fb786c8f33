package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestServe_KeepsItsFolderToItself whatever mask the system has for new files: folders are 0700, files 0600.
func TestServe_KeepsItsFolderToItself(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		permissive := in
		permissive.before = []string{"sh", "-c", `umask 0; exec "$@"`, "sh"}
		p := permissive.serve(t)
		l := p.lab(t)
		if _, err := did(l.manager.upload("counts.csv", []byte("gene,count\n"))); err != nil {
			t.Fatal(err)
		}
		if _, err := did(l.manager.call("PATCH", "/users/"+l.manager.id,
			`{"email": "mario@example.org"}`)); err != nil {
			t.Fatal(err)
		}
		in.closed(t, "files/")
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}

		// What became looser meanwhile is corrected at the next start, and the log says so.
		data := filepath.Join(in.folder, "data")
		for path, mode := range map[string]fs.FileMode{data: 0o755, filepath.Join(data, "secret.key"): 0o644,
			filepath.Join(data, "files"): 0o777} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		p = in.serve(t)
		in.closed(t, "files/")
		if log := p.logged(); !strings.Contains(log, `"corrected":3`) {
			t.Errorf("the log does not say what was corrected:\n%s", log)
		}
	})
}

// closed fails where others can open something in the data folder, and where it has nothing of the kind that is named.
func (in installation) closed(t *testing.T, want string) {
	t.Helper()
	data, seen := filepath.Join(in.folder, "data"), ""
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		seen += strings.TrimPrefix(path, data+"/") + " "
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{want, "secret.key", "mails"} {
		if !strings.Contains(seen, one) {
			t.Errorf("there is no %s: %s", one, seen)
		}
	}
	if in.postgres == "" && !strings.Contains(seen, "aliquot.db-wal") {
		t.Errorf("there is no database: %s", seen)
	}
}

// TestServe_WithoutTheKeyOfItsSecretsDoesNotStart, neither with another one; the key may come from a file elsewhere or
// from a variable.
func TestServe_WithoutTheKeyOfItsSecretsDoesNotStart(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t)
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		file, elsewhere := filepath.Join(in.folder, "data", "secret.key"), filepath.Join(in.folder, "elsewhere.key")
		if err := os.Rename(file, elsewhere); err != nil {
			t.Fatal(err)
		}
		refuses := func(with string) {
			t.Helper()
			out, err := in.command("serve", "--addr", "127.0.0.1:0").CombinedOutput()
			if _, ended := err.(*exec.ExitError); !ended || !strings.Contains(string(out), "aliquot: secret-key: ") || !strings.Contains(string(out), with) { //nolint:errorlint // as Run gives it
				t.Errorf("got %v:\n%s", err, out)
			}
		}
		refuses("is not in")
		if _, err := os.Stat(file); err == nil {
			t.Error("another key was made")
		}
		if err := os.WriteFile(file, []byte("alqk_"+strings.Repeat("B", 42)+"A\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		refuses("another key")
		if err := os.WriteFile(file, []byte("nonsense\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		refuses("has no key")
		if err := in.serve(t, "--secret-key", elsewhere).stop(); err != nil {
			t.Error(err)
		}
		byVariable := in
		byVariable.sources = append(byVariable.sources, "ALIQUOT_SECRET_KEY_FILE="+elsewhere)
		if err := byVariable.serve(t).stop(); err != nil {
			t.Error(err)
		}
		if out, err := byVariable.command("verify").CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
	})
}

// TestSecretsRotate_ThoughItIsKilledEveryStartFindsItsKey kills the command at different moments.
func TestSecretsRotate_ThoughItIsKilledEveryStartFindsItsKey(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		if err := in.serve(t).stop(); err != nil {
			t.Fatal(err)
		}
		for moment := range 12 {
			cmd := in.command("secrets", "rotate")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			kill := time.AfterFunc(time.Duration(moment)*15*time.Millisecond, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait() // killed or done
			kill.Stop()
			if out, err := in.command("admin", "list").CombinedOutput(); err != nil {
				t.Fatalf("killed after %d ms: %v:\n%s", moment*15, err, out)
			}
		}
		if out, err := in.command("secrets", "rotate").CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		in.serve(t)
		in.closed(t, "files")
	})
}
