package store

import (
	"context"
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/store/delivery"
	"aliquot/internal/store/sqldb"
)

func secretPlace(name string) string { return "secrets.value/" + name }

// Get returns the secret of a name. The first one who asks has candidate kept as it; everybody, also other processes,
// is given that one from then on.
func (st Secrets) Get(ctx context.Context, name, candidate string) (string, error) {
	key, err := st.conn.DB.Key()
	if err != nil {
		return "", err
	}
	sealed, err := sqldb.One(ctx, st.conn, sqldb.Value[string],
		"INSERT INTO secrets (name, value, created_at) VALUES ($1, "+
			sqldb.SealedArgument(2, 4)+`, $3)
		ON CONFLICT (name) DO UPDATE
		SET name = excluded.name RETURNING value`, name, key.Seal(secretPlace(name), candidate), st.conn.Now,
		st.conn.DB.Proof())
	if err != nil {
		return "", sqldb.SealError(err)
	}
	return key.Open(secretPlace(name), sealed)
}

// Known returns the secret of a name; NotFound where nobody asked Secret for it.
func (st Secrets) Known(ctx context.Context, name string) (string, error) {
	key, err := st.conn.DB.Key()
	if err != nil {
		return "", err
	}
	sealed, err := st.stored(ctx, name)
	if err != nil {
		return "", err
	}
	return key.Open(secretPlace(name), sealed)
}

// store returns the value of a name, which is candidate if there was none.
func (st Secrets) store(ctx context.Context, name, candidate string) (string, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[string], `INSERT INTO secrets (name, value, created_at) VALUES ($1,
		$2, $3)
		ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING value`, name, candidate, st.conn.Now)
}

// stored returns the value of a name.
func (st Secrets) stored(ctx context.Context, name string) (string, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[string], "SELECT value FROM secrets WHERE name = $1", name)
}

// Sealed reports whether a key is in use already. The database is migrated by then.
func (db *DB) Sealed(ctx context.Context) (bool, error) {
	_, err := db.Read().Secrets.stored(ctx, sqldb.KeyProof)
	if exchange.CodeOf(err) == exchange.NotFound {
		return false, nil
	}
	return err == nil, err
}

// Opens reports whether k is the key of a migrated database.
func (db *DB) Opens(ctx context.Context, k *sqldb.Key) (bool, error) {
	proof, err := db.Read().Secrets.stored(ctx, sqldb.KeyProof)
	if exchange.CodeOf(err) == exchange.NotFound {
		return false, nil
	}
	return err == nil && proved(k, proof) == nil, err
}

// Unlock gives a migrated database the key of its secrets, and seals those that an older program kept in clear. The
// first key that comes stays the one: with another it returns ErrOtherKey and changes nothing.
func (db *DB) Unlock(ctx context.Context, k *sqldb.Key) error {
	proof, err := db.Read().Secrets.stored(ctx, sqldb.KeyProof)
	if exchange.CodeOf(err) == exchange.NotFound {
		return db.sealFirst(ctx, k)
	}
	if err == nil {
		err = proved(k, proof)
	}
	if err == nil {
		db.UseProvedKey(k, proof)
	}
	return err
}

// proved reports by the row that proves a key whether k is the one.
func proved(k *sqldb.Key, proof string) error {
	if _, err := k.Open(secretPlace(sqldb.KeyProof), proof); err != nil {
		return sqldb.ErrOtherKey
	}
	return nil
}

// sealFirst keeps a proof of the key and seals all that is in clear.
func (db *DB) sealFirst(ctx context.Context, k *sqldb.Key) error {
	return db.Erasing(ctx, func(ctx context.Context, tx Conn) error {
		proof, err := tx.Secrets.store(ctx, sqldb.KeyProof, k.Seal(secretPlace(sqldb.KeyProof), sqldb.KeyProof))
		if err == nil {
			err = proved(k, proof) // another process may have been faster, with another key
		}
		if err != nil {
			return err
		}
		db.UseProvedKey(k, proof)
		return tx.Secrets.reseal(ctx, inClear,
			func(place, clear string) (string, error) { return k.Seal(place, clear), nil })
	})
}

