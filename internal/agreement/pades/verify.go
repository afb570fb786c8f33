package pades

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"aliquot/internal/record"
)

// Trust is whose signatures and timestamps count.
type Trust struct {
	Signers     *x509.CertPool // nil: nobody
	Authorities *x509.CertPool // for timestamps; nil: anybody
}

// Seal is a signature of a file that was found good.
type Seal struct {
	Field   string
	Name    string
	Reason  string
	At      time.Time // as the signer says; zero for a timestamp of the file
	Stamped time.Time // as the authority says; zero without a timestamp
	Signer  *x509.Certificate
}

// Verify checks every signature of a file, and that nothing but signatures was appended to the draft, which it returns
// with them: the oldest first. The hash of the draft is what people signed.
func Verify(file []byte, trust Trust) (draft []byte, seals []Seal, err error) {
	for {
		r, err := lastRevision(file)
		if err != nil {
			return nil, nil, err
		}
		if r.previous == 0 {
			slices.Reverse(seals)
			return file, seals, nil
		}
		before, seal, err := verifyLast(file, r, trust)
		if err != nil {
			return nil, nil, err
		}
		file, seals = before, append(seals, seal)
	}
}

var (
	signatureObject = regexp.MustCompile(`^\d+ 0 obj\n<<[^\n]*/T\((\w+)\)[^\n]*>>\nendobj\n` +
		`\d+ 0 obj\n<<([^\n]*)/ByteRange\[0 [\d ]+\]/Contents<`)
	signatureText = regexp.MustCompile(`/Name<(FEFF[0-9A-F]*)>/Reason<(FEFF[0-9A-F]*)>/M\(([^)]*)\)$`)
	endOfFile     = []byte("%%EOF\n")
)

// verifyLast checks the last update of a file: it must be what Sign would append to the file before it, which it
// returns.
func verifyLast(file []byte, r revision, trust Trust) (before []byte, seal Seal, err error) {
	end := -1
	if r.previous < len(file) {
		end = bytes.Index(file[r.previous:], endOfFile)
	}
	if end < 0 {
		return nil, Seal{}, errors.New("the revision before the last has no end")
	}
	before = file[:r.previous+end+len(endOfFile)]
	found := signatureObject.FindSubmatch(file[len(before):])
	if found == nil {
		return nil, Seal{}, errors.New("something other than a signature was appended")
	}
	o := Options{Field: string(found[1]), TimestampOnly: bytes.HasPrefix(found[2], []byte("/Type/DocTimeStamp/"))}
	if !o.TimestampOnly {
		if err := o.readDictionary(found[2]); err != nil {
			return nil, Seal{}, err
		}
	}
	again, place, err := update(before, o.Field, o.dictionary())
	if err != nil {
		return nil, Seal{}, err
	}
	if len(again) != len(file) || !bytes.Equal(covered(again, place), covered(file, place)) {
		return nil, Seal{}, errors.New("something other than a signature was appended")
	}
	contents, err := readContents(file[place : place+2*contentsRoom+2])
	if err != nil {
		return nil, Seal{}, fmt.Errorf("field %s: %w", o.Field, err)
	}
	seal = Seal{Field: o.Field, Name: o.Name, Reason: o.Reason, At: o.At}
	if o.TimestampOnly {
		seal.Stamped, err = checkToken(contents, covered(file, place), trust.Authorities)
	} else {
		err = seal.check(contents, covered(file, place), trust)
	}
	if err != nil {
		return nil, Seal{}, fmt.Errorf("field %s: %w", o.Field, err)
	}
	return before, seal, nil
}

func (o *Options) readDictionary(dictionary []byte) (err error) {
	found := signatureText.FindSubmatch(dictionary)
	if found == nil {
		return errors.New("the signature has no name, reason and time")
	}
	o.Name, o.Reason = readText(found[1]), readText(found[2])
	o.At, err = time.Parse(dateForm, string(found[3]))
	return err
}

func readText(digits []byte) string {
	b, _ := hex.DecodeString(string(digits)) // the pattern has only digits
	var units []uint16
	for i := 2; i+1 < len(b); i += 2 {
		units = append(units, uint16(b[i])<<8|uint16(b[i+1]))
	}
	return string(utf16.Decode(units))
}

