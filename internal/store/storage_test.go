package store_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/document"
	"aliquot/internal/store"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestStorageUse_IsTheSumOfWhatIsStored whatever is made, replaced, deleted, restored, removed for good or given to
// another owner, and whatever spreadsheets come and go, in whatever order.
func TestStorageUse_IsTheSumOfWhatIsStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		users := []uuid.UUID{l.user().ID, l.user().ID}
		labs := []int64{l.organization(users[0]), l.organization(users[1])}
		var made []int64
		sheets := map[string]int64{} // by key, the lab
		content := func(r *rapid.T) *document.Content {
			return &document.Content{Key: rand.Text(), Size: rapid.Int64Range(1, 1000).Draw(r, "size"), SHA256: "a",
				MediaType: "text/plain"}
		}
		give := func(r *rapid.T, a *document.Attachment) {
			a.OwnedByUser, a.OwnedByOrg, a.OfLab = nil, nil, false
			if rapid.Bool().Draw(r, "a user's") {
				a.OwnedByUser = &users[rapid.IntRange(0, 1).Draw(r, "user")]
			}
			if rapid.Bool().Draw(r, "a lab's") {
				a.OwnedByOrg = &labs[rapid.IntRange(0, 1).Draw(r, "lab")]
				a.OfLab = rapid.Bool().Draw(r, "of the lab")
			}
		}
		rapid.Check(t, func(r *rapid.T) {
			for range rapid.IntRange(1, 8).Draw(r, "acts") {
				act := rapid.SampledFrom([]string{"make", "fill", "replace", "delete", "restore", "purge",
					"forget versions", "move", "sheet", "forget sheet"}).Draw(r, "act")
				l.write(func(ctx context, tx store.Conn) error {
					switch act {
					case "sheet":
						t, lab := content(r), labs[rapid.IntRange(0, 1).Draw(r, "lab")]
						sheets[t.Key] = lab
						return tx.Storage.InsertSheet(ctx, lab, *t)
					case "forget sheet":
						for key := range sheets {
							delete(sheets, key)
							return tx.Storage.DeleteSheet(ctx, key)
						}
						return tx.Storage.DeleteOldSheets(ctx, tx.Now.Add(-time.Hour)) // none is that old
					}
					if act == "make" || len(made) == 0 {
						a := document.Attachment{Filename: "f", Version: 1}
						if rapid.Bool().Draw(r, "with content") {
							a.Content = content(r)
						}
						give(r, &a)
						id, err := tx.Attachments.Insert(ctx, a)
						made = append(made, id)
						return err
					}
					id := rapid.SampledFrom(made).Draw(r, "which")
					list, err := store.AttachmentsWithDeleted(ctx, tx, id)
					if err != nil {
						return err
					}
					a := list[0]
					switch act {
					case "fill", "replace":
						if a.Content != nil {
							if err := tx.Attachments.InsertVersion(ctx, a.Present(), users[0]); err != nil {
								return err
							}
							a.Version++
						}
						a.Content = content(r)
					case "delete":
						a.DeletedAt = new(tx.Now.Add(-time.Hour))
					case "restore":
						a.DeletedAt = nil
					case "purge":
						a.Content, a.ContentDeleted = nil, true
					case "forget versions":
						versions, err := tx.Attachments.DeletedVersions(ctx, tx.Now, 100)
						for _, v := range versions {
							if err == nil {
								err = tx.Attachments.DeleteVersion(ctx, v)
							}
						}
						return err
					case "move":
						give(r, &a)
					}
					return tx.Attachments.Update(ctx, a)
				})
			}
			want := map[document.StorageOwner]int64{}
			for _, id := range made {
				list, err := store.AttachmentsWithDeleted(l.ctx, l.db.Read(), id)
				if err != nil {
					r.Fatal(err)
				}
				versions, err := store.Values[int64](l.ctx, l.db.Read(),
					fmt.Sprintf("SELECT size FROM attachment_versions WHERE attachment_id = %d", id))
				if err != nil {
					r.Fatal(err)
				}
				if owner := list[0].StorageOwner(); owner != "" {
					if list[0].Content != nil {
						want[owner] += list[0].Content.Size
					}
					for _, size := range versions {
						want[owner] += size
					}
				}
			}
			for i, lab := range labs {
				kept, err := store.Values[int64](l.ctx, l.db.Read(),
					fmt.Sprintf("SELECT size FROM sheets WHERE organization_id = %d", lab))
				if err != nil {
					r.Fatal(err)
				}
				for _, size := range kept {
					want[document.LabStorage(lab)] += size
				}
				_, told, err := l.db.Read().Storage.KeptBytes(l.ctx, labs[i], uuid.Nil)
				if sum := total(kept); err != nil || told != sum {
					r.Fatalf("spreadsheets of %d bytes, %v, want %d", told, err, sum)
				}
			}
			got, err := l.db.Read().Storage.Use(l.ctx, document.UserStorage(users[0]), document.UserStorage(users[1]),
				document.LabStorage(labs[0]), document.LabStorage(labs[1]))
			none := func(_ document.StorageOwner, n int64) bool { return n == 0 }
			maps.DeleteFunc(got, none)
			maps.DeleteFunc(want, none)
			if err != nil || !maps.Equal(got, want) {
				r.Fatalf("counted %v, %v; stored %v", got, err, want)
			}
		})
	})
}