// inClear is the condition that a column is not sealed.
func inClear(column string) string {
	return column + " <> '' AND " + column + " NOT LIKE '" + sqldb.SealPrefix + "%'"
}

// sealedTables are the tables with sealed columns. PostgreSQL keeps others from writing to them while the key is
// replaced, so that nobody seals a value with the old key after the one who replaces it; SQLite has one writer anyway.
const sealedTables = "LOCK TABLE secrets, webhooks, idempotency_keys IN EXCLUSIVE MODE"

func (st Secrets) lockSealed(ctx context.Context) error {
	if !st.conn.Postgres() {
		return nil
	}
	_, err := st.conn.Exec(ctx, sealedTables)
	return err
}

// Rotate seals everything that is sealed with another key, in one transaction with note. Processes that run meanwhile
// refuse what needs a secret until they are restarted with that key.
func (db *DB) Rotate(ctx context.Context, to *sqldb.Key, note func(ctx context.Context, tx Conn) error) error {
	from, err := db.Key()
	if err != nil {
		return err
	}
	return db.Erasing(ctx, func(ctx context.Context, tx Conn) error {
		if err := tx.Secrets.lockSealed(ctx); err != nil {
			return err
		}
		proof, err := tx.Secrets.stored(ctx, sqldb.KeyProof)
		if err == nil {
			err = proved(from, proof) // another process may have been faster
		}
		if err != nil {
			return err
		}
		err = tx.Secrets.reseal(ctx, func(column string) string { return column + " <> ''" },
			func(place, sealed string) (string, error) {
				value, err := from.Open(place, sealed)
				return to.Seal(place, value), err
			})
		if err == nil {
			err = tx.Secrets.takeKey(ctx, to)
		}
		if err == nil {
			err = note(ctx, tx)
		}
		return err
	})
}

// takeKey has the transaction, and this process from then on, use a key whose proof is stored.
func (st Secrets) takeKey(ctx context.Context, k *sqldb.Key) error {
	proof := k.Seal(secretPlace(sqldb.KeyProof), sqldb.KeyProof)
	_, err := st.conn.Exec(ctx, "UPDATE secrets SET value = $2 WHERE name = $1", sqldb.KeyProof, proof)
	st.conn.DB.UseProvedKey(k, proof)
	return err
}

// reseal changes each stored value of the sealed columns that are as the condition says. It reads in parts, by key.
func (st Secrets) reseal(ctx context.Context, which func(column string) string,
	change func(place, stored string) (string, error)) error {
	for _, step := range []func(context.Context, func(string) string, func(string, string) (string, error)) error{
		st.resealSecrets, st.resealWebhooks, st.resealAnswers,
	} {
		if err := step(ctx, which, change); err != nil {
			return err
		}
	}
	return nil
}

