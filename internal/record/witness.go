package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"

	"aliquot/internal/atomicfile"

	cosign "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxProof is the most hashes that a consistency proof may have, C2SP tlog-witness.
const maxProof = 63

// AddCheckpoint asks a witness to cosign a checkpoint: the body of its call add-checkpoint, C2SP tlog-witness.
type AddCheckpoint struct {
	Old        int64 // size of the log that the witness cosigned last
	Proof      []tlog.Hash
	Checkpoint []byte // signed by the log
}

// Marshal returns the body.
func (a AddCheckpoint) Marshal() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "old %d\n", a.Old)
	for _, h := range a.Proof {
		fmt.Fprintf(&b, "%s\n", h)
	}
	b.WriteByte('\n')
	b.Write(a.Checkpoint)
	return b.Bytes()
}

// ParseAddCheckpoint is the reverse of Marshal. Any other bytes are an error.
func ParseAddCheckpoint(b []byte) (AddCheckpoint, error) {
	head, checkpoint, ok := bytes.Cut(b, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	size, isOld := strings.CutPrefix(lines[0], "old ")
	old, err := strconv.ParseInt(size, 10, 64)
	if !ok || !isOld || err != nil || old < 0 || len(lines) > 1+maxProof || len(checkpoint) > MaxNote {
		return AddCheckpoint{}, errors.New("not a call of add-checkpoint")
	}
	a := AddCheckpoint{Old: old, Checkpoint: checkpoint}
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return AddCheckpoint{}, errors.New("not a hash of a proof")
		}
		a.Proof = append(a.Proof, h)
	}
	if !bytes.Equal(a.Marshal(), b) {
		return AddCheckpoint{}, errors.New("not a call of add-checkpoint in its canonical form")
	}
	return a, nil
}

// Refusal is why a witness does not cosign, with the HTTP status of its answer. To status 409 belongs the size of the
// log that it cosigned last, in a body of its own.
type Refusal struct {
	Status int
	Size   int64
	What   string
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.What }

// Witness cosigns checkpoints of logs whose keys it knows, each only if the log grew from the one that it cosigned
// last. Its state is a file, which no other process may use.
type Witness struct {
	path   string
	signer note.Signer
	logs   map[string]note.Verifiers // by origin

	mu   sync.Mutex
	seen map[string]seenLog // by origin
}

// seenLog is what a witness cosigned last of a log.
type seenLog struct {
	Size int64  `json:"size"`
	Root string `json:"root"`
}

// OpenWitness opens the witness with a private key as in C2SP signed-note, for the logs with public keys; the state is
// in the file at path, which may not be there yet.
func OpenWitness(path, private string, logs ...string) (*Witness, error) {
	signer, err := cosign.NewSignerForCosignatureV1(private)
	if err != nil {
		return nil, err
	}
	w := &Witness{path: path, signer: signer, logs: map[string]note.Verifiers{}, seen: map[string]seenLog{}}
	keys := map[string][]string{}
	for _, line := range logs {
		origin, _, _ := strings.Cut(line, "+")
		keys[origin] = append(keys[origin], line)
	}
	for origin, lines := range keys {
		if w.logs[origin], err = Verifiers(lines...); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &w.seen)
	}
	if err != nil {
		return nil, fmt.Errorf("state of the witness, %s: %w", path, err)
	}
	return w, nil
}

// Add cosigns the checkpoint of a call, once the state that it did is stored, and returns the lines of the signature.
// Any refusal is a *Refusal.
func (w *Witness) Add(body []byte) (cosignature []byte, err error) {
	a, err := ParseAddCheckpoint(body)
	if err != nil {
		return nil, &Refusal{Status: 400, What: err.Error()}
	}
	origin, _, _ := strings.Cut(string(a.Checkpoint), "\n")
	known, ok := w.logs[origin]
	if !ok {
		return nil, &Refusal{Status: 404, What: fmt.Sprintf("this witness does not know the log %q", origin)}
	}
	next, signed, err := OpenCheckpoint(a.Checkpoint, origin, known)
	if err != nil {
		return nil, &Refusal{Status: 403, What: err.Error()}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last := Checkpoint{Origin: origin, Size: w.seen[origin].Size, Root: emptyRoot}
	if last.Size > 0 {
		if last.Root, err = tlog.ParseHash(w.seen[origin].Root); err != nil {
			return nil, fmt.Errorf("state of the witness, %s: %w", w.path, err)
		}
	}
	switch {
	case a.Old > next.Size:
		return nil, &Refusal{Status: 400, What: "the log is smaller than its old size"}
	case a.Old != last.Size:
		return nil, &Refusal{Status: 409, Size: last.Size, What: fmt.Sprintf("the last cosigned size is %d", last.Size)}
	case a.Old == next.Size && a.Old > 0 && next.Root != last.Root:
		return nil, &Refusal{Status: 409, Size: last.Size, What: ErrRewritten.Error()}
	}
	if err := next.CheckGrowth(last, a.Proof); err != nil {
		return nil, &Refusal{Status: 422, What: err.Error()}
	}
	if err := w.save(origin, seenLog{next.Size, next.Root.String()}); err != nil {
		return nil, err
	}
	text := note.Note{Text: signed.Text}
	both, err := note.Sign(&text, w.signer)
	return bytes.TrimPrefix(both, []byte(signed.Text+"\n")), err
}

func (w *Witness) save(origin string, seen seenLog) error {
	before, had := w.seen[origin]
	w.seen[origin] = seen
	text, err := json.MarshalIndent(w.seen, "", "  ")
	if err == nil {
		err = atomicfile.Write(w.path, append(text, '\n'))
	}
	if err != nil {
		if w.seen[origin] = before; !had {
			delete(w.seen, origin)
		}
	}
	return err
}

// AddCosignature returns a signed checkpoint with the signature lines of a witness added. Lines that are not a
// signature of its key for this checkpoint are refused.
func AddCosignature(signed, lines []byte, witness string) ([]byte, error) {
	text, _, ok := bytes.Cut(signed, []byte("\n\n"))
	verifiers, err := Verifiers(witness)
	if err != nil || !ok || len(lines) > MaxNote {
		return nil, errors.Join(err, errors.New("not a checkpoint and a cosignature"))
	}
	if _, err := note.Open(append(append(bytes.Clone(text), "\n\n"...), lines...), verifiers); err != nil {
		return nil, fmt.Errorf("the witness did not cosign this checkpoint: %w", err)
	}
	return append(bytes.Clone(signed), lines...), nil
}

// Cosigned reports whether a signed checkpoint has the signature of a witness.
func Cosigned(signed []byte, witness string) bool {
	verifiers, err := Verifiers(witness)
	if err != nil {
		return false
	}
	_, err = note.Open(signed, verifiers)
	return err == nil
}
