package person

import (
	"slices"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// MaxTokens is how many program tokens a user can have at once. Sessions and logins do not count, so that nobody is
// locked out.
const MaxTokens = 50

// maxTokenLife is the maximum lifetime of a program token.
const maxTokenLife = 366 * 24 * time.Hour

// TokenNew is the body of POST /users/:id/tokens.
type TokenNew struct {
	Name         exchange.Opt[string]           `json:"name"`
	Scopes       exchange.Opt[[]exchange.Scope] `json:"scopes"`
	Organization exchange.Null[exchange.Ref]    `json:"organization" alias:"organization_id"`
	Expires      exchange.Null[exchange.Until]  `json:"expires"`
}

// Token returns the token that n describes; lasts is its lifetime if n has none.
func (n TokenNew) Token(now time.Time, lasts time.Duration) (Token, error) {
	t := Token{Kind: APIToken, CreatedAt: now, UsedAt: now, ExpiresAt: now.Add(lasts)}
	var f exchange.FieldErrors
	f.Line("name", n.Name, exchange.LineLength, &t.Name)
	f.Need("name", t.Name)
	f.Rule("scopes", exchange.Rule{Min: 1,
		Each: &exchange.Rule{Words: exchange.Strings(exchange.Scopes), Name: "TokenScope"}})
	scopes := n.Scopes.Or(nil)
	f.Must("scopes", len(scopes) > 0, `is required: ["read"] or ["write"], which includes read`)
	switch {
	case slices.ContainsFunc(scopes, func(s exchange.Scope) bool { return !slices.Contains(exchange.Scopes, s) }):
		f.Add("scopes", `must be of "read" and "write"`)
	case slices.Contains(scopes, exchange.ScopeWrite):
		t.Scope = exchange.ScopeWrite
	default:
		t.Scope = exchange.ScopeRead
	}
	if n.Organization.Value != nil {
		t.Organization = new(int64(*n.Organization.Value))
	}
	if n.Expires.Value != nil {
		t.ExpiresAt = time.Time(*n.Expires.Value)
		if !t.ExpiresAt.After(now) || t.ExpiresAt.After(now.Add(maxTokenLife)) {
			f.Add("expires", "must be in the future, and at most 366 days from now")
		}
	}
	return t, f.Err()
}

// Validate implements Body.
func (n TokenNew) Validate(bool) exchange.FieldErrors {
	n.Expires = exchange.Null[exchange.Until]{} // it depends on the time
	_, err := n.Token(time.Time{}, 0)
	return exchange.FieldsOf(err)
}

// Allows reports whether a token made with the rights of a stays within them: a program's token makes none that may do
// more, reaches further, or is valid for longer. A login and a session make any.
func (t Token) Allows(a Token) bool {
	return t.Scope == "" || (t.Scope == exchange.ScopeWrite || a.Scope == exchange.ScopeRead) &&
		(t.Organization == nil || a.Organization != nil && *t.Organization == *a.Organization) &&
		!a.ExpiresAt.After(t.ExpiresAt)
}

// TokenKind is the kind of a token.
type TokenKind string

// The kinds of tokens.
const (
	APIToken     TokenKind = "API"     // of a program
	SessionToken TokenKind = "SESSION" // of a browser
)

// Token lets its bearer act as a user. The secret itself is never stored, only its SHA-256.
type Token struct {
	ID        int64
	UserID    uuid.UUID
	Kind      TokenKind
	Name      string // chosen by the user; of a session, the browser and device
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // to the hour
	Issuer    string    // of the identity provider by which it began; "" of the main one, and of a program's token

	Scope        exchange.Scope // "" of a login and of a session
	Organization *int64         // the only one that it reaches; nil: all that its user reaches
}
