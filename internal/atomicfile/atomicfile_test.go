package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"aliquot/internal/atomicfile"
)

func TestWrite_ReplacesTheFileAndLeavesNoOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.txt")
	for _, content := range []string{"a long first one\n", "short\n"} {
		if err := atomicfile.Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); string(got) != content || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, content)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode().Perm(), err)
	}
	if names, err := os.ReadDir(filepath.Dir(path)); len(names) != 1 || err != nil {
		t.Errorf("got %v, %v, want one file", names, err)
	}
}

func TestWrite_ThatFailsLeavesTheOldFileAndNoOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "folder")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(path, []byte("new")); err == nil {
		t.Error("a folder with something in it was replaced")
	}
	if names, err := os.ReadDir(filepath.Dir(path)); len(names) != 1 || err != nil {
		t.Errorf("got %v, %v, want the folder alone", names, err)
	}
}

func TestCreate_LeavesAFileThatIsThere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.txt")
	for _, content := range []string{"first", "second"} {
		if err := atomicfile.Create(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); string(got) != "first" || err != nil {
		t.Errorf("got %q, %v, want the first", got, err)
	}
}
