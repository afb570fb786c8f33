package institutions

import (
	"context"

	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/institution"

	"github.com/google/uuid"
)

// Entries are the use cases of what is registered of institutions, of one kind.
type Entries[T party.Described[T]] struct {
	*core.Core
	kind kind[T]
}

// kind is how the entries of a kind are kept, and who may do what with them.
type kind[T party.Described[T]] struct {
	name string // in errors
	rows func(store.Conn) institution.Rows[T]
	read exchange.Action
	// usual returns a new entry as it is before the body of the call is applied.
	usual func(who exchange.Actor, institution int64) T
	// refer checks what an entry names that the relations depend on; nil: they depend on no entry.
	refer func(ctx context.Context, tx store.Conn, entry T) error
	// action and relations are what the policy rules on when an entry is added, or changed; old nil: it is added.
	action    func(old *T) exchange.Action
	relations func(who exchange.Actor, k caller, entry T) exchange.Relation
	// settle checks what an entry refers to and what the caller may set, and completes it.
	settle func(ctx context.Context, c *core.Core, tx store.Conn, who exchange.Actor, k caller, old, entry *T) error
}

// maxEntries is how many entries of a kind an institution has.
const maxEntries = 5000

// List lists the entries of an institution. Of affiliations, others than officers and admins see their own.
func (e Entries[T]) List(ctx context.Context, who exchange.Actor, id int64,
	p exchange.Page) (page exchange.ListPage[T], err error) {
	c := e.DB.Read()
	i, err := c.Institutions.Get(ctx, id)
	if err != nil {
		return page, err
	}
	k := caller{relations: who.Relations()}
	if e.kind.read != exchange.InstitutionRead { // which everybody may
		if k, err = callerOf(ctx, c, who, i); err != nil {
			return page, err
		}
	}
	if err := e.MayRead(ctx, who, e.kind.read, k.officer(), object(id)); err != nil {
		return page, err
	}
	of := uuid.Nil
	if e.kind.read == exchange.AffiliationRead && k.relations&(exchange.OfficerOf|exchange.AdminOf) == 0 {
		of = who.ID
	}
	return e.kind.rows(c).List(ctx, id, of, p)
}

// MayWrite checks, before a form is read, that who may change an entry of an institution, or add one if which is 0: if
// that depends on what is added, it is checked later.
func (e Entries[T]) MayWrite(ctx context.Context, who exchange.Actor, id, which int64) error {
	c := e.DB.Read()
	i, err := c.Institutions.Get(ctx, id)
	if err != nil || which == 0 && e.kind.refer != nil {
		return err
	}
	k, err := callerOf(ctx, c, who, i)
	if err != nil {
		return err
	}
	var old *T
	entry := e.kind.usual(who, id)
	if which != 0 {
		if entry, err = e.find(ctx, c, id, which); err != nil {
			return err
		}
		old = &entry
	}
	_, err = e.Can(who, e.kind.action(old), e.kind.relations(who, k, entry))
	return err
}

// find reads an entry of an institution.
func (e Entries[T]) find(ctx context.Context, c store.Conn, id, which int64) (T, error) {
	entry, err := e.kind.rows(c).Get(ctx, id, which)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = exchange.Errorf(exchange.NotFound, "The institution has no such %s.", e.kind.name)
	}
	return entry, err
}

// Create adds an entry to an institution.
func (e Entries[T]) Create(ctx context.Context, who exchange.Actor, id int64, p party.Patch[T]) (entry T, err error) {
	err = e.write(ctx, who, id, func(ctx context.Context, tx store.Conn, who exchange.Actor, k caller) error {
		var wrong error
		if entry, wrong = p.Patch(e.kind.usual(who, id)); e.kind.refer != nil {
			if wrong != nil {
				return wrong
			}
			if err := e.kind.refer(ctx, tx, entry); err != nil {
				return err
			}
		}
		if err := e.may(ctx, tx, who, k, nil, entry); err != nil {
			return err
		}
		if wrong != nil {
			return wrong
		}
		if n, err := e.kind.rows(tx).Count(ctx, id); err != nil || n >= maxEntries {
			if err == nil {
				err = exchange.Errorf(exchange.Conflict, "An institution has at most %d of these.", maxEntries)
			}
			return err
		}
		if err := e.kind.settle(ctx, e.Core, tx, who, k, nil, &entry); err != nil {
			return err
		}
		added, err := e.kind.rows(tx).Insert(ctx, entry)
		if err == nil {
			entry, err = e.kind.rows(tx).Get(ctx, id, added)
		}
		return err
	})
	return entry, err
}

// Update changes an entry of an institution.
func (e Entries[T]) Update(ctx context.Context, who exchange.Actor, id, which int64, p party.Patch[T],
	match core.IfMatch[core.Untagged]) (entry T, err error) {
	err = e.write(ctx, who, id, func(ctx context.Context, tx store.Conn, who exchange.Actor, k caller) error {
		old, err := e.find(ctx, tx, id, which)
		if err != nil {
			return err
		}
		if err := e.may(ctx, tx, who, k, &old, old); err != nil {
			return err
		}
		if err := match.Check(core.Untagged{}); err != nil {
			return err
		}
		if entry, err = p.Patch(old); err != nil || core.Same(entry, old) {
			return err
		}
		if err := e.kind.settle(ctx, e.Core, tx, who, k, &old, &entry); err != nil {
			return err
		}
		if err := e.kind.rows(tx).Update(ctx, which, entry); err != nil {
			return err
		}
		entry, err = e.kind.rows(tx).Get(ctx, id, which)
		return err
	})
	return entry, err
}

// write changes what is registered of an institution, which is locked, so that the caller's authority holds until
// commit.
func (e Entries[T]) write(ctx context.Context, who exchange.Actor, id int64,
	do func(ctx context.Context, tx store.Conn, who exchange.Actor, k caller) error) error {
	return e.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		i, err := tx.Institutions.ForUpdate(ctx, id)
		if err != nil {
			return err
		}
		k, err := callerOf(ctx, tx, who, i)
		if err != nil {
			return err
		}
		return do(ctx, tx, who, k)
	})
}

// may checks that who may add or change an entry, and records it.
func (e Entries[T]) may(ctx context.Context, tx store.Conn, who exchange.Actor, k caller, old *T, entry T) error {
	action, rel := e.kind.action(old), e.kind.relations(who, k, entry)
	if err := e.May(ctx, tx, who, action, rel, object(k.institution.ID)); err != nil {
		return err
	}
	return e.RecordAction(ctx, tx, who, action, rel, object(k.institution.ID), e.kind.name)
}
