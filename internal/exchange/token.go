package exchange

import (
	"slices"
	"time"
)

// MaxTokens is how many program tokens a user can have at once. Sessions and logins do not count, so that nobody is
// locked out.
const MaxTokens = 50

// maxTokenLife is the maximum lifetime of a program token.
const maxTokenLife = 366 * 24 * time.Hour

// TokenNew is the body of POST /users/:id/tokens.
type TokenNew struct {
	Name         Opt[string]  `json:"name"`
	Scopes       Opt[[]Scope] `json:"scopes"`
	Organization Null[Ref]    `json:"organization" alias:"organization_id"`
	Expires      Null[Until]  `json:"expires"`
}

// Token returns the token that n describes; lasts is its lifetime if n has none.
func (n TokenNew) Token(now time.Time, lasts time.Duration) (Token, error) {
	t := Token{Kind: APIToken, CreatedAt: now, UsedAt: now, ExpiresAt: now.Add(lasts)}
	var f FieldErrors
	f.line("name", n.Name, lineLength, &t.Name)
	f.need("name", t.Name)
	f.rule("scopes", Rule{Least: 1, Each: &Rule{Words: texts(Scopes), Name: "TokenScope"}})
	scopes := n.Scopes.Or(nil)
	f.must("scopes", len(scopes) > 0, `is required: ["read"] or ["write"], which includes read`)
	switch {
	case slices.ContainsFunc(scopes, func(s Scope) bool { return !slices.Contains(Scopes, s) }):
		f.Add("scopes", `must be of "read" and "write"`)
	case slices.Contains(scopes, ScopeWrite):
		t.Scope = ScopeWrite
	default:
		t.Scope = ScopeRead
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
func (n TokenNew) Validate(bool) FieldErrors {
	n.Expires = Null[Until]{} // it depends on the time
	_, err := n.Token(time.Time{}, 0)
	return fieldsOf(err)
}

// Allows reports whether a token made with the rights of a stays within them: a program's token makes none that may do
// more, reaches further, or is valid for longer. A login and a session make any.
func (t Token) Allows(a Token) bool {
	return t.Scope == "" || (t.Scope == ScopeWrite || a.Scope == ScopeRead) &&
		(t.Organization == nil || a.Organization != nil && *t.Organization == *a.Organization) &&
		!a.ExpiresAt.After(t.ExpiresAt)
}
