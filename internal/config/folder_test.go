package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"aliquot/internal/config"
)

func TestPrepare_TakesTheDataFolderFromOthers(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	data := filepath.Join(t.TempDir(), "deep", "data")
	s := config.Base{Data: data}
	if corrected, err := s.Prepare(); err != nil || corrected != 0 {
		t.Fatalf("a new folder: %d, %v", corrected, err)
	}
	for path, mode := range map[string]fs.FileMode{outside: 0o644, "aliquot.db": 0o644, "aliquot.db-wal": 0o640,
		"secret.key": 0o600, "files/ab/abc": 0o666, "mails/1.eml": 0o604} {
		if path != outside {
			path = filepath.Join(data, path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the mask is
			t.Fatal(err)
		}
	}
	for _, folder := range []string{data, filepath.Join(data, "files"), filepath.Join(data, "files", "ab"),
		filepath.Join(data, "mails")} {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(data, "link")); err != nil {
		t.Fatal(err)
	}
	if corrected, err := s.Prepare(); err != nil || corrected != 8 {
		t.Errorf("corrected %d, %v", corrected, err)
	}
	err := filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		info, statErr := os.Lstat(path)
		if err != nil || statErr != nil {
			t.Errorf("%s: %v, %v", path, err, statErr)
		} else if info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("what a link leads to: %v, %v", info.Mode(), err)
	}
	if corrected, err := s.Prepare(); err != nil || corrected != 0 {
		t.Errorf("again: %d, %v", corrected, err)
	}
}
