package dossier

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"aliquot/internal/record"

	"golang.org/x/mod/sumdb/note"
)

// Trust is what a dossier is checked against.
type Trust struct {
	Keys        []string       // public keys of logs and witnesses; none: those in the dossier are believed
	Authorities *x509.CertPool // of timestamps; nil: those in the dossier are believed
}

// Report is what a dossier that holds says.
type Report struct {
	Chains     []ChainReport
	Documents  []string // names of the files that events name
	Checkpoint record.Checkpoint
	Signers    []string // names of the keys that signed the checkpoint: the log, then witnesses
	Keys       []string // in the dossier; if Trust has none, they are to be compared with known ones
	Stamped    *time.Time
}

// ChainReport is what a chain of a dossier says.
type ChainReport struct {
	Name   string
	Head   record.Head
	Erased map[string]time.Time // by SEQ.FIELD, when it was erased
}

// maxKept is how many bytes of files, other than documents, are kept in memory.
const maxKept = 64 << 20

// bag is a dossier as it is read: the hashes of its files, and the content of those that are not documents.
type bag struct {
	sums, content map[string]string
	kept          int64          // bytes of content
	buffer        [32 << 10]byte // of copies
}

// Check checks a dossier: every byte of it. The error names the entry, or the chain and event, at which it is not what
// was written. It keeps at most 64 MiB in memory; documents are only hashed.
func Check(r io.Reader, trust Trust) (*Report, error) {
	b := bag{sums: map[string]string{}, content: map[string]string{}}
	if err := readZIP(r, b.take); err != nil {
		return nil, err
	}
	if err := b.manifests(); err != nil {
		return nil, err
	}
	return b.check(trust)
}

// take reads an entry.
func (b *bag) take(name string, size int64, r io.Reader) error {
	h := sha256.New()
	var kept bytes.Buffer
	w := io.Writer(h)
	if !strings.HasPrefix(name, "data/") || name == eventsFile {
		if b.kept += size; b.kept > maxKept {
			return errors.New("more than 64 MiB of proofs and events")
		}
		w = io.MultiWriter(h, &kept)
	}
	if _, err := io.CopyBuffer(w, r, b.buffer[:]); err != nil {
		return err
	}
	b.sums[name], b.content[name] = hex.EncodeToString(h.Sum(nil)), kept.String()
	return nil
}

// manifests checks the manifests and the files whose content is fixed.
func (b *bag) manifests() error {
	for _, m := range []struct {
		name    string
		payload bool
	}{{manifestFile, true}, {tagManifestFile, false}} {
		listed := map[string]string{}
		for line := range strings.Lines(b.content[m.name]) {
			hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
			listed[name] = hash
		}
		var want strings.Builder
		for _, name := range slices.Sorted(maps.Keys(b.sums)) {
			if strings.HasPrefix(name, "data/") != m.payload || name == tagManifestFile {
				continue
			}
			if listed[name] != b.sums[name] {
				return fmt.Errorf("%s: it is not the file that %s lists", name, m.name)
			}
			delete(listed, name)
			fmt.Fprintf(&want, "%s  %s\n", b.sums[name], name)
		}
		for name := range listed {
			return fmt.Errorf("%s: it is missing, but %s lists it", name, m.name)
		}
		if want.String() != b.content[m.name] {
			return fmt.Errorf("%s: it is not a list in order", m.name)
		}
	}
	if b.content[bagItFile] != bagIt {
		return fmt.Errorf("%s: it is not that of BagIt 1.0", bagItFile)
	}
	return nil
}

func (b *bag) check(trust Trust) (*Report, error) {
	r := &Report{Keys: strings.Fields(b.content[keysFile])}
	keys := trust.Keys
	if len(keys) == 0 {
		keys = r.Keys
	}
	known, err := record.Verifiers(keys...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", keysFile, err)
	}
	if err := b.signatures(r, known); err != nil {
		return nil, err
	}
	documents, err := b.chains(r)
	if err != nil {
		return nil, err
	}
	if err := documents.compare(b, r); err != nil {
		return nil, err
	}
	for _, c := range r.Chains {
		if err := b.proof(c, known, r.Checkpoint.Origin); err != nil {
			return nil, err
		}
	}
	return r, b.timestamp(r, trust.Authorities)
}

// signatures checks who signed the checkpoint and the manifest.
func (b *bag) signatures(r *Report, known note.Verifiers) error {
	signed := b.content[checkpointFile]
	origin, _, _ := strings.Cut(signed, "\n")
	c, n, err := record.OpenCheckpoint([]byte(signed), origin, known)
	if err != nil {
		return fmt.Errorf("%s: %w", checkpointFile, err)
	}
	r.Checkpoint = c
	for _, s := range n.Sigs {
		r.Signers = append(r.Signers, s.Name)
	}
	seal, err := note.Open([]byte(b.content[sealFile]), known)
	if err != nil {
		return fmt.Errorf("%s: %w", sealFile, err)
	}
	if seal.Text != sealText(origin, []byte(b.content[manifestFile])) ||
		!slices.ContainsFunc(seal.Sigs, func(s note.Signature) bool { return s.Name == origin }) {
		return fmt.Errorf("%s: %s did not sign this manifest", sealFile, origin)
	}
	return nil
}

