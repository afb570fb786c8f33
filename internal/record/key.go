package record

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"aliquot/internal/atomicfile"

	"golang.org/x/mod/sumdb/note"
)

// Keys are the Ed25519 keys that sign the checkpoints of a log, the newest first. While a key is replaced there are
// two, both of which sign. A file of keys has one private key on each line, as in C2SP signed-note.
type Keys struct {
	Signers   []note.Signer
	Verifiers []string // the public keys, as C2SP signed-note has them, for others to keep

	lines []string
}

// Origin returns the name of the log.
func (k Keys) Origin() string { return k.Signers[0].Name() }

// ParseKeys parses a file of keys.
func ParseKeys(text string) (Keys, error) {
	var k Keys
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		signer, err := note.NewSigner(line)
		if err != nil || len(k.Signers) > 0 && signer.Name() != k.Origin() {
			return Keys{}, fmt.Errorf("line %d is not a private key of one log", len(k.Signers)+1)
		}
		verifier, err := publicKey(line)
		if err != nil {
			return Keys{}, err
		}
		k = Keys{append(k.Signers, signer), append(k.Verifiers, verifier), append(k.lines, line)}
	}
	if len(k.Signers) == 0 {
		return Keys{}, errors.New("there is no key in it")
	}
	return k, nil
}

func (k Keys) text() string { return strings.Join(k.lines, "\n") + "\n" }

// NewKeys returns a first key for a log of an origin, which is a host and a path: "aliquot.example.org/log/2026".
func NewKeys(origin string) (Keys, error) {
	private, _, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return Keys{}, err
	}
	return ParseKeys(private + "\n")
}

// Rotate returns the keys with a new one in front. One older key continues to sign until the next Rotate or until
// Retire, so that those who know only that one can follow.
func (k Keys) Rotate() (Keys, error) {
	added, err := NewKeys(k.Origin())
	if err != nil {
		return Keys{}, err
	}
	return ParseKeys(added.text() + k.lines[0] + "\n")
}

// Retire returns the newest key alone.
func (k Keys) Retire() (Keys, error) { return ParseKeys(k.lines[0] + "\n") }

// OpenKeys is ReadKeys, but where there is no file it makes one with a first key for origin, which only its owner can
// read; of several processes that do so at once, all get the key of the first.
func OpenKeys(path, origin string) (Keys, error) {
	if k, err := ReadKeys(path); !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k, err := NewKeys(origin)
	if err == nil {
		err = atomicfile.Create(path, []byte(k.text()))
	}
	if err != nil {
		return Keys{}, fmt.Errorf("record-key: %w", err)
	}
	return ReadKeys(path)
}

// ReadKeys reads a file of keys. A file that others can read is refused.
func ReadKeys(path string) (Keys, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Keys{}, fmt.Errorf("record-key: %w", err)
	}
	if info, err := os.Stat(path); err != nil {
		return Keys{}, fmt.Errorf("record-key: %w", err)
	} else if info.Mode().Perm()&0o077 != 0 {
		return Keys{}, fmt.Errorf("record-key: others can read %s; let only its owner read it (mode 0600)", path)
	}
	k, err := ParseKeys(string(text))
	if err != nil {
		return Keys{}, fmt.Errorf("record-key: %s: %w", path, err)
	}
	return k, nil
}

// Save replaces the file of keys; a crash leaves either the old or the new one.
func (k Keys) Save(path string) error { return atomicfile.Write(path, []byte(k.text())) }
