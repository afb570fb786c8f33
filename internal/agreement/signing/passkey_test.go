package signing_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/signing"
	"aliquot/internal/agreement/signing/signingtest"
)

var keep = flag.String("keep", "", "a folder to which the evidence is written, for programs that are not ours")

var site = signing.Site{ID: "aliquot.example.org", Origin: "https://aliquot.example.org"}

// signature is a pending statement and everything about its signature.
type signature struct {
	device  *signingtest.Device
	key     signing.Passkey
	pending signing.Pending
	answer  []byte
}

func newSignature(t testing.TB, documents ...signing.Document) signature {
	t.Helper()
	s := signature{device: signingtest.New(t)}
	s.key = s.device.Passkey("018f0a53-0000-7000-8000-000000000001")
	var err error
	s.pending, err = signing.NewPending(signing.Statement{Documents: documents, Signer: s.key.User,
		Role: "PROVIDER_OFFICIAL", Authority: 3}, now)
	if err != nil {
		t.Fatal(err)
	}
	s.answer = s.device.Sign(t, signingtest.ClientData("webauthn.get", signingtest.Encoded(signing.Challenge(s.pending.Statement)), site.Origin),
		site.ID)
	return s
}

func (s signature) accept() (signing.Evidence, error) {
	return s.pending.Accept(s.answer, []signing.Passkey{s.key}, site, now)
}

func TestAccept_TakesOneTouchForManyLetters(t *testing.T) {
	t.Parallel()
	var documents []signing.Document
	for n := range 27 {
		documents = append(documents, signing.Document{Letter: fmt.Sprint("A-", n), Version: 1, SHA256: document.SHA256})
	}
	s := newSignature(t, documents...)
	e, err := s.accept()
	if err != nil {
		t.Fatal(err)
	}
	statement, err := e.Verify(s.key, site)
	if err != nil || len(statement.Documents) != 27 || !statement.Covers(documents[26]) || statement.Covers(document) {
		t.Errorf("%+v, %v", statement, err)
	}
}

