package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
)

// store opens the installation's database as another process of it would.
func (in installation) store(t *testing.T) *store.DB {
	t.Helper()
	where := in.postgres
	if where == "" {
		where = filepath.Join(in.folder, "data", "aliquot.db")
	}
	db, err := store.Open(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// periodic is how many kinds of job run by the clock.
const periodic = 13

func TestStart_EightAtOnceRunTheCleanupOnce(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		began := time.Now().UTC()
		for range 2 { // and none of eight others in the same ten minutes
			processes := atOnce(8, func(int) *process {
				p, err := in.launch()
				if err != nil {
					t.Error(err)
				}
				return p
			})
			if t.Failed() {
				return
			}
			db, most := in.store(t), 0
			jobtest.Poll(t, "they tidied up", func() bool {
				part, err := db.Read().Jobs.List(t.Context(), exchange.Page{}, nil, exchange.JobFilter{})
				kinds, done := map[string]int{}, 0
				for _, j := range part.Items {
					if kinds[j.Kind]++; j.State == exchange.JobDone {
						done++
					}
					most = max(most, kinds[j.Kind])
				}
				return err == nil && len(kinds) == periodic && done == len(part.Items)
			})
			if most > 1 && began.Truncate(10*time.Minute).Equal(time.Now().UTC().Truncate(10*time.Minute)) {
				t.Errorf("something was tidied up %d times", most)
			}
			for _, p := range processes {
				if err := p.stop(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// TestKill_CleanupCountsEachFileOnce: the job continues where it was, in the next process.
func TestKill_CleanupCountsEachFileOnce(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		const files, uploaders = 240, 8
		p := in.serve(t, "--rate-limit", "off")
		josiah, err := signIn(p.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(atOnce(uploaders, func(n int) error {
			for range files / uploaders {
				made, err := did(josiah.upload("counts.csv", fmt.Appendf(nil, "gene,count\nTP53,%d\n", n)))
				file, err := id(made, err)
				if err == nil {
					_, err = did(josiah.call("DELETE", "/attachments/"+file, ""))
				}
				if err != nil {
					return err
				}
			}
			return nil
		})...); err != nil {
			t.Fatal(err)
		}
		p.kill()
		<-p.ended

		db := in.store(t)
		jobtest.Enqueue(t, db, app.SweepContent, struct{}{}, job.EnqueueOptions{})
		again := []string{"--deleted-content", "1ms", "--job-lease", "1s"}
		for range 5 {
			p := in.serve(t, again...)
			time.Sleep(time.Duration(mathrand.IntN(int(15 * time.Millisecond)))) // somewhere in the middle
			p.kill()
			<-p.ended
		}
		in.serve(t, again...)
		var removed app.Removed // by all of its kind, of which another comes with the next hour
		if err := poll(func() error {
			removed = app.Removed{}
			part, err := db.Read().Jobs.List(t.Context(), exchange.Page{}, nil,
				exchange.JobFilter{Kind: &app.SweepContent.Name})
			for _, j := range part.Items {
				var r app.Removed
				if j.State != exchange.JobDone {
					return fmt.Errorf("job %d is %s: %s", j.ID, j.State, j.Error)
				}
				err = errors.Join(err, json.Unmarshal(j.Result, &r))
				removed.Files += r.Files
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if removed.Files != files {
			t.Errorf("%d files were removed, want %d", removed.Files, files)
		}
		left, err := db.Read().Attachments.DeletedContent(t.Context(), time.Now().Add(time.Hour), files)
		if err != nil || len(left) != 0 {
			t.Errorf("%d files are left: %v", len(left), err)
		}
	})
}
