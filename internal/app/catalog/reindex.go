package catalog

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// indexMoved updates at once the requests of a material that moved to another organization, since its members search
// only requests that the index says are theirs.
func indexMoved(ctx context.Context, tx store.Conn, material int64) error {
	return core.IndexNow(ctx, tx, request.Renaming{Material: material})
}

// reindexed is how far a job has got: first the materials of an organization, then requests.
type reindexed struct {
	Material int64                  `json:"material"` // the last one updated
	Listed   bool                   `json:"listed"`   // all materials are done
	Request  request.SearchPosition `json:"request"`
}

// Reindex updates everything that is found by the name of an object. It reads what to update outside of the transaction
// of a step: what is added since has the new name already.
func (a Materials) Reindex(ctx context.Context, r *job.Run, what request.Renaming) error {
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
func (a Materials) reindexSome(ctx context.Context, what request.Renaming,
	at *reindexed) (do func(context.Context, store.Conn) error, done int, err error) {
	read := a.DB.Read()
	if !at.Listed {
		ids, err := read.Materials.Behind(ctx, what.Organization, at.Material, core.ReindexAtOnce)
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
	some, err := read.Requests.Behind(ctx, what, at.Request, core.ReindexAtOnce)
	if err != nil || len(some) == 0 {
		return nil, 0, err
	}
	at.Request = some[len(some)-1]
	return func(ctx context.Context, tx store.Conn) error {
		return tx.Requests.Index(ctx, core.RequestsAt(some), what.Material != 0)
	}, len(some), nil
}
