// Package dossier writes and checks dossiers: the record of one object as a file that proves itself. It is a BagIt 1.0
// bag as a ZIP, whose payload is an RO-Crate 1.1: events, documents, a cover page, and the proof that the events are in
// the log. The same state gives the same bytes. docs/record.md has the format byte for byte.
package dossier

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"aliquot/internal/record"

	"golang.org/x/mod/sumdb/note"
)

// Dossier is what a dossier is made of.
type Dossier struct {
	Title     string // "Request 17: pUC19"
	Publisher string // the name of the installation
	Cover     Cover
	Chains    []Chain // that of the object first; at least one
	Files     []File
	Keys      []string      // public keys of the log and its witnesses, as C2SP signed-note has them
	Signers   []note.Signer // keys of the log, which sign the manifest
	Timestamp []byte        // RFC 3161 answer for the checkpoint; nil: none
	Authority []byte        // PEM certificates of who gave it
}

// Chain is the events of an object, all of them, and the proof that the last one is in the log.
type Chain struct {
	Events []Event
	Proof  record.Proof // all chains have the same checkpoint
}

// Event is an event with the texts that were not erased.
type Event struct {
	record.Event
	Openings map[string]record.Opening // by field
}

// File is a file of the payload. An event names its SHA-256 in a field whose name ends in "sha256".
type File struct {
	Name      string // below data/: "documents/003-signed-mta.pdf"
	Title     string
	MediaType string
	Size      int64
	SHA256    string                        // hex
	Open      func() (io.ReadCloser, error) // it is read twice
}

// Cover is what the cover page says.
type Cover struct {
	Facts [][2]string // "Material", "pUC19"
	Story []Line      // one for each event
}

// Line is an event in words.
type Line struct {
	At   time.Time
	Text string // where a text was erased, it says so
}

// DocumentField is the field of events with the SHA-256 of a document that they bring; those of a request have one for
// each document, "set.document.7.sha256". The document is in the dossier, unless an event erased it.
const DocumentField = "document.sha256"

var documentOf = regexp.MustCompile(`^set\.document\.[0-9]+\.sha256$`)

func bringsDocument(field string) bool {
	return field == DocumentField || documentOf.MatchString(field)
}

// The generated files of the payload. No event names them.
const (
	eventsFile  = "data/events.jsonl"
	crateFile   = "data/ro-crate-metadata.json"
	coverFile   = "data/cover.html"
	printedFile = "data/cover.pdf"
)

// The other files that a dossier has.
const (
	manifestFile    = "manifest-sha256.txt"
	tagManifestFile = "tagmanifest-sha256.txt"
	bagItFile       = "bagit.txt"
	bagInfoFile     = "bag-info.txt"
	readmeFile      = "README.txt"
	programFile     = "verify.py"
	keysFile        = "proof/keys.txt"
	checkpointFile  = "proof/checkpoint"
	responseFile    = "proof/checkpoint.tsr"
	authorityFile   = "proof/tsa.pem"
	sealFile        = "proof/manifest.note" // the signed hash of the manifest
	proofEnd        = ".tlog-proof"
)

// proofFile is the file with the proof of a chain: "proof/request-17.tlog-proof".
func proofFile(chain string) string { return "proof/" + strings.ReplaceAll(chain, "/", "-") + proofEnd }

const bagIt = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

// sealText returns what the log's keys sign of a dossier.
func sealText(origin string, manifest []byte) string {
	return "aliquot-dossier-1\n" + origin + "\n" + sum(manifest) + "\n"
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// content is a file as it is written: whole, or one to open.
type content struct {
	whole []byte
	file  *File
	crc   uint32
	size  int64
	sum   string
}

// Ready is a dossier that is whole, and only to be written.
type Ready struct{ files map[string]content }

// Prepare reads the files of a dossier and reports what is wrong with it before any of it is written.
func Prepare(d Dossier) (Ready, error) {
	files, err := d.contents()
	return Ready{files}, err
}

// Size returns the bytes that Write writes.
func (r Ready) Size() int64 {
	size := int64(endSize)
	for name, c := range r.files {
		size += localSize + centralSize + 2*int64(len(name)) + c.size
	}
	return size
}

// Write writes the dossier.
func (r Ready) Write(w io.Writer) error {
	var dir directory
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if err := r.files[name].write(w, &dir, name); err != nil {
			return err
		}
	}
	_, err := w.Write(dir.end())
	return err
}

func (c content) write(w io.Writer, dir *directory, name string) error {
	var r io.Reader = bytes.NewReader(c.whole)
	if c.file != nil {
		opened, err := c.file.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		defer func() { _ = opened.Close() }()
		r = opened
	}
	return dir.writeEntry(w, name, c.crc, c.size, r)
}

func whole(b []byte) content {
	return content{whole: b, crc: crc32.ChecksumIEEE(b), size: int64(len(b)), sum: sum(b)}
}

// measure reads a file for its checksum.
func (f *File) measure() (content, error) {
	r, err := f.Open()
	if err != nil {
		return content{}, err
	}
	defer func() { _ = r.Close() }()
	crc, h := crc32.NewIEEE(), sha256.New()
	n, err := io.Copy(io.MultiWriter(crc, h), r)
	c := content{file: f, crc: crc.Sum32(), size: n, sum: hex.EncodeToString(h.Sum(nil))}
	if err == nil && (c.size != f.Size || c.sum != f.SHA256) {
		err = errors.New("its content is not what its record says")
	}
	return c, err
}

