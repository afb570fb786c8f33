package requirements

import (
	"context"
	"slices"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Remind is the job that reminds people of permits that end soon. It is periodic; nothing enqueues it.
var Remind = job.Kind[struct{}]{Name: "remind.permits"}

// remindAtOnce is how many permits one transaction looks at.
const remindAtOnce = 100

// Remind runs that job. Each permit is looked at once for each reminder, in the transaction that notifies people, so
// that a run continues one that died.
func (a Requirements) Remind(ctx context.Context, r *job.Run, _ struct{}) error {
	for _, days := range requirement.ReminderDays {
		for more := true; more; {
			err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
				list, err := tx.Permits.Ending(ctx, days, remindAtOnce)
				if err != nil {
					return p, nil, err
				}
				for _, one := range list {
					if err := remind(ctx, tx, one); err != nil {
						return p, nil, err
					}
					if err := tx.Permits.SetReminded(ctx, one.ID, days); err != nil {
						return p, nil, err
					}
				}
				more = len(list) == remindAtOnce
				return exchange.Progress{Note: "reminding"}, nil, nil
			})
			if err != nil {
				return err
			}
		}
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return nil, nil })
}

// remind notifies whoever keeps a permit, and whoever chose it for a request that is open, that it ends. Nobody is
// notified of what was replaced.
func remind(ctx context.Context, tx store.Conn, p requirement.Permit) error {
	people, err := tx.Permits.Choosers(ctx, p.ID)
	if err != nil {
		return err
	}
	kept, err := stillKept(ctx, tx, p)
	if err != nil {
		return err
	}
	if kept {
		keepers, err := keepersOf(ctx, tx, p)
		if err != nil {
			return err
		}
		people = append(people, keepers...)
	}
	users, err := tx.Users.ByIDs(ctx, people)
	if err != nil {
		return err
	}
	users = slices.DeleteFunc(users, func(u person.User) bool { return u.Closed })
	if len(users) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(users))
	for i, u := range users {
		ids[i] = u.ID
	}
	n := notify.Announcement{Kind: notify.PermitEnding, Detail: notify.AnnouncementDetail{Permit: p.ID, Name: p.Number,
		Reason: party.Label(p.Regime) + " of " + p.Authority + ", no longer valid from " + string(p.Until) + " on"}}
	if p.Organization != nil {
		n.Organization = *p.Organization
	}
	return notifier.NotifyPeople(ctx, tx, n, ids...)
}

// stillKept reports whether whoever keeps a permit still needs it: they have none that replaces it, and not all of the
// materials that it is limited to are archived. One of a person that was chosen for requests is needed for these alone.
func stillKept(ctx context.Context, tx store.Conn, p requirement.Permit) (bool, error) {
	if p.Organization == nil && p.Institution == nil {
		if used, err := tx.Permits.Used(ctx, p.ID); err != nil || used {
			return false, err
		}
	}
	others, err := tx.Permits.Outlasting(ctx, p.ID)
	if err != nil || slices.ContainsFunc(others, func(o requirement.Permit) bool { return o.Covers(p) }) {
		return false, err
	}
	if len(p.Materials) == 0 {
		return true, nil
	}
	list, err := tx.Materials.ShownByIDs(ctx, p.Materials)
	return slices.ContainsFunc(list, func(m material.Shown) bool { return !m.Archived }), err
}

// keepersOf reads who keeps a permit: the owner of its lab, and whoever added it while they are a member; the officers
// of its institution; or the person.
func keepersOf(ctx context.Context, tx store.Conn, p requirement.Permit) ([]uuid.UUID, error) {
	switch {
	case p.Organization != nil:
		o, err := tx.Organizations.Get(ctx, *p.Organization)
		if err != nil {
			return nil, err
		}
		member, err := tx.Organizations.IsMember(ctx, o.ID, p.Person)
		if member {
			return []uuid.UUID{o.Owner, p.Person}, err
		}
		return []uuid.UUID{o.Owner}, err
	case p.Institution != nil:
		r, err := tx.Institutions.Register(ctx, *p.Institution)
		return r.Officers(exchange.DayOf(tx.Now)), err
	}
	return []uuid.UUID{p.Person}, nil
}
