// Package seal has the key with which the service seals executed agreements, and seals them. A seal is evidence that a
// file is as it left the service; it is nobody's signature.
package seal

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"slices"
	"sync"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/pades"
	"aliquot/internal/atomicfile"
)

// Sealer seals the PDFs of executed letters.
type Sealer struct {
	key   crypto.Signer
	chain []*x509.Certificate
	stamp func(message []byte) (response []byte, err error) // nil: no timestamps
	now   func() time.Time

	mu     sync.Mutex
	failed time.Time // when the authority did not answer
}

// pause is how long an authority for timestamps that did not answer is not asked again: whoever executes an agreement
// waits for it.
const pause = time.Minute

// New returns a sealer with a key and its certificates. stamp asks an authority for a timestamp (RFC 3161); nil: none
// is asked.
func New(key crypto.Signer, chain []*x509.Certificate, stamp func([]byte) ([]byte, error)) *Sealer {
	return &Sealer{key: key, chain: chain, stamp: stamp, now: time.Now}
}

// Seal returns the PDF of a letter with its fields sealed: that of each signer with the reason given for it, then that
// of the service, with a timestamp if an authority is asked and answers. Without an answer it is sealed all the same:
// the log of the record has timestamps of its own.
func (s *Sealer) Seal(pdf []byte, reasons map[string]string, at time.Time) (sealed []byte, err error) {
	o := pades.Options{Name: s.chain[0].Subject.CommonName, At: at, Key: s.key, Chain: s.chain}
	for _, field := range slices.Sorted(maps.Keys(reasons)) {
		o.Field, o.Reason = field, reasons[field]
		if pdf, err = pades.Sign(pdf, o); err != nil {
			return nil, err
		}
	}
	o.Field, o.Reason = letter.SealField, "Executed agreement, as this service recorded it"
	if s.asks() {
		o.Stamp = s.stamp
		if sealed, err = pades.Sign(pdf, o); err == nil {
			return sealed, nil
		}
		s.mu.Lock()
		s.failed = s.now()
		s.mu.Unlock()
		o.Stamp = nil
	}
	return pades.Sign(pdf, o)
}

// asks reports whether an authority is asked for a timestamp now.
func (s *Sealer) asks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stamp != nil && s.now().Sub(s.failed) > pause
}

// Files are the files of a key and of its certificates, in PEM. Made says that they may be made: their place is the
// usual one.
type Files struct {
	Key, Certificate string
	Made             bool
}

// life is how long a certificate that is made here is valid; it says nothing about the age of a seal.
const life = 20 * 365 * 24 * time.Hour

// Open reads the key and its certificates. Where there are none, and they may be made, it makes a key and a certificate
// for a name that signs itself; of several processes that do so at once, all get those of the first.
func (f Files) Open(name string, now time.Time) (crypto.Signer, []*x509.Certificate, error) {
	if _, err := os.Stat(f.Key); errors.Is(err, fs.ErrNotExist) && f.Made {
		if err := f.makeKey(); err != nil {
			return nil, nil, fmt.Errorf("seal-key: %w", err)
		}
	}
	key, err := f.readKey()
	if err != nil {
		return nil, nil, fmt.Errorf("seal-key: %w", err)
	}
	if _, err := os.Stat(f.Certificate); errors.Is(err, fs.ErrNotExist) && f.Made {
		if err := f.makeCertificate(key, name, now); err != nil {
			return nil, nil, fmt.Errorf("seal-certificate: %w", err)
		}
	}
	chain, err := f.readChain()
	if err == nil && !key.PublicKey.Equal(chain[0].PublicKey) {
		err = fmt.Errorf("the first certificate in %s is not that of the key in %s", f.Certificate, f.Key)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("seal-certificate: %w", err)
	}
	return key, chain, nil
}

func (f Files) makeKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return atomicfile.Create(f.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (f Files) makeCertificate(key *ecdsa.PrivateKey, name string, now time.Time) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	template := x509.Certificate{SerialNumber: serial,
		Subject:   pkix.Name{CommonName: name, Organization: []string{"Aliquot"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return err
	}
	return atomicfile.Create(f.Certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func (f Files) readKey() (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(f.Key)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(f.Key); err != nil {
		return nil, err
	} else if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("others can read %s; let only its owner read it (mode 0600)", f.Key)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is not in PEM", f.Key)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Key, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%s must have an ECDSA key on the curve P-256", f.Key)
	}
	return key, nil
}

func (f Files) readChain() (chain []*x509.Certificate, err error) {
	text, err := os.ReadFile(f.Certificate)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Certificate, err)
		}
		chain = append(chain, c)
	}
	if len(chain) == 0 {
		return nil, fmt.Errorf("%s has no certificate in PEM", f.Certificate)
	}
	return chain, nil
}
