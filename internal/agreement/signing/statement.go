// Package signing has the signatures of people on letters: what they state, the proof of a passkey, and the links by
// which people without an account sign. Callers pass the time and keep what is used once.
package signing

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"aliquot/internal/agreement/letter"
)

// Why a signature is refused.
var (
	ErrStale        = errors.New("the letter has a newer version; open it again and sign that one")
	ErrExpired      = errors.New("the time to sign is over; start again")
	ErrUsed         = errors.New("this was used already; start again")
	ErrUnknownKey   = errors.New("this passkey is not one of the signer's")
	ErrAltered      = errors.New("the signature is not one of what is to be signed")
	ErrUnverified   = errors.New("the passkey did not verify its user; use one with a PIN, fingerprint or face")
	ErrAlgorithm    = errors.New("the passkey must be of the algorithm ES256 or RS256, with 2048 to 4096 bits")
	ErrWrongCode    = errors.New("this code is wrong; it has six digits and is in the latest e-mail")
	ErrCodeExpired  = errors.New("this code was valid for 15 minutes; send another")
	ErrTooOften     = errors.New("too many wrong codes; send another")
	ErrTooManyCodes = errors.New("ten codes were sent for this link; ask for another link")
)

// Document is a version of a letter.
type Document struct {
	Letter  string `json:"letter"`
	Version int    `json:"version"`
	SHA256  string `json:"sha256"` // of its canonical JSON
}

// DocumentOf is the newest version of a letter.
func DocumentOf(l letter.Agreement) Document {
	return Document{Letter: l.Letter.Number, Version: l.Letter.Version, SHA256: l.SHA256}
}

// Statement is what somebody signs: one or many letters, as who, and when.
type Statement struct {
	Format    string     `json:"format"`
	Action    string     `json:"action"`
	Documents []Document `json:"documents"`
	Signer    string     `json:"signer"`    // id of the user
	Role      string     `json:"role"`      // as in the signers of an instrument
	Authority int64      `json:"authority"` // by which they sign; 0: for themselves
	At        string     `json:"at"`        // RFC 3339, UTC
	Nonce     string     `json:"nonce"`
}

const (
	statementFormat = "aliquot-signature/1"
	signAction      = "sign"
	// statementLife is how long a statement may wait for its signature.
	statementLife = 5 * time.Minute
)

// Pending is a statement that was shown and is not signed yet.
type Pending struct {
	Statement []byte // canonical JSON, which is kept as it is
	Expires   time.Time
	Used      bool
}

// NewPending returns what a signer is asked to sign. The statement's format, action, time and nonce are set here.
func NewPending(s Statement, now time.Time) (Pending, error) {
	s.Format, s.Action, s.At, s.Nonce = statementFormat, signAction, now.UTC().Format(time.RFC3339), rand.Text()
	b, err := letter.Canonical(s)
	return Pending{Statement: b, Expires: now.Add(statementLife)}, err
}

// Challenge returns what a passkey signs: the SHA-256 of the statement.
func Challenge(statement []byte) []byte {
	sum := sha256.Sum256(statement)
	return sum[:]
}

// ParseStatement reads a statement. It refuses one in any form but its canonical one.
func ParseStatement(b []byte) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(b, &s); err != nil {
		return Statement{}, ErrAltered
	}
	again, err := letter.Canonical(s)
	if err != nil || !bytes.Equal(again, b) || s.Format != statementFormat || s.Action != signAction {
		return Statement{}, ErrAltered
	}
	return s, nil
}

// Covers reports whether the statement is about the document.
func (s Statement) Covers(d Document) bool { return slices.Contains(s.Documents, d) }