func (st Secrets) resealSecrets(ctx context.Context, which func(string) string,
	change func(place, stored string) (string, error)) error {
	names, err := sqldb.All(ctx, st.conn, sqldb.Value[string],
		"SELECT name FROM secrets WHERE name <> $1 AND name <> $2 AND "+
			which("value"), loaded, sqldb.KeyProof)
	for _, name := range names {
		stored, err := st.stored(ctx, name)
		if err == nil {
			stored, err = change(secretPlace(name), stored)
		}
		if err == nil {
			_, err = st.conn.Exec(ctx, "UPDATE secrets SET value = $2 WHERE name = $1", name, stored)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func (st Secrets) resealWebhooks(ctx context.Context, which func(string) string,
	change func(place, stored string) (string, error)) error {
	type secrets struct {
		id          int64
		secret, old string
	}
	list, err := sqldb.All(ctx, st.conn,
		func(r sqldb.Row, w *secrets) error { return r.Scan(&w.id, &w.secret, &w.old) },
		"SELECT id, secret, old_secret FROM webhooks WHERE "+which("secret"))
	for _, w := range list {
		secret, err := change(delivery.SecretOf(w.id), w.secret)
		if err == nil {
			w.old, err = change(delivery.OldSecretOf(w.id), w.old)
		}
		if err == nil {
			_, err = st.conn.Exec(ctx, "UPDATE webhooks SET secret = $2, old_secret = $3 WHERE id = $1", w.id, secret,
				w.old)
		}
		if err != nil {
			return err
		}
	}
	return err
}

func (st Secrets) resealAnswers(ctx context.Context, which func(string) string,
	change func(place, stored string) (string, error)) error {
	scan := func(r sqldb.Row, k *exchange.IdempotentCall) error { return r.Scan(&k.Caller, &k.Key, &k.Body) }
	last := exchange.IdempotentCall{}
	for {
		list, err := sqldb.All(ctx, st.conn, scan,
			"SELECT caller, key, body FROM idempotency_keys WHERE (caller, key) "+
				"> ($1, $2) AND "+which("body")+
				" ORDER BY caller, key LIMIT 500", last.Caller, last.Key)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, k := range list {
			body, err := change(answerOf(&k), k.Body)
			if err == nil {
				_, err = st.conn.Exec(ctx, "UPDATE idempotency_keys SET body = $3 WHERE caller = $1 AND key = $2",
					k.Caller,
					k.Key, body)
			}
			if err != nil {
				return err
			}
			last = k
		}
	}
}

// Lost is what a key that is lost takes with it.
type Lost struct {
	Webhooks    []LostWebhook
	Invitations int64 // that wait for an answer
	Reports     int64 // links to the reports of grants
	Answers     int64 // kept for an Idempotency-Key
}

// LostWebhook is a webhook whose secret is lost.
type LostWebhook struct {
	ID, OrganizationID int64
	Organization, URL  string
}

// Lost reads what cannot be opened without the key.
func (st Secrets) Lost(ctx context.Context) (l Lost, err error) {
	scan := func(r sqldb.Row, w *LostWebhook) error {
		return r.Scan(&w.ID, &w.OrganizationID, &w.Organization, &w.URL)
	}
	if l.Webhooks, err = sqldb.All(ctx, st.conn, scan, `SELECT o.id, o.organization_id, g.name, o.url FROM webhooks o
		JOIN organizations g ON g.id = o.organization_id ORDER BY o.organization_id, o.id`); err != nil {
		return l, err
	}
	counts, err := sqldb.One(ctx, st.conn,
		func(r sqldb.Row, l *Lost) error { return r.Scan(&l.Invitations, &l.Reports, &l.Answers) },
		`SELECT (SELECT COUNT(*) FROM invitations WHERE status = 'PENDING' AND expires_at > $1),
			(SELECT COUNT(*) FROM grant_links WHERE revoked_at IS NULL AND expires_at > $1),
			(SELECT COUNT(*) FROM idempotency_keys WHERE body <> '')`, st.conn.Now)
	counts.Webhooks = l.Webhooks
	return counts, err
}

// Forget has the database use another key without opening what the lost one sealed: webhooks have no secret then, links
// are void, and a call whose answer was stored is answered with instead from then on.
func (st Secrets) Forget(ctx context.Context, to *sqldb.Key, instead exchange.IdempotentCall) error {
	headers, err := sqldb.JSON(instead.Headers)
	if err == nil {
		err = st.lockSealed(ctx)
	}
	if err == nil {
		err = st.takeKey(ctx, to)
	}
	for _, s := range []struct {
		query string
		args  []any
	}{
		{"DELETE FROM secrets WHERE name <> $1 AND name <> $2", []any{loaded, sqldb.KeyProof}},
		{"UPDATE webhooks SET secret = '', old_secret = '', old_until = NULL", nil},
		{"UPDATE idempotency_keys SET status = $1, headers = $2 WHERE body <> ''", []any{instead.Status, headers}},
	} {
		if err == nil {
			_, err = st.conn.Exec(ctx, s.query, s.args...)
		}
	}
	if err != nil {
		return fmt.Errorf("start over with another key: %w", err)
	}
	return st.resealAnswers(ctx, func(column string) string { return column + " <> ''" },
		func(place, _ string) (string, error) {
			return to.Seal(place, instead.Body), nil
		})
}

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
