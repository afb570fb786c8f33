package core

import (
	"context"
	"fmt"
	"slices"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// EndLetter ends a letter, which is locked, without execution, and frees its requests.
func EndLetter(ctx context.Context, tx store.Conn, l *letter.Agreement, how letter.Act) (err error) {
	if l.State, err = l.State.After(how); err != nil {
		return err
	}
	l.EndedAt = &tx.Now
	return tx.Agreements.Leave(ctx, l.Letter.RequestIDs()...)
}

// LeaveLetter takes a request that needs no letter any more out of the open letter that it is in, which gets a new
// version for the others, in the same state; without any others it is withdrawn.
func (a *Core) LeaveLetter(ctx context.Context, tx store.Conn, id, request int64) error {
	l, err := tx.Agreements.ForUpdate(ctx, id)
	if err != nil || !l.State.Open() {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(l.Letter.Requests), func(r letter.Request) bool { return r.ID == request })
	if len(others) == 0 {
		l.Reason = "Its last request was closed, or has an agreement on paper."
		if err := EndLetter(ctx, tx, &l, letter.Withdrawing); err != nil {
			return err
		}
		return tx.Agreements.Update(ctx, l)
	}
	library, err := a.Library(ctx, tx)
	if err != nil {
		return err
	}
	i, known := library.Find(l.Letter.Instrument, l.Letter.Edition)
	if !known {
		return fmt.Errorf("letter %s: version %s of %s is not here", l.Letter.Number, l.Letter.Edition,
			l.Letter.Instrument)
	}
	if l.Letter, err = l.Letter.Change(i, others, l.Letter.Fields); err != nil {
		return err
	}
	l.Waits = i.Signers // if it is sent, everybody signs again
	if _, err := tx.Agreements.AddVersion(ctx, id, l.Letter, uuid.Nil); err != nil {
		return err
	}
	if err := tx.Agreements.Leave(ctx, request); err != nil {
		return err
	}
	return tx.Agreements.Update(ctx, l)
}
