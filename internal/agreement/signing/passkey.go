package signing

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// Site is where the passkeys of an installation are valid.
type Site struct {
	ID     string // a host name, the relying party of WebAuthn
	Origin string // such as https://aliquot.example.org
}

// Passkey is a key that a user registered.
type Passkey struct {
	User   string
	ID     []byte
	Public []byte // COSE
}

// Evidence is the proof that a passkey signed a statement. It can be checked without the server.
type Evidence struct {
	Statement         string `json:"statement"`
	Site              string `json:"rp_id"`
	Origin            string `json:"origin"`
	Credential        []byte `json:"credential_id"`
	PublicKey         []byte `json:"public_key"`
	AuthenticatorData []byte `json:"authenticator_data"`
	ClientData        []byte `json:"client_data"`
	Signature         []byte `json:"signature"`
}

// RequestOptions returns what a browser passes to navigator.credentials.get, as JSON, to have the statement signed by
// one of some passkeys.
func (p Pending) RequestOptions(site Site, keys []Passkey) ([]byte, error) {
	return json.Marshal(protocol.PublicKeyCredentialRequestOptions{Challenge: Challenge(p.Statement),
		Timeout: int(statementLife.Milliseconds()), RelyingPartyID: site.ID, AllowedCredentials: descriptors(keys),
		UserVerification: protocol.VerificationRequired})
}

// Accept returns the evidence in what a browser sent back for a pending statement: by a passkey of the signer, in time,
// once. The caller marks the pending statement as used in the transaction that keeps the evidence.
func (p Pending) Accept(answer []byte, keys []Passkey, site Site, now time.Time) (Evidence, error) {
	switch {
	case p.Used:
		return Evidence{}, ErrUsed
	case !now.Before(p.Expires):
		return Evidence{}, ErrExpired
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return Evidence{}, ErrAltered
	}
	statement, err := ParseStatement(p.Statement)
	if err != nil {
		return Evidence{}, err
	}
	n := slices.IndexFunc(keys, func(k Passkey) bool { return bytes.Equal(k.ID, parsed.RawID) })
	if n < 0 || keys[n].User != statement.Signer {
		return Evidence{}, ErrUnknownKey
	}
	raw := parsed.Raw.AssertionResponse
	e := Evidence{Statement: string(p.Statement), Site: site.ID, Origin: site.Origin, Credential: keys[n].ID,
		PublicKey: keys[n].Public, AuthenticatorData: raw.AuthenticatorData, ClientData: raw.ClientDataJSON,
		Signature: raw.Signature}
	_, err = e.Verify(keys[n], site)
	return e, err
}

// The data of an authenticator: 32 bytes that hash its site, one of flags, four of a counter.
const (
	flagsAt             = sha256.Size
	minAuthenticator    = flagsAt + 1 + 4
	userPresentAndKnown = 1<<0 | 1<<2
)

// Verify checks the evidence against the passkey and the site, and returns the statement that was signed.
func (e Evidence) Verify(key Passkey, site Site) (Statement, error) {
	statement, err := ParseStatement([]byte(e.Statement))
	if err != nil {
		return Statement{}, err
	}
	if !bytes.Equal(e.Credential, key.ID) || !bytes.Equal(e.PublicKey, key.Public) || statement.Signer != key.User {
		return Statement{}, ErrUnknownKey
	}
	var client struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
	}
	if json.Unmarshal(e.ClientData, &client) != nil {
		return Statement{}, ErrAltered
	}
	challenge := base64.RawURLEncoding.EncodeToString(Challenge([]byte(e.Statement)))
	siteHash := sha256.Sum256([]byte(site.ID))
	if e.Site != site.ID || e.Origin != site.Origin || client.Origin != site.Origin || client.CrossOrigin ||
		client.Type != string(protocol.AssertCeremony) || client.Challenge != challenge ||
		len(e.AuthenticatorData) < minAuthenticator || !bytes.HasPrefix(e.AuthenticatorData, siteHash[:]) {
		return Statement{}, ErrAltered
	}
	if !e.signed() {
		return Statement{}, ErrAltered
	}
	if e.AuthenticatorData[flagsAt]&userPresentAndKnown != userPresentAndKnown {
		return Statement{}, ErrUnverified
	}
	return statement, nil
}

// signed reports whether the signature is one of the public key, which is ES256 or RS256.
func (e Evidence) signed() bool {
	public, err := webauthncose.ParsePublicKey(e.PublicKey)
	if err != nil {
		return false
	}
	hash := sha256.Sum256(e.ClientData)
	message := append(bytes.Clone(e.AuthenticatorData), hash[:]...)
	switch k := public.(type) {
	case webauthncose.EC2PublicKeyData:
		good, err := k.Verify(message, e.Signature)
		return err == nil && good && k.Algorithm == int64(webauthncose.AlgES256)
	case webauthncose.RSAPublicKeyData:
		good, err := k.Verify(message, e.Signature)
		return err == nil && good && k.Algorithm == int64(webauthncose.AlgRS256)
	}
	return false
}
