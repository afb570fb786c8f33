package signing

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/exchange"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// registration is what a new passkey answers to: for whom it is, and when that was asked. Its hash is the challenge.
type registration struct {
	Format string `json:"format"`
	Action string `json:"action"`
	User   string `json:"user"`
	At     string `json:"at"` // RFC 3339, UTC
	Nonce  string `json:"nonce"`
}

const (
	registrationFormat = "aliquot-passkey/1"
	registerAction     = "register"
)

// NewRegistration returns what a new passkey of a user answers to.
func NewRegistration(user string, now time.Time) (Pending, error) {
	b, err := letter.Canonical(registration{registrationFormat, registerAction, user,
		now.UTC().Format(time.RFC3339), rand.Text()})
	return Pending{Statement: b, Expires: now.Add(statementLife)}, err
}

// The algorithms of passkeys: each authenticator has one of them, and programs of any kind can check them.
var algorithms = []protocol.CredentialParameter{
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256},
	{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgRS256},
}

// maxCredentialID is how many bytes the id of a passkey has at most (WebAuthn, section 4).
const maxCredentialID = 1023

// Holder is how a device shows whose passkey it has.
type Holder struct {
	ID          []byte // of the user, without meaning elsewhere
	Name        string
	DisplayName string
}

// CreationOptions returns what a browser passes to navigator.credentials.create, as JSON. known are the passkeys that
// the user has: a device with one of them makes no second one.
func (p Pending) CreationOptions(site Site, of Holder, known []Passkey) ([]byte, error) {
	return json.Marshal(protocol.PublicKeyCredentialCreationOptions{
		RelyingParty: protocol.RelyingPartyEntity{CredentialEntity: protocol.CredentialEntity{Name: "Aliquot"},
			ID: site.ID},
		User: protocol.UserEntity{CredentialEntity: protocol.CredentialEntity{Name: of.Name},
			DisplayName: of.DisplayName, ID: protocol.URLEncodedBase64(of.ID)},
		Challenge:             Challenge(p.Statement),
		Parameters:            algorithms,
		Timeout:               int(statementLife.Milliseconds()),
		CredentialExcludeList: descriptors(known),
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey:      protocol.ResidentKeyRequirementPreferred,
			UserVerification: protocol.VerificationRequired,
		},
		Attestation: protocol.PreferNoAttestation,
	})
}

func descriptors(keys []Passkey) (list []protocol.CredentialDescriptor) {
	for _, k := range keys {
		list = append(list, protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: k.ID})
	}
	return list
}

// ChallengeOf returns the challenge that an answer of a browser names, by which its pending statement is found.
func ChallengeOf(answer []byte) ([]byte, error) {
	var a struct {
		Response struct {
			ClientData protocol.URLEncodedBase64 `json:"clientDataJSON"`
		} `json:"response"`
	}
	var client struct {
		Challenge string `json:"challenge"`
	}
	if json.Unmarshal(answer, &a) != nil || json.Unmarshal(a.Response.ClientData, &client) != nil {
		return nil, ErrAltered
	}
	challenge, err := base64.RawURLEncoding.DecodeString(client.Challenge)
	if err != nil || len(challenge) == 0 {
		return nil, ErrAltered
	}
	return challenge, nil
}

