package backup

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
)

// Taker takes backups of an instance.
type Taker struct {
	DB           *store.DB
	Files        files.Store
	Program      string            // its version
	Fingerprints map[string]string // of keys, by the name of their setting
	Keys         map[string]string // the keys that go into the archive, likewise; nil: none
	Progress     func(exchange.Progress)
}

// Taken is the result of a backup.
type Taken struct {
	Manifest
	Files int
	Lost  []string // keys of content that the database names and the store does not have
}

// Take writes an archive of the instance as it is now, while others write to it. Of content that is deleted meanwhile
// the archive has the key alone. It keeps 64 bytes for each file in memory.
func (t Taker) Take(ctx context.Context, out io.Writer) (taken Taken, err error) {
	w, err := NewWriter(out)
	if err != nil {
		return taken, err
	}
	var list []store.StoredKey
	err = t.DB.Snapshot(ctx, func(ctx context.Context, s store.Conn) (err error) {
		if err := t.about(ctx, w, s); err != nil {
			return err
		}
		if err := t.tables(ctx, w, s); err != nil {
			return err
		}
		list, err = s.Attachments.ContentKeys(ctx)
		return err
	})
	if err != nil {
		return taken, err
	}
	if err := t.files(ctx, w, list, &taken); err != nil {
		return taken, err
	}
	for _, name := range slices.Sorted(maps.Keys(t.Keys)) {
		if err := w.Add(keys+name, strings.NewReader(t.Keys[name])); err != nil {
			return taken, err
		}
	}
	err = w.Close()
	taken.Manifest = w.manifest
	return taken, err
}

func (t Taker) about(ctx context.Context, w *Writer, s store.Conn) error {
	a := About{Program: t.Program, TakenAt: s.Now, Keys: t.Fingerprints}
	var err error
	if a.Schema, err = s.SchemaVersion(ctx); err != nil {
		return err
	}
	if a.Numbers, err = s.Numbers(ctx); err != nil {
		return err
	}
	head, err := s.Log.Head(ctx)
	if err != nil {
		return err
	}
	a.Entries, a.Root = head.Size, head.Root.String()
	newest, err := s.Log.Checkpoint(ctx, 0)
	if err != nil && exchange.CodeOf(err) != exchange.NotFound {
		return err
	}
	a.Checkpoint = newest.Note
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return w.Add(aboutName, bytes.NewReader(text))
}

func (t Taker) tables(ctx context.Context, w *Writer, s store.Conn) error {
	list, err := s.Tables(ctx)
	if err != nil {
		return err
	}
	for i, table := range list {
		t.Progress(exchange.Progress{Note: "tables", Done: int64(i), Total: int64(len(list))})
		if err := t.table(ctx, w, s, table); err != nil {
			return err
		}
	}
	t.Progress(exchange.Progress{Note: "tables", Done: int64(len(list)), Total: int64(len(list))})
	return nil
}

// table writes a table, which is read while it is written.
func (t Taker) table(ctx context.Context, w *Writer, s store.Conn, table sqldb.Table) error {
	r, pipe := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = pipe.CloseWithError(s.Copy(ctx, table, pipe)) // always nil
	}()
	err := w.Add(tables+table.Name, r)
	_ = r.Close() // always nil
	<-done
	return err
}

// files writes contents in the order of their keys, and then the keys of those that were deleted meanwhile.
func (t Taker) files(ctx context.Context, w *Writer, list []store.StoredKey, taken *Taken) error {
	var deleted []string
	for i := range list {
		if i%100 == 0 || i == len(list)-1 {
			t.Progress(exchange.Progress{Note: "files", Done: int64(i + 1), Total: int64(len(list))})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		key := hex.EncodeToString(list[i].Key[:])
		err := t.file(ctx, w, key)
		if err == nil {
			taken.Files++
			continue
		}
		if exchange.CodeOf(err) != exchange.NotFound {
			return err
		}
		known, err := t.DB.Read().Attachments.ContentKnown(ctx, key) // whoever deletes content forgets it first
		if err != nil {
			return err
		}
		if known {
			taken.Lost = append(taken.Lost, key)
		} else {
			deleted = append(deleted, key)
		}
	}
	return w.Add(deletedName, strings.NewReader(strings.Join(deleted, "\n")))
}

func (t Taker) file(ctx context.Context, w *Writer, key string) error {
	content, err := t.Files.Open(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	return w.Add(contents+key, content)
}
