package files

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path"
	"regexp"
	"strings"
	"syscall"

	"aliquot/internal/exchange"
)

const (
	keyBytes   = 32       // random bytes of a key
	bufferSize = 64 << 10 // bytes that Put holds in memory
	partSuffix = ".part"  // marks content that is not complete
)

var keyForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

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
	oneMore := min(limit, math.MaxInt64-1) + 1 // the extra byte distinguishes "too large" from "just fits"
	in := &incoming{r: io.LimitReader(untilDone{ctx, r}, oneMore)}
	buffer := bufio.NewReaderSize(in, bufferSize)
	head, readErr := buffer.Peek(sniffLength)
	switch {
	case readErr != nil && readErr != io.EOF: // io.EOF: shorter than sniffLength
		return Content{}, fmt.Errorf("read content: %w", readErr)
	case len(head) == 0:
		return Content{}, exchange.FieldErrors{"file": {"must not be empty"}}.Err()
	case int64(len(head)) > limit:
		return Content{}, errTooLarge(limit)
	}
	mediaType, err := Sniff(head, "")
	if err != nil {
		return Content{}, err
	}
	content := Content{Key: newKey(), MediaType: mediaType}
	if err := f.write(&content, buffer, in, limit); err != nil {
		return Content{}, errors.Join(asStorageFull(err), f.remove(content.Key))
	}
	return content, nil
}

// Restore stores content under a key that it had before, as it is.
func (f *Folder) Restore(ctx context.Context, key string, r io.Reader) error {
	if !keyForm.MatchString(key) {
		return errors.New("it is not the key of a content")
	}
	file, err := f.create(key)
	if err != nil {
		return asStorageFull(err)
	}
	_, err = io.Copy(file, untilDone{ctx, r})
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = f.settle(key)
	}
	return asStorageFull(err)
}

// create makes the file of content that is not complete.
func (f *Folder) create(key string) (*os.File, error) {
	name := fileOf(key)
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	return f.root.OpenFile(name+partSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// settle gives complete content its name.
func (f *Folder) settle(key string) error {
	name := fileOf(key)
	if err := f.root.Rename(name+partSuffix, name); err != nil {
		return err
	}
	return errors.Join(f.syncFolder(path.Dir(name)), f.syncFolder("."))
}

// incoming counts the bytes read from r, and remembers a read error.
type incoming struct {
	r   io.Reader
	n   int64
	err error // nil: no read failed
}

// Read implements io.Reader.
func (i *incoming) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	if i.n += int64(n); err != nil && err != io.EOF {
		i.err = err
	}
	return n, err
}

// counter counts the bytes written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// write copies r, which reads from in, into the file of content.Key and sets size and checksum of what it wrote in
// content; it removes the metadata of a picture. The file gets its final name once all of it is on disk and was
// inspected, and the names are on disk when write returns.
func (f *Folder) write(content *Content, r *bufio.Reader, in *incoming, limit int64) error {
	file, err := f.create(content.Key)
	if err != nil {
		return err
	}
	defer file.Close()
	sum, size := sha256.New(), new(counter)
	if err := errors.Join(clean(content.MediaType, io.MultiWriter(file, sum, size), r), in.err); err != nil {
		return fmt.Errorf("keep content: %w", err)
	}
	if in.n > limit {
		return errTooLarge(limit)
	}
	content.Size = int64(*size)
	if err := Inspect(file, content.Size); err != nil {
		return err
	}
	content.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if err := file.Sync(); err != nil {
		return err
	}
	return f.settle(content.Key)
}

// Open implements Store. The File is an *os.File, which the kernel can send without copying.
func (f *Folder) Open(_ context.Context, key string) (File, error) {
	gone := exchange.Errorf(exchange.NotFound, "The content of this file is no longer available.")
	if !keyForm.MatchString(key) {
		return nil, gone
	}
	file, err := f.root.Open(fileOf(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, gone
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
			key := strings.TrimSuffix(entry.Name(), partSuffix)
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
			if !yield(KeyInfo{key, info.ModTime()}, nil) {
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

// asStorageFull returns err as StorageFull if that is its cause: the disk is full, a quota of the system is used up, or
// a limit of the process is reached.
func asStorageFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
		return &exchange.Error{Code: exchange.StorageFull, Cause: err,
			Message: "The server's storage is full, so no file can be saved until its operator frees space. Nothing " +
				"was changed."}
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

func newKey() string {
	random := make([]byte, keyBytes)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(random)
}

// fileOf returns the path of a key. The two digits spread the files over 256 subfolders.
func fileOf(key string) string { return path.Join(key[:2], key) }

func errTooLarge(limit int64) error {
	return exchange.Errorf(exchange.TooLarge, "The file is larger than the limit of %s.", inUnits(limit)).With("limit",
		limit)
}

// inUnits writes a number of bytes in the largest unit that divides it.
func inUnits(bytes int64) string {
	switch {
	case bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	default:
		return fmt.Sprintf("%d bytes", bytes)
	}
}

// untilDone is a reader that fails once its context is done.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
