// Package identity finds out from an OAuth 2.0 / OpenID Connect provider who has signed in. ORCID is the reference
// provider; Demo is a small one of our own, for trying out and for tests.
//
// Nothing a provider sends is trusted: answers are limited in size and time, tokens are verified, texts are cleaned,
// and an identity that is not beyond doubt is refused.
package identity

import (
	"cmp"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange/identifier"
)

// maxText bounds names and registry ids, in characters. OpenID Connect Core section 2 gives the
// same number for a subject.
const maxText = 255

// Person is a person as an identity provider knows them. Every field but RegistryID may be empty: names can be private
// at ORCID, and ORCID never provides an e-mail address.
type Person struct {
	RegistryID string // an ORCID iD in its canonical bare form, otherwise the provider's subject
	Issuer     string // of the provider, unless it is the main one
	// scoped affiliations, such as member@uni.example, of a provider that is asked for them; see At
	Affiliations []string
	GivenName    string
	FamilyName   string
	Name         string // as the provider writes it, otherwise given and family name
	Email        string // only if the provider verified it
	Role         string // the demo page's description of a sample person; Client leaves it empty
}

// claims are the members of an id_token or of a userinfo answer that we read (OpenID Connect Core
// sections 2 and 5.1).
type claims struct {
	Subject       string `json:"sub"`
	GivenName     string `json:"given_name"`
	FamilyName    string `json:"family_name"`
	Name          string `json:"name"`
	Email         string `json:"email"`
	EmailVerified any    `json:"email_verified"` // some providers write "true" as a text
	affiliations
}

func (c claims) namesNoOne() bool { return clean(c.GivenName+c.FamilyName, maxText) == "" }

// verifiedEmail returns the address if the provider states that it belongs to the person and it is a plain address of
// at most 255 characters, otherwise "". It is never shortened.
func (c claims) verifiedEmail() string {
	if c.EmailVerified != true && c.EmailVerified != "true" {
		return ""
	}
	if a, err := mail.ParseAddress(c.Email); err != nil || a.Address != c.Email || clean(c.Email, maxText) != c.Email {
		return ""
	}
	return c.Email
}

// person returns a Person with cleaned texts. Without given_name and family_name, name is split.
func (c claims) person(registryID string) Person {
	p := Person{
		RegistryID: registryID,
		GivenName:  clean(c.GivenName, maxText),
		FamilyName: clean(c.FamilyName, maxText),
		Name:       clean(c.Name, maxText),
		Email:      c.verifiedEmail(),
	}
	if c.namesNoOne() {
		p.GivenName, p.FamilyName = splitName(p.Name)
	}
	p.Name = cmp.Or(p.Name, clean(p.GivenName+" "+p.FamilyName, maxText))
	return p
}

// registryID returns the one id that the `orcid` member of the token answer and the subject of the id_token name
// together; either may be absent. It is an ORCID iD if the provider is ORCID (isORCID) or sent `orcid`, and then its
// check digit must be right. An invalid id is refused, never repaired: two people must not become one.
func registryID(orcid, subject string, isORCID bool) (string, error) {
	if orcid == "" && !isORCID {
		if subject == "" {
			return "", errors.New("the provider's answer names nobody: neither orcid nor an id_token")
		}
		if _, err := identifier.Subject(subject); err != nil {
			return "", fmt.Errorf("the provider sent the unusable subject %q: %w", subject, err)
		}
		return subject, nil
	}
	id, err := identifier.ORCID(cmp.Or(orcid, subject))
	if err != nil {
		return "", fmt.Errorf("the provider sent a malformed ORCID iD: %w", err)
	}
	if orcid != "" && subject != "" {
		if same, err := identifier.ORCID(subject); err != nil || same != id {
			return "", fmt.Errorf("the provider's token answer is about %q, its id_token about %q", id, subject)
		}
	}
	return id, nil
}

// splitName divides a name into given and family name: at the comma in "Carberry, Josiah", otherwise before the last
// word together with the lower-case particles before it, as in "Ludwig van Beethoven". A single word is a given name.
func splitName(name string) (given, family string) {
	if family, given, ok := strings.Cut(name, ","); ok {
		return strings.TrimSpace(given), strings.TrimSpace(family)
	}
	words := strings.Fields(name)
	if len(words) < 2 {
		return name, ""
	}
	i := len(words) - 1
	for i > 1 && startsLower(words[i-1]) {
		i--
	}
	return strings.Join(words[:i], " "), strings.Join(words[i:], " ")
}

func startsLower(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsLower(r)
}

// clean returns a foreign text as one line: white space becomes single spaces, control characters and invisible ones
// that change the direction of writing are dropped, and at most most characters are kept.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	return strings.TrimSpace(string(runes[:min(len(runes), most)]))
}
