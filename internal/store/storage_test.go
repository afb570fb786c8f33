package store_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// TestStorageUse_IsTheSumOfWhatIsStored whatever is made, replaced, deleted, restored, removed for good or given to
// another owner, in whatever order.
func TestStorageUse_IsTheSumOfWhatIsStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l lab) {
		users := []uuid.UUID{l.user().ID, l.user().ID}
		labs := []int64{l.organization(users[0]), l.organization(users[1])}
		var made []int64
		content := func(r *rapid.T) *exchange.Content {
			return &exchange.Content{Key: rand.Text(), Size: rapid.Int64Range(1, 1000).Draw(r, "size"), SHA256: "a", MediaType: "text/plain"}
		}
		give := func(r *rapid.T, a *exchange.Attachment) {
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
				act := rapid.SampledFrom([]string{"make", "fill", "replace", "delete", "restore", "purge", "forget versions", "move"}).Draw(r, "act")
				l.write(func(ctx context, tx store.Conn) error {
					if act == "make" || len(made) == 0 {
						a := exchange.Attachment{Filename: "f", Version: 1}
						if rapid.Bool().Draw(r, "with content") {
							a.Content = content(r)
						}
						give(r, &a)
						id, err := tx.InsertAttachment(ctx, a)
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
							if err := tx.InsertAttachmentVersion(ctx, a.Present(), users[0]); err != nil {
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
						versions, err := tx.DeletedVersions(ctx, tx.Now, 100)
						for _, v := range versions {
							if err == nil {
								err = tx.DeleteAttachmentVersion(ctx, v)
							}
						}
						return err
					case "move":
						give(r, &a)
					}
					return tx.UpdateAttachment(ctx, a)
				})
			}
			want := map[exchange.StorageOwner]int64{}
			for _, id := range made {
				list, err := store.AttachmentsWithDeleted(l.ctx, l.db.Read(), id)
				if err != nil {
					r.Fatal(err)
				}
				versions, err := store.Values[int64](l.ctx, l.db.Read(), fmt.Sprintf("SELECT size FROM attachment_versions WHERE attachment_id = %d", id))
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
			got, err := l.db.Read().StorageUse(l.ctx, exchange.UserStorage(users[0]), exchange.UserStorage(users[1]), exchange.LabStorage(labs[0]), exchange.LabStorage(labs[1]))
			none := func(_ exchange.StorageOwner, n int64) bool { return n == 0 }
			maps.DeleteFunc(got, none)
			maps.DeleteFunc(want, none)
			if err != nil || !maps.Equal(got, want) {
				r.Fatalf("counted %v, %v; stored %v", got, err, want)
			}
		})
	})
}
