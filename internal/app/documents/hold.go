package documents

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/files"
	"aliquot/internal/job"
	"aliquot/internal/store"
	"aliquot/internal/store/hold"
)

// HoldRest is the kind of job that has everything held that is to be, also from before the setting and after a move. It
// is periodic; nothing enqueues it.
var HoldRest = job.Kind[struct{}]{Name: "files.hold-rest"}

const heldAtOnce = 100

// holdPatience is after which time something is wrong if content is not held.
const holdPatience = time.Hour

// Hold runs core.HoldContent. Content that was lost does not stop the rest.
func (a Documents) Hold(ctx context.Context, r *job.Run, _ struct{}) error {
	if a.Holds == nil {
		return nil
	}
	var lost error
	for after := ""; ; {
		keys, err := a.DB.Read().Holds.Due(ctx, a.Holds.Place(), after, heldAtOnce)
		if err != nil {
			return err
		}
		var held []string
		for _, after = range keys {
			switch err := a.Holds.Hold(ctx, after); {
			case exchange.CodeOf(err) == exchange.NotFound:
				lost = fmt.Errorf("content %s cannot be held: %w", after, err)
			case err != nil:
				return err
			default:
				held = append(held, after)
			}
		}
		if err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			return exchange.Progress{Done: r.Progress().Done + int64(len(held)), Note: "holding files"}, nil,
				tx.Holds.Save(ctx, a.Holds.Place(), held...)
		}); err != nil {
			return err
		}
		if len(keys) < heldAtOnce {
			return lost
		}
	}
}

// HoldTheRest runs HoldRest.
func (a Documents) HoldTheRest(ctx context.Context, r *job.Run, _ struct{}) error {
	if a.Holds == nil {
		return nil
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		if err := tx.Holds.ExpectAll(ctx); err != nil {
			return nil, err
		}
		return core.HoldContent.Enqueue(ctx, tx, struct{}{}, job.EnqueueOptions{})
	})
}

// NotHeld counts what the bucket should hold and does not; late is what it should have held for an hour.
func (a Documents) NotHeld(ctx context.Context) (all, late int64, err error) {
	c := a.DB.Read()
	return c.Holds.Missing(ctx, a.Holds.Place(), c.Now.Add(-holdPatience))
}

// CheckHolds asks a bucket of all content that is to be held whether it is, and has what is not held if repair is set;
// for the operator. It notes what the bucket says, so that it can be stopped and repeated.
func (a Documents) CheckHolds(ctx context.Context, bucket *files.S3, repair bool,
	tell func(c hold.Content, held bool, err error)) error {
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error { return tx.Holds.ExpectAll(ctx) })
	if err != nil {
		return err
	}
	for after := ""; ; {
		list, err := a.DB.Read().Holds.All(ctx, after, heldAtOnce)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, c := range list {
			after = c.Key
			held, err := bucket.Held(ctx, c.Key)
			now := held
			if err == nil && !held && repair {
				err = bucket.Hold(ctx, c.Key)
				now = err == nil
			}
			if err != nil && exchange.CodeOf(err) != exchange.NotFound {
				return err
			}
			place := ""
			if now {
				place = bucket.Place()
			}
			tell(c, held, err)
			if place == c.Place {
				continue
			}
			if err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
				return tx.Holds.Save(ctx, place, c.Key)
			}); err != nil {
				return err
			}
		}
	}
}
