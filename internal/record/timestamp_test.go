package record_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"testing"
	"time"

	"aliquot/internal/record"

	"github.com/digitorus/pkcs7"
	"github.com/digitorus/timestamp"
)

// authority is a timestamping authority.
type authority struct {
	root, cert *x509.Certificate
	key        *ecdsa.PrivateKey
}

// newAuthority makes an authority whose certificate is for a usage.
func newAuthority(t testing.TB, usage asn1.ObjectIdentifier) authority {
	t.Helper()
	certify := func(c, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
		c.NotBefore, c.NotAfter, c.SerialNumber = time.Now().Add(-time.Hour), time.Now().Add(time.Hour), big.NewInt(7)
		der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		made, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authorityCert := x509.Certificate{Subject: pkix.Name{CommonName: "Root"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	root := certify(&authorityCert, &authorityCert, rootKey, rootKey)
	value, err := asn1.Marshal([]asn1.ObjectIdentifier{usage})
	if err != nil {
		t.Fatal(err)
	}
	cert := certify(&x509.Certificate{Subject: pkix.Name{CommonName: "TSA"}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: value}}},
		root, key, rootKey)
	return authority{root, cert, key}
}

// What certificates are for.
var (
	timeStamping = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 8}
	serverAuth   = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 1}
)

func (a authority) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.root)
	return pool
}

// answer answers a query.
func (a authority) answer(t testing.TB, query []byte) []byte {
	t.Helper()
	q, err := timestamp.ParseRequest(query)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&timestamp.Timestamp{HashAlgorithm: q.HashAlgorithm, HashedMessage: q.HashedMessage,
		Nonce: q.Nonce, Time: time.Now(), Policy: asn1.ObjectIdentifier{1, 2, 3}, AddTSACertificate: true,
	}).CreateResponseWithOpts(a.cert, a.key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// signAgain returns the answer of another authority as signed by a, with a certificate added.
func (a authority) signAgain(t testing.TB, response []byte, added *x509.Certificate) []byte {
	t.Helper()
	theirs, err := timestamp.ParseResponse(response)
	if err != nil {
		t.Fatal(err)
	}
	content, err := pkcs7.Parse(theirs.RawToken)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := pkcs7.NewSignedData(content.Content)
	if err != nil {
		t.Fatal(err)
	}
	signed.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	signed.SetContentType(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4})
	if err := signed.AddSigner(a.cert, a.key, pkcs7.SignerInfoConfig{}); err != nil {
		t.Fatal(err)
	}
	signed.AddCertificate(added)
	token, err := signed.Finish()
	if err != nil {
		t.Fatal(err)
	}
	again, err := asn1.Marshal(struct {
		Status struct{ Status int }
		Token  asn1.RawValue
	}{Token: asn1.RawValue{FullBytes: token}})
	if err != nil {
		t.Fatal(err)
	}
	if checked(again, []byte("a checkpoint"), nil, a.roots()) != nil {
		t.Fatal("what a signed is not accepted of it")
	}
	return again
}

func TestTimestamp_HoldsForItsMessageAndQueryOfATrustedAuthority(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, timeStamping)
	message := []byte("a checkpoint")
	query, nonce, err := record.TimestampQuery(message)
	if err != nil {
		t.Fatal(err)
	}
	response := a.answer(t, query)
	at, err := record.CheckTimestamp(response, message, nonce, a.roots())
	if err != nil || time.Since(at) > time.Minute {
		t.Fatalf("got %v, %v", at, err)
	}
	for name, check := range map[string]func() error{
		"of another message": func() error { return checked(response, []byte("another"), nonce, a.roots()) },
		"of another query":   func() error { return checked(response, message, big.NewInt(1), a.roots()) },
		"of another authority": func() error {
			return checked(response, message, nonce, newAuthority(t, timeStamping).roots())
		},
		"by a certificate for something else": func() error {
			server := newAuthority(t, serverAuth)
			return checked(server.answer(t, query), message, nonce, server.roots())
		},
		"by a stranger who adds the certificate of the authority": func() error {
			return checked(newAuthority(t, timeStamping).signAgain(t, response, a.cert), message, nonce, a.roots())
		},
	} {
		if check() == nil {
			t.Errorf("a timestamp %s is accepted", name)
		}
	}
	for i := range response { // some are not signed, but none of those that tell what and when
		flipped := bytes.Clone(response)
		flipped[i] ^= 1
		if other, err := record.CheckTimestamp(flipped, message, nonce, a.roots()); err == nil && !other.Equal(at) {
			t.Errorf("with byte %d changed it is of %v, not %v", i, other, at)
		}
	}
}

func checked(response, message []byte, nonce *big.Int, roots *x509.CertPool) error {
	_, err := record.CheckTimestamp(response, message, nonce, roots)
	return err
}

func FuzzCheckTimestamp(f *testing.F) {
	f.Add(read(f, "openssl.tsr"))
	f.Fuzz(func(t *testing.T, response []byte) {
		_ = checked(response, []byte("x"), nil, nil)
		if checked(response, []byte("a checkpoint\n"), nil, x509.NewCertPool()) == nil {
			t.Error("an authority that nobody trusts is accepted")
		}
	})
}
