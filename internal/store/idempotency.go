package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"
)

// Retry reads the call of a caller that has a key since a moment.
func (c Conn) Retry(ctx context.Context, caller, key string, since time.Time) (exchange.Retry, error) {
	scan := func(r row, k *exchange.Retry) error {
		return r.Scan(&k.Caller, &k.Key, &k.Fingerprint, &k.Status, fromJSON{&k.Headers}, &k.Body)
	}
	return one(ctx, c, scan, `SELECT caller, key, fingerprint, status, headers, body FROM idempotency_keys
		WHERE caller = $1 AND key = $2 AND created_at > $3`, caller, key, since)
}

// InsertRetry keeps the answer of a call with its key; kept is false where another call of that
// caller since a moment has the key. It waits for such a call that is about to commit.
func (c Conn) InsertRetry(ctx context.Context, k exchange.Retry, since time.Time) (kept bool, err error) {
	headers, err := text(k.Headers)
	if err != nil {
		return false, err
	}
	n, err := c.exec(ctx, `INSERT INTO idempotency_keys (caller, key, fingerprint, status, headers, body, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
			headers = excluded.headers, body = excluded.body, created_at = excluded.created_at
		WHERE idempotency_keys.created_at <= $8`, k.Caller, k.Key, k.Fingerprint, k.Status, headers, k.Body, c.Now, since)
	return n == 1, err
}

// DeleteRetries forgets keys that were kept until a moment.
func (c Conn) DeleteRetries(ctx context.Context, until time.Time) error {
	_, err := c.exec(ctx, "DELETE FROM idempotency_keys WHERE created_at <= $1", until)
	return err
}
