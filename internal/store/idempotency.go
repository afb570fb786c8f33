package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"
)

// Get reads the call of a caller that has a key since a moment.
func (st IdempotentCalls) Get(ctx context.Context, caller, key string, since time.Time) (exchange.IdempotentCall,
	error) {
	scan := func(r sqldb.Row, k *exchange.IdempotentCall) error {
		err := r.Scan(&k.Caller, &k.Key, &k.Fingerprint, &k.Status, sqldb.FromJSON(&k.Headers), &k.Body)
		if err != nil {
			return err
		}
		secrets, err := st.conn.DB.Key()
		if err == nil {
			k.Body, err = secrets.Open(answerOf(k), k.Body)
		}
		return err
	}
	return sqldb.One(ctx, st.conn, scan, `SELECT caller, key, fingerprint, status, headers, body FROM idempotency_keys
		WHERE caller = $1 AND key = $2 AND created_at > $3`, caller, key, since)
}

// answerOf is the place of an answer. All are sealed, since an answer may have a secret that is shown once.
func answerOf(k *exchange.IdempotentCall) string {
	return "idempotency_keys.body/" + k.Caller + "/" + k.Key
}

// Insert keeps the answer of a call with its key; kept is false where another call of that
// caller since a moment has the key. It waits for such a call that is about to commit.
func (st IdempotentCalls) Insert(ctx context.Context, k exchange.IdempotentCall, since time.Time) (kept bool,
	err error) {
	headers, err := sqldb.JSON(k.Headers)
	if err != nil {
		return false, err
	}
	secrets, err := st.conn.DB.Key()
	if err != nil {
		return false, err
	}
	n, err := st.conn.Exec(ctx, `INSERT INTO idempotency_keys (caller, key, fingerprint, status, headers, body,
		created_at)
		VALUES ($1, $2, $3, $4, $5, `+sqldb.SealedArgument(6, 9)+`, $7)
		ON CONFLICT (caller, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
			headers = excluded.headers, body = excluded.body, created_at = excluded.created_at
		WHERE idempotency_keys.created_at <= $8`, k.Caller, k.Key, k.Fingerprint, k.Status, headers,
		secrets.Seal(answerOf(&k), k.Body), st.conn.Now, since, st.conn.DB.Proof())
	return n == 1, sqldb.SealError(err)
}

// DeleteUntil deletes keys that were stored until a moment.
func (st IdempotentCalls) DeleteUntil(ctx context.Context, until time.Time) error {
	_, err := st.conn.Exec(ctx, "DELETE FROM idempotency_keys WHERE created_at <= $1", until)
	return err
}
