package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/files/filestest"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestSweep_DeletesOnlyWhatExpired(t *testing.T) {
	t.Parallel()
	for place, open := range contentPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			sweepDeletes(t, open)
		})
	}
}

// contentPlaces are where content may be, each with the folder in which it is then; buckets only if there is an S3
// server to test with.
func contentPlaces() map[string]func(*testing.T) (content files.Store, dir string) {
	places := map[string]func(*testing.T) (files.Store, string){
		"in a folder": func(t *testing.T) (files.Store, string) {
			dir := t.TempDir()
			folder, err := files.OpenFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = folder.Close() })
			return folder, dir
		}}
	if filestest.HasS3() {
		places["in a bucket"] = func(t *testing.T) (files.Store, string) {
			server := filestest.StartS3(t)
			return server.Open(t), server.Folder
		}
		places["in a bucket with versions"] = func(t *testing.T) (files.Store, string) {
			server := filestest.StartS3(t)
			return server.LockedBucket(t, "locked"), filepath.Join(filepath.Dir(server.Folder), "locked")
		}
	}
	return places
}

func sweepDeletes(t *testing.T, open func(*testing.T) (files.Store, string)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		folder, dir := open(t)
		a := app.New(app.Config{DB: db, Files: folder, Access: exchange.AccessMembers, Registration: []string{"open"},
			TokenLifetime: time.Hour, UploadLimit: 1 << 20, Grace: time.Hour, Log: slog.New(slog.DiscardHandler)})
		signed, err := a.Accounts.SignIn(ctx, identity.Person{RegistryID: "ada"}, person.Registration{})
		if err != nil {
			t.Fatal(err)
		}
		who, err := a.Accounts.Actor(ctx, signed.Token)
		if err != nil {
			t.Fatal(err)
		}
		attach := func(name string) document.Attachment {
			t.Helper()
			content, err := a.Documents.Store(ctx, who, strings.NewReader(name))
			if err != nil {
				t.Fatal(err)
			}
			made, err := a.Documents.CreateAttachment(ctx, who, document.AttachmentPatch{Filename: exchange.Some(name)}, &content)
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		kept, young, gone := attach("kept.txt"), attach("young.txt"), attach("gone.txt")
		fresh, err := a.Documents.Store(ctx, who, strings.NewReader("its record is on the way"))
		if err != nil {
			t.Fatal(err)
		}
		orphan, err := a.Documents.Store(ctx, who, strings.NewReader("nobody names it"))
		if err != nil {
			t.Fatal(err)
		}
		age(t, dir, orphan.Key)
		for _, id := range []int64{young.ID, gone.ID} {
			if err := a.Documents.DeleteAttachment(ctx, who, id, nil); err != nil {
				t.Fatal(err)
			}
		}
		raw := storetest.SQL(t, db)
		long := time.Now().UTC().Add(-2 * time.Hour)
		if _, err := raw.ExecContext(ctx, "UPDATE attachments SET deleted_at = $1 WHERE id = $2", long,
			gone.ID); err != nil {
			t.Fatal(err)
		}
		expired, err := a.Accounts.SignIn(ctx, identity.Person{RegistryID: "ada"}, person.Registration{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := raw.ExecContext(ctx, "UPDATE tokens SET expires_at = $1 WHERE hash = $2", long,
			core.Hash(expired.Token)); err != nil {
			t.Fatal(err)
		}

		var handlers []job.Handler
		for _, h := range a.Handlers() {
			handlers = append(handlers, h.Every(0))
		}
		jobtest.Start(t, job.Config{DB: db, Handlers: handlers})
		for _, files := range []int{1, 0} { // it may run again
			want := fmt.Sprintf(`{"files":%d}`, files)
			for kind, want := range map[job.Kind[struct{}]]string{app.SweepExpired: "", app.SweepContent: want,
				app.SweepOrphans: want, app.SweepErasures: `{"people":0}`} {
				id := jobtest.Enqueue(t, db, kind, struct{}{}, job.EnqueueOptions{})
				if got := string(jobtest.Wait(t, db, id, exchange.JobDone).Result); got != want {
					t.Errorf("%s came to %q, want %q", kind.Name, got, want)
				}
			}
		}
		for key, want := range map[string]bool{kept.Content.Key: true, young.Content.Key: true, fresh.Key: true,
			gone.Content.Key: false, orphan.Key: false} {
			file, err := folder.Open(ctx, key)
			if got := err == nil; got != want {
				t.Errorf("content %s…: there is %t, want %t", key[:8], got, want)
			}
			if err == nil {
				_, _ = io.Copy(io.Discard, file)
				_ = file.Close()
			}
		}
		tokens, marked := 0, false
		if err := raw.QueryRowContext(ctx, "SELECT COUNT(*) FROM tokens").Scan(&tokens); err != nil || tokens != 1 {
			t.Errorf("%d tokens are left, want 1: %v", tokens, err)
		}
		if err := raw.QueryRowContext(ctx, "SELECT storage_resource_deleted FROM attachments WHERE id = $1",
			gone.ID).Scan(&marked); err != nil || !marked {
			t.Errorf("storage_resource_deleted is %t: %v", marked, err)
		}
		if _, err := a.Accounts.Actor(ctx, signed.Token); err != nil {
			t.Errorf("the living token: %v", err)
		}
	})
}

// age makes stored content two days old.
func age(t *testing.T, dir, key string) {
	t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	found := false
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), key[:16]) || err == nil && !d.IsDir() &&
			strings.Contains(path, key) {
			found = true
			return os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil || !found {
		t.Fatalf("content %s: found %t, %v", key, found, err)
	}
}
