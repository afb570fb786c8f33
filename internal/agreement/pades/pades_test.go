package pades_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/letter/lettertest"
	"aliquot/internal/agreement/pades"
	"aliquot/internal/witness"
	"aliquot/internal/witness/witnesstest"
)

var keep = flag.String("keep", "", "a folder to which the PDFs are written, for programs that are not ours")

// signer has a key and its certificate.
type signer struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// newSigner makes a signer whose certificate ends at a time, by an issuer or, if that is nil, by itself.
func newSigner(t testing.TB, name string, until time.Time, by *signer) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &signer{key: key}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: name}, SerialNumber: big.NewInt(time.Now().UnixNano()),
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment}
	parent, private := template, key
	if by != nil {
		parent, private = by.cert, by.key
	} else {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, private)
	if err == nil {
		s.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// world has a letter with every seal, and what its checks need.
type world struct {
	t           testing.TB
	draft, file []byte
	stages      [][]byte // the file after each seal
	ca, leaf    *signer
	tsa         *x509.Certificate
	stamp       func([]byte) ([]byte, error)
	trust       pades.Trust
}

var sealed = []string{"provider_official", "recipient_official", letter.SealField, letter.TimestampField}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t}
	soon := time.Now().Add(time.Hour)
	w.ca = newSigner(t, "Aliquot test CA", soon, nil)
	w.leaf = newSigner(t, "Aliquot of Aarlund", soon, w.ca)
	w.stamp, w.tsa = w.authority()
	w.trust = pades.Trust{Signers: x509.NewCertPool(), Authorities: x509.NewCertPool()}
	w.trust.Signers.AddCert(w.ca.cert)
	w.trust.Authorities.AddCert(w.tsa)
	l, i := lettertest.Short(t)
	w.draft = w.pdf(l.PDF(i))
	w.file = w.seal(w.draft, sealed, w.leaf)
	return w
}

func (w *world) authority() (func([]byte) ([]byte, error), *x509.Certificate) {
	address, cert := witnesstest.StartAuthority(w.t)
	return func(message []byte) ([]byte, error) {
		return witness.Timestamp(w.t.Context(), http.DefaultClient, address, message, nil)
	}, cert
}

func (w *world) pdf(b []byte, err error) []byte {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

func (w *world) options(field string, by *signer) pades.Options {
	return pades.Options{Field: field, Name: "Dr. Łucja (Aarlund)", Reason: "passkey 7, sha256 of the statement 12",
		At: time.Now().Truncate(time.Second), Key: by.key, Chain: []*x509.Certificate{by.cert, w.ca.cert}, Stamp: w.stamp,
		TimestampOnly: field == letter.TimestampField}
}

func (w *world) seal(file []byte, fields []string, by *signer) []byte {
	w.t.Helper()
	for _, field := range fields {
		w.stages = append(w.stages, file)
		file = w.pdf(pades.Sign(file, w.options(field, by)))
	}
	return file
}

// accepts reports whether a file is the letter with all its seals.
func (w *world) accepts(file []byte) error {
	draft, seals, err := pades.Verify(file, w.trust)
	if err != nil {
		return err
	}
	if sha256.Sum256(draft) != sha256.Sum256(w.draft) {
		return fmt.Errorf("it is another letter")
	}
	var fields []string
	for _, s := range seals {
		fields = append(fields, s.Field)
	}
	if !slices.Equal(fields, sealed) {
		return fmt.Errorf("it has the seals %v", fields)
	}
	return nil
}

func TestVerify_AcceptsWhatSignMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if !bytes.HasPrefix(w.file, w.draft) {
		t.Error("the draft is not the beginning of the sealed file")
	}
	_, seals, err := pades.Verify(w.file, w.trust)
	if err != nil || len(seals) != 4 {
		t.Fatalf("%d seals: %v", len(seals), err)
	}
	o := w.options(sealed[0], w.leaf)
	if s := seals[0]; s.Field != o.Field || s.Name != o.Name || s.Reason != o.Reason || time.Since(s.At) > time.Minute ||
		time.Since(s.Stamped) > time.Minute || !s.Signer.Equal(w.leaf.cert) {
		t.Errorf("the first seal is %+v", s)
	}
	if s := seals[3]; !s.At.IsZero() || s.Stamped.IsZero() || s.Signer != nil {
		t.Errorf("the timestamp is %+v", s)
	}
	if _, seals, err := pades.Verify(w.draft, w.trust); err != nil || len(seals) != 0 {
		t.Errorf("the draft has %d seals: %v", len(seals), err)
	}
	o.Stamp = nil
	plain := w.pdf(pades.Sign(w.draft, o))
	if _, seals, err := pades.Verify(plain, w.trust); err != nil || !seals[0].Stamped.IsZero() {
		t.Errorf("without a timestamp: %+v, %v", seals, err)
	}
	if _, _, err := pades.Verify(plain, pades.Trust{}); err == nil {
		t.Error("a signature is accepted although nobody is trusted")
	}
}

