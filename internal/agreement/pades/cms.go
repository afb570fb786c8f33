package pades

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/digitorus/timestamp"
)

// The identifiers of CMS (RFC 5652), of signing certificates (RFC 5035) and of timestamps (RFC 3161).
var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidDigest        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidCertificate   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidTimestamp     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14}
	oidSHA256        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidECDSAWithSHA2 = asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}
)

type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content signedData `asn1:"explicit,tag:0"`
}

type signedData struct {
	Version      int
	Digests      []pkix.AlgorithmIdentifier `asn1:"set"`
	Content      struct{ Type asn1.ObjectIdentifier }
	Certificates asn1.RawValue
	Signers      []signerInfo `asn1:"set"`
}

type signerInfo struct {
	Version int
	Signer  struct {
		Issuer asn1.RawValue
		Serial *big.Int
	}
	Digest     pkix.AlgorithmIdentifier
	Attributes asn1.RawValue
	Algorithm  pkix.AlgorithmIdentifier
	Signature  []byte
	Unsigned   asn1.RawValue `asn1:"optional,tag:1"`
}

type attribute struct {
	Type   asn1.ObjectIdentifier
	Values []asn1.RawValue `asn1:"set"`
}

// sign returns the signature of a message as CMS. It has no attribute signing-time, which PAdES forbids.
func sign(message []byte, o Options) ([]byte, error) {
	public, ok := o.Key.Public().(*ecdsa.PublicKey)
	if !ok || len(o.Chain) == 0 || !public.Equal(o.Chain[0].PublicKey) {
		return nil, errors.New("the key is not an ECDSA key, or not that of the certificate")
	}
	attributes, err := signedAttributes(message, o.Chain[0])
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(attributes)
	signature, err := o.Key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var token []byte
	if o.Stamp != nil {
		if token, err = stampToken(signature, o.Stamp); err != nil {
			return nil, err
		}
	}
	return assemble(o.Chain, attributes, signature, token)
}

// stampToken asks for a timestamp of a message and returns the token in the answer.
func stampToken(message []byte, stamp func([]byte) ([]byte, error)) ([]byte, error) {
	response, err := stamp(message)
	if err != nil {
		return nil, err
	}
	t, err := timestamp.ParseResponse(response)
	if err != nil {
		return nil, fmt.Errorf("timestamp: %w", err)
	}
	return t.RawToken, nil
}

// signedAttributes returns the attributes that are signed: a SET in the order of DER.
func signedAttributes(message []byte, leaf *x509.Certificate) ([]byte, error) {
	digest, certificate := sha256.Sum256(message), sha256.Sum256(leaf.Raw)
	type certificateID struct{ Hash []byte }
	var set [][]byte
	for _, a := range []struct {
		kind  asn1.ObjectIdentifier
		value any
	}{
		{oidContentType, oidData},
		{oidDigest, digest[:]},
		{oidCertificate, struct{ IDs []certificateID }{[]certificateID{{certificate[:]}}}},
	} {
		value, err := asn1.Marshal(a.value)
		if err != nil {
			return nil, err
		}
		der, err := asn1.Marshal(attribute{a.kind, []asn1.RawValue{{FullBytes: value}}})
		if err != nil {
			return nil, err
		}
		set = append(set, der)
	}
	return marshalSet(asn1.ClassUniversal, asn1.TagSet, set)
}

func marshalSet(class, tag int, elements [][]byte) ([]byte, error) {
	slices.SortFunc(elements, bytes.Compare)
	return asn1.Marshal(asn1.RawValue{Class: class, Tag: tag, IsCompound: true, Bytes: bytes.Join(elements, nil)})
}

// assemble returns the CMS of its parts: always the same bytes for the same parts.
func assemble(chain []*x509.Certificate, attributes, signature, token []byte) ([]byte, error) {
	var certificates [][]byte
	for _, c := range chain {
		certificates = append(certificates, c.Raw)
	}
	set, err := marshalSet(asn1.ClassContextSpecific, 0, certificates)
	if err != nil {
		return nil, err
	}
	sha2 := pkix.AlgorithmIdentifier{Algorithm: oidSHA256}
	signer := signerInfo{Version: 1, Digest: sha2, Algorithm: pkix.AlgorithmIdentifier{Algorithm: oidECDSAWithSHA2},
		Signature: signature}
	signer.Signer.Issuer = asn1.RawValue{FullBytes: chain[0].RawIssuer}
	signer.Signer.Serial = chain[0].SerialNumber
	implicit := bytes.Clone(attributes)
	implicit[0] = 0xA0 // [0] in place of SET
	signer.Attributes = asn1.RawValue{FullBytes: implicit}
	if token != nil {
		der, err := asn1.Marshal(attribute{oidTimestamp, []asn1.RawValue{{FullBytes: token}}})
		if err == nil {
			signer.Unsigned.FullBytes, err = marshalSet(asn1.ClassContextSpecific, 1, [][]byte{der})
		}
		if err != nil {
			return nil, err
		}
	}
	data := signedData{Version: 1, Digests: []pkix.AlgorithmIdentifier{sha2},
		Certificates: asn1.RawValue{FullBytes: set}, Signers: []signerInfo{signer}}
	data.Content.Type = oidData
	return asn1.Marshal(contentInfo{oidSignedData, data})
}
