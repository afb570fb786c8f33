package signing_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"aliquot/internal/agreement/signing"
	"aliquot/internal/agreement/signing/signingtest"
)

const user = "018f0a53-0000-7000-8000-000000000001"

func newRegistration(t testing.TB) (signing.Pending, []byte) {
	t.Helper()
	p, err := signing.NewRegistration(user, now)
	if err != nil {
		t.Fatal(err)
	}
	options, err := p.CreationOptions(site, signing.Holder{ID: []byte("7"), Name: "0000-0001", DisplayName: "Ada"},
		[]signing.Passkey{{ID: []byte("known")}})
	if err != nil {
		t.Fatal(err)
	}
	return p, options
}

func TestRegister_TakesThePasskeyThatWasMade(t *testing.T) {
	t.Parallel()
	p, options := newRegistration(t)
	device := signingtest.New(t)
	answer := device.Create(t, options, site.Origin)
	key, err := p.Register(answer, site, now.Add(4*time.Minute))
	if err != nil || key.User != user || !bytes.Equal(key.ID, device.ID) || !bytes.Equal(key.Public, device.Public) {
		t.Errorf("%+v, %v", key, err)
	}
	challenge, err := signing.ChallengeOf(answer)
	if err != nil || !bytes.Equal(challenge, signing.Challenge(p.Statement)) {
		t.Errorf("challenge %x, %v", challenge, err)
	}
	var shown struct {
		ExcludeCredentials     []struct{ ID string }
		AuthenticatorSelection struct{ UserVerification string }
		PubKeyCredParams       []struct{ Alg int }
	}
	if err := json.Unmarshal(options, &shown); err != nil || len(shown.ExcludeCredentials) != 1 ||
		shown.AuthenticatorSelection.UserVerification != "required" || len(shown.PubKeyCredParams) != 2 ||
		shown.PubKeyCredParams[0].Alg != -7 || shown.PubKeyCredParams[1].Alg != -257 {
		t.Errorf("%s, %v", options, err)
	}
}

// rsaKey is a COSE key of RS256 with a modulus of a size.
func rsaKey(bits int) []byte {
	n := bytes.Repeat([]byte{0xff}, bits/8)
	key := append([]byte{0xa4, 1, 3, 3, 0x39, 1, 0, 0x20, 0x59, byte(len(n) >> 8), byte(len(n))}, n...)
	return append(key, 0x21, 0x43, 1, 0, 1)
}

func TestRegister_RefusesWhatWasNotAskedFor(t *testing.T) {
	t.Parallel()
	p, options := newRegistration(t)
	_, others := newRegistration(t)
	asked, err := signing.NewPending(signing.Statement{Documents: []signing.Document{document}, Signer: user}, now)
	if err != nil {
		t.Fatal(err)
	}
	challenge := signingtest.Encoded(signing.Challenge(p.Statement))
	made := func(change func(*signingtest.Device)) []byte {
		d := signingtest.New(t)
		change(d)
		return d.Create(t, options, site.Origin)
	}
	device := signingtest.New(t)
	good := device.Create(t, options, site.Origin)
	for name, c := range map[string]struct {
		pending signing.Pending
		answer  []byte
		at      time.Time
		want    error
	}{
		"used":              {signing.Pending{Statement: p.Statement, Expires: p.Expires, Used: true}, good, now, signing.ErrUsed},
		"too late":          {p, good, now.Add(5 * time.Minute), signing.ErrExpired},
		"no JSON":           {p, []byte("{"), now, signing.ErrAltered},
		"another challenge": {p, device.Create(t, others, site.Origin), now, signing.ErrAltered},
		"a signature":       {p, device.Sign(t, signingtest.ClientData("webauthn.create", challenge, site.Origin), site.ID), now, signing.ErrAltered},
		"made to sign":      {p, device.Make(signingtest.ClientData("webauthn.get", challenge, site.Origin), site.ID), now, signing.ErrAltered},
		"another origin":    {p, device.Create(t, options, "https://evil.example.org"), now, signing.ErrAltered},
		"another site":      {p, device.Make(signingtest.ClientData("webauthn.create", challenge, site.Origin), "evil.example.org"), now, signing.ErrAltered},
		"a letter to sign":  {asked, good, now, signing.ErrAltered},
		"nobody there":      {p, made(func(d *signingtest.Device) { d.Flags = 1 << 2 }), now, signing.ErrAltered},
		"user not verified": {p, made(func(d *signingtest.Device) { d.Flags = 1 }), now, signing.ErrUnverified},
		"no id":             {p, made(func(d *signingtest.Device) { d.ID = nil }), now, signing.ErrAltered},
		"long id":           {p, made(func(d *signingtest.Device) { d.ID = make([]byte, 1024) }), now, signing.ErrAltered},
		"other algorithm":   {p, made(func(d *signingtest.Device) { d.Public[4] = 0x27 }), now, signing.ErrAltered},
		"no point":          {p, made(func(d *signingtest.Device) { d.Public[20] ^= 1 }), now, signing.ErrAlgorithm},
		"RSA, small":        {p, made(func(d *signingtest.Device) { d.Public = rsaKey(1024) }), now, signing.ErrAlgorithm},
		"RSA, large":        {p, made(func(d *signingtest.Device) { d.Public = rsaKey(8192) }), now, signing.ErrAlgorithm},
		"RSA":               {p, made(func(d *signingtest.Device) { d.Public = rsaKey(2048) }), now, nil},
	} {
		if _, err := c.pending.Register(c.answer, site, c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
	}
	if _, err := p.Accept(good, nil, site, now); err == nil {
		t.Error("the registration of a passkey is accepted as a signature")
	}
}

func TestInUse_LeavesRemovedPasskeysOut(t *testing.T) {
	t.Parallel()
	kept, removed := signingtest.New(t).Passkey(user), signingtest.New(t).Passkey(user)
	keys := signing.InUse([]signing.Registered{{Passkey: kept}, {Passkey: removed, RemovedAt: &time.Time{}}})
	if !slices.EqualFunc(keys, []signing.Passkey{kept}, func(a, b signing.Passkey) bool { return bytes.Equal(a.ID, b.ID) }) {
		t.Errorf("%v", keys)
	}
}

func FuzzRegister(f *testing.F) {
	p, options := newRegistration(f)
	f.Add(signingtest.New(f).Create(f, options, site.Origin))
	f.Add([]byte(`{"response":{"clientDataJSON":"e30","attestationObject":"oA"}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		key, err := p.Register(answer, site, now)
		if err != nil {
			return
		}
		if challenge, err := signing.ChallengeOf(answer); err != nil ||
			!bytes.Equal(challenge, signing.Challenge(p.Statement)) || len(key.ID) == 0 || key.User != user {
			t.Errorf("accepted %+v for the challenge %x, %v", key, challenge, err)
		}
	})
}
