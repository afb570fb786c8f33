package app

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// retryTime is how long the answer to an Idempotency-Key is kept (contract.md section 1).
const retryTime = 24 * time.Hour

// Claim takes the key of a call before it runs. Where an earlier call has it, Claim gives its
// answer, or a Conflict while it is under way; a key is one call's only. A call that a crash cut
// off keeps its key, since nobody knows whether it took effect.
func (a *App) Claim(ctx context.Context, k exchange.Retry) (earlier exchange.Retry, claimed bool, err error) {
	err = a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		claimed, err = tx.ClaimKey(ctx, k, tx.Now.Add(-retryTime))
		if err == nil && !claimed {
			earlier, err = tx.Retry(ctx, k.Caller, k.Key)
		}
		return err
	})
	switch {
	case exchange.CodeOf(err) == exchange.NotFound || err == nil && !claimed && earlier.Status == 0 && earlier.Fingerprint == k.Fingerprint:
		err = exchange.Fail(exchange.Conflict, "The first call with this Idempotency-Key is under way, or was cut off; see whether it took effect.")
	case err == nil && !claimed && earlier.Fingerprint != k.Fingerprint:
		err = fault("Idempotency-Key", "was used for another call (another path or body) in the last 24 hours; take a new one")
	}
	return earlier, claimed, err
}

// Keep keeps the answer of a call that Claim let run, for whoever sends it again.
func (a *App) Keep(ctx context.Context, k exchange.Retry) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error { return tx.SaveRetry(ctx, k) })
}

// Release gives the key of a call back, so that it may run again.
func (a *App) Release(ctx context.Context, k exchange.Retry) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error { return tx.ReleaseKey(ctx, k.Caller, k.Key) })
}