func TestSign_RefusesWhatCannotBeSigned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*pades.Options, *[]byte){
		"no field":              func(o *pades.Options, _ *[]byte) { o.Field = "nobody" },
		"signed already":        func(_ *pades.Options, f *[]byte) { *f = w.file },
		"does not end":          func(_ *pades.Options, f *[]byte) { *f = []byte("%PDF-1.7\n") },
		"not an ECDSA key":      func(o *pades.Options, _ *[]byte) { o.Key = weak },
		"that of the cert":      func(o *pades.Options, _ *[]byte) { o.Key = w.ca.key },
		"needs an authority":    func(o *pades.Options, _ *[]byte) { o.TimestampOnly, o.Stamp = true, nil },
		"no authority answered": func(o *pades.Options, _ *[]byte) { o.Stamp = unreachable },
		"at most":               func(o *pades.Options, _ *[]byte) { o.Chain = append(o.Chain, slices.Repeat(o.Chain, 20)...) },
	} {
		o, file := w.options(sealed[0], w.leaf), w.draft
		change(&o, &file)
		if _, err := pades.Sign(file, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func unreachable([]byte) ([]byte, error) { return nil, fmt.Errorf("no authority answered") }

// flip changes a byte of a file, some bytes after the nth place of a text.
func flip(file []byte, text string, n, after int) []byte {
	at := 0
	for range n + 1 {
		i := bytes.Index(file[at:], []byte(text))
		if i < 0 {
			panic(fmt.Sprintf("%q is not there %d times", text, n+1))
		}
		at += i + len(text)
	}
	out := bytes.Clone(file)
	if out[at+after] ^= 1; out[at+after] < ' ' && file[at+after] >= ' ' {
		out[at+after] = 'x'
	}
	return out
}

// flipDigit changes a hexadecimal digit to another one.
func flipDigit(file []byte, text string, n, after int) []byte {
	out := flip(file, text, n, after)
	for i := range out {
		if out[i] != file[i] {
			out[i] = map[bool]byte{true: '7', false: '4'}[file[i] == '4']
		}
	}
	return out
}

func replace(file []byte, old, with string) []byte {
	if !bytes.Contains(file, []byte(old)) {
		panic(old + " is not there")
	}
	return bytes.Replace(file, []byte(old), []byte(with), 1)
}

// appended returns the file with an update that has one object.
func appended(file []byte, number int, body string) []byte {
	start := bytes.LastIndex(file, []byte("\nxref\n")) + 1
	var size, root int
	tail := file[bytes.LastIndex(file, []byte("trailer\n")):]
	if _, err := fmt.Sscanf(string(tail), "trailer\n<</Size %d/Root %d 0 R", &size, &root); err != nil {
		panic(err)
	}
	b := bytes.NewBuffer(bytes.Clone(file))
	at := b.Len()
	fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", number, body)
	table := b.Len()
	fmt.Fprintf(b, "xref\n%d 1\n%010d 00000 n \ntrailer\n<</Size %d/Root %d 0 R/Prev %d/ID[<%032X><%032X>]>>\n"+
		"startxref\n%d\n%%%%EOF\n", number, at, max(size, number+1), root, start, 1, 2, table)
	return b.Bytes()
}

const place = "/Contents<"

// contents returns the digits of the nth signature of a file.
func contents(file []byte, n int) string {
	parts := strings.Split(string(file), place)
	digits, _, _ := strings.Cut(parts[n+1], ">")
	return digits
}

// alterations returns files that are not the letter as it was sealed, by what is wrong.
func (w *world) alterations() map[string][]byte {
	f := w.file
	all := map[string][]byte{}
	for n := range 8 { // fonts with their tables, the page, the colour profile, metadata, attachment
		all[fmt.Sprintf("a byte of stream %d of the draft", n)] = flip(f, "stream\n", 2*n, 9)
	}
	for what, edit := range map[string][2]string{
		"version of PDF": {"%PDF-1.7", "%PDF-1.6"}, "language": {"/Lang(en)", "/Lang(de)"}, "heading": {"/S/H1", "/S/H2"},
		"scope": {"/Scope/Column", "/Scope/Row   "}, "standard": {"<pdfaid:part>3", "<pdfaid:part>2"},
		"title": {"Implementing letter", "Implementing Letter"}, "date": {"2026-06-15T", "2026-06-14T"},
		"relationship": {"/AFRelationship/Data", "/AFRelationship/Sour"}, "flags of a field": {"/F 132", "/F 133"},
		"paper": {"/MediaBox[0 0 595", "/MediaBox[0 0 295"}, "flags of the form": {"/SigFlags 3", "/SigFlags 1"},
		"place of a field": {"/Rect[-1 -1 -1 -1]", "/Rect[-1 -1 99 99]"}, "name of the attachment": {"(agreement.json)", "(agreement.txt) "},
		"table of objects": {"xref\n0 ", "xref\n1 "},
	} {
		all["draft: "+what] = replace(f, edit[0], edit[1])
	}
	for n, field := range sealed {
		all[field+": beginning of the signature"] = flipDigit(f, place, n, 1)
		all[field+": middle of the signature"] = flipDigit(f, place, n, 900)
		all[field+": range"] = flip(f, "/ByteRange[0 ", n, 2)
		all[field+": left out"] = w.without(n)
		if n == 3 {
			continue
		}
		all[field+": name"] = flipDigit(f, "/Name<FEFF", n, 3)
		all[field+": reason"] = flipDigit(f, "/Reason<FEFF", n, 3)
		all[field+": time"] = flip(f, "/M(D:20", n, 9)
		all[field+": certificate"] = flipDigit(f, place, n, 2*300)
		digits := strings.TrimRight(contents(f, n), "0")
		all[field+": timestamp"] = flipDigit(f, place, n, len(digits)-9)
	}
	for n := range 4 {
		all[fmt.Sprintf("the last %d seals cut off", n+1)] = w.stages[3-n]
	}
	catalog := "<</Type/Catalog/Pages 3 0 R>>"
	maps.Copy(all, map[string][]byte{
		"another letter":         w.otherLetter(),
		"seals of the other":     replace(f, contents(f, 0), contents(w.otherLetter(), 0)),
		"signature twice":        replace(f, contents(f, 1), contents(f, 0)),
		"page replaced":          appended(f, 9, "<</Length 9>>\nstream\n0 0 m 1 l\nendstream"),
		"catalogue replaced":     appended(f, 1, catalog),
		"annotation appended":    appended(f, 900, "<</Type/Annot/Subtype/Text/Rect[9 9 9 9]/Contents(no)>>"),
		"text appended":          append(bytes.Clone(f), "% and more\n"...),
		"last update twice":      append(bytes.Clone(f), f[len(w.stages[3]):]...),
		"text in front":          append([]byte("%!\n"), f...),
		"last bytes missing":     f[:len(f)-8],
		"page replaced between":  w.replacedBetween(),
		"signer nobody trusts":   w.stranger(time.Now().Add(time.Hour), nil),
		"certificate ended":      w.stranger(time.Now().Add(-time.Hour), w.ca),
		"authority not trusted":  w.otherAuthority(),
		"draft with a new value": appended(w.draft, 1, catalog),
	})
	return all
}

// without returns the letter in which one of the seals was never made.
func (w *world) without(n int) []byte {
	other := &world{t: w.t, ca: w.ca, stamp: w.stamp}
	return other.seal(w.draft, slices.Delete(slices.Clone(sealed), n, n+1), w.leaf)
}

func (w *world) otherLetter() []byte {
	l, i := lettertest.Short(w.t)
	l.Version = 2
	other := &world{t: w.t, ca: w.ca, stamp: w.stamp}
	return other.seal(w.pdf(l.PDF(i)), sealed, w.leaf)
}

// replacedBetween returns a letter whose page somebody replaced after the first seal and before the others.
func (w *world) replacedBetween() []byte {
	other := &world{t: w.t, ca: w.ca, stamp: w.stamp}
	changed := appended(w.stages[1], 9, "<</Length 9>>\nstream\n0 0 m 1 l\nendstream")
	return other.seal(changed, sealed[1:], w.leaf)
}

func (w *world) stranger(until time.Time, by *signer) []byte {
	other := &world{t: w.t, ca: w.ca, stamp: w.stamp}
	if by == nil {
		by = newSigner(w.t, "Aliquot test CA", until, nil)
		other.ca = by
	}
	return other.seal(w.draft, sealed, newSigner(w.t, "Aliquot of Aarlund", until, by))
}

func (w *world) otherAuthority() []byte {
	other := &world{t: w.t, ca: w.ca}
	other.stamp, _ = other.authority()
	return other.seal(w.draft, sealed, w.leaf)
}

// TestVerify_RefusesEveryAlteration also writes the files, for programs that are not ours (make pdf-check).
func TestVerify_RefusesEveryAlteration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.accepts(w.file); err != nil {
		t.Fatal(err)
	}
	all := w.alterations()
	if len(all) < 50 {
		t.Errorf("%d kinds of alterations", len(all))
	}
	for what, file := range all {
		if bytes.Equal(file, w.file) {
			t.Errorf("%s: nothing is altered", what)
		}
		if err := w.accepts(file); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	w.keep(all)
}

// TestVerify_RefusesWhatOtherProgramsIgnore has alterations without a meaning, which other programs accept.
func TestVerify_RefusesWhatOtherProgramsIgnore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	digits := contents(w.file, 0)
	for what, file := range map[string][]byte{
		"bytes after the signature": replace(w.file, digits, digits[:len(digits)-2]+"01"),
		"digits in lower case":      replace(w.file, digits, strings.ToLower(digits)),
		"space between digits":      replace(w.file, digits, digits[:len(digits)-1]+" "),
	} {
		if err := w.accepts(file); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

func FuzzVerify(f *testing.F) {
	w := newWorld(f)
	f.Add(w.file, 0, byte(0))
	f.Add(w.file, len(w.draft)+500, byte(7))
	f.Add([]byte("trailer\n<</Size 1/Root 1 0 R/ID[<"+strings.Repeat("0", 32)+"><"+strings.Repeat("0", 32)+
		">]>>\nstartxref\n1\n%%EOF\n"), 0, byte(1))
	f.Fuzz(func(t *testing.T, file []byte, at int, by byte) {
		file = bytes.Clone(file)
		if at >= 0 && at < len(file) {
			file[at] ^= by
		}
		if err := w.accepts(file); err == nil && !bytes.Equal(file, w.file) {
			t.Error("an altered file is accepted")
		}
	})
}

// keep writes the letters for programs that are not ours.
func (w *world) keep(altered map[string][]byte) {
	if *keep == "" {
		return
	}
	l, i := lettertest.Long(w.t)
	files := map[string][]byte{"letter-short.pdf": w.draft, "letter-long.pdf": w.pdf(l.PDF(i)), "sealed.pdf": w.file,
		"sealed-long.pdf": w.seal(w.pdf(l.PDF(i)), sealed, w.leaf),
		"ca.pem":          pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.ca.cert.Raw}),
		"authority.pem":   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.tsa.Raw})}
	for what, file := range altered {
		files["altered: "+what+".pdf"] = file
	}
	for name, file := range files {
		if err := os.WriteFile(filepath.Join(*keep, name), file, 0o600); err != nil {
			w.t.Fatal(err)
		}
	}
}
