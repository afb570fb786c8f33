package sqldb

import (
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
	SealPrefix = "sealed:1:"
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

// KeyProof is the secret that proves a key.
const KeyProof = "key"

// Seal seals a value for one place, such as "webhooks.secret/7"; it opens nowhere else. An empty value stays empty.
func (k *Key) Seal(place, value string) string {
	if value == "" {
		return ""
	}
	return SealPrefix + sealedText.EncodeToString(k.aead.Seal(nil, nil, []byte(value), []byte(place)))
}

// Open opens what seal gave for a place.
func (k *Key) Open(place, sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	rest, ok := strings.CutPrefix(sealed, SealPrefix)
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

// Key returns the key of the database.
func (db *DB) Key() (*Key, error) {
	if db.key == nil {
		return nil, errors.New("the database was given no key for its secrets")
	}
	return db.key, nil
}

// Proof returns the stored proof of the key; "": there is none.
func (db *DB) Proof() string { return db.proof }

// UseKey sets the key of the secrets of the database.
func (db *DB) UseKey(k *Key) { db.UseProvedKey(k, "") }

// UseProvedKey sets a key whose proof is stored.
func (db *DB) UseProvedKey(k *Key, proof string) { db.key, db.proof = k, proof }

// SealedArgument is the SQL of argument n, a sealed value, with the proof of its key in argument proof. It is NULL,
// which no such column takes, where another key is in use by now: nobody could open the value.
func SealedArgument(n, proof int) string {
	return fmt.Sprintf("CASE WHEN COALESCE((SELECT value FROM secrets WHERE name = '%s'), '') = $%d THEN $%d END",
		KeyProof, proof, n)
}

// SealError is the error of a statement with a sealedArgument.
func SealError(err error) error {
	lite, _ := errors.AsType[*sqlite.Error](err)
	pg, _ := errors.AsType[*pgconn.PgError](err)
	// SQLITE_CONSTRAINT_NOTNULL, not_null_violation
	if lite != nil && lite.Code() == 1299 || pg != nil && pg.Code == "23502" {
		return staleKey(err)
	}
	return err
}
