// Package atomicfile writes small files that a crash never leaves half written.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file, or makes it. After a crash it is the old one or the new one, never a part of either. Only its
// owner can read it.
func Write(path string, content []byte) error { return write(path, content, os.Rename) }

// Create makes a file, likewise, unless there is one, which it leaves: of several processes that make it at once, all
// find that of the first.
func Create(path string, content []byte) error {
	return write(path, content, func(from, to string) error {
		if err := os.Link(from, to); !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	})
}

func write(path string, content []byte, place func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = place(f.Name(), path)
	}
	if err != nil {
		return err
	}
	return SyncFolder(path)
}

// SyncFolder makes the names next to a file durable.
func SyncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