// Register returns the passkey in what a browser sent back for a pending registration: made in time, once, at the
// site, by a device that verified its user. The caller marks the pending statement as used in the transaction that
// keeps the passkey.
func (p Pending) Register(answer []byte, site Site, now time.Time) (Passkey, error) {
	switch {
	case p.Used:
		return Passkey{}, ErrUsed
	case !now.Before(p.Expires):
		return Passkey{}, ErrExpired
	}
	var of registration
	if json.Unmarshal(p.Statement, &of) != nil || of.Format != registrationFormat || of.Action != registerAction {
		return Passkey{}, ErrAltered
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return Passkey{}, ErrAltered
	}
	made := parsed.Response.AttestationObject.AuthData
	challenge := base64.RawURLEncoding.EncodeToString(Challenge(p.Statement))
	if _, err = parsed.Verify(challenge, site.ID, []string{site.Origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, false, true, nil, algorithms, protocol.AttestationPolicy{},
		protocol.SignaturePolicy{}); err != nil {
		return Passkey{}, ErrAltered
	}
	if !made.Flags.UserVerified() {
		return Passkey{}, ErrUnverified
	}
	key := Passkey{User: of.User, ID: bytes.Clone(made.AttData.CredentialID),
		Public: bytes.Clone(made.AttData.CredentialPublicKey)}
	if len(key.ID) == 0 || len(key.ID) > maxCredentialID || !usable(key.Public) {
		return Passkey{}, ErrAlgorithm
	}
	return key, nil
}

// The sizes of RSA keys, in bits: smaller ones are weak, larger ones take long to check.
const minRSA, maxRSA = 2048, 4096

// usable reports whether a public key is of one of the algorithms and, with RSA, of an accepted size.
func usable(public []byte) bool {
	key, err := webauthncose.ParsePublicKey(public)
	if err != nil {
		return false
	}
	switch k := key.(type) {
	case webauthncose.EC2PublicKeyData:
		return k.Algorithm == int64(webauthncose.AlgES256)
	case webauthncose.RSAPublicKeyData:
		bits := 8 * len(bytes.TrimLeft(k.Modulus, "\x00"))
		return k.Algorithm == int64(webauthncose.AlgRS256) && bits >= minRSA && bits <= maxRSA
	}
	return false
}

// Registered is a passkey as it is kept: also after it was removed, since what it signed is checked with it.
type Registered struct {
	ID         int64
	Passkey    Passkey
	Name       string
	Identified string    // who the provider of identities says the user is
	SignedInAt time.Time // when it said so last before the registration
	CreatedAt  time.Time
	RemovedAt  *time.Time
}

// InUse returns the passkeys that were not removed.
func InUse(all []Registered) (keys []Passkey) {
	for _, r := range all {
		if r.RemovedAt == nil {
			keys = append(keys, r.Passkey)
		}
	}
	return keys
}

// PasskeyNew is the body of POST /users/:id/passkeys.
type PasskeyNew struct {
	Name       exchange.Opt[string]          `json:"name"`
	Credential exchange.Opt[json.RawMessage] `json:"credential"`
}

// Validate implements Body.
func (n PasskeyNew) Validate(bool) exchange.FieldErrors {
	_, f := n.Named()
	return f
}

// PasskeyAnswer is the body of POST /users/:id/signatures.
type PasskeyAnswer struct {
	Credential exchange.Opt[json.RawMessage] `json:"credential"`
}

// Validate implements Body.
func (n PasskeyAnswer) Validate(bool) (f exchange.FieldErrors) {
	answered(&f, n.Credential)
	return f
}

// maxAnswer is how long the answer of a browser may be.
const maxAnswer = 16 << 10

// Named returns the name of the passkey, and what is wrong with the body.
func (n PasskeyNew) Named() (name string, f exchange.FieldErrors) {
	f.Line("name", n.Name, exchange.LineLength, &name)
	f.Need("name", name)
	answered(&f, n.Credential)
	return name, f
}

// answered checks the form of the answer of a browser, which is required.
func answered(f *exchange.FieldErrors, answer exchange.Opt[json.RawMessage]) {
	f.Must("credential", answer.Set, "is required: what toJSON() of the browser's PublicKeyCredential returns")
	CheckAnswer(f, answer)
}

// CheckAnswer checks the form of the answer of a browser, if there is one.
func CheckAnswer(f *exchange.FieldErrors, answer exchange.Opt[json.RawMessage]) {
	if !answer.Set {
		return
	}
	_, err := ChallengeOf(answer.Value)
	switch {
	case len(answer.Value) > maxAnswer:
		f.Add("credential", "must be at most %d bytes", maxAnswer)
	case err != nil:
		f.Add("credential", "must be an object as toJSON() of the browser's PublicKeyCredential returns, with the "+
			"challenge that was asked for in its clientDataJSON")
	}
}
