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
		if err := signsAlone(k, *a, exchange.ApprovalWrite); err != nil {
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

// signsAlone checks that the caller may sign an approval: by an authority of their own, also if they are an admin.
func signsAlone(k caller, a approval.Approval, action exchange.Action) error {
	needed := a.Authority()
	if slices.ContainsFunc(k.held, func(own party.Authority) bool { return own.MayGrant(needed) }) {
		return nil
	}
	e := exchange.Errorf(exchange.NoAuthority, "A standing approval is signed by an officer, within what one of their "+
		"authorities covers and for no longer than that holds. Yours does not cover this.")
	e.Action = action
	return e
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

// SignApproval signs the version of a standing approval that the caller saw. They sign it as an officer, within what
// they may sign themselves, and signed in: from then on it signs letters.
func (a Institutions) SignApproval(ctx context.Context, who exchange.Actor, id, which int64,
	n approval.SignNew) (signed approval.Approval, err error) {
	if err := n.Validate(true).Err(); err != nil {
		return signed, err
	}
	err = a.Approvals.write(ctx, who, id, func(ctx context.Context, tx store.Conn, who exchange.Actor, k caller) error {
		if err := a.May(ctx, tx, who, exchange.ApprovalSign, k.officer(), object(id)); err != nil {
			return err
		}
		if signed, err = a.Approvals.find(ctx, tx, id, which); err != nil {
			return err
		}
		if who.Scope != "" {
			return exchange.Errorf(exchange.OutOfScope, "A program’s token cannot sign; sign in to do it (%s).",
				exchange.ApprovalSign)
		}
		if err := signsAlone(k, signed, exchange.ApprovalSign); err != nil {
			return err
		}
		if !party.SignedIn.Reaches(k.institution.LeastLevel) {
			return exchange.Errorf(exchange.LevelTooLow, "%s asks for signatures of the level %s or higher.",
				k.institution.LegalName, k.institution.LeastLevel)
		}
		if err := refers(ctx, a.Core, tx, signed); err != nil {
			return err
		}
		u, err := tx.Users.Get(ctx, who.ID)
		if err != nil {
			return err
		}
		library, err := a.Library(ctx, tx)
		if err != nil {
			return err
		}
		today := exchange.DayOf(tx.Now)
		if signed, err = signed.Sign(n.Version.Value, approval.Signature{Officer: u.ID, Identified: u.RegistryID,
			Level: party.SignedIn, On: today, Texts: library.Texts(signed.Families, today)}); err != nil {
			return err
		}
		if err := tx.Institutions.Approvals.Update(ctx, which, signed); err != nil {
			return err
		}
		if signed, err = tx.Institutions.Approvals.Get(ctx, id, which); err != nil {
			return err
		}
		return a.RecordAction(ctx, tx, who, exchange.ApprovalSign, k.officer(), object(id), signed.ID)
	})
	return signed, err
}
