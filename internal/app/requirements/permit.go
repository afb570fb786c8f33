package requirements

import (
	"context"
	"slices"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// The largest numbers of permits.
const (
	maxPermits   = 1000 // that a person adds
	maxOfRequest = 50   // that are used for a request
)

// permitObject names a permit in audit events.
func permitObject(id int64) string { return core.Object("permit", id) }

// Permits lists the permits of the caller, of their labs and of their institutions, newest first, or those that are
// used for a request. An admin sees all.
func (a Requirements) Permits(ctx context.Context, who exchange.Actor, by requirement.PermitFilter,
	p exchange.Page) (page exchange.ListPage[requirement.Permit], err error) {
	rel := who.Relations()
	if err := a.MayRead(ctx, who, exchange.PermitList, rel, "permits"); err != nil {
		return page, err
	}
	c := a.DB.Read()
	if by.Request != nil {
		q, err := c.Requests.Get(ctx, *by.Request)
		if err != nil {
			return page, core.Refer(err, "request", *by.Request)
		}
		if err := a.MayRead(ctx, who, exchange.RequestRead, q.RelationsOf(who, q.Organization),
			core.Object("request", q.ID)); err != nil {
			return page, err
		}
		return c.Permits.UsedFor(ctx, q.ID, p)
	}
	if who.Admin {
		if err := a.MayRead(ctx, who, exchange.PermitRead, rel, "permits"); err != nil {
			return page, err
		}
	}
	own, err := core.PlacesOf(ctx, c, who)
	if err != nil {
		return page, err
	}
	return c.Permits.List(ctx, own.Holders(who), p)
}

// Permit reads a permit that who may read: its holder, and the parties of requests that use it.
func (a Requirements) Permit(ctx context.Context, who exchange.Actor, id int64) (p requirement.Permit, err error) {
	c := a.DB.Read()
	if p, err = c.Permits.Get(ctx, id); err != nil {
		return p, err
	}
	rel, err := core.PermitRelations(ctx, c, who, p)
	if err != nil {
		return p, err
	}
	return p, core.Unseen(a.MayRead(ctx, who, exchange.PermitRead, rel, permitObject(id)))
}

// AddPermit adds a permit of the caller, of their lab, or of an institution of which they are an officer.
func (a Requirements) AddPermit(ctx context.Context, who exchange.Actor,
	body requirement.PermitPatch) (p requirement.Permit, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		p, err = a.addPermit(ctx, tx, who, body)
		return err
	})
	return p, err
}

func (a Requirements) addPermit(ctx context.Context, tx store.Conn, who exchange.Actor,
	body requirement.PermitPatch) (p requirement.Permit, err error) {
	p, wrong := body.Patch(requirement.Permit{Person: who.ID, Materials: []int64{}, Categories: []string{},
		Institutions: []int64{}})
	if err := a.lockHolder(ctx, tx, p); err != nil {
		return p, err
	}
	own, err := core.PlacesOf(ctx, tx, who)
	if err != nil {
		return p, err
	}
	rel := own.RelationsTo(who, p)
	if err := a.May(ctx, tx, who, exchange.PermitWrite, rel, "permit"); err != nil {
		return p, err
	}
	if wrong != nil {
		return p, wrong
	}
	if n, err := tx.Permits.Count(ctx, who.ID); err != nil || n >= maxPermits {
		if err == nil {
			err = exchange.Errorf(exchange.Conflict, "A person adds at most %d permits.", maxPermits)
		}
		return p, err
	}
	if err := a.settlePermit(ctx, tx, who, requirement.Permit{}, p); err != nil {
		return p, err
	}
	p.CreatedAt, p.UpdatedAt = tx.Now, tx.Now
	if p.ID, err = tx.Permits.Insert(ctx, p); err != nil {
		return p, err
	}
	return p, a.RecordAction(ctx, tx, who, exchange.PermitWrite, rel, permitObject(p.ID), nil)
}

// lockHolder locks what the right to a permit depends on until commit.
func (a Requirements) lockHolder(ctx context.Context, tx store.Conn, p requirement.Permit) (err error) {
	if p.Organization != nil {
		_, err = tx.Organizations.Get(ctx, *p.Organization)
		return core.Refer(err, "organization", *p.Organization)
	}
	if p.Institution != nil {
		_, err = tx.Institutions.ForUpdate(ctx, *p.Institution)
		return core.Refer(err, "institution", *p.Institution)
	}
	_, err = tx.Users.ForUpdate(ctx, p.Person) // so that the number of their permits holds
	return err
}

// ChangePermit changes a permit. Whose it is stays as it is.
func (a Requirements) ChangePermit(ctx context.Context, who exchange.Actor, id int64, body requirement.PermitPatch,
	match core.IfMatch[requirement.Permit]) (p requirement.Permit, err error) {
	err = a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		old, err := tx.Permits.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		if err := a.lockHolder(ctx, tx, old); err != nil {
			return err
		}
		own, err := core.PlacesOf(ctx, tx, who)
		if err != nil {
			return err
		}
		rel := own.RelationsTo(who, old)
		if err := core.Unseen(a.May(ctx, tx, who, exchange.PermitWrite, rel, permitObject(id))); err != nil {
			return err
		}
		if err := match.Check(old); err != nil {
			return err
		}
		if p, err = body.Patch(old); err != nil {
			return err
		}
		if p.Organization, p.Institution = old.Organization, old.Institution; core.Same(p, old) {
			return nil
		}
		if err := a.settlePermit(ctx, tx, who, old, p); err != nil {
			return err
		}
		p.UpdatedAt = tx.Now
		if err := tx.Permits.Update(ctx, p); err != nil {
			return err
		}
		if p.Until != old.Until {
			if err := tx.Permits.SetReminded(ctx, id, 0); err != nil {
				return err
			}
		}
		return a.RecordAction(ctx, tx, who, exchange.PermitWrite, rel, permitObject(id), nil)
	})
	return p, err
}

