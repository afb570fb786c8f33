package store_test

import (
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

func TestJobs_AreReadAsWritten(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		every(l, func(ctx context, tx store.Conn, round int, id *int64) error {
			var j exchange.Job
			fill(&j, round)
			j.ID, j.User, j.State, j.Lease, j.DueAt = 0, &user, exchange.JobReady, 0, utc(&tx.Now)
			if round == rounds-1 {
				j.User, j.Key, j.Args, j.Checkpoint, j.Result = nil, nil, []byte("null"), nil, nil
			}
			var err error
			if *id, err = tx.Jobs.Insert(ctx, j); err != nil {
				return err
			}
			j.ID, j.CreatedAt = *id, tx.Now
			saved, err := tx.Jobs.Save(ctx, exchange.JobReady, j)
			if err == nil && !saved {
				t.Errorf("round %d: it was not saved", round)
			}
			got, readErr := tx.Jobs.Get(ctx, *id)
			j.EndedAt = utc(j.EndedAt)
			same(t, "job", j, got)
			if err == nil {
				err = readErr
			}
			return err
		})
	})
}

func TestJobs_EndedAreDeletedAndTheirKeysFree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		var ids [3]int64
		l.write(func(ctx context, tx store.Conn) (err error) {
			for i, age := range []time.Duration{0, time.Hour, 48 * time.Hour} {
				j := exchange.Job{Kind: "k", Key: new(age.String()), Args: []byte("1"), DueAt: &tx.Now}
				if ids[i], err = tx.Jobs.Insert(ctx, j); err != nil {
					return err
				}
				if j, err = tx.Jobs.Get(ctx, ids[i]); err != nil {
					return err
				}
				if i > 0 {
					_, err = tx.Jobs.Save(ctx, exchange.JobReady, j.Finish(nil, tx.Now.Add(-age)))
				}
				if err != nil {
					return err
				}
			}
			return tx.Jobs.DeleteUntil(ctx, tx.Now.Add(-24*time.Hour))
		})
		for i, want := range []exchange.Code{"", "", exchange.NotFound} {
			_, err := l.db.Read().Jobs.Get(l.ctx, ids[i])
			code(t, "job", err, want)
		}
		l.write(func(ctx context, tx store.Conn) error {
			again, err := tx.Jobs.Insert(ctx,
				exchange.Job{Kind: "k", Key: new("48h0m0s"), Args: []byte("1"), DueAt: &tx.Now})
			if again <= ids[2] {
				t.Errorf("the key of job %d gives %d", ids[2], again)
			}
			return err
		})
	})
}
