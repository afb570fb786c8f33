package api_test

import (
	"context"
	"fmt"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/app/core"
	"aliquot/internal/app/documents"
	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/files/filestest"
	"aliquot/internal/store"
	"aliquot/internal/store/hold"
	"aliquot/internal/store/storetest"
)

// The test below needs an S3 server: without one there is nothing to test, and no test.

func TestHold_KeepsWhatWasAcceptedInTheBucket(t *testing.T) {
	t.Parallel()
	if !filestest.HasS3() {
		return
	}
	server := filestest.StartS3(t)
	buckets := map[string]*files.S3{}
	for _, kind := range storetest.Kinds() {
		buckets[kind] = server.LockedBucket(t, "locked-"+kind)
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		bucket := buckets["sqlite"]
		if db.Postgres() {
			bucket = buckets["postgres"]
		}
		s := newScene(t, db, exchange.AccessMembers)
		s.app.Files = bucket
		accept := func() string {
			t.Helper()
			made := s.requester().upload("paper.pdf", pdf, nil)
			asked := s.requester().want(201, "POST", "/material-requests", obj{"material": s.material})
			path := fmt.Sprintf("/material-requests/%d", asked.id())
			s.requester().want(200, "PATCH", path, obj{"irb_attachment": made.id()})
			s.member.want(200, "POST", path+"/documents/irb/accept", nil)
			at, err := db.Read().Attachments.Get(t.Context(), made.id())
			if err != nil {
				t.Fatal(err)
			}
			return at.Content.Key
		}
		isHeld := func(key string, want bool) {
			t.Helper()
			if held, err := bucket.Held(t.Context(), key); held != want || err != nil {
				t.Errorf("held: %t, %v, want %t", held, err, want)
			}
		}
		missing := func(want int64) {
			t.Helper()
			if all, late, err := s.app.Documents.NotHeld(t.Context()); all != want || late != 0 || err != nil {
				t.Errorf("%d files are not held, %d of them for an hour, %v; want %d", all, late, err, want)
			}
		}
		before := accept()
		s.app.Holds = bucket
		missing(0)
		isHeld(before, false)
		after := accept()
		missing(1)
		s.run(core.HoldContent)
		isHeld(after, true)
		missing(0)
		s.run(documents.HoldRest)
		s.run(core.HoldContent)
		isHeld(before, true)
		if err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			return tx.Holds.Save(ctx, "s3://another", before)
		}); err != nil {
			t.Fatal(err)
		}
		missing(1) // after a move
		for i, want := range []int{2, 2} {
			n := 0
			if err := s.app.Documents.CheckHolds(t.Context(), bucket, i == 1, func(_ hold.Content, held bool, err error) {
				if n++; !held || err != nil {
					t.Errorf("held: %t, %v", held, err)
				}
			}); err != nil || n != want {
				t.Errorf("%d files, %v, want %d", n, err, want)
			}
		}
		missing(0)
		if _, err := s.sql.Exec("DELETE FROM request_documents"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.sql.Exec("UPDATE attachments SET deleted_at = '2020-01-01 00:00:00+00:00' WHERE content_key = $1",
			after); err != nil {
			t.Fatal(err)
		}
		s.run(app.SweepContent)
		isHeld(after, true) // though a faulty program deleted it
	})
}
