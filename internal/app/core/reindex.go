package core

import (
	"context"
	"fmt"

	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Reindex is the job that updates the search index after something was renamed.
var Reindex = job.Kind[request.Renaming]{Name: "reindex"}

// Renamed enqueues a job that updates the index with a new name. There is one such job for each object; another rename
// restarts it, so that the last name reaches everything.
func Renamed(ctx context.Context, tx store.Conn, what request.Renaming) error {
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

// IndexNow is renamed that updates everything at once. The job finds what was written meanwhile.
func IndexNow(ctx context.Context, tx store.Conn, what request.Renaming) error {
	for last := int64(0); what.Organization != 0; {
		ids, err := tx.Materials.Behind(ctx, what.Organization, last, ReindexAtOnce)
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
		some, err := tx.Requests.Behind(ctx, what, after, ReindexAtOnce)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return Renamed(ctx, tx, what)
		}
		after = some[len(some)-1]
		if err := tx.Requests.Index(ctx, RequestsAt(some), what.Material != 0); err != nil {
			return err
		}
	}
}

// ReindexAtOnce is how many objects one transaction updates; SQLite has no other writer meanwhile.
const ReindexAtOnce = 200

// RequestsAt returns the ids of the requests at places of the search index.
func RequestsAt(places []request.SearchPosition) []int64 {
	ids := make([]int64, len(places))
	for i, p := range places {
		ids[i] = p.Request
	}
	return ids
}