func TestAccept_RefusesWhatWasNotAskedFor(t *testing.T) {
	t.Parallel()
	other := newSignature(t, document)
	for name, c := range map[string]struct {
		change func(*signature)
		want   error
	}{
		"used":                    {func(s *signature) { s.pending.Used = true }, signing.ErrUsed},
		"too late":                {func(s *signature) { s.pending.Expires = now }, signing.ErrExpired},
		"no JSON":                 {func(s *signature) { s.answer = []byte("{") }, signing.ErrAltered},
		"answer to another":       {func(s *signature) { s.pending = other.pending; s.key.User = other.key.User }, signing.ErrAltered},
		"another's passkey":       {func(s *signature) { s.answer = other.answer }, signing.ErrUnknownKey},
		"passkey of another user": {func(s *signature) { s.key.User = "somebody else" }, signing.ErrUnknownKey},
		"statement rewritten": {func(s *signature) {
			s.pending.Statement = bytes.Replace(s.pending.Statement, []byte(`"version":2`), []byte(`"version":3`), 1)
		}, signing.ErrAltered},
	} {
		s := newSignature(t, document)
		c.change(&s)
		if _, err := s.accept(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
	}
}

// alterations returns evidence that is not what was signed, by what is wrong.
func alterations(t testing.TB, s signature, e signing.Evidence) map[string]signing.Evidence {
	t.Helper()
	all := map[string]signing.Evidence{}
	alter := func(what string, change func(*signing.Evidence)) {
		altered := e
		for _, b := range []*[]byte{&altered.Credential, &altered.PublicKey, &altered.AuthenticatorData, &altered.ClientData,
			&altered.Signature} {
			*b = bytes.Clone(*b)
		}
		change(&altered)
		all[what] = altered
	}
	text := func(what, old, with string) {
		alter("statement: "+what, func(e *signing.Evidence) { e.Statement = strings.Replace(e.Statement, old, with, 1) })
	}
	text("letter", `"A-1"`, `"A-2"`)
	text("version", `"version":2`, `"version":3`)
	text("hash", "abab", "abac")
	text("signer", "018f0a53", "018f0a54")
	text("role", "PROVIDER_", "RECIPIENT_")
	text("authority", `"authority":3`, `"authority":4`)
	text("time", "2026-06-15", "2026-06-14")
	text("action", `"sign"`, `"send"`)
	text("format", "signature/1", "signature/2")
	text("nonce", `"nonce":"`, `"nonce":"A`)
	text("space", "{", "{ ")
	text("another member", "{", `{"a":1,`)
	text("a letter more", `"documents":[`, `"documents":[{"letter":"A-9","sha256":"","version":1},`)
	alter("statement: none", func(e *signing.Evidence) { e.Statement = "" })
	alter("site", func(e *signing.Evidence) { e.Site = "evil.example.org" })
	alter("origin", func(e *signing.Evidence) { e.Origin = "https://evil.example.org" })
	alter("credential", func(e *signing.Evidence) { e.Credential[0] ^= 1 })
	for _, n := range []int{0, 9, 31, 32, 33, 36} {
		alter(fmt.Sprintf("authenticator: byte %d", n), func(e *signing.Evidence) { e.AuthenticatorData[n] ^= 1 })
	}
	alter("authenticator: user not verified", func(e *signing.Evidence) { e.AuthenticatorData[32] &^= 4 })
	alter("authenticator: short", func(e *signing.Evidence) { e.AuthenticatorData = e.AuthenticatorData[:36] })
	alter("authenticator: none", func(e *signing.Evidence) { e.AuthenticatorData = nil })
	alter("authenticator: longer", func(e *signing.Evidence) { e.AuthenticatorData = append(e.AuthenticatorData, 0) })
	for what, edit := range map[string][2]string{"type": {"webauthn.get", "webauthn.create"}, "challenge": {`"challenge":"`, `"challenge":"A`},
		"origin": {"https://", "http://"}, "port": {".org", ".org:81"}, "frame": {"false", "true"}, "space": {"{", "{ "}} {
		alter("client: "+what, func(e *signing.Evidence) {
			e.ClientData = bytes.Replace(e.ClientData, []byte(edit[0]), []byte(edit[1]), 1)
		})
	}
	alter("client: none", func(e *signing.Evidence) { e.ClientData = nil })
	for _, n := range []int{0, 1, 3, 5, 20, 35, 40, 60} {
		alter(fmt.Sprintf("signature: byte %d", n), func(e *signing.Evidence) { e.Signature[n] ^= 1 })
	}
	alter("signature: none", func(e *signing.Evidence) { e.Signature = nil })
	alter("signature: short", func(e *signing.Evidence) { e.Signature = e.Signature[:len(e.Signature)-1] })
	alter("signature: longer", func(e *signing.Evidence) { e.Signature = append(e.Signature, 0) })
	for _, n := range []int{4, 10, 41, 45, 76} {
		alter(fmt.Sprintf("public key: byte %d", n), func(e *signing.Evidence) { e.PublicKey[n] ^= 1 })
	}
	alter("public key of another", func(e *signing.Evidence) { e.PublicKey = signingtest.New(t).Public })
	resigned := func(what string, client []byte, at string, flags byte) {
		alter(what, func(e *signing.Evidence) {
			device := *s.device
			device.Flags = flags
			var answer struct {
				Response struct{ ClientDataJSON, AuthenticatorData, Signature string }
			}
			if err := json.Unmarshal(device.Sign(t, client, at), &answer); err != nil {
				t.Fatal(err)
			}
			e.ClientData, _ = base64.RawURLEncoding.DecodeString(answer.Response.ClientDataJSON)
			e.AuthenticatorData, _ = base64.RawURLEncoding.DecodeString(answer.Response.AuthenticatorData)
			e.Signature, _ = base64.RawURLEncoding.DecodeString(answer.Response.Signature)
		})
	}
	challenge := signingtest.Encoded(signing.Challenge([]byte(e.Statement)))
	good := signingtest.ClientData("webauthn.get", challenge, site.Origin)
	resigned("signed without verifying the user", good, site.ID, 1<<0)
	resigned("signed without the user", good, site.ID, 1<<2)
	resigned("signed at another site", signingtest.ClientData("webauthn.get", challenge, "https://evil.example.org"), site.ID, 5)
	resigned("signed for another site", good, "evil.example.org", 5)
	resigned("signed another statement", signingtest.ClientData("webauthn.get", signingtest.Encoded(signing.Challenge([]byte("x"))), site.Origin), site.ID, 5)
	resigned("a registration", signingtest.ClientData("webauthn.create", challenge, site.Origin), site.ID, 5)
	return all
}

// TestEvidence_RefusesEveryAlteration also writes the evidence, for programs that are not ours (make pdf-check).
func TestEvidence_RefusesEveryAlteration(t *testing.T) {
	t.Parallel()
	s := newSignature(t, document)
	e, err := s.accept()
	if err != nil {
		t.Fatal(err)
	}
	all := alterations(t, s, e)
	if len(all) < 50 {
		t.Errorf("%d kinds of alterations", len(all))
	}
	for what, altered := range all {
		if _, err := altered.Verify(s.key, site); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if *keep == "" {
		return
	}
	b, err := json.Marshal(map[string]any{"good": e, "altered": all})
	if err == nil {
		err = os.WriteFile(filepath.Join(*keep, "passkeys.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNewPending_IsNeverTheSameTwice(t *testing.T) {
	t.Parallel()
	one, other := newSignature(t, document), newSignature(t, document)
	if bytes.Equal(one.pending.Statement, other.pending.Statement) || !one.pending.Expires.After(now.Add(time.Minute)) {
		t.Errorf("%s, until %s", one.pending.Statement, one.pending.Expires)
	}
}

func FuzzAccept(f *testing.F) {
	s := newSignature(f, document)
	f.Add(s.answer)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, answer []byte) {
		e, err := s.pending.Accept(answer, []signing.Passkey{s.key}, site, now)
		if err != nil {
			return
		}
		if _, err := e.Verify(s.key, site); err != nil {
			t.Errorf("accepted, and refused afterwards: %v", err)
		}
	})
}
