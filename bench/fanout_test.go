package bench

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// crowd is how many members the big lab has, all of whom are notified of a new request.
const crowd = 10_000

// BenchmarkFanOut compares a new request to a lab of 10,000 members with one to a lab of two. Before that, a worker
// notifies all of them of one.
func BenchmarkFanOut(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		lab, last := w.bigLab()
		stop := w.work() // what making the world left
		w.wait()
		material := w.make(w.member, "/v1/materials", obj{"category": "OTHER", "title": "HeLa", "organization_id": lab})
		began := time.Now()
		w.make(w.member, "/v1/material-requests", obj{"material": material})
		w.wait()
		b.ReportMetric(crowd/time.Since(began).Seconds(), "told/s")
		stop()
		if n, err := w.db.Read().Notifications.Unread(b.Context(), last); err != nil || n != 1 {
			b.Errorf("the last of the members was notified of %d requests: %v", n, err)
		}
		compare(b, 0.8, func(side, client, n int) *http.Request {
			asked := material
			if side == bare {
				asked = w.materials[(client+n*clients)%len(w.materials)]
			}
			return w.request(ours, "POST", "/v1/material-requests", w.member, fmt.Sprintf(`{"material": %d}`, asked))
		})
	})
}

// bigLab makes a lab of a crowd and the member, and returns the user who is notified last.
func (w *world) bigLab() (lab int64, last uuid.UUID) {
	who, err := w.app.Accounts.Actor(w.b.Context(), w.member)
	if err != nil {
		w.b.Fatal(err)
	}
	lab = w.make(w.member, "/v1/organizations", obj{"name": "Consortium", "owner": who.ID, "members": []string{}})
	err = w.db.Tx(w.b.Context(), func(ctx context.Context, tx store.Conn) error {
		ids := make([]uuid.UUID, crowd)
		for i := range ids {
			ids[i] = uuid.MustParse(fmt.Sprintf("ffffffff-0000-7000-8000-%012d", i))
			if err := tx.Users.Insert(ctx,
				person.User{ID: ids[i], Username: ids[i].String(), RegistryID: ids[i].String()}); err != nil {
				return err
			}
		}
		last = ids[crowd-1]
		return tx.Organizations.Join(ctx, lab, ids...)
	})
	if err != nil {
		w.b.Fatal(err)
	}
	return lab, last
}

// work starts a worker.
func (w *world) work() (stop func()) {
	return jobtest.Start(w.b,
		job.Config{DB: w.db, Handlers: w.app.Handlers(), Log: slog.New(slog.DiscardHandler), Slots: 8})
}

// wait waits until everyone was notified.
func (w *world) wait() {
	jobtest.Poll(w.b, "everybody was told", func() bool { return !w.waits("tell") })
}

// waits reports whether a job of some kinds waits or runs.
func (w *world) waits(kinds ...string) bool {
	for _, kind := range kinds {
		for _, state := range []exchange.JobState{exchange.JobReady, exchange.JobRunning} {
			part, err := w.db.Read().Jobs.List(w.b.Context(), exchange.Page{Limit: 1}, nil,
				exchange.JobFilter{State: &state, Kind: &kind})
			if err != nil {
				w.b.Fatal(err)
			}
			if len(part.Items) > 0 {
				return true
			}
		}
	}
	return false
}