func total(sizes []int64) (sum int64) {
	for _, n := range sizes {
		sum += n
	}
	return sum
}

// TestStorageUse_OldSheetsAreForgotten once there is no job of them.
func TestStorageUse_OldSheetsAreForgotten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization := l.organization(l.user().ID)
		l.write(func(ctx context, tx store.Conn) error {
			return tx.Storage.InsertSheet(ctx, organization, document.Content{Key: "a", Size: 70})
		})
		used := func() int64 {
			all, err := l.db.Read().Storage.Use(l.ctx, document.LabStorage(organization))
			if err != nil {
				t.Fatal(err)
			}
			return all[document.LabStorage(organization)]
		}
		forget := func(age time.Duration) {
			l.write(func(ctx context, tx store.Conn) error { return tx.Storage.DeleteOldSheets(ctx, tx.Now.Add(age)) })
		}
		if forget(-time.Minute); used() != 70 {
			t.Errorf("%d bytes, want those of the new one", used())
		}
		if forget(time.Minute); used() != 0 {
			t.Errorf("%d bytes are left", used())
		}
	})
}

// TestStorageMigration_CountsWhatWasThere and what triggers count from then on is beside it.
func TestStorageMigration_CountsWhatWasThere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		organization := l.organization(user)
		content := func(size int64) func(*document.Attachment) {
			return func(a *document.Attachment) {
				a.Content = &document.Content{Key: rand.Text(), Size: size, SHA256: "a", MediaType: "text/plain"}
			}
		}
		l.attachment(user, content(10))
		ofLab := l.attachment(user, func(a *document.Attachment) { content(200)(a); a.File(organization) })
		l.write(func(ctx context, tx store.Conn) error {
			a, err := tx.Attachments.Get(ctx, ofLab)
			if err != nil {
				return err
			}
			return tx.Attachments.InsertVersion(ctx,
				document.AttachmentVersion{Attachment: ofLab, Version: 9, Content: *a.Content, Filename: "f"}, user)
		})
		l.exec("DELETE FROM storage_use")
		file, err := os.ReadFile("migration/00017_storage.sql")
		if err != nil {
			t.Fatal(err)
		}
		_, insert, _ := strings.Cut(string(file), "INSERT INTO")
		insert, _, _ = strings.Cut(insert, ";")
		l.exec("INSERT INTO" + insert)
		l.attachment(user, content(5))
		got, err := l.db.Read().Storage.Use(l.ctx, document.UserStorage(user), document.LabStorage(organization))
		if err != nil || got[document.UserStorage(user)] != 15 || got[document.LabStorage(organization)] != 400 {
			t.Errorf("counted %v, %v", got, err)
		}
	})
}
