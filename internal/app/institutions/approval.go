package institutions

import (
	"context"
	"slices"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/institution"

	"github.com/google/uuid"
)

var approvals = kind[approval.Approval]{
	name: "standing approval", read: exchange.AuthorityRead,
	rows: func(c store.Conn) institution.Rows[approval.Approval] { return c.Institutions.Approvals },
	usual: func(who exchange.Actor, id int64) approval.Approval {
		return approval.New(id, who.ID)
	},
	action: always[approval.Approval](exchange.ApprovalWrite), relations: ofOfficer[approval.Approval],
	settle: func(ctx context.Context, c *core.Core, tx store.Conn, who exchange.Actor, k caller,
		old, a *approval.Approval) error {
		if old != nil && old.SignedOn != "" {
			return withdraws(who, k, *old, *a, exchange.DayOf(tx.Now))
		}
		if a.Officer = who.ID; old != nil {
			a.Version++
		}
		if _, err := signsAlone(k, *a, exchange.ApprovalWrite); err != nil {
			return err
		}
		return refers(ctx, c, tx, *a)
	},
}

// withdraws checks a change of an approval that was signed: it is withdrawn by who signed it, by officers who could
// sign it, and by admins, from today or a later day on. From that day on nothing changes any more.
func withdraws(who exchange.Actor, k caller, old, a approval.Approval, today exchange.Date) error {
	other := a
	other.WithdrawnOn = old.WithdrawnOn
	switch {
	case !core.Same(other, old):
		return exchange.Errorf(exchange.Conflict, "It is signed, so that only withdrawn_on may change. Withdraw it, "+
			"and make another one.")
	case old.WithdrawnOn != "" && old.WithdrawnOn <= today:
		return exchange.Errorf(exchange.Conflict, "It was withdrawn on %s. Make another one.", old.WithdrawnOn)
	case a.WithdrawnOn != "" && a.WithdrawnOn < today:
		return core.FieldError("withdrawn_on", "must be %s or later: what it signed stays signed", today)
	case who.Is(old.Officer):
		return nil
	}
	return reaches(k, old.Authority())
}

// signsAlone returns the authority by which the caller may sign an approval: one of their own, also if they are an
// admin.
func signsAlone(k caller, a approval.Approval, action exchange.Action) (party.Authority, error) {
	needed := a.Authority()
	i := slices.IndexFunc(k.held, func(own party.Authority) bool { return own.MayGrant(needed) })
	if i >= 0 {
		return k.held[i], nil
	}
	e := exchange.Errorf(exchange.NoAuthority, "A standing approval is signed by an officer, within what one of their "+
		"authorities covers and for no longer than that holds. Yours does not cover this.")
	e.Action = action
	return party.Authority{}, e
}

// refers checks that what an approval names exists: families of instruments, institutions, and people who are at this
// one today.
func refers(ctx context.Context, c *core.Core, tx store.Conn, a approval.Approval) error {
	var f exchange.FieldErrors
	library, err := c.Library(ctx, tx)
	if err != nil {
		return err
	}
	for _, family := range a.Families {
		if !library.HasFamily(family) {
			f.Add("families", "there is no family %s; GET /instruments lists them", family)
		}
	}
	names, err := tx.Institutions.Names(ctx, a.Counterparties)
	if err != nil {
		return err
	}
	for _, id := range a.Counterparties {
		if names[id] == "" {
			f.Add("counterparties", "there is no institution with the id %d", id)
		}
	}
	var people []party.Affiliation
	if len(a.Members) > 0 {
		if people, err = tx.Institutions.Affiliations.Of(ctx, a.Institution); err != nil {
			return err
		}
	}
	for _, member := range a.Members {
		at, _ := party.Affiliated(people, uuid.MustParse(member), a.Institution, exchange.DayOf(tx.Now))
		if !at {
			f.Add("members", "%s is not at this institution today", member)
		}
	}
	return f.Err()
}
