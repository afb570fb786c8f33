package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"strings"

	"aliquot/internal/exchange"
)

// partSuffix marks content that is not complete.
const partSuffix = ".part"

// Folder is a Store in a local folder: the content of key "ab12..." is the file ab/ab12... in it.
// Any number of processes may use the same folder.
type Folder struct {
	root *os.Root // nothing outside the folder can be reached through it
}

// OpenFolder opens the store in dir and creates dir if it is missing.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder for files: %w", err)
	}
	return &Folder{root}, nil
}

// Close closes the folder. Content that is open stays readable.
func (f *Folder) Close() error { return f.root.Close() }

// Put implements Store.
func (f *Folder) Put(ctx context.Context, r io.Reader, limit int64) (Content, error) {
	in, err := receive(ctx, r, limit)
	if err != nil {
		return Content{}, err
	}
	key := newKey()
	content, err := f.write(key, in)
	if err != nil {
		return Content{}, errors.Join(asStorageFull(err), f.remove(key))
	}
	return content, nil
}

// write stores content under a key. The file gets its final name once all of it is on disk, and the names are on disk
// when write returns.
func (f *Folder) write(key string, in *incoming) (Content, error) {
	file, err := f.create(key)
	if err != nil {
		return Content{}, err
	}
	defer file.Close()
	content, err := in.copyTo(file)
	if err != nil {
		return Content{}, err
	}
	content.Key = key
	if err := file.Sync(); err != nil {
		return Content{}, err
	}
	return content, f.settle(key, key)
}

// Restore implements Store. Until all of r is there the file has the name of an upload of its own, so that two can
// restore the same content at once.
func (f *Folder) Restore(ctx context.Context, key string, r io.Reader) error {
	if !keyForm.MatchString(key) {
		return errNoKey
	}
	own := newKey()
	file, err := f.create(own)
	if err != nil {
		return asStorageFull(err)
	}
	_, err = io.Copy(file, untilDone{ctx, r})
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = f.settle(own, key)
	}
	if err != nil {
		err = errors.Join(asStorageFull(err), f.remove(own))
	}
	return err
}

// create makes the file of content that is not complete.
func (f *Folder) create(key string) (*os.File, error) {
	name := fileOf(key)
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return f.root.OpenFile(name+partSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// settle gives complete content, which was written under a key, the name that belongs to another or the same.
func (f *Folder) settle(written, key string) error {
	name := fileOf(key)
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	if err := f.root.Rename(fileOf(written)+partSuffix, name); err != nil {
		return err
	}
	return errors.Join(f.syncFolder(path.Dir(name)), f.syncFolder("."))
}

// Open implements Store. The File is an *os.File, which the kernel can send without copying.
func (f *Folder) Open(_ context.Context, key string) (File, error) {
	if !keyForm.MatchString(key) {
		return nil, errGone()
	}
	file, err := f.root.Open(fileOf(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone()
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Delete implements Store.
func (f *Folder) Delete(_ context.Context, key string) error {
	if !keyForm.MatchString(key) {
		return nil
	}
	return f.remove(key)
}

// Keys implements Store.
func (f *Folder) Keys(ctx context.Context) iter.Seq2[KeyInfo, error] {
	return func(yield func(KeyInfo, error) bool) {
		err := fs.WalkDir(f.root.FS(), ".", func(_ string, entry fs.DirEntry, err error) error {
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			key, unfinished := strings.CutSuffix(entry.Name(), partSuffix)
			if entry.IsDir() || !keyForm.MatchString(key) {
				return nil
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) { // deleted since the folder was read
				return nil
			}
			if err != nil {
				return err
			}
			if !yield(KeyInfo{key, info.ModTime(), unfinished}, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(KeyInfo{}, fmt.Errorf("list the folder for files: %w", err))
		}
	}
}

// checkSize is the space for a small document, and for its row in an SQLite database on the same disk.
const checkSize = 64 << 10

// Check implements Store: it writes a small file and removes it.
func (f *Folder) Check(context.Context) error {
	name := "check-" + rand.Text()
	err := asStorageFull(errors.Join(f.root.WriteFile(name, make([]byte, checkSize), 0o600), f.root.Remove(name)))
	if err != nil && exchange.CodeOf(err) != exchange.StorageFull {
		return &exchange.Error{Code: exchange.Unavailable, Message: "The folder for files cannot be written to.",
			Cause: err}
	}
	return err
}

// remove deletes the content of key, complete or not.
func (f *Folder) remove(key string) error {
	for _, name := range []string{fileOf(key), fileOf(key) + partSuffix} {
		if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// syncFolder flushes the names in a folder to disk.
func (f *Folder) syncFolder(name string) error {
	folder, err := f.root.Open(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
