package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/record"
	"aliquot/internal/store"
)

// Place is where a backup is restored to. It holds nothing yet; after an error the caller removes what is in Files.
type Place struct {
	Database     string // as store.Open takes it
	Files        files.Store
	Fingerprints map[string]string             // of the keys that are there, by the name of their setting
	SaveKey      func(name, text string) error // saves a key that the archive has
	Since        *record.Checkpoint            // of the log, kept elsewhere; nil: none
	// Check checks the database that was restored, before it is kept, and passes each fault to the function. The
	// contents of files are checked as they come.
	Check    func(ctx context.Context, c store.Conn, fault func(error)) error
	Despite  bool // keep it despite faults
	Progress func(exchange.Progress)
}

// Restored is what was restored.
type Restored struct {
	About
	Manifest
	Faults []error
}

// ErrFaults is that something is wrong with what a backup has; Restored.Faults lists it.
var ErrFaults = errors.New("what the backup has was altered or is damaged; nothing was restored")

// Restore restores an archive of a size. The database is there only if all of it is, and was checked.
func (p Place) Restore(ctx context.Context, in io.Reader, size int64) (Restored, error) {
	r := restoring{Place: p}
	counted := &counted{r: in, size: size, show: p.Progress}
	err := store.Restore(ctx, p.Database, func(ctx context.Context, db *store.Restorer) (err error) {
		r.db = db
		r.Manifest, err = Read(counted, func(name string, content io.Reader) error {
			return r.take(ctx, name, content)
		})
		if err == nil && !r.whole {
			err = fmt.Errorf("there is no %s or no %s", aboutName, deletedName)
		}
		return err
	}, r.check)
	return r.Restored, err
}

// restoring is a restore under way.
type restoring struct {
	Place
	Restored
	db      *store.Restorer
	listed  bool
	named   []store.StoredKey // contents that the database names and that are still to come, once listed
	absent  []string          // those that did not come
	whole   bool              // the list of those came that were deleted while the backup was taken
	deleted []string          // it
	keys    []savedKey
}

type savedKey struct{ name, text string }

func (r *restoring) take(ctx context.Context, name string, content io.Reader) error {
	if name == aboutName {
		return r.about(ctx, content)
	}
	if r.TakenAt.IsZero() {
		return errNoAbout
	}
	if table, ok := strings.CutPrefix(name, tables); ok {
		return r.db.Table(ctx, table, content)
	}
	if name == deletedName {
		if err := r.list(ctx); err != nil {
			return err
		}
		text, err := readAll(content, maxDeleted)
		r.whole, r.deleted = true, strings.Fields(string(text))
		slices.Sort(r.deleted)
		return err
	}
	if key, ok := strings.CutPrefix(name, contents); ok {
		return r.file(ctx, key, content)
	}
	if key, ok := strings.CutPrefix(name, keys); ok {
		text, err := readAll(content, maxKey)
		r.keys = append(r.keys, savedKey{key, string(text)})
		if len(r.keys) > len(r.About.Keys) {
			err = errors.Join(err, errors.New("there are more keys than fingerprints"))
		}
		return err
	}
	return errors.New("a backup has no such part")
}

// list reads once which contents the database names.
func (r *restoring) list(ctx context.Context) (err error) {
	if !r.listed {
		r.named, err = r.db.ContentKeys(ctx)
		r.listed = true
	}
	return err
}

// file takes in a content. They come in the order of their keys, as those do that the database names.
func (r *restoring) file(ctx context.Context, key string, content io.Reader) error {
	if err := r.list(ctx); err != nil {
		return err
	}
	for len(r.named) > 0 && hex.EncodeToString(r.named[0].Key[:]) < key {
		r.absent, r.named = append(r.absent, hex.EncodeToString(r.named[0].Key[:])), r.named[1:]
	}
	if len(r.named) == 0 || hex.EncodeToString(r.named[0].Key[:]) != key {
		return errors.New("the database names no such content")
	}
	want := r.named[0].Sum
	r.named = r.named[1:]
	sum := sha256.New()
	if err := r.Files.Restore(ctx, key, io.TeeReader(content, sum)); err != nil {
		return err
	}
	if got := sum.Sum(nil); want != [32]byte{} && !bytes.Equal(got, want[:]) {
		r.fault(fmt.Errorf("content %s: it was altered: its SHA-256 is %x, and was %x", key, got, want))
	}
	return nil
}

func (r *restoring) fault(err error) { r.Faults = append(r.Faults, err) }

// lose notes as faults the contents that are neither there nor were deleted while the backup was taken.
func (r *restoring) lose() {
	for _, stored := range r.named {
		r.absent = append(r.absent, hex.EncodeToString(stored.Key[:]))
	}
	for _, key := range r.absent {
		if _, ok := slices.BinarySearch(r.deleted, key); !ok {
			r.fault(fmt.Errorf("content %s: it is missing, and was when the backup was taken", key))
		}
	}
}

func (r *restoring) about(ctx context.Context, content io.Reader) (err error) {
	if r.About, err = readAbout(content); err != nil {
		return err
	}
	if r.TakenAt.IsZero() {
		return errors.New("it does not say when the backup was taken")
	}
	schema, err := r.db.Schema(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(r.fits(schema, r.Fingerprints), r.follows(r.Since)); err != nil {
		return err
	}
	return r.db.Numbers(ctx, r.About.Numbers)
}

// check checks what was restored, and saves the keys.
func (r *restoring) check(ctx context.Context, c store.Conn) error {
	r.Progress(exchange.Progress{Note: "checking", Done: 0, Total: 1})
	r.lose()
	if err := c.Recording(ctx, func(ctx context.Context, c store.Conn) error {
		return c.Attachments.ForgetContent(ctx, r.deleted)
	}); err != nil {
		return err
	}
	head, err := c.Log.Head(ctx)
	if err != nil {
		return err
	}
	if head.Size != r.Entries || head.Root.String() != r.Root {
		r.fault(fmt.Errorf("log: it has %d entries and the root %s, but %s says %d and %s", head.Size, head.Root,
			aboutName, r.Entries, r.Root))
	}
	if err := r.Check(ctx, c, r.fault); err != nil {
		return err
	}
	if len(r.Faults) > 0 && !r.Despite {
		return ErrFaults
	}
	for _, k := range r.keys {
		if err := r.SaveKey(k.name, k.text); err != nil {
			return fmt.Errorf("key %s: %w", k.name, err)
		}
	}
	return nil
}

// counted shows how much was read.
type counted struct {
	r           io.Reader
	done, shown int64
	size        int64
	show        func(exchange.Progress)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.done += int64(n); c.done-c.shown > 1<<20 {
		c.shown = c.done
		c.show(exchange.Progress{Note: "bytes", Done: c.done, Total: c.size})
	}
	return n, err
}
