package app

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Job reads a job of who; admins may read any job.
func (a *App) Job(ctx context.Context, who exchange.Actor, id int64) (exchange.Job, error) {
	j, err := a.DB.Read().Jobs.Get(ctx, id)
	if err != nil {
		return j, err
	}
	rel, err := toJob(ctx, a.DB.Read(), who, j)
	if err != nil {
		return j, err
	}
	return j, a.mayRead(ctx, who, exchange.JobRead, rel, object("job", id))
}

// Jobs lists the jobs of who, newest first; if the filter says all, those of everybody, which is for admins.
func (a *App) Jobs(ctx context.Context, who exchange.Actor, p exchange.Page,
	f exchange.JobFilter) (exchange.ListPage[exchange.Job], error) {
	user := &who.ID
	if f.All != nil && *f.All {
		user = nil
		if err := a.mayRead(ctx, who, exchange.JobListAll, who.ToUser(who.ID), "jobs"); err != nil {
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
	err = a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		was, err := tx.Jobs.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		rel, err := toJob(ctx, tx, who, was)
		if err != nil {
			return err
		}
		if err := a.may(ctx, tx, who, action, rel, object("job", id)); err != nil {
			return err
		}
		if j, err = change(was, tx); err != nil || j.State == was.State {
			return err
		}
		if _, err = tx.Jobs.Save(ctx, was.State, j); err == nil && j.State == exchange.JobCancelled &&
			j.Kind == BulkMaterials.Name {
			_, err = SettleBulks.Enqueue(ctx, tx, struct{}{}, job.EnqueueOptions{})
		}
		return err
	})
	return j, err
}

// toJob returns the relations of who to a job. Aliquot's own jobs belong to nobody; a token limited to one lab has only
// the spreadsheets that its user sent for that lab.
func toJob(ctx context.Context, c store.Conn, who exchange.Actor, j exchange.Job) (exchange.Relation, error) {
	if j.User == nil {
		return who.ToUser(uuid.Nil), nil
	}
	rel := who.ToUser(*j.User)
	if who.Lab == 0 || *j.User != who.ID || j.Kind != BulkMaterials.Name {
		return rel, nil
	}
	b, err := c.Bulk.Get(ctx, j.ID)
	if err == nil && who.MemberOf(b.OrganizationID) {
		rel |= exchange.OwnerOf
	}
	return rel, err
}
