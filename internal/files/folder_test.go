package files_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/files/filestest"
)

// Not parallel: filestest.Run measures memory.
func TestFolder_IsAStore(t *testing.T) {
	filestest.Run(t, func(t *testing.T) files.Store { return open(t, t.TempDir()) })
}

func TestPut_FailedLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	half := io.MultiReader(strings.NewReader(strings.Repeat("text ", 100_000)), iotest.ErrReader(errors.New("broken")))
	if _, err := open(t, dir).Put(t.Context(), half, 1<<20); err == nil {
		t.Error("no error")
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPut_FullDiskIsStorageFull(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		err := files.NoRoom(fmt.Errorf("keep content: %w", &fs.PathError{Op: "write", Path: "ab/ab", Err: cause}))
		if exchange.CodeOf(err) != exchange.StorageFull || !errors.Is(err, cause) {
			t.Errorf("%v became %v", cause, err)
		}
	}
	if err := files.NoRoom(syscall.EIO); !errors.Is(err, syscall.EIO) || exchange.CodeOf(err) != exchange.Internal {
		t.Errorf("a broken disk became %v", err)
	}
}

func TestFolder_ContentIsAFileOfTheSystem(t *testing.T) {
	t.Parallel()
	folder := open(t, t.TempDir())
	content, err := folder.Put(t.Context(), strings.NewReader("text"), 4)
	if err != nil {
		t.Fatal(err)
	}
	file, err := folder.Open(t.Context(), content.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, ok := file.(*os.File); !ok {
		t.Errorf("got a %T; only an *os.File is sent without copying", file)
	}
}

func TestFolder_ListsAndDeletesUnfinishedUploads(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), strings.Repeat("ab", 32)
	folder := open(t, dir)
	part := filepath.Join(dir, "ab", key+".part")
	if err := errors.Join(os.Mkdir(filepath.Dir(part), 0o700), os.WriteFile(part, []byte("half"), 0o600)); err != nil {
		t.Fatal(err)
	}
	found := 0
	for info, err := range folder.Keys(t.Context()) {
		if err != nil || info.Key != key {
			t.Errorf("listed %v, %v, want %s", info, err, key)
		}
		found++
	}
	if found != 1 {
		t.Errorf("%d keys, want 1", found)
	}
	if _, err := folder.Open(t.Context(), key); exchange.CodeOf(err) != exchange.NotFound {
		t.Errorf("half a file can be opened: %v", err)
	}
	if err := folder.Delete(t.Context(), key); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after delete: %v", err)
	}
}

func TestFolder_FollowsNoLinkOutOfIt(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), strings.Repeat("ab", 32)
	outside := t.TempDir()
	err := errors.Join(
		os.WriteFile(filepath.Join(outside, key), []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(dir, "ab")),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).Open(t.Context(), key); err == nil {
		t.Error("a file outside the folder was opened")
	}
}

func TestFolder_MissingFailsItsCheck(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	folder := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := folder.Check(t.Context()); exchange.CodeOf(err) != exchange.Unavailable {
		t.Errorf("got %v, want UNAVAILABLE", err)
	}
}

func TestFolder_ThatCannotBeCreatedIsAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := files.OpenFolder(file); err == nil {
		t.Error("a file was opened as a folder")
	}
}

func open(t *testing.T, dir string) *files.Folder {
	t.Helper()
	folder, err := files.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	return folder
}
