// Package pades seals the files of package pdfa with digital signatures and timestamps (PAdES, EN 319 142), and checks
// them. A seal is appended: the file before it stays the beginning of the file after it.
package pades

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// contentsRoom is how many bytes a signature with its certificates and timestamp may have.
const contentsRoom = 6 << 10

// Options say how a file is sealed.
type Options struct {
	Field  string // an empty field of the file
	Name   string // of the signer
	Reason string
	At     time.Time
	Key    crypto.Signer // ECDSA, P-256
	Chain  []*x509.Certificate
	// Stamp asks an authority for a timestamp of a message and returns its answer (RFC 3161); nil: no timestamp.
	Stamp func(message []byte) (response []byte, err error)
	// TimestampOnly fills the field with a timestamp of the file; Name, Reason, At, Key and Chain do not count.
	TimestampOnly bool
}

// Sign returns the file with the field signed.
func Sign(file []byte, o Options) ([]byte, error) {
	sealed, at, err := update(file, o.Field, o.dictionary())
	if err != nil {
		return nil, err
	}
	var contents []byte
	switch {
	case !o.TimestampOnly:
		contents, err = sign(covered(sealed, at), o)
	case o.Stamp == nil:
		err = errors.New("a timestamp needs an authority")
	default:
		contents, err = stampToken(covered(sealed, at), o.Stamp)
	}
	if err != nil {
		return nil, fmt.Errorf("sealing the field %s: %w", o.Field, err)
	}
	if len(contents) > contentsRoom {
		return nil, fmt.Errorf("sealing the field %s: %d bytes, at most %d", o.Field, len(contents), contentsRoom)
	}
	copy(sealed[at+1:], strings.ToUpper(hex.EncodeToString(contents)))
	return sealed, nil
}

// dictionary returns what the file states about a signature, up to its place.
func (o Options) dictionary() string {
	if o.TimestampOnly {
		return "/Type/DocTimeStamp/Filter/Adobe.PPKLite/SubFilter/ETSI.RFC3161"
	}
	return "/Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/Name" + textString(o.Name) + "/Reason" +
		textString(o.Reason) + o.At.UTC().Format("/M("+dateForm+")")
}

const dateForm = "D:20060102150405+00'00'"

func textString(text string) string {
	b := []byte{0xFE, 0xFF}
	for _, unit := range utf16.Encode([]rune(text)) {
		b = append(b, byte(unit>>8), byte(unit))
	}
	return fmt.Sprintf("<%X>", b)
}

// revision is a file as far as its last update.
type revision struct {
	size, root int
	previous   int // where the table of the revision before begins; 0: there is none
	start      int // where the table of this one begins
	id         string
}

var (
	trailer = regexp.MustCompile(`trailer\n<</Size (\d+)/Root (\d+) 0 R(?:/Prev (\d+))?/ID\[<([0-9A-F]{32})>` +
		`<[0-9A-F]{32}>\]>>\nstartxref\n(\d+)\n%%EOF\n$`)
	maxTrailer = 400
)

func lastRevision(file []byte) (revision, error) {
	tail := file[max(0, len(file)-maxTrailer):]
	found := trailer.FindSubmatch(tail)
	if found == nil {
		return revision{}, errors.New("the file does not end as those of this program do")
	}
	var r revision
	for i, into := range []*int{1: &r.size, 2: &r.root, 3: &r.previous, 5: &r.start} {
		if into == nil || len(found[i]) == 0 {
			continue
		}
		n, err := strconv.Atoi(string(found[i]))
		if err != nil || n <= 0 || n > len(file) {
			return revision{}, fmt.Errorf("the trailer has the impossible number %s", found[i])
		}
		*into = n
	}
	r.id = string(found[4])
	if !bytes.HasPrefix(file[r.start:], []byte("xref\n")) {
		return revision{}, errors.New("the table of objects is not where the file says")
	}
	return r, nil
}

// object returns the number and the body of the field with a name, as the last revision that has it says.
func fieldObject(file []byte, name string) (number int, body string, err error) {
	pattern := regexp.MustCompile(`\n(\d+) 0 obj\n(<</Type/Annot/Subtype/Widget/FT/Sig/T\(` + regexp.QuoteMeta(name) +
		`\)[^\n]*>>)\nendobj\n`)
	all := pattern.FindAllSubmatch(file, -1)
	if len(all) == 0 {
		return 0, "", fmt.Errorf("the file has no field %q", name)
	}
	last := all[len(all)-1]
	if bytes.Contains(last[2], []byte("/V ")) {
		return 0, "", fmt.Errorf("the field %q is signed already", name)
	}
	number, err = strconv.Atoi(string(last[1]))
	return number, string(last[2]), err
}

// update returns the file with a signature in the field whose place is still empty, and where that is.
func update(file []byte, field, dictionary string) (updated []byte, place int, err error) {
	r, err := lastRevision(file)
	if err != nil {
		return nil, 0, err
	}
	number, body, err := fieldObject(file, field)
	if err != nil {
		return nil, 0, err
	}
	b := bytes.NewBuffer(bytes.Clone(file))
	fieldAt := b.Len()
	fmt.Fprintf(b, "%d 0 obj\n%s/V %d 0 R>>\nendobj\n", number, strings.TrimSuffix(body, ">>"), r.size)
	signatureAt := b.Len()
	fmt.Fprintf(b, "%d 0 obj\n<<%s/ByteRange[0 ", r.size, dictionary)
	rangeAt := b.Len()
	b.WriteString(strings.Repeat(" ", rangeWidth) + "]/Contents")
	place = b.Len()
	b.WriteString("<" + strings.Repeat("0", 2*contentsRoom) + ">")
	end := b.Len()
	b.WriteString(">>\nendobj\n")
	table := b.Len()
	id := sha256.Sum256(b.Bytes())
	fmt.Fprintf(b, "xref\n%d 1\n%010d 00000 n \n%d 1\n%010d 00000 n \n", number, fieldAt, r.size, signatureAt)
	fmt.Fprintf(b, "trailer\n<</Size %d/Root %d 0 R/Prev %d/ID[<%s><%X>]>>\nstartxref\n%d\n%%%%EOF\n", r.size+1, r.root,
		r.start, r.id, id[:16], table)
	updated = b.Bytes()
	copy(updated[rangeAt:], fmt.Sprintf("%d %d %d", place, end, len(updated)-end))
	return updated, place, nil
}

// rangeWidth is room for three numbers.
const rangeWidth = 32

// covered returns what a signature covers: the file but for the place of the signature.
func covered(file []byte, place int) []byte {
	return append(bytes.Clone(file[:place]), file[place+2*contentsRoom+2:]...)
}
