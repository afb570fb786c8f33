package signing

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"

	"github.com/google/uuid"
)

// Link lets a person without an account read one version of a letter and sign it in one role. The link alone only shows
// the letter; to sign, they need a code that is sent to the address of their authority, so that a link that was
// forwarded is of no use. What is kept has neither token nor code.
type Link struct {
	ID           int64
	Agreement    int64
	Document     Document
	Role         string
	Signer       party.Person  // without an account
	Hash         string        // of the token; empty: it was not mailed yet
	Mail         mailing.State // of the mail with the link
	Expires      time.Time
	UsedAt       *time.Time
	Codes        int        // how many codes were asked for
	CodeAskedAt  *time.Time // the last time
	CodeHash     string     // empty: no code was sent
	CodeExpires  *time.Time
	CodeAttempts int
	MadeBy       uuid.UUID
	CreatedAt    time.Time
}

const (
	linkPrefix = "aln_"
	linkLife   = 14 * 24 * time.Hour
	codeLife   = 15 * time.Minute
	codeSpace  = 1_000_000 // a code has six digits
	maxTries   = 5
	codePause  = time.Minute // between two codes
	maxCodes   = 10          // of a link
)

// NewLink returns a link for a person, whose token is not made yet.
func NewLink(agreement int64, d Document, role string, signer party.Person, by uuid.UUID, now time.Time) Link {
	return Link{Agreement: agreement, Document: d, Role: role, Signer: signer, Mail: mailing.Waiting,
		Expires: now.Add(linkLife), MadeBy: by, CreatedAt: now}
}

// Issue returns the link with a new token, which replaces an earlier one, and the token.
func (l Link) Issue() (Link, string) {
	token := linkPrefix + rand.Text() + rand.Text()
	l.Hash = hashed(token)
	return l, token
}

// TokenHash returns by what a link is found.
func TokenHash(token string) string { return hashed(token) }

// Open reports why the link signs nothing: current is the version that the letter has now.
func (l Link) Open(current Document, now time.Time) error {
	switch {
	case l.UsedAt != nil:
		return ErrUsed
	case !now.Before(l.Expires):
		return ErrExpired
	case l.Document != current:
		return ErrStale
	}
	return nil
}

// AskCode returns the link after somebody asked for a code: one a minute, and ten in all.
func (l Link) AskCode(current Document, now time.Time) (Link, error) {
	if err := l.Open(current, now); err != nil {
		return l, err
	}
	if l.Codes >= maxCodes {
		return l, ErrTooManyCodes
	}
	if l.CodeAskedAt != nil && now.Before(l.CodeAskedAt.Add(codePause)) {
		return l, exchange.NotBefore(l.CodeAskedAt.Add(codePause), now, "A code is on its way")
	}
	l.Codes, l.CodeAskedAt = l.Codes+1, &now
	return l, nil
}

// SendCode returns the link with a new code, which replaces an earlier one, and the code.
func (l Link) SendCode(now time.Time) (Link, string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(codeSpace))
	if err != nil {
		return l, "", err
	}
	code, expires := fmt.Sprintf("%06d", n), now.Add(codeLife)
	l.CodeHash, l.CodeExpires, l.CodeAttempts = l.hashCode(code), &expires, 0
	return l, code, nil
}

// Use returns the link as it is after an attempt to sign or decline with a code: used, or with one more wrong code. The
// caller keeps it even if the attempt is refused.
func (l Link) Use(code string, current Document, now time.Time) (Link, error) {
	if err := l.Open(current, now); err != nil {
		return l, err
	}
	switch {
	case l.CodeHash == "":
		return l, ErrWrongCode
	case l.CodeAttempts >= maxTries:
		return l, ErrTooOften
	case !now.Before(*l.CodeExpires):
		return l, ErrCodeExpired
	case subtle.ConstantTimeCompare([]byte(l.CodeHash), []byte(l.hashCode(code))) != 1:
		l.CodeAttempts++
		return l, ErrWrongCode
	}
	l.UsedAt, l.CodeHash = &now, ""
	return l, nil
}

// hashCode hashes a code together with its link, so that equal codes do not look equal.
func (l Link) hashCode(code string) string { return hashed(l.Hash + " " + code) }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
