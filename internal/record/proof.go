package record

import (
	"errors"
	"fmt"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Proof is that an event is in the log of a checkpoint; on its own it is a file as in C2SP tlog-proof.
type Proof struct {
	Index      int64 // of the event's entry in the log, from 0
	Hashes     []tlog.Hash
	Checkpoint []byte // signed
}

// Marshal returns the proof as a file.
func (p Proof) Marshal() []byte {
	file := proof.TLogProof{Index: uint64(p.Index), Checkpoint: p.Checkpoint}
	for _, h := range p.Hashes {
		file.Hashes = append(file.Hashes, h)
	}
	return file.Marshal()
}

// ParseProof is the reverse of Marshal. Any other bytes are an error.
func ParseProof(b []byte) (Proof, error) {
	var file proof.TLogProof
	if len(b) > 2*MaxNote {
		return Proof{}, errors.New("a proof of more bytes than any has")
	}
	if err := file.Unmarshal(b); err != nil {
		return Proof{}, err
	}
	p := Proof{Index: int64(file.Index), Checkpoint: file.Checkpoint}
	for _, h := range file.Hashes {
		p.Hashes = append(p.Hashes, h)
	}
	if p.Index < 0 || string(p.Marshal()) != string(b) {
		return Proof{}, errors.New("not a proof in its canonical form")
	}
	return p, nil
}

// Check checks that the event with a hash is in the log of an origin, whose keys, and those of witnesses, are known.
func (p Proof) Check(hash, origin string, known note.Verifiers) (Checkpoint, *note.Note, error) {
	c, n, err := OpenCheckpoint(p.Checkpoint, origin, known)
	if err != nil {
		return c, nil, err
	}
	if p.Index >= c.Size || tlog.CheckRecord(p.Hashes, c.Size, c.Root, p.Index, Leaf(hash)) != nil {
		return c, nil, fmt.Errorf("the event with the hash %.12s is not entry %d of the log", hash, p.Index)
	}
	return c, n, nil
}