// settlePermit looks up what a new or changed permit refers to.
func (a Requirements) settlePermit(ctx context.Context, tx store.Conn, who exchange.Actor,
	old, p requirement.Permit) error {
	var f exchange.FieldErrors
	materials, err := tx.Materials.ShownByIDs(ctx, p.Materials)
	if err != nil {
		return err
	}
	for _, id := range p.Materials {
		i := slices.IndexFunc(materials, func(m material.Shown) bool { return m.ID == id })
		if !slices.Contains(old.Materials, id) && (i < 0 || a.Hides(who, materials[i].Material, tx.Now)) {
			f.Add("materials", "there is no material with the id %d", id)
		}
	}
	names, err := tx.Institutions.Names(ctx, p.Institutions)
	if err != nil {
		return err
	}
	for _, id := range p.Institutions {
		if _, known := names[id]; !known {
			f.Add("institutions", "there is no institution with the id %d", id)
		}
	}
	if p.Document == nil || core.Same(p.Document, old.Document) {
		return f.Err()
	}
	t, err := tx.Attachments.ForUpdate(ctx, *p.Document)
	if err != nil && exchange.CodeOf(err) != exchange.NotFound {
		return err
	}
	if ok, _ := a.Policy().Can(exchange.AttachmentUpdate, t.RelationsOf(who, false, false)); err != nil || !ok {
		f.Add("document", "there is no attachment of yours with the id %d", *p.Document)
		return f.Err()
	}
	if err := f.Err(); err != nil || p.Organization == nil || t.OwnedByOrg != nil {
		return err
	}
	filed := t
	filed.File(*p.Organization)
	return a.MoveAttachment(ctx, tx, t, filed)
}

// UsePermit uses a permit of the caller's side for a request; existed reports whether it was used already. The permit
// counts for what it covers on a day, and the other side of the request may read it.
func (a Requirements) UsePermit(ctx context.Context, who exchange.Actor, request int64,
	use requirement.PermitUse) (p requirement.Permit, existed bool, err error) {
	if err := use.Validate(true).Err(); err != nil {
		return p, false, err
	}
	err = a.forRequest(ctx, who, request, func(ctx context.Context, tx store.Conn, who exchange.Actor,
		t requirement.Transfer) error {
		id := int64(use.Permit.Value)
		p, err = tx.Permits.Get(ctx, id)
		if err == nil {
			var own core.Places
			if own, err = core.PlacesOf(ctx, tx, who); err == nil {
				err = core.Unseen(a.May(ctx, tx, who, exchange.PermitUse, own.RelationsTo(who, p), permitObject(id)))
			}
		}
		if err != nil {
			return core.Refer(err, "permit", id)
		}
		existed, err = a.usePermit(ctx, tx, who, request, p, t)
		return err
	})
	return p, existed, err
}

// usePermit is UsePermit for a permit of the caller's side and a request that is locked.
func (a Requirements) usePermit(ctx context.Context, tx store.Conn, who exchange.Actor, request int64,
	p requirement.Permit, t requirement.Transfer) (existed bool, err error) {
	if outside := p.Outside(t); outside != "" {
		return false, core.FieldError("permit", "is limited to other %s than those of this request", outside)
	}
	if p.Expired(exchange.DayOf(tx.Now)) {
		return false, core.FieldError("permit", "is no longer valid since %s; add the one that replaces it", p.Until)
	}
	if len(t.Permits) >= maxOfRequest {
		return false, exchange.Errorf(exchange.Conflict, "At most %d permits are used for a request.", maxOfRequest)
	}
	added, err := tx.Permits.Use(ctx, request, p.ID, who.ID)
	return !added, err
}

// ReleasePermit no longer uses a permit for a request.
func (a Requirements) ReleasePermit(ctx context.Context, who exchange.Actor, request, permit int64,
	match core.IfMatch[core.Untagged]) error {
	return a.forRequest(ctx, who, request, func(ctx context.Context, tx store.Conn, who exchange.Actor,
		_ requirement.Transfer) error {
		p, err := tx.Permits.Get(ctx, permit)
		if err != nil {
			return err
		}
		own, err := core.PlacesOf(ctx, tx, who)
		if err != nil {
			return err
		}
		if err := core.Unseen(a.May(ctx, tx, who, exchange.PermitUse, own.RelationsTo(who, p),
			permitObject(permit))); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		return tx.Permits.Release(ctx, request, permit)
	})
}

// forRequest changes which permits are used for an open request, which is locked, by one of its parties.
func (a Requirements) forRequest(ctx context.Context, who exchange.Actor, id int64,
	do func(context.Context, store.Conn, exchange.Actor, requirement.Transfer) error) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		q, err := tx.Requests.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		rel, object := q.RelationsOf(who, q.Organization), core.Object("request", id)
		if err := a.May(ctx, tx, who, exchange.RequestUpdate, rel, object); err != nil {
			return err
		}
		if !q.Active {
			return exchange.Errorf(exchange.RequestClosed, "This request is closed, so its permits stay as they are.")
		}
		t, err := a.transferOf(ctx, tx, q)
		if err != nil {
			return err
		}
		if err := do(ctx, tx, who, t); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.PermitUse, rel, object, nil)
	})
}