// readContents returns the DER of a signature. After it there are only zeros, and its digits are upper case, so that it
// cannot be written in another way.
func readContents(place []byte) ([]byte, error) {
	digits := string(place[1 : len(place)-1])
	b, err := hex.DecodeString(digits)
	if err != nil || digits != strings.ToUpper(digits) || place[0] != '<' || place[len(place)-1] != '>' {
		return nil, errors.New("its signature is not in hexadecimal")
	}
	var der asn1.RawValue
	rest, err := asn1.Unmarshal(b, &der)
	if err != nil || len(bytes.Trim(rest, "\x00")) > 0 {
		return nil, errors.New("its signature is not DER")
	}
	return der.FullBytes, nil
}

// check checks the signature of a message.
func (s *Seal) check(der, message []byte, trust Trust) error {
	var info contentInfo
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 || len(info.Content.Signers) != 1 {
		return errors.New("its signature is not CMS with one signer")
	}
	signer := info.Content.Signers[0]
	chain, err := x509.ParseCertificates(info.Content.Certificates.Bytes)
	if err != nil {
		return fmt.Errorf("its certificates: %w", err)
	}
	leaf := slices.IndexFunc(chain, func(c *x509.Certificate) bool {
		return bytes.Equal(c.RawIssuer, signer.Signer.Issuer.FullBytes) && c.SerialNumber.Cmp(signer.Signer.Serial) == 0
	})
	if leaf < 0 {
		return errors.New("it has no certificate of its signer")
	}
	chain[0], chain[leaf] = chain[leaf], chain[0]
	s.Signer = chain[0]
	attributes, err := signedAttributes(message, s.Signer)
	if err != nil {
		return err
	}
	if err := s.Signer.CheckSignature(x509.ECDSAWithSHA256, attributes, signer.Signature); err != nil {
		return fmt.Errorf("its signature is not of this file: %w", err)
	}
	token, err := readToken(signer.Unsigned)
	if err != nil {
		return err
	}
	if again, err := assemble(chain, attributes, signer.Signature, token); err != nil || !bytes.Equal(again, der) {
		return errors.New("its signature has parts that nobody signed")
	}
	if token != nil {
		if s.Stamped, err = checkToken(token, signer.Signature, trust.Authorities); err != nil {
			return err
		}
	}
	return s.checkChain(chain, trust.Signers)
}

// checkChain checks the certificate of the signer at the time of the timestamp, or else of the signature.
func (s *Seal) checkChain(chain []*x509.Certificate, roots *x509.CertPool) error {
	if roots == nil { // which x509 takes for the roots of the system
		roots = x509.NewCertPool()
	}
	at := s.Stamped
	if at.IsZero() {
		at = s.At
	}
	others := x509.NewCertPool()
	for _, c := range chain[1:] {
		others.AddCert(c)
	}
	_, err := s.Signer.Verify(x509.VerifyOptions{Roots: roots, Intermediates: others, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err
}

// readToken returns the timestamp among the attributes that are not signed, or nil if there are none.
func readToken(unsigned asn1.RawValue) ([]byte, error) {
	if len(unsigned.FullBytes) == 0 {
		return nil, nil
	}
	var a attribute
	rest, err := asn1.Unmarshal(unsigned.Bytes, &a)
	if err != nil || len(rest) > 0 || !a.Type.Equal(oidTimestamp) || len(a.Values) != 1 {
		return nil, errors.New("its signature has attributes other than a timestamp")
	}
	return a.Values[0].FullBytes, nil
}

// checkToken checks the token of a timestamp of a message, as in an answer of an authority that grants it.
func checkToken(token, message []byte, authorities *x509.CertPool) (time.Time, error) {
	const granted = 0
	response, err := asn1.Marshal(struct {
		Status struct{ Status int }
		Token  asn1.RawValue
	}{struct{ Status int }{granted}, asn1.RawValue{FullBytes: token}})
	if err != nil {
		return time.Time{}, err
	}
	return record.CheckTimestamp(response, message, nil, authorities)
}
