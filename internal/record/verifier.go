package record

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
)

// Verifiers returns the keys of lines of public keys: those of a log, and those of witnesses, whose cosignatures have a
// time.
func Verifiers(lines ...string) (note.Verifiers, error) {
	var list []note.Verifier
	for _, line := range lines {
		v, err := newVerifier(line)
		if err != nil {
			return nil, fmt.Errorf("%q is not a public key: %w", line, err)
		}
		list = append(list, v)
	}
	return note.VerifierList(list...), nil
}

// algCosignature is the first byte of the public key of a witness, as in C2SP tlog-cosignature.
const algCosignature = 4

func newVerifier(line string) (note.Verifier, error) {
	if parts := strings.SplitN(line, "+", 3); len(parts) == 3 {
		raw, err := base64.StdEncoding.DecodeString(parts[2])
		if err == nil && len(raw) > 0 && raw[0] == algCosignature {
			return cosign.NewVerifierForCosignatureV1(line)
		}
	}
	return note.NewVerifier(line)
}

// publicKey returns the public key of a private one of a log.
func publicKey(private string) (string, error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return "", err
	}
	key, err := publicBytes(private)
	if err != nil {
		return "", err
	}
	return note.NewEd25519VerifierKey(signer.Name(), key)
}

// WitnessKey returns the public key by which the cosignatures of a witness with a private key are checked.
func WitnessKey(private string) (string, error) {
	signer, err := cosign.NewSignerForCosignatureV1(private)
	if err != nil {
		return "", err
	}
	key, err := publicBytes(private)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s+%08x+%s", signer.Name(), signer.KeyHash(),
		base64.StdEncoding.EncodeToString(append([]byte{algCosignature}, key...))), nil
}

// publicBytes returns the public key of an Ed25519 key as in C2SP signed-note: PRIVATE+KEY+name+id+base64.
func publicBytes(private string) (ed25519.PublicKey, error) {
	parts := strings.SplitN(private, "+", 5)
	raw, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	if err != nil || len(raw) != 1+ed25519.SeedSize {
		return nil, errors.New("not an Ed25519 key")
	}
	return ed25519.NewKeyFromSeed(raw[1:]).Public().(ed25519.PublicKey), nil
}
