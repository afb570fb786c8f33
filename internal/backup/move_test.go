package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/backup"
	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// fresh is an empty store, and the folder that it is in.
func fresh(t *testing.T) (*files.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	folder, err := files.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return folder, dir
}

// key is that of the content of an attachment.
func (in instance) key(id int64) string {
	in.Helper()
	a, err := in.db.Read().Attachments.Get(in.Context(), id)
	if err != nil {
		in.Fatal(err)
	}
	return a.Content.Key
}

func TestMove_CopiesWhatIsMissingAndNamesWhatIsAltered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		from, dir := fresh(t)
		in := instance{t, db, from}
		user := in.user("somebody")
		kept, altered, lost := in.attachment(user, "kept"), in.attachment(user, "altered"), in.attachment(user, "lost")
		file := filepath.Join(dir, in.key(altered)[:2], in.key(altered))
		if err := errors.Join(os.WriteFile(file, []byte("al7ered"), 0o600), from.Delete(t.Context(), in.key(lost))); err != nil {
			t.Fatal(err)
		}
		to, _ := fresh(t)
		mover := backup.Mover{DB: db, From: from, To: to, Progress: quiet}
		for run, want := range []backup.Moved{{Copied: 1}, {There: 1}, {Copied: 1, There: 1}} {
			if run == 2 {
				in.attachment(user, "uploaded meanwhile")
			}
			moved, err := mover.Move(t.Context())
			if err != nil || moved.Copied != want.Copied || moved.There != want.There {
				t.Errorf("run %d: %+v, %v, want %+v", run, moved, err, want)
			}
			said := errors.Join(moved.Faults...).Error()
			if len(moved.Faults) != 2 || !strings.Contains(said, in.key(altered)+": it was altered") ||
				!strings.Contains(said, in.key(lost)+": it is missing") {
				t.Errorf("run %d found %v", run, said)
			}
		}
		for info, err := range to.Keys(t.Context()) {
			if err != nil || info.Unfinished || info.Key == in.key(altered) {
				t.Errorf("there is %+v, %v", info, err)
			}
		}
		got, err := to.Open(t.Context(), in.key(kept))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		if text, err := io.ReadAll(got); err != nil || string(text) != "kept" {
			t.Errorf("read %q, %v", text, err)
		}
	})
}

// once is a store that takes one content and then fails.
type once struct {
	files.Store
	took sync.Once
}

func (o *once) Restore(ctx context.Context, key string, r io.Reader) error {
	var err error = exchange.Errorf(exchange.Unavailable, "no answer")
	o.took.Do(func() { err = o.Store.Restore(ctx, key, r) })
	return err
}

func TestMove_OfManyTogetherContinuesAfterAFailure(t *testing.T) {
	t.Parallel()
	in := seeded(t, storetest.SQLite)
	to, dir := fresh(t)
	cutOff := strings.Repeat("ab", 32) // what a process that was killed leaves
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "ab"), 0o700),
		os.WriteFile(filepath.Join(dir, "ab", cutOff+".part"), bytes.Repeat([]byte("x"), 10), 0o600)); err != nil {
		t.Fatal(err)
	}
	mover := backup.Mover{DB: in.db, From: in.folder, To: &once{Store: to}, Progress: quiet}
	if _, err := mover.Move(t.Context()); exchange.CodeOf(err) != exchange.Unavailable {
		t.Errorf("got %v, want UNAVAILABLE", err)
	}
	mover.To = to
	moved, err := mover.Move(t.Context())
	if err != nil || moved.Copied+moved.There != 5 || moved.There < 1 || len(moved.Faults) > 0 {
		t.Errorf("%+v, %v, want the rest of 5", moved, err)
	}
}
