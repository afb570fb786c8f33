package app

import (
	"cmp"
	"context"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// usualWait is how many days a turn may take before a request counts as stuck, if no escalation is configured.
const usualWait = 28

// StuckAfter returns how many days a turn may take before a request counts as stuck.
func (a *App) StuckAfter() int { return cmp.Or(int(a.Escalation), usualWait) }

// mayAdminister checks that who may see the state of the installation, and records that they looked at it.
func (a *App) mayAdminister(ctx context.Context, who exchange.Actor, object string) error {
	return a.MayRead(ctx, who, exchange.AdminRead, who.ToUser(who.ID), object)
}

// Overview returns the state of the installation; for admins.
func (a *App) Overview(ctx context.Context, who exchange.Actor) (exchange.Overview, error) {
	if err := a.mayAdminister(ctx, who, "overview"); err != nil {
		return exchange.Overview{}, err
	}
	c := a.DB.Read()
	return c.Admin.Overview(ctx, c.Now.AddDate(0, 0, -a.StuckAfter()))
}

// StuckRequests lists the requests that have waited too long for somebody; for admins.
func (a *App) StuckRequests(ctx context.Context, who exchange.Actor, p exchange.Page,
	f request.StuckFilter) (exchange.ListPage[transfer.InboxItem], error) {
	if err := a.mayAdminister(ctx, who, "stuck requests"); err != nil {
		return exchange.ListPage[transfer.InboxItem]{}, err
	}
	part, err := a.DB.Read().Admin.StuckRequests(ctx, p, f)
	if err != nil {
		return exchange.ListPage[transfer.InboxItem]{}, err
	}
	items, err := a.Requests.InboxItems(ctx, who, part.Items)
	return exchange.ListPage[transfer.InboxItem]{Items: items, Total: part.Total, Next: part.Next}, err
}

// FailedMail lists the notifications whose mail failed; for admins.
func (a *App) FailedMail(ctx context.Context, who exchange.Actor,
	p exchange.Page) (exchange.ListPage[notify.FailedMail], error) {
	if err := a.mayAdminister(ctx, who, "mail that failed"); err != nil {
		return exchange.ListPage[notify.FailedMail]{}, err
	}
	return a.DB.Read().Admin.FailedMail(ctx, p)
}

// Users finds users by their names and registry ids, and shows what only admins see, such as who is an admin. admins
// restricts the result to admins.
func (a *App) Users(ctx context.Context, who exchange.Actor, s exchange.Search,
	admins bool) (catalog.Results[core.UserView], error) {
	if err := a.mayAdminister(ctx, who, "users"); err != nil {
		return catalog.Results[core.UserView]{}, err
	}
	if !admins {
		return a.Materials.SearchUsers(ctx, s)
	}
	c := a.DB.Read()
	list, err := c.Users.Admins(ctx)
	if err != nil {
		return catalog.Results[core.UserView]{}, err
	}
	views, err := catalog.ShowUsers(ctx, c, list)
	return catalog.ResultsOf(exchange.SearchResult[person.User]{Count: exchange.Count{N: int64(len(list))}}, views), err
}

// OrganizationsToAdmin finds organizations; for admins.
func (a *App) OrganizationsToAdmin(ctx context.Context, who exchange.Actor,
	s exchange.Search) (catalog.Results[core.OrganizationView], error) {
	if err := a.mayAdminister(ctx, who, "organizations"); err != nil {
		return catalog.Results[core.OrganizationView]{}, err
	}
	return a.Materials.SearchOrganizations(ctx, s)
}

// MakeAdmin makes a user an admin, or no longer one. Admins cannot remove themselves, so that one always remains.
func (a *App) MakeAdmin(ctx context.Context, who exchange.Actor, user uuid.UUID, admin bool) (person.User, error) {
	var u person.User
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		_, err := a.Can(who, exchange.UserAdmin, who.ToUser(user))
		if err != nil {
			return err
		}
		if u, err = tx.Users.ForUpdate(ctx, user); err != nil || u.Admin == admin {
			return err
		}
		if err := u.Present(); err != nil {
			return err
		}
		if who.Is(user) {
			return exchange.Errorf(exchange.Conflict, "You cannot revoke your own admin role; another admin can.")
		}
		if err := tx.Actors.LockAdmin(ctx, user); err != nil {
			return err
		}
		u.Admin, u.UpdatedAt = admin, tx.Now
		if err := tx.Users.Update(ctx, u); err != nil {
			return err
		}
		return tx.Audit.Insert(ctx, &who.ID, exchange.UserAdmin, core.Object("user", user), true,
			map[string]bool{"admin": admin})
	})
	return u, err
}

// JobOf reads a job and the user who requested it; nil means Aliquot itself.
func (a *App) JobOf(ctx context.Context, who exchange.Actor, id int64) (exchange.Job, *person.User, error) {
	j, err := a.Job(ctx, who, id)
	if err != nil || j.User == nil {
		return j, nil, err
	}
	u, err := a.DB.Read().Users.Get(ctx, *j.User)
	return j, &u, err
}

// JobsToAdmin lists everybody's jobs and the users who requested them, by user id; for admins.
func (a *App) JobsToAdmin(ctx context.Context, who exchange.Actor, p exchange.Page,
	f exchange.JobFilter) (exchange.ListPage[exchange.Job], map[uuid.UUID]person.User, error) {
	f.All = new(true)
	part, err := a.Jobs(ctx, who, p, f)
	if err != nil {
		return part, nil, err
	}
	var ids []uuid.UUID
	for _, j := range part.Items {
		if j.User != nil {
			ids = append(ids, *j.User)
		}
	}
	users, err := a.DB.Read().Users.ByIDs(ctx, ids)
	byID := map[uuid.UUID]person.User{}
	for _, u := range users {
		byID[u.ID] = u
	}
	return part, byID, err
}

// LongWaiting returns the filter for requests that count as stuck.
func (a *App) LongWaiting() request.StuckFilter {
	return request.StuckFilter{Before: new(a.DB.Read().Now.AddDate(0, 0, -a.StuckAfter()))}
}
