package exchange

import (
	"errors"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// User is one researcher, identified by the id that the identity provider issued.
type User struct {
	ID         uuid.UUID
	Username   string // the registry id until the person has another
	FirstName  string
	LastName   string
	Email      string
	RegistryID string
	Admin      bool
	CreatedAt  time.Time
	UpdatedAt  time.Time

	VerifiedEmail string // the last one that the identity provider verified, in lower case
	Closed        bool   `json:",omitzero"` // the account is closed: nobody can sign in to it
}

// Name returns the person's name for pages and sentences.
func (u User) Name() string {
	if name := strings.TrimSpace(u.FirstName + " " + u.LastName); name != "" {
		return name
	}
	return u.Username
}

// The names that replace those of a closed account: of the person, of a lab of which they were the only member, and of
// their deleted documents.
const (
	ClosedName = "closed account"
	ClosedLab  = "closed lab"
	ClosedFile = "deleted"
)

// ClosedID returns the registry id of a closed account, which frees the person's own for a new registration.
func ClosedID(user uuid.UUID) string { return "closed:" + user.String() }

// Present returns a Conflict error if the account of u is closed, so that nothing is added to it.
func (u User) Present() error {
	if u.Closed {
		return Errorf(Conflict, "This account is closed.")
	}
	return nil
}

// UserPatch is the body of PUT and PATCH /users/:id.
type UserPatch struct {
	FirstName Opt[string] `json:"first_name"`
	LastName  Opt[string] `json:"last_name"`
	Email     Opt[string] `json:"email"`
}

// Patch applies p to u. Field errors name every wrong field.
func (p UserPatch) Patch(u User) (User, error) {
	var f FieldErrors
	f.line("first_name", p.FirstName, lineLength, &u.FirstName)
	f.line("last_name", p.LastName, lineLength, &u.LastName)
	old := u.Email
	f.line("email", p.Email, lineLength, &u.Email)
	f.mailAddress("email")
	if u.Email != "" && u.Email != old {
		if a, err := mail.ParseAddress(u.Email); err != nil || a.Address != u.Email {
			f.Add("email", "must be an e-mail address, such as name@example.org")
		}
	}
	return u, f.Err()
}

// Validate implements Body.
func (p UserPatch) Validate(bool) FieldErrors {
	_, err := p.Patch(User{})
	return fieldsOf(err)
}

// Credentials are the body of POST /login: a code of the identity provider, and the redirect URL
// that it was made for.
type Credentials struct {
	Code         string      `json:"code"`
	OriginURL    string      `json:"origin_url"`
	CodeVerifier Opt[string] `json:"code_verifier"` // PKCE (RFC 7636), if the code was requested with a challenge
	Invitation   Opt[string] `json:"invitation"`
}

// Registration returns c as the registration of someone who enters nothing about themselves.
func (c Credentials) Registration() Registration {
	return Registration{Code: c.Code, OriginURL: c.OriginURL, CodeVerifier: c.CodeVerifier, Invitation: c.Invitation}
}

// Validate implements Body.
func (c Credentials) Validate(create bool) FieldErrors { return c.Registration().Validate(create) }

// Registration is the body of POST /users/.
type Registration struct {
	Code         string      `json:"code"`
	OriginURL    string      `json:"origin_url"`
	CodeVerifier Opt[string] `json:"code_verifier"`
	FirstName    Opt[string] `json:"first_name"`
	LastName     Opt[string] `json:"last_name"`
	Email        Opt[string] `json:"email"`
	Invitation   Opt[string] `json:"invitation"` // token of an invitation to accept
}

// Names returns the names that a person entered.
func (r Registration) Names() UserPatch {
	return UserPatch{FirstName: r.FirstName, LastName: r.LastName, Email: r.Email}
}

// The maximum lengths of what an identity provider issues, in characters; a code may be a whole JWT.
const (
	codeLength   = 8000
	originLength = 2000
)

// invitationLength is the maximum length of an invitation's token, in characters.
const invitationLength = 1000

// InvitationToken is the body for answering an invitation with the token that was mailed.
type InvitationToken struct {
	Token Opt[string] `json:"token"`
}

// Check returns the token, which is required.
func (t InvitationToken) Check() (token string, err error) {
	var f FieldErrors
	f.line("token", t.Token, invitationLength, &token)
	f.need("token", token)
	return token, f.Err()
}

// Validate implements Body.
func (t InvitationToken) Validate(bool) FieldErrors {
	_, err := t.Check()
	return fieldsOf(err)
}

// verifierForm is the form of a code_verifier (RFC 7636 section 4.1), which may be left out.
var verifierForm = regexp.MustCompile(`^([A-Za-z0-9._~-]{43,128})?$`)

// Check returns code and redirect URL, both of which are required.
func (r Registration) Check() (code, origin string, err error) {
	var f FieldErrors
	_, err = r.Names().Patch(User{})
	if e, wrong := errors.AsType[*Error](err); wrong {
		f = e.Fields
	}
	f.line("code", Some(r.Code), codeLength, &code)
	f.line("origin_url", Some(r.OriginURL), originLength, &origin)
	f.line("invitation", r.Invitation, invitationLength, new(string))
	f.rule("code_verifier", Rule{Pattern: verifierForm.String(),
		Examples: []string{"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}})
	if !verifierForm.MatchString(r.CodeVerifier.Or("")) {
		f.Add("code_verifier", "must be 43 to 128 letters, digits, or any of - . _ ~ (RFC 7636)")
	}
	f.needed("code")
	f.needed("origin_url")
	f.must("code", code != "", "is required: the authorization code of the identity provider")
	f.must("origin_url", origin != "", "is required: the redirect URL that the code was made for")
	return code, origin, f.Err()
}

// Validate implements Body.
func (r Registration) Validate(bool) FieldErrors {
	_, _, err := r.Check()
	return fieldsOf(err)
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

	Scope        Scope  // "" of a login and of a session
	Organization *int64 // the only one that it reaches; nil: all that its user reaches
}
