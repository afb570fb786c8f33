package seal_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/letter/lettertest"
	"aliquot/internal/agreement/pades"
	"aliquot/internal/seal"
	"aliquot/internal/witness"
	"aliquot/internal/witness/witnesstest"
)

var keep = flag.String("keep", "", "a folder to which a sealed letter is written, for programs that are not ours")

func filesIn(folder string) seal.Files {
	return seal.Files{Key: filepath.Join(folder, "seal.key"), Certificate: filepath.Join(folder, "seal.pem"), Made: true}
}

func opened(t *testing.T, f seal.Files, stamp func([]byte) ([]byte, error)) (*seal.Sealer, *x509.Certificate) {
	t.Helper()
	key, chain, err := f.Open("aliquot.example.org", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return seal.New(key, chain, stamp), chain[0]
}

// reasons are what the fields of the short letter of tests are sealed with.
var reasons = map[string]string{"provider_official": "Łucja Nowak, Director; PASSKEY",
	"recipient_official": "by standing approval 7; SIGNED_IN"}

func draft(t *testing.T) []byte {
	t.Helper()
	l, i := lettertest.Short(t)
	pdf, err := l.PDF(i)
	if err != nil {
		t.Fatal(err)
	}
	return pdf
}

// TestSealer_RefusesEveryAlteration also writes the sealed letter, for programs that are not ours (make pdf-check).
func TestSealer_RefusesEveryAlteration(t *testing.T) {
	t.Parallel()
	address, authority := witnesstest.StartAuthority(t)
	s, cert := opened(t, filesIn(t.TempDir()), func(message []byte) ([]byte, error) {
		return witness.Timestamp(t.Context(), http.DefaultClient, address, message, nil)
	})
	before := draft(t)
	sealed, err := s.Seal(before, reasons, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	trust := pades.Trust{Signers: x509.NewCertPool(), Authorities: x509.NewCertPool()}
	trust.Signers.AddCert(cert)
	trust.Authorities.AddCert(authority)
	found, seals, err := pades.Verify(sealed, trust)
	if err != nil || !bytes.Equal(found, before) || len(seals) != 3 || seals[2].Field != letter.SealField ||
		seals[2].Stamped.IsZero() || !seals[0].Stamped.IsZero() {
		t.Fatalf("%v, %v", seals, err)
	}
	for at := range len(sealed) {
		if at%997 != 0 {
			continue
		}
		altered := bytes.Clone(sealed)
		altered[at] ^= 1
		if after, _, err := pades.Verify(altered, trust); err == nil && bytes.Equal(after, before) {
			t.Errorf("accepted with byte %d altered", at)
		}
	}
	if *keep == "" {
		return
	}
	for name, b := range map[string][]byte{"served.pdf": sealed, "served-draft.pdf": before,
		"served.pem":           pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}),
		"served-authority.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})} {
		if err := os.WriteFile(filepath.Join(*keep, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSealer_DoesNotWaitForAnAuthorityThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	asked := 0
	s, _ := opened(t, filesIn(t.TempDir()), func([]byte) ([]byte, error) {
		asked++
		return nil, errors.New("no answer")
	})
	for range 2 {
		if _, err := s.Seal(draft(t), reasons, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestFiles_AreMadeOnceForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	certs := make([]*x509.Certificate, 4)
	var together sync.WaitGroup
	for n := range certs {
		together.Go(func() { _, certs[n] = opened(t, f, nil) })
	}
	together.Wait()
	for _, cert := range certs {
		if !cert.Equal(certs[0]) || cert.Subject.CommonName != "aliquot.example.org" {
			t.Errorf("%v", cert.Subject)
		}
	}
	for _, path := range []string{f.Key, f.Certificate} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestFiles_RefuseWhatCannotSeal(t *testing.T) {
	t.Parallel()
	large, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(large)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, change := range map[string]func(*seal.Files){
		"others can read":   func(f *seal.Files) { _ = os.Chmod(f.Key, 0o640) }, //nolint:gosec // that is what is refused
		"no such file":      func(f *seal.Files) { f.Key, f.Made = f.Key+"2", false },
		"not in PEM":        func(f *seal.Files) { write(f.Key, []byte("x")) },
		"curve P-256":       func(f *seal.Files) { write(f.Key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})) },
		"has no cert":       func(f *seal.Files) { write(f.Certificate, []byte("x")) },
		"not that of the k": func(f *seal.Files) { _ = os.Remove(f.Key) },
	} {
		f := filesIn(t.TempDir())
		opened(t, f, nil)
		change(&f)
		if _, _, err := f.Open("x", time.Now()); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "seal-") {
			t.Errorf("%s: %v", want, err)
		}
	}
}
