package record

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/digitorus/pkcs7"
	"github.com/digitorus/timestamp"
)

// MaxTimestamp is the most bytes that the answer of a timestamping authority may have.
const MaxTimestamp = 64 << 10

// TimestampQuery returns an RFC 3161 request for a timestamp of a message, and its nonce.
func TimestampQuery(message []byte) (query []byte, nonce *big.Int, err error) {
	if nonce, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 64)); err != nil {
		return nil, nil, err
	}
	query, err = timestamp.CreateRequest(bytes.NewReader(message), &timestamp.RequestOptions{Hash: crypto.SHA256,
		Certificates: true, Nonce: nonce})
	return query, nonce, err
}

// CheckTimestamp checks an RFC 3161 answer: that it is of the message, that its certificate is for timestamps, is one
// that was valid then and that one of roots signed, and that it has the nonce of the query, unless that is nil. It
// returns the time. With roots nil any certificate does: who the authority is remains to be checked.
func CheckTimestamp(response, message []byte, nonce *big.Int, roots *x509.CertPool) (time.Time, error) {
	at, err := checkTimestamp(response, message, nonce, roots)
	if err != nil {
		return time.Time{}, fmt.Errorf("timestamp: %w", err)
	}
	return at, nil
}

func checkTimestamp(response, message []byte, nonce *big.Int, roots *x509.CertPool) (time.Time, error) {
	if len(response) > MaxTimestamp {
		return time.Time{}, fmt.Errorf("an answer of %d bytes; at most %d", len(response), MaxTimestamp)
	}
	t, err := timestamp.ParseResponse(response)
	if err != nil {
		return time.Time{}, err
	}
	sum := sha256.Sum256(message)
	switch {
	case t.HashAlgorithm != crypto.SHA256 || !bytes.Equal(t.HashedMessage, sum[:]):
		return time.Time{}, errors.New("it is of something else")
	case nonce != nil && (t.Nonce == nil || t.Nonce.Cmp(nonce) != 0):
		return time.Time{}, errors.New("it answers another query")
	case len(t.Certificates) == 0:
		return time.Time{}, errors.New("it has no certificate, so its signature cannot be checked")
	}
	if err := checkAuthority(t, roots); err != nil {
		return time.Time{}, err
	}
	return t.Time.UTC(), nil
}

// checkAuthority checks the certificate that signed, at the time that it states.
func checkAuthority(t *timestamp.Timestamp, roots *x509.CertPool) error {
	signed, err := pkcs7.Parse(t.RawToken)
	if err != nil {
		return err
	}
	if signed.GetOnlySigner() == nil {
		return errors.New("it has not one signature")
	}
	others := x509.NewCertPool()
	for _, c := range t.Certificates {
		others.AddCert(c)
	}
	if roots == nil {
		roots = others
	}
	return signed.VerifyWithOpts(x509.VerifyOptions{Roots: roots, Intermediates: others, CurrentTime: t.Time,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}})
}

// TimestampAuthority returns the certificates in an answer of a timestamping authority, as PEM.
func TimestampAuthority(response []byte) ([]byte, error) {
	t, err := timestamp.ParseResponse(response)
	if err != nil {
		return nil, fmt.Errorf("timestamp: %w", err)
	}
	var list []byte
	for _, c := range t.Certificates {
		list = append(list, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return list, nil
}
