// Package signingtest has a device with a passkey for tests.
package signingtest

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"

	"aliquot/internal/agreement/signing"
)

// Device is an authenticator with one passkey.
type Device struct {
	key    *ecdsa.PrivateKey
	ID     []byte
	Public []byte // COSE
	Flags  byte   // of what it says about its user
}

// Verified are the flags of a device whose user is there, and whom it knows.
const Verified = 1<<0 | 1<<2

// New returns a device.
func New(t testing.TB) *Device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 32)
	_, _ = rand.Read(id)
	public := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33]...)
	return &Device{key, id, append(append(public, 0x22, 0x58, 32), point[33:]...), Verified}
}

// Passkey returns the passkey of the device as that of a user.
func (d *Device) Passkey(user string) signing.Passkey {
	return signing.Passkey{User: user, ID: d.ID, Public: d.Public}
}

// Encoded returns bytes in the form that browsers use.
func Encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// ClientData is what a browser adds to a challenge.
func ClientData(kind, challenge, origin string) []byte {
	return fmt.Appendf(nil, `{"type":%q,"challenge":%q,"origin":%q,"crossOrigin":false}`, kind, challenge, origin)
}

// Sign answers the data of a browser with a signature, at the site with an id.
func (d *Device) Sign(t testing.TB, client []byte, at string) []byte {
	t.Helper()
	data, clientHash := d.data(at, d.Flags), sha256.Sum256(client)
	sum := sha256.Sum256(append(bytes.Clone(data), clientHash[:]...))
	signature, err := d.key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return d.answer(fmt.Sprintf(`"clientDataJSON":%q,"authenticatorData":%q,"signature":%q`, Encoded(client),
		Encoded(data), Encoded(signature)))
}

// Make answers the data of a browser with a new passkey, at the site with an id.
func (d *Device) Make(client []byte, at string) []byte {
	const attested = 1 << 6
	data := append(d.data(at, d.Flags|attested), make([]byte, 16)...)
	data = binary.BigEndian.AppendUint16(data, uint16(len(d.ID))) //nolint:gosec // ids of tests are short
	data = append(append(data, d.ID...), d.Public...)
	object := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"),
		byte(len(data)>>8), byte(len(data)))
	return d.answer(fmt.Sprintf(`"clientDataJSON":%q,"attestationObject":%q`, Encoded(client),
		Encoded(append(object, data...))))
}

func (d *Device) data(at string, flags byte) []byte {
	hash := sha256.Sum256([]byte(at))
	return append(hash[:], flags, 0, 0, 0, 0)
}

func (d *Device) answer(response string) []byte {
	return fmt.Appendf(nil, `{"type":"public-key","id":%q,"rawId":%q,"clientExtensionResults":{},"response":{%s}}`,
		Encoded(d.ID), Encoded(d.ID), response)
}

// options are those parts of what a browser is asked that a device uses.
type options struct {
	Challenge string `json:"challenge"`
	Site      string `json:"rpId"`
	Of        struct {
		ID string `json:"id"`
	} `json:"rp"`
}

func read(t testing.TB, b []byte) (o options) {
	t.Helper()
	if err := json.Unmarshal(b, &o); err != nil || o.Challenge == "" {
		t.Fatalf("options %s: %v", b, err)
	}
	return o
}

// Create answers the options of a registration, at an origin.
func (d *Device) Create(t testing.TB, options []byte, origin string) []byte {
	t.Helper()
	o := read(t, options)
	return d.Make(ClientData("webauthn.create", o.Challenge, origin), o.Of.ID)
}

// Get answers the options of a signature, at an origin.
func (d *Device) Get(t testing.TB, options []byte, origin string) []byte {
	t.Helper()
	o := read(t, options)
	return d.Sign(t, ClientData("webauthn.get", o.Challenge, origin), o.Site)
}
