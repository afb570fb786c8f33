package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"
)

// ClaimKey takes an idempotency key for a call; claimed is false where another call of that
// caller since a moment has it.
func (c Conn) ClaimKey(ctx context.Context, k exchange.Retry, since time.Time) (claimed bool, err error) {
	n, err := c.exec(ctx, `INSERT INTO idempotency_keys (caller, key, fingerprint, status, headers, body, created_at)
		VALUES ($1, $2, $3, 0, '{}', '', $4)
		ON CONFLICT (caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = 0, headers = '{}', body = '', created_at = excluded.created_at
		WHERE idempotency_keys.created_at <= $5`, k.Caller, k.Key, k.Fingerprint, c.Now, since)
	return n == 1, err
}

// Retry reads what became of the call that has a key.
func (c Conn) Retry(ctx context.Context, caller, key string) (exchange.Retry, error) {
	scan := func(r row, k *exchange.Retry) error {
		return r.Scan(&k.Caller, &k.Key, &k.Fingerprint, &k.Status, fromJSON{&k.Headers}, &k.Body)
	}
	return one(ctx, c, scan, "SELECT caller, key, fingerprint, status, headers, body FROM idempotency_keys WHERE caller = $1 AND key = $2", caller, key)
}

// SaveRetry keeps the answer of a call with its key.
func (c Conn) SaveRetry(ctx context.Context, k exchange.Retry) error {
	headers, err := text(k.Headers)
	if err != nil {
		return err
	}
	_, err = c.exec(ctx, "UPDATE idempotency_keys SET status = $3, headers = $4, body = $5 WHERE caller = $1 AND key = $2",
		k.Caller, k.Key, k.Status, headers, k.Body)
	return err
}

// ReleaseKey gives a key back that was claimed.
func (c Conn) ReleaseKey(ctx context.Context, caller, key string) error {
	_, err := c.exec(ctx, "DELETE FROM idempotency_keys WHERE caller = $1 AND key = $2", caller, key)
	return err
}

// DeleteRetries forgets keys that were claimed until a moment.
func (c Conn) DeleteRetries(ctx context.Context, until time.Time) error {
	_, err := c.exec(ctx, "DELETE FROM idempotency_keys WHERE created_at <= $1", until)
	return err
}
