package signing

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"
)

// Link lets a person without an account read one version of a letter and sign it in one role. The link alone only shows
// the letter; to sign, they need a code that is sent to the address of their authority, so that a link that was
// forwarded is of no use. What is kept has neither token nor code.
type Link struct {
	Hash         string // of the token
	Document     Document
	Role         string
	Authority    int64
	Mail         string // of the authority
	Expires      time.Time
	Used         bool
	CodeHash     string // empty: no code was sent
	CodeExpires  time.Time
	CodeAttempts int
}

const (
	linkPrefix = "aln_"
	linkLife   = 14 * 24 * time.Hour
	codeLife   = 15 * time.Minute
	codeSpace  = 1_000_000 // a code has six digits
	maxTries   = 5
)

// NewLink returns a link and its token, which is shown once.
func NewLink(d Document, role string, authority int64, mail string, now time.Time) (l Link, token string) {
	token = linkPrefix + rand.Text() + rand.Text()
	return Link{Hash: hashed(token), Document: d, Role: role, Authority: authority, Mail: mail,
		Expires: now.Add(linkLife)}, token
}

// TokenHash returns by what a link is found.
func TokenHash(token string) string { return hashed(token) }

// Open reports why the letter is not shown for a token: current is the version that the letter has now.
func (l Link) Open(token string, current Document, now time.Time) error {
	switch {
	case !same(l.Hash, hashed(token)):
		return ErrWrongLink
	case l.Used:
		return ErrUsed
	case !now.Before(l.Expires):
		return ErrExpired
	case l.Document != current:
		return ErrStale
	}
	return nil
}

// SendCode returns the link with a new code, which replaces an earlier one, and the code.
func (l Link) SendCode(now time.Time) (Link, string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(codeSpace))
	if err != nil {
		return l, "", err
	}
	code := fmt.Sprintf("%06d", n)
	l.CodeHash, l.CodeExpires, l.CodeAttempts = l.hashCode(code), now.Add(codeLife), 0
	return l, code, nil
}

// Sign returns the link as it is after an attempt to sign: used, or with one more wrong code. The caller keeps it even
// if the attempt is refused.
func (l Link) Sign(token, code string, current Document, now time.Time) (Link, error) {
	if err := l.Open(token, current, now); err != nil {
		return l, err
	}
	switch {
	case l.CodeHash == "":
		return l, ErrWrongCode
	case l.CodeAttempts >= maxTries:
		return l, ErrTooOften
	case !now.Before(l.CodeExpires):
		return l, ErrExpired
	case !same(l.CodeHash, l.hashCode(code)):
		l.CodeAttempts++
		return l, ErrWrongCode
	}
	l.Used, l.CodeHash = true, ""
	return l, nil
}

// hashCode hashes a code together with its link, so that equal codes do not look equal.
func (l Link) hashCode(code string) string { return hashed(l.Hash + " " + code) }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func same(one, other string) bool { return subtle.ConstantTimeCompare([]byte(one), []byte(other)) == 1 }
