// Package witnesstest plays those who vouch for a log, for tests.
package witnesstest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/digitorus/timestamp"
)

// StartAuthority runs a timestamping authority until t ends, and returns its address and its certificate.
func StartAuthority(t testing.TB) (address string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	usage, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{Subject: pkix.Name{CommonName: "TSA"}, SerialNumber: big.NewInt(1),
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: usage}}}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var query *timestamp.Request
		if err == nil {
			query, err = timestamp.ParseRequest(body)
		}
		if err != nil || r.Header.Get("Content-Type") != "application/timestamp-query" {
			http.Error(w, "not a query", http.StatusBadRequest)
			return
		}
		response, err := (&timestamp.Timestamp{HashAlgorithm: query.HashAlgorithm, HashedMessage: query.HashedMessage,
			Nonce: query.Nonce, Time: time.Now(), Policy: asn1.ObjectIdentifier{1, 2, 3}, AddTSACertificate: true,
		}).CreateResponseWithOpts(cert, key, crypto.SHA256)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write(response)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/tsr", cert
}
