// Package person holds the rules of users and of what belongs to them: tokens, addresses, grants and drafts.
package person

import (
	"errors"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"

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
		return exchange.Errorf(exchange.Conflict, "This account is closed.")
	}
	return nil
}

// UserPatch is the body of PUT and PATCH /users/:id.
type UserPatch struct {
	FirstName exchange.Opt[string] `json:"first_name"`
	LastName  exchange.Opt[string] `json:"last_name"`
	Email     exchange.Opt[string] `json:"email"`
}

// Patch applies p to u. Field errors name every wrong field.
func (p UserPatch) Patch(u User) (User, error) {
	var f exchange.FieldErrors
	f.Line("first_name", p.FirstName, exchange.LineLength, &u.FirstName)
	f.Line("last_name", p.LastName, exchange.LineLength, &u.LastName)
	f.OneAlphabet("first_name", p.FirstName.Value)
	f.OneAlphabet("last_name", p.LastName.Value)
	old := u.Email
	f.Line("email", p.Email, exchange.LineLength, &u.Email)
	f.MailAddress("email")
	if u.Email != "" && u.Email != old {
		if a, err := mail.ParseAddress(u.Email); err != nil || a.Address != u.Email {
			f.Add("email", "must be an e-mail address, such as name@example.org")
		}
	}
	return u, f.Err()
}

// Validate implements Body.
func (p UserPatch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(User{})
	return exchange.FieldsOf(err)
}

// Credentials are the body of POST /login: a code of the identity provider, and the redirect URL
// that it was made for.
type Credentials struct {
	Code      string `json:"code"`
	OriginURL string `json:"origin_url"`
	// PKCE (RFC 7636), if the code was requested with a challenge
	CodeVerifier exchange.Opt[string] `json:"code_verifier"`
	Invitation   exchange.Opt[string] `json:"invitation"`
	Provider     exchange.Opt[string] `json:"provider"` // the name of one that is not the main one
}

// Registration returns c as the registration of someone who enters nothing about themselves.
func (c Credentials) Registration() Registration {
	return Registration{Code: c.Code, OriginURL: c.OriginURL, CodeVerifier: c.CodeVerifier, Invitation: c.Invitation,
		Provider: c.Provider}
}

// Validate implements Body.
func (c Credentials) Validate(create bool) exchange.FieldErrors {
	return c.Registration().Validate(create)
}

// Registration is the body of POST /users/.
type Registration struct {
	Code         string               `json:"code"`
	OriginURL    string               `json:"origin_url"`
	CodeVerifier exchange.Opt[string] `json:"code_verifier"`
	FirstName    exchange.Opt[string] `json:"first_name"`
	LastName     exchange.Opt[string] `json:"last_name"`
	Email        exchange.Opt[string] `json:"email"`
	Invitation   exchange.Opt[string] `json:"invitation"` // token of an invitation to accept
	Provider     exchange.Opt[string] `json:"provider"`
}

// Names returns the names that a person entered.
func (r Registration) Names() UserPatch {
	return UserPatch{FirstName: r.FirstName, LastName: r.LastName, Email: r.Email}
}

// The maximum lengths of what an identity provider issues, in characters; a code may be a whole JWT.
const (
	codeLength     = 8000
	originLength   = 2000
	providerLength = 30
)

// InvitationLength is the maximum length of an invitation's token, in characters.
const InvitationLength = 1000

// verifierForm is the form of a code_verifier (RFC 7636 section 4.1), which may be left out.
var verifierForm = regexp.MustCompile(`^([A-Za-z0-9._~-]{43,128})?$`)

// Check returns code and redirect URL, both of which are required.
func (r Registration) Check() (code, origin string, err error) {
	var f exchange.FieldErrors
	_, err = r.Names().Patch(User{})
	if e, wrong := errors.AsType[*exchange.Error](err); wrong {
		f = e.Fields
	}
	f.Line("code", exchange.Some(r.Code), codeLength, &code)
	f.Line("origin_url", exchange.Some(r.OriginURL), originLength, &origin)
	f.Line("invitation", r.Invitation, InvitationLength, new(string))
	f.Line("provider", r.Provider, providerLength, new(string))
	f.Rule("code_verifier", exchange.Rule{Pattern: verifierForm.String(),
		Examples: []string{"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}})
	if !verifierForm.MatchString(r.CodeVerifier.Or("")) {
		f.Add("code_verifier", "must be 43 to 128 letters, digits, or any of - . _ ~ (RFC 7636)")
	}
	f.Needed("code")
	f.Needed("origin_url")
	f.Must("code", code != "", "is required: the authorization code of the identity provider")
	f.Must("origin_url", origin != "", "is required: the redirect URL that the code was made for")
	return code, origin, f.Err()
}

// Validate implements Body.
func (r Registration) Validate(bool) exchange.FieldErrors {
	_, _, err := r.Check()
	return exchange.FieldsOf(err)
}

// SearchDocument returns the document of u, which never contains the e-mail address.
func (u User) SearchDocument() exchange.SearchDocument {
	var x exchange.DocumentBuilder
	x.Text(fulltext.Title, strings.TrimSpace(u.FirstName+" "+u.LastName))
	x.Text(fulltext.Name, u.Username)
	x.Key("", u.RegistryID)
	return x.Document()
}
