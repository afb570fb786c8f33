package app

import (
	"context"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Once runs a call that has a key, unless an earlier call had the key: then it returns the response to that one. run
// makes its one change with the App that it is given. The effects of the call and its response commit together, so a
// crash leaves both or neither. run returns the response; if its status means that nothing was done (400 and above),
// the response is kept only if keep reports true. Of two concurrent calls with one key both may run, but only one takes
// effect: usually the duplicate is detected when the response is saved, which costs other calls one statement. long: it
// must be detected before the call runs, since the call takes a file or waits for a source.
func (a *App) Once(ctx context.Context, k exchange.IdempotentCall, long bool,
	run func(a *App) (answer exchange.IdempotentCall, keep bool)) (answer exchange.IdempotentCall,
	replayed bool, err error) {
	if long {
		if answer, err = a.earlier(ctx, k); exchange.CodeOf(err) != exchange.NotFound {
			return answer, true, err
		}
	}
	held := a.DB.DeferCommit()
	defer held.Rollback(ctx) // in case run panics
	answer, keep := run(a.within(held.Tx))
	if !keep {
		return answer, false, nil
	}
	late := false
	err = held.Commit(ctx, func(ctx context.Context, tx store.Conn) error {
		kept, err := tx.IdempotentCalls.Insert(ctx, answer, tx.Now.Add(-core.RetryTime))
		if late = err == nil && !kept; late {
			err = exchange.Errorf(exchange.Conflict, "Another call with this Idempotency-Key came first.")
		}
		return err
	})
	if late {
		answer, err = a.earlier(ctx, k)
	}
	return answer, late, err
}

// earlier returns the call that used the key before; a key must not be reused for a different call.
func (a *App) earlier(ctx context.Context, k exchange.IdempotentCall) (exchange.IdempotentCall, error) {
	c := a.DB.Read()
	earlier, err := c.IdempotentCalls.Get(ctx, k.Caller, k.Key, c.Now.Add(-core.RetryTime))
	if err == nil && earlier.Fingerprint != k.Fingerprint {
		err = core.FieldError("Idempotency-Key",
			"was used for another call (another path or body) in the last 24 hours; use a new one")
	}
	return earlier, err
}
