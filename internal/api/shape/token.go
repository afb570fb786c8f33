package shape

import (
	"aliquot/internal/app/account"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"

	"github.com/google/uuid"
)

// Token is a token without its secret.
type Token struct {
	ID           int64            `json:"id"`
	Name         string           `json:"name"`
	Scopes       []exchange.Scope `json:"scopes"`       // empty: a sign-in, with all rights of its user
	Organization *int64           `json:"organization"` // the only one that it can access
	CreatedAt    Time             `json:"created_at"`
	LastUsed     Time             `json:"last_used"` // to the hour
	Expires      Expiry           `json:"expires"`
	Presented    bool             `json:"presented"` // by this call
}

// NewToken is a new token with its secret, which is shown only once.
type NewToken struct {
	Token  string           `json:"token"`
	ID     int64            `json:"id"`
	Name   string           `json:"name"`
	Scopes []exchange.Scope `json:"scopes"`

	Organization *int64 `json:"organization"`
	CreatedAt    Time   `json:"created_at"`
	Expires      Expiry `json:"expires"`
}

func scopesOf(t person.Token) []exchange.Scope {
	switch t.Scope {
	case exchange.ScopeWrite:
		return []exchange.Scope{exchange.ScopeRead, exchange.ScopeWrite}
	case exchange.ScopeRead:
		return []exchange.Scope{exchange.ScopeRead}
	}
	return []exchange.Scope{}
}

// ShowToken is the JSON form of a token; presented: this call came with it.
func ShowToken(t person.Token, presented bool) Token {
	return Token{t.ID, t.Name, scopesOf(t), t.Organization, Time(t.CreatedAt), Time(t.UsedAt), Expiry(t.ExpiresAt),
		presented}
}

// ShowNewToken returns the JSON form of its argument.
func ShowNewToken(t person.Token, secret string) NewToken {
	return NewToken{secret, t.ID, t.Name, scopesOf(t), t.Organization, Time(t.CreatedAt), Expiry(t.ExpiresAt)}
}

// Erasure is what is known of the erasure of a person's data.
type Erasure struct {
	State   string     `json:"state"` // NONE, PENDING or DONE
	AskedAt *Time      `json:"asked_at"`
	AskedBy *uuid.UUID `json:"asked_by"`
	Reason  string     `json:"reason"`
	DueAt   *Time      `json:"due_at"`
	DoneAt  *Time      `json:"done_at"`
	First   string     `json:"first"` // what has to be done before it
	Stays   string     `json:"stays"` // what is not erased, and why
}

// ShowErasure is the JSON form of an erasure.
func ShowErasure(v account.Erasure) Erasure {
	e := Erasure{"NONE", timeOf(v.AskedAt), v.AskedBy, v.Reason, timeOf(v.DueAt), timeOf(v.DoneAt),
		v.First(), person.ErasureStays}
	switch {
	case v.DoneAt != nil:
		e.State = "DONE"
	case v.Pending():
		e.State = "PENDING"
	}
	return e
}
