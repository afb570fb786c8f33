package record

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Checkpoint is what the log was at one time, as in C2SP tlog-checkpoint.
type Checkpoint struct {
	Origin string // the name of the log, which is also that of its keys
	Size   int64
	Root   tlog.Hash
}

// MaxNote is the most bytes that a signed checkpoint may have.
const MaxNote = 64 << 10

// String returns the text that is signed.
func (c Checkpoint) String() string { return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root) }

// Sign returns the checkpoint as a signed note.
func (c Checkpoint) Sign(signers ...note.Signer) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.String()}, signers...)
}

// ParseCheckpoint parses the text of a checkpoint, signed or not; it checks no signature. Lines behind the third are
// extensions, which are ignored.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, errors.New("not a checkpoint: it needs an origin, a size and a hash")
	}
	c := Checkpoint{Origin: lines[0]}
	var sizeErr, rootErr error
	c.Size, sizeErr = strconv.ParseInt(lines[1], 10, 64)
	c.Root, rootErr = tlog.ParseHash(lines[2])
	if sizeErr != nil || rootErr != nil || c.Size < 0 || strconv.FormatInt(c.Size, 10) != lines[1] ||
		c.Root.String() != lines[2] {
		return Checkpoint{}, errors.New("not a checkpoint: its size or hash cannot be read")
	}
	return c, nil
}

// OpenCheckpoint parses a signed checkpoint of a log and checks that at least one of the log's own keys signed it,
// which have its origin as their name. The note names all known keys that did; unknown ones are ignored.
func OpenCheckpoint(signed []byte, origin string, known note.Verifiers) (Checkpoint, *note.Note, error) {
	if len(signed) > MaxNote {
		return Checkpoint{}, nil, fmt.Errorf("a checkpoint of %d bytes; at most %d", len(signed), MaxNote)
	}
	n, err := note.Open(signed, known)
	if err != nil {
		return Checkpoint{}, nil, fmt.Errorf("checkpoint: %w", err)
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, nil, err
	}
	if c.Origin != origin {
		return Checkpoint{}, nil, fmt.Errorf("a checkpoint of %q, not of %q", c.Origin, origin)
	}
	for _, s := range n.Sigs {
		if s.Name == origin {
			return c, n, nil
		}
	}
	return Checkpoint{}, nil, fmt.Errorf("no key of %q signed the checkpoint", origin)
}

// ErrRewritten is that a log does not begin with what it was before.
var ErrRewritten = errors.New("the log was rewritten: it does not begin with what it was at the earlier checkpoint")

// CheckGrowth checks a proof of ProveConsistency: that the log of c begins with that of old.
func (c Checkpoint) CheckGrowth(old Checkpoint, proof []tlog.Hash) error {
	switch {
	case c.Origin != old.Origin:
		return fmt.Errorf("checkpoints of two logs, %q and %q", old.Origin, c.Origin)
	case old.Size > c.Size:
		return fmt.Errorf("the log has %d entries, but had %d at the earlier checkpoint", c.Size, old.Size)
	case old.Size == 0 || old.Size == c.Size:
		if len(proof) > 0 || old.Size > 0 && old.Root != c.Root || old.Size == 0 && old.Root != emptyRoot {
			return ErrRewritten
		}
		return nil
	case tlog.CheckTree(proof, c.Size, c.Root, old.Size, old.Root) != nil:
		return ErrRewritten
	}
	return nil
}
