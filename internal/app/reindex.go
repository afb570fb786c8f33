package app

import (
	"context"
	"fmt"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Reindex is the job that updates the search index after something was renamed.
var Reindex = job.Kind[request.Renaming]{Name: "reindex"}

// renamed enqueues a job that updates the index with a new name. There is one such job for each object; another rename
// restarts it, so that the last name reaches everything.
func renamed(ctx context.Context, tx store.Conn, what request.Renaming) error {
	key := fmt.Sprintf("organization %d", what.Organization)
	switch {
	case what.Material != 0:
		key = fmt.Sprintf("material %d", what.Material)
	case what.User != uuid.Nil:
		key = fmt.Sprintf("user %s", what.User)
	}
	_, err := Reindex.Restart(ctx, tx, what, job.EnqueueOptions{Key: key})
	return err
}

// indexMoved updates at once the requests of a material that moved to another organization, since its members search
// only requests that the index says are theirs.
func indexMoved(ctx context.Context, tx store.Conn, material int64) error {
	return indexNow(ctx, tx, request.Renaming{Material: material})
}

// indexNow is renamed that updates everything at once. The job finds what was written meanwhile.
func indexNow(ctx context.Context, tx store.Conn, what request.Renaming) error {
	for last := int64(0); what.Organization != 0; {
		ids, err := tx.Materials.Behind(ctx, what.Organization, last, reindexAtOnce)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		last = ids[len(ids)-1]
		if err := tx.Materials.Reindex(ctx, ids); err != nil {
			return err
		}
	}
	for after := (request.SearchPosition{}); ; {
		some, err := tx.Requests.Behind(ctx, what, after, reindexAtOnce)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return renamed(ctx, tx, what)
		}
		after = some[len(some)-1]
		if err := tx.Requests.Index(ctx, requestsAt(some), what.Material != 0); err != nil {
			return err
		}
	}
}

// reindexAtOnce is how many objects one transaction updates; SQLite has no other writer meanwhile.
const reindexAtOnce = 200

// reindexed is how far a job has got: first the materials of an organization, then requests.
type reindexed struct {
	Material int64                  `json:"material"` // the last one updated
	Listed   bool                   `json:"listed"`   // all materials are done
	Request  request.SearchPosition `json:"request"`
}

// reindex updates everything that is found by the name of an object. It reads what to update outside of the transaction
// of a step: what is added since has the new name already.
func (a *App) reindex(ctx context.Context, r *job.Run, what request.Renaming) error {
	at := reindexed{Listed: what.Organization == 0}
	if err := r.Resume(&at); err != nil {
		return err
	}
	for {
		next := at
		do, done, err := a.reindexSome(ctx, what, &next)
		if err != nil || do == nil {
			return err
		}
		err = r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			return exchange.Progress{Done: r.Progress().Done + int64(done), Note: "bringing the search up to date"},
				next, do(ctx, tx)
		})
		if err != nil {
			return err
		}
		at = next
	}
}

// reindexSome returns the next step of a job and the number of objects in it; nil if the job is done. The step advances
// at.
func (a *App) reindexSome(ctx context.Context, what request.Renaming,
	at *reindexed) (do func(context.Context, store.Conn) error, done int, err error) {
	read := a.DB.Read()
	if !at.Listed {
		ids, err := read.Materials.Behind(ctx, what.Organization, at.Material, reindexAtOnce)
		if err != nil {
			return nil, 0, err
		}
		if len(ids) > 0 {
			at.Material = ids[len(ids)-1]
			return func(ctx context.Context, tx store.Conn) error { return tx.Materials.Reindex(ctx, ids) }, len(ids),
				nil
		}
		at.Listed = true
	}
	some, err := read.Requests.Behind(ctx, what, at.Request, reindexAtOnce)
	if err != nil || len(some) == 0 {
		return nil, 0, err
	}
	at.Request = some[len(some)-1]
	return func(ctx context.Context, tx store.Conn) error {
		return tx.Requests.Index(ctx, requestsAt(some), what.Material != 0)
	}, len(some), nil
}

func requestsAt(places []request.SearchPosition) []int64 {
	ids := make([]int64, len(places))
	for i, p := range places {
		ids[i] = p.Request
	}
	return ids
}
