package letters

import (
	"context"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/core"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Duties are the use cases of what is owed after agreements were executed.
type Duties struct{ Letters }

// AgreementDuties are the duties of an agreement, and whether it is closed.
type AgreementDuties struct {
	letter.Agreement
	Duties []duty.Duty
	// MayDecide reports whether the caller sets days and waives duties, for the provider; MaySettle whether they add
	// evidence.
	MayDecide, MaySettle bool
}

// Of reads what is owed by an agreement.
func (a Duties) Of(ctx context.Context, who exchange.Actor, id int64) (d AgreementDuties, err error) {
	c := a.DB.Read()
	l, err := c.Agreements.Get(ctx, id)
	if err != nil {
		return d, err
	}
	offices, err := officesOf(ctx, c, who)
	if err != nil {
		return d, err
	}
	if err := core.Unseen(a.MayRead(ctx, who, exchange.AgreementRead, relationsOf(who, offices, l),
		object(id))); err != nil {
		return d, err
	}
	return a.duties(ctx, c, who, offices, l)
}

// duties reads what is owed by a letter that who may read.
func (a Letters) duties(ctx context.Context, c store.Conn, who exchange.Actor, offices []int64,
	l letter.Agreement) (d AgreementDuties, err error) {
	d.Agreement = l
	d.MayDecide, _ = a.Policy().Can(exchange.DutyDecide, providing(who, offices, l))
	d.MaySettle, _ = a.Policy().Can(exchange.DutySettle, relationsOf(who, offices, l))
	d.Duties, err = c.Duties.Of(ctx, l.ID)
	return d, err
}

// providing returns how who is related to the side of a letter that provides.
func providing(who exchange.Actor, offices []int64, l letter.Agreement) exchange.Relation {
	l.Letter.Recipient = 0
	return relationsOf(who, offices, l) &^ exchange.RequesterOf
}

// SetDay sets the day on which a duty is due, for the side that provides.
func (a Duties) SetDay(ctx context.Context, who exchange.Actor, id, which int64, p duty.Patch,
	match core.IfMatch[core.Untagged]) (duty.Duty, error) {
	return a.change(ctx, who, id, which, exchange.DutyDecide, func(tx store.Conn, _ exchange.Actor,
		d duty.Duty) (duty.Duty, error) {
		if err := match.Check(core.Untagged{}); err != nil {
			return d, err
		}
		return p.Apply(d, tx.Now)
	})
}

// Settle records the evidence that a duty was done.
func (a Duties) Settle(ctx context.Context, who exchange.Actor, id, which int64,
	said duty.Evidence) (duty.Duty, error) {
	return a.change(ctx, who, id, which, exchange.DutySettle, func(tx store.Conn, who exchange.Actor,
		d duty.Duty) (duty.Duty, error) {
		text, err := said.Check()
		if err != nil {
			return d, err
		}
		return d.Settle(duty.Done, text, who.ID, tx.Now)
	})
}

// Waive releases the recipient from a duty, for the side that provides.
func (a Duties) Waive(ctx context.Context, who exchange.Actor, id, which int64,
	said duty.Waiver) (duty.Duty, error) {
	return a.change(ctx, who, id, which, exchange.DutyDecide, func(tx store.Conn, who exchange.Actor,
		d duty.Duty) (duty.Duty, error) {
		reason, err := said.Check()
		if err != nil {
			return d, err
		}
		return d.Settle(duty.Waived, reason, who.ID, tx.Now)
	})
}

// change changes a duty of an agreement, which is locked, and closes the agreement if it was the last.
func (a Duties) change(ctx context.Context, who exchange.Actor, id, which int64, action exchange.Action,
	do func(store.Conn, exchange.Actor, duty.Duty) (duty.Duty, error)) (d duty.Duty, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		l, err := tx.Agreements.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		offices, err := officesOf(ctx, tx, who)
		if err != nil {
			return err
		}
		rel := relationsOf(who, offices, l)
		if _, err := a.Can(who, exchange.AgreementRead, rel); err != nil {
			return core.Unseen(err)
		}
		if action == exchange.DutyDecide {
			rel = providing(who, offices, l)
		}
		if err := a.May(ctx, tx, who, action, rel, object(id)); err != nil {
			return err
		}
		old, err := tx.Duties.Get(ctx, which)
		if err != nil || old.Agreement != id {
			return exchange.Errorf(exchange.NotFound, "The agreement has no such duty.")
		}
		if d, err = do(tx, who, old); err != nil || d == old {
			return err
		}
		if err := tx.Duties.Update(ctx, d); err != nil {
			return err
		}
		if err := tx.Duties.Close(ctx, id); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, action, rel, object(id), d.State)
	})
	return d, err
}

// Mine reads the caller's own duties that are due soon, or overdue, the first due first.
func (a Duties) Mine(ctx context.Context, who exchange.Actor, limit int) ([]duty.Duty, error) {
	if !who.Is(who.ID) {
		return nil, nil
	}
	c := a.DB.Read()
	return c.Duties.OfPerson(ctx, who.ID, soon(c), limit)
}

// soon is the day until which duties are reminded of.
func soon(c store.Conn) exchange.Date { return exchange.DayOf(c.Now.AddDate(0, 0, duty.FirstReminder)) }

// Remind is the job that reminds people of duties, and closes agreements of which nothing is owed any more. It is
// periodic; nothing enqueues it.
var Remind = job.Kind[struct{}]{Name: "remind.duties"}

// remindAtOnce is how many duties one transaction looks at.
const remindAtOnce = 100

// Remind runs that job. A duty that was reminded of is not again, so that a run continues one that died.
func (a Duties) Remind(ctx context.Context, r *job.Run, _ struct{}) error {
	for last := int64(0); ; {
		var list []duty.Duty
		err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			if list, err = tx.Duties.Due(ctx, soon(tx), last, remindAtOnce); err != nil {
				return p, nil, err
			}
			for _, d := range list {
				if err := remind(ctx, tx, d); err != nil {
					return p, nil, err
				}
			}
			return exchange.Progress{Note: "reminding"}, nil, nil
		})
		if err != nil {
			return err
		}
		if len(list) < remindAtOnce {
			return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
				return nil, tx.Duties.Close(ctx, 0)
			})
		}
		last = list[len(list)-1].ID
	}
}

// remind notifies who owes a duty, if that is due today; once it is overdue, also the scientist who provided.
func remind(ctx context.Context, tx store.Conn, d duty.Duty) error {
	today := exchange.DayOf(tx.Now)
	after, due := d.Remind(today)
	if !due {
		return nil
	}
	l, err := tx.Agreements.Get(ctx, d.Agreement)
	if err != nil {
		return err
	}
	people := []uuid.UUID{l.Requester}
	if d.Overdue(today) && l.Scientist != l.Requester {
		people = append(people, l.Scientist)
	}
	if err := tx.Duties.Update(ctx, after); err != nil {
		return err
	}
	return notifier.NotifyPeople(ctx, tx, notify.Announcement{Kind: notify.DutyDue, Organization: l.Organization,
		Detail: notify.AnnouncementDetail{Agreement: l.ID, Duty: d.ID, Name: l.Letter.Number,
			Reason: d.Words() + ", due on " + string(d.DueOn)}}, people...)
}
