package app

import (
	"context"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Closing is what closing an account would do.
type Closing struct {
	HandOver []exchange.Organization // labs that others are in too, which need another owner first
	Closes   []exchange.Organization // labs that nobody else is in, which close with the account
	Open     int                     // requests of theirs that are under way
}

// Closing reads what closing the account of who would do.
func (a *App) Closing(ctx context.Context, who exchange.Actor) (v Closing, err error) {
	if err := a.mayRead(ctx, who, exchange.UserClose, who.ToUser(who.ID), object("user", who.ID)); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.HandOver, v.Closes, _, err = ownLabs(ctx, c, who.ID); err != nil {
		return v, err
	}
	open, err := c.OpenRequests(ctx, who.ID)
	v.Open = len(open)
	return v, err
}

// ownLabs are the labs of a user: those that they own with others in them, those that are theirs alone, and the rest.
func ownLabs(ctx context.Context, c store.Conn, user uuid.UUID) (shared, alone, others []exchange.Organization, err error) {
	labs, err := c.OrganizationsOf(ctx, user)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, o := range labs {
		if o.Owner != user {
			others = append(others, o)
			continue
		}
		members, err := c.Members(ctx, o.ID)
		if err != nil {
			return nil, nil, nil, err
		}
		if len(members) > 1 {
			shared = append(shared, o)
		} else {
			alone = append(alone, o)
		}
	}
	return shared, alone, others, nil
}

// CloseAccount takes from a user what is theirs alone, and leaves what both sides of a transfer need under "closed account". Labs
// that others are in need another owner first. Closing what is closed changes nothing.
func (a *App) CloseAccount(ctx context.Context, who exchange.Actor, user uuid.UUID) error {
	return a.write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := tx.LockAdmin(ctx, user); err != nil {
			return err
		}
		u, err := tx.UserForUpdate(ctx, user)
		if err != nil {
			return err
		}
		if err := a.may(ctx, tx, who, exchange.UserClose, who.ToUser(user), object("user", user)); err != nil {
			return err
		}
		closed, err := tx.Closed(ctx, user)
		if err != nil || closed {
			return err
		}
		return a.closeAccount(ctx, tx, u)
	})
}

func (a *App) closeAccount(ctx context.Context, tx store.Conn, u exchange.User) error {
	shared, alone, others, err := ownLabs(ctx, tx, u.ID)
	if err != nil {
		return err
	}
	if len(shared) > 0 {
		labs := make([]map[string]any, len(shared))
		for i, o := range shared {
			labs[i] = map[string]any{"id": o.ID, "name": o.Name}
		}
		return exchange.Fail(exchange.Conflict, "You own labs that others are in too. Transfer their ownership first.").With("organizations", labs)
	}
	open, err := tx.OpenRequests(ctx, u.ID)
	if err != nil {
		return err
	}
	self := exchange.Actor{ID: u.ID}
	for _, id := range open {
		if err := a.endRequest(ctx, tx, self, id, exchange.Roles{Requester: true}, exchange.Cancelled); err != nil {
			return err
		}
	}
	gone := map[int64]string{}
	for _, o := range alone {
		if err := a.closeLab(ctx, tx, self, o); err != nil {
			return err
		}
		gone[o.ID] = object("organization", o.ID)
	}
	for _, o := range others {
		if err := a.leaveLab(ctx, tx, self, o); err != nil {
			return err
		}
	}
	now := u
	now.FirstName, now.LastName, now.Email, now.VerifiedEmail, now.Admin = "", exchange.ClosedName, "", "", false
	now.RegistryID = "closed:" + u.ID.String()
	now.Username = now.RegistryID
	if err := saveUser(ctx, tx, u, now); err != nil {
		return err
	}
	if err := tx.Forget(ctx, u); err != nil {
		return err
	}
	if err := tx.InsertAudit(ctx, &u.ID, exchange.UserClose, object("user", u.ID), false, nil); err != nil {
		return err
	}
	return tx.ForgetVersions(ctx, u, gone)
}

// endRequest ends a request that is under way: it becomes to where a side can still say so, and is closed else.
func (a *App) endRequest(ctx context.Context, tx store.Conn, who exchange.Actor, id int64, as exchange.Roles, to exchange.Status) error {
	q, err := tx.RequestForUpdate(ctx, id)
	if err != nil {
		return err
	}
	p := exchange.RequestPatch{Status: exchange.Some(to)}
	if !slices.Contains(exchange.Moves(as, q.Status), to) {
		as, p = exchange.Roles{Requester: as.Requester, Member: true}, exchange.RequestPatch{Active: exchange.Some(false)}
	}
	after, events, err := q.Apply(as, who.ID, p, q.Address, q.Terms, tx.Now)
	if err != nil || len(events) == 0 {
		return err
	}
	return a.keep(ctx, tx, &q, after, as, events)
}

// closeLab ends what is under way in a lab that nobody is left in, archives its materials and takes its name.
func (a *App) closeLab(ctx context.Context, tx store.Conn, who exchange.Actor, o exchange.Organization) error {
	open, err := tx.OpenRequestsOf(ctx, o.ID)
	if err != nil {
		return err
	}
	for _, id := range open {
		if err := a.endRequest(ctx, tx, who, id, exchange.Roles{Member: true}, exchange.Rejected); err != nil {
			return err
		}
	}
	old, err := tx.MaterialsOn(ctx, o.ID)
	if err != nil {
		return err
	}
	list, asAdmin := slices.Clone(old), map[int64]bool{}
	for i := range list {
		list[i].Archived, asAdmin[list[i].ID] = true, false
	}
	if err := saveMaterials(ctx, tx, old, list); err != nil {
		return err
	}
	if err := keepMaterials(ctx, tx, who, asAdmin); err != nil {
		return err
	}
	if err := tx.EndLab(ctx, o.ID); err != nil {
		return err
	}
	o.Name, o.Description = exchange.ClosedLab, ""
	if err := tx.UpdateOrganization(ctx, o); err != nil {
		return err
	}
	return renamed(ctx, tx, exchange.Renamed{Organization: o.ID})
}

// leaveLab takes who out of a lab; their requests there go to its owner.
func (a *App) leaveLab(ctx context.Context, tx store.Conn, who exchange.Actor, o exchange.Organization) error {
	o, err := tx.OrganizationForUpdate(ctx, o.ID)
	if err != nil {
		return err
	}
	v, err := showOrganization(ctx, tx, o)
	if err != nil {
		return err
	}
	if _, err := tx.SetMembers(ctx, o.ID, slices.DeleteFunc(v.memberIDs(), func(m uuid.UUID) bool { return m == who.ID })); err != nil {
		return err
	}
	if err := a.handOver(ctx, tx, who, o, who.ID); err != nil {
		return err
	}
	if v, err = showOrganization(ctx, tx, o); err != nil {
		return err
	}
	return keepOrganization(ctx, tx, who, exchange.OrganizationLeave, false, v)
}
