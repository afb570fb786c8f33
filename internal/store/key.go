package store

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"aliquot/internal/exchange"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// Key seals the secrets that the database has to give back, such as those that sign messages to webhooks. It is not in
// the database, so that who has a copy of that has none of them.
type Key struct{ aead cipher.AEAD }

// The form of a key in its file, and the beginning of what is sealed.
const (
	keyPrefix  = "alqk_"
	keyBytes   = 32
	sealPrefix = "sealed:1:"
)

var sealedText = base64.RawURLEncoding

// NewKey makes the text of a key.
func NewKey() string {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return keyPrefix + sealedText.EncodeToString(key)
}

// ParseKey reads the text of a key.
func ParseKey(text string) (*Key, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), keyPrefix)
	raw, err := sealedText.DecodeString(rest)
	if !ok || err != nil || len(raw) != keyBytes {
		return nil, errors.New("it must be one line as " + keyPrefix + "…, as the program writes it")
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Key{aead}, err
}

// seal seals a value for one place, such as "webhooks.secret/7"; it opens nowhere else. An empty value stays empty.
func (k *Key) seal(place, value string) string {
	if value == "" {
		return ""
	}
	return sealPrefix + sealedText.EncodeToString(k.aead.Seal(nil, nil, []byte(value), []byte(place)))
}

// open opens what seal gave for a place.
func (k *Key) open(place, sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	rest, ok := strings.CutPrefix(sealed, sealPrefix)
	raw, err := sealedText.DecodeString(rest)
	if !ok || err != nil {
		return "", fmt.Errorf("%s is not sealed", place)
	}
	value, err := k.aead.Open(nil, nil, raw, []byte(place))
	if err != nil {
		return "", staleKey(fmt.Errorf("%s does not open with this key", place))
	}
	return string(value), nil
}

// staleKey is the error of a process whose key was replaced by "aliquot secrets" while it ran.
func staleKey(cause error) error {
	return &exchange.Error{Code: exchange.Unavailable, Message: "This process has an old key for the secrets in the " +
		"database; its operator needs to restart it.", Cause: cause}
}

// ErrOtherKey reports that the secrets of a database were sealed with another key.
var ErrOtherKey = errors.New("the secrets in this database were sealed with another key")

// key is the key of the database.
func (c *conn) key() (*Key, error) {
	if c.db.key == nil {
		return nil, errors.New("the database was given no key for its secrets")
	}
	return c.db.key, nil
}

// UseKey gives the database the key of its secrets.
func (db *DB) UseKey(k *Key) { db.useKey(k, "") }

func (db *DB) useKey(k *Key, proof string) { db.key, db.proof = k, proof }

// sealedArgument is the SQL of argument n, a sealed value, with the proof of its key in argument proof. It is NULL,
// which no such column takes, where another key is in use by now: nobody could open the value.
func sealedArgument(n, proof int) string {
	return fmt.Sprintf("CASE WHEN COALESCE((SELECT value FROM secrets WHERE name = '%s'), '') = $%d THEN $%d END",
		keyProof, proof, n)
}

// sealing is the error of a statement with a sealedArgument.
func sealing(err error) error {
	lite, _ := errors.AsType[*sqlite.Error](err)
	pg, _ := errors.AsType[*pgconn.PgError](err)
	// SQLITE_CONSTRAINT_NOTNULL, not_null_violation
	if lite != nil && lite.Code() == 1299 || pg != nil && pg.Code == "23502" {
		return staleKey(err)
	}
	return err
}

// Sealed reports whether a key is in use already. The database is migrated by then.
func (db *DB) Sealed(ctx context.Context) (bool, error) {
	_, err := db.Read().Secrets.stored(ctx, keyProof)
	if exchange.CodeOf(err) == exchange.NotFound {
		return false, nil
	}
	return err == nil, err
}

// Opens reports whether k is the key of a migrated database.
func (db *DB) Opens(ctx context.Context, k *Key) (bool, error) {
	proof, err := db.Read().Secrets.stored(ctx, keyProof)
	if exchange.CodeOf(err) == exchange.NotFound {
		return false, nil
	}
	return err == nil && k.proved(proof) == nil, err
}

// Unlock gives a migrated database the key of its secrets, and seals those that an older program kept in clear. The
// first key that comes stays the one: with another it gives ErrOtherKey and changes nothing.
func (db *DB) Unlock(ctx context.Context, k *Key) error {
	proof, err := db.Read().Secrets.stored(ctx, keyProof)
	if exchange.CodeOf(err) == exchange.NotFound {
		return db.sealFirst(ctx, k)
	}
	if err == nil {
		err = k.proved(proof)
	}
	if err == nil {
		db.useKey(k, proof)
	}
	return err
}

// proved tells by the row that proves a key whether this is the one.
func (k *Key) proved(proof string) error {
	if _, err := k.open(secretPlace(keyProof), proof); err != nil {
		return ErrOtherKey
	}
	return nil
}

// sealFirst keeps a proof of the key and seals all that is in clear.
func (db *DB) sealFirst(ctx context.Context, k *Key) error {
	return db.erasing(ctx, func(ctx context.Context, tx Conn) error {
		proof, err := tx.Secrets.store(ctx, keyProof, k.seal(secretPlace(keyProof), keyProof))
		if err == nil {
			err = k.proved(proof) // another process may have been faster, with another key
		}
		if err != nil {
			return err
		}
		db.useKey(k, proof)
		return tx.Secrets.reseal(ctx, inClear,
			func(place, clear string) (string, error) { return k.seal(place, clear), nil })
	})
}

// erasing is Tx for a change of which nothing that it overwrites may stay in the file of SQLite, where it would lie in
// free parts. PostgreSQL's vacuum removes it.
func (db *DB) erasing(ctx context.Context, do func(ctx context.Context, tx Conn) error) error {
	if db.Postgres() {
		return db.Tx(ctx, do)
	}
	if _, err := db.write.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil {
		return translate(err)
	}
	defer func() { _, _ = db.write.ExecContext(context.WithoutCancel(ctx), "PRAGMA secure_delete = OFF") }()
	err := db.Tx(ctx, do)
	if err == nil {
		_, err = db.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	return translate(err)
}

// inClear is the condition that a column is not sealed.
func inClear(column string) string {
	return column + " <> '' AND " + column + " NOT LIKE '" + sealPrefix + "%'"
}