// named is what events name.
type named struct {
	hashes    map[string]bool
	documents []namedDocument
}

type namedDocument struct {
	chain, value string // SEQ.FIELD
	hash         string
}

// chains checks all events.
func (b *bag) chains(r *Report) (*named, error) {
	n := &named{hashes: map[string]bool{}}
	all := map[string]*record.Verifier{}
	var order []string
	for text := range strings.Lines(b.content[eventsFile]) {
		e, openings, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", eventsFile, err)
		}
		v := all[e.Chain]
		if v == nil {
			v = &record.Verifier{Chain: e.Chain}
			all[e.Chain], order = v, append(order, e.Chain)
		}
		if err := v.Add(e, openings); err != nil {
			return nil, err
		}
		n.add(e)
	}
	for _, name := range order {
		v := all[name]
		if err := v.End(v.Head); err != nil {
			return nil, err
		}
		r.Chains = append(r.Chains, ChainReport{name, v.Head, v.Gone})
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("%s: there is no event", eventsFile)
	}
	return n, nil
}

// parseLine parses a line of events. One that is not as Write writes it is an error.
func parseLine(raw string) (record.Event, map[string]record.Opening, error) {
	var l line
	if err := json.Unmarshal([]byte(raw), &l); err != nil {
		return record.Event{}, nil, err
	}
	e := Event{Event: record.Event{Chain: l.Chain, Seq: l.Seq, Prev: l.Prev, Kind: l.Kind, Actor: l.Actor,
		At: time.UnixMicro(l.At).UTC(), Detail: l.detail(), Hash: l.Hash}}
	for field, t := range l.Texts {
		if e.Openings == nil {
			e.Openings = map[string]record.Opening{}
		}
		e.Openings[field] = record.Opening(t)
	}
	var again bytes.Buffer
	if err := e.write(&again); err != nil || again.String() != raw {
		return record.Event{}, nil, fmt.Errorf("%s, event %d: it is not a line as Aliquot writes it", l.Chain, l.Seq)
	}
	return e.Event, e.Openings, nil
}

// add notes the hashes that an event names; Verifier checked its detail.
func (n *named) add(e record.Event) {
	detail, _ := record.ParseDetail(e.Detail)
	for _, f := range detail {
		if f.Mark == record.Clear && record.ErasesContent(f.Name) {
			n.hashes[f.Value] = true
		}
		if f.Mark == record.Clear && bringsDocument(f.Name) {
			n.documents = append(n.documents, namedDocument{e.Chain, fmt.Sprintf("%d.%s", e.Seq, f.Name), f.Value})
		}
	}
}

// compare checks that an event names each file of the payload, and that each document is there or was erased.
func (n *named) compare(b *bag, r *Report) error {
	there := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(b.sums)) {
		if !strings.HasPrefix(name, "data/") || slices.Contains(generated, name) {
			continue
		}
		if there[b.sums[name]] = true; !n.hashes[b.sums[name]] {
			return fmt.Errorf("%s: no event names it", name)
		}
		r.Documents = append(r.Documents, name)
	}
	for _, d := range n.documents {
		i := slices.IndexFunc(r.Chains, func(c ChainReport) bool { return c.Name == d.chain })
		if _, erased := r.Chains[i].Erased[d.value]; !erased && !there[d.hash] {
			return fmt.Errorf("%s, event %s: its document is missing, and no event erased it", d.chain, d.value)
		}
	}
	return nil
}

// generated are the files of the payload that no event names.
var generated = []string{eventsFile, crateFile, coverFile, printedFile}

func (b *bag) proof(c ChainReport, known note.Verifiers, origin string) error {
	name := proofFile(c.Name)
	p, err := record.ParseProof([]byte(b.content[name]))
	if err == nil {
		_, _, err = p.Check(c.Head.Hash, origin, known)
	}
	if err == nil && string(p.Checkpoint) != b.content[checkpointFile] {
		err = fmt.Errorf("it is of another checkpoint than %s", checkpointFile)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (b *bag) timestamp(r *Report, roots *x509.CertPool) error {
	response, ok := b.content[responseFile]
	if !ok {
		return nil
	}
	if roots == nil {
		roots = x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(b.content[authorityFile]))
	}
	at, err := record.CheckTimestamp([]byte(response), []byte(b.content[checkpointFile]), nil, roots)
	if err != nil {
		return fmt.Errorf("%s: %w", responseFile, err)
	}
	r.Stamped = &at
	return nil
}
