package app

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"
)

// Jobs lists the jobs of who, newest first; if the filter says all, those of everybody, which is for admins.
func (a *App) Jobs(ctx context.Context, who exchange.Actor, p exchange.Page,
	f exchange.JobFilter) (exchange.ListPage[exchange.Job], error) {
	user := &who.ID
	if f.All != nil && *f.All {
		user = nil
		if err := a.MayRead(ctx, who, exchange.JobListAll, who.ToUser(who.ID), "jobs"); err != nil {
			return exchange.ListPage[exchange.Job]{}, err
		}
	}
	return a.DB.Read().Jobs.List(ctx, p, user, f)
}

// CancelJob cancels an unfinished job. What it has done stays.
func (a *App) CancelJob(ctx context.Context, who exchange.Actor, id int64) (exchange.Job, error) {
	return a.changeJob(ctx, who, exchange.JobCancel, id,
		func(j exchange.Job, tx store.Conn) (exchange.Job, error) { return j.Cancel(tx.Now) })
}

// RetryJob retries a job that was given up or cancelled.
func (a *App) RetryJob(ctx context.Context, who exchange.Actor, id int64) (exchange.Job, error) {
	return a.changeJob(ctx, who, exchange.JobRetry, id,
		func(j exchange.Job, tx store.Conn) (exchange.Job, error) { return j.Retry(tx.Now) })
}

func (a *App) changeJob(ctx context.Context, who exchange.Actor, action exchange.Action, id int64,
	change func(exchange.Job, store.Conn) (exchange.Job, error)) (j exchange.Job, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		was, err := tx.Jobs.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		rel, err := core.ToJob(ctx, tx, who, was)
		if err != nil {
			return err
		}
		if err := a.May(ctx, tx, who, action, rel, core.Object("job", id)); err != nil {
			return err
		}
		if j, err = change(was, tx); err != nil || j.State == was.State {
			return err
		}
		if _, err = tx.Jobs.Save(ctx, was.State, j); err == nil && j.State == exchange.JobCancelled &&
			j.Kind == core.BulkMaterials.Name {
			_, err = spreadsheet.SettleBulks.Enqueue(ctx, tx, struct{}{}, job.EnqueueOptions{})
		}
		return err
	})
	return j, err
}