// contents returns all files by name.
func (d Dossier) contents() (map[string]content, error) {
	if len(d.Chains) == 0 || len(d.Chains[0].Events) == 0 {
		return nil, errors.New("a dossier needs a chain with an event")
	}
	events, eventsErr := d.events()
	cover, coverErr := d.cover()
	printed, printedErr := d.coverPDF()
	crate, crateErr := d.crate()
	if err := errors.Join(eventsErr, coverErr, printedErr, crateErr); err != nil {
		return nil, err
	}
	payload := map[string]content{eventsFile: whole(events), coverFile: whole(cover),
		printedFile: whole(printed), crateFile: whole(crate)}
	for i := range d.Files {
		f := &d.Files[i]
		c, err := f.measure()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if _, twice := payload["data/"+f.Name]; twice {
			return nil, fmt.Errorf("%s: two files have this name", f.Name)
		}
		payload["data/"+f.Name] = c
	}
	tags, err := d.tags(payload)
	if err != nil {
		return nil, err
	}
	maps.Copy(payload, tags)
	payload[tagManifestFile] = whole(manifest(tags))
	return payload, nil
}

// manifest lists files with their SHA-256, as BagIt has it.
func manifest(files map[string]content) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%s  %s\n", files[name].sum, name)
	}
	return b.Bytes()
}

// tags returns the files beside the payload, without the manifest of them.
func (d Dossier) tags(payload map[string]content) (map[string]content, error) {
	list := manifest(payload)
	last := d.last()
	signed := d.Chains[0].Proof.Checkpoint
	origin, _, _ := strings.Cut(string(signed), "\n")
	seal, err := note.Sign(&note.Note{Text: sealText(origin, list)}, d.Signers...)
	if err != nil {
		return nil, err
	}
	var bytesOfPayload int64
	for _, c := range payload {
		bytesOfPayload += c.size
	}
	tags := map[string]content{
		bagItFile: whole([]byte(bagIt)),
		bagInfoFile: whole(fmt.Appendf(nil, "Bag-Software-Agent: Aliquot\nBagging-Date: %s\nExternal-Identifier: %s\n"+
			"Payload-Oxum: %d.%d\nSource-Organization: %s\n", last.At.UTC().Format(time.DateOnly), last.Chain,
			bytesOfPayload, len(payload), oneLine(d.Publisher))),
		manifestFile:   whole(list),
		sealFile:       whole(seal),
		keysFile:       whole([]byte(strings.Join(d.Keys, "\n") + "\n")),
		checkpointFile: whole(signed),
		readmeFile:     whole([]byte(readme)),
		programFile:    whole([]byte(Program)),
	}
	for _, c := range d.Chains {
		if !bytes.Equal(c.Proof.Checkpoint, signed) {
			return nil, errors.New("the proofs of a dossier need the same checkpoint")
		}
		tags[proofFile(c.Events[0].Chain)] = whole(c.Proof.Marshal())
	}
	if d.Timestamp != nil {
		tags[responseFile], tags[authorityFile] = whole(d.Timestamp), whole(d.Authority)
	}
	return tags, nil
}

// last returns the last event of the object.
func (d Dossier) last() Event {
	events := d.Chains[0].Events
	return events[len(events)-1]
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// line is an event as a line of data/events.jsonl.
type line struct {
	Chain  string            `json:"chain"`
	Seq    int64             `json:"seq"`
	Prev   string            `json:"prev"`
	Kind   string            `json:"kind"`
	Actor  string            `json:"actor"`
	At     int64             `json:"at"`     // microseconds since 1970
	Detail map[string]string `json:"detail"` // by field, the mark and the value
	Hash   string            `json:"hash"`
	Texts  map[string]text   `json:"texts,omitempty"`
}

type text struct {
	Salt string `json:"salt"`
	Text string `json:"text"`
}

// detail returns the detail as it is hashed.
func (l line) detail() string {
	var d record.Detail
	for _, name := range slices.Sorted(maps.Keys(l.Detail)) {
		mark, value := record.Mark(0), l.Detail[name]
		if value != "" {
			mark, value = record.Mark(value[0]), value[1:]
		}
		d = append(d, record.Field{Name: name, Mark: mark, Value: value})
	}
	return d.String()
}

func (d Dossier) events() ([]byte, error) {
	var b bytes.Buffer
	for _, c := range d.Chains {
		if len(c.Events) == 0 {
			return nil, errors.New("a chain without an event")
		}
		for _, e := range c.Events {
			if err := e.write(&b); err != nil {
				return nil, err
			}
		}
	}
	return b.Bytes(), nil
}

// write writes an event as a line.
func (e Event) write(w io.Writer) error {
	detail, err := record.ParseDetail(e.Detail)
	if err != nil {
		return fmt.Errorf("%s, event %d: %w", e.Chain, e.Seq, err)
	}
	l := line{e.Chain, e.Seq, e.Prev, e.Kind, e.Actor, e.At.UnixMicro(), map[string]string{}, e.Hash, nil}
	for _, f := range detail {
		l.Detail[f.Name] = string(rune(f.Mark)) + f.Value
	}
	for field, o := range e.Openings {
		if l.Texts == nil {
			l.Texts = map[string]text{}
		}
		l.Texts[field] = text(o)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(l)
}
