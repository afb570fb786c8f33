package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/record"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const origin = "aliquot.example.org/log/2026"

func newKeys(t testing.TB) record.Keys {
	t.Helper()
	k, err := record.NewKeys(origin)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func verifiers(t testing.TB, keys ...string) note.Verifiers {
	t.Helper()
	known, err := record.Verifiers(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func sign(t testing.TB, tree *tree, k record.Keys) []byte {
	t.Helper()
	c := record.Checkpoint{Origin: k.Origin(), Size: tree.edge.Size, Root: tree.edge.Root()}
	signed, err := c.Sign(k.Signers...)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestCheckpoint_OpensOnlyWithAKeyOfItsLog(t *testing.T) {
	t.Parallel()
	k, other := newKeys(t), newKeys(t)
	tree := newTree(t, 300)
	signed := sign(t, tree, k)
	c, _, err := record.OpenCheckpoint(signed, origin, verifiers(t, k.Verifiers...))
	if err != nil || c.Size != 300 || c.Root != tree.edge.Root() {
		t.Fatalf("got %+v, %v", c, err)
	}
	var theirs log.Checkpoint
	if _, err := theirs.Unmarshal(signed); err != nil || theirs.Size != 300 || !bytes.Equal(theirs.Hash, c.Root[:]) {
		t.Errorf("another program reads %+v, %v", theirs, err)
	}
	if _, _, err := record.OpenCheckpoint(signed, origin, verifiers(t, other.Verifiers...)); err == nil {
		t.Error("a checkpoint opens with another log's key")
	}
	if _, _, err := record.OpenCheckpoint(signed, "other.example.org/log", verifiers(t, k.Verifiers...)); err == nil {
		t.Error("a checkpoint opens as that of another log")
	}
	for i := range bytes.LastIndex(signed, []byte("— ")) { // the last letter of a signature has unused bits
		if _, _, err := record.OpenCheckpoint(signed[:i], origin, verifiers(t, k.Verifiers...)); err == nil {
			t.Fatalf("cut at %d it opens", i)
		}
		flipped := bytes.Clone(signed)
		flipped[i] ^= 1
		if _, _, err := record.OpenCheckpoint(flipped, origin, verifiers(t, k.Verifiers...)); err == nil {
			t.Fatalf("with byte %d changed it opens", i)
		}
	}
}

func TestCheckpoint_WhileKeysChangeOpensWithTheOldAndTheNewOne(t *testing.T) {
	t.Parallel()
	old := newKeys(t)
	both, err := old.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	signed := sign(t, newTree(t, 7), both)
	for i, key := range both.Verifiers {
		if _, _, err := record.OpenCheckpoint(signed, origin, verifiers(t, key)); err != nil {
			t.Errorf("key %d: %v", i, err)
		}
	}
	if both.Verifiers[1] != old.Verifiers[0] {
		t.Errorf("keys %v, want the older one to be %v", both.Verifiers, old.Verifiers)
	}
	again, err := both.Rotate()
	if err != nil || len(again.Verifiers) != 2 || again.Verifiers[1] != both.Verifiers[0] {
		t.Errorf("after the next change: %v, %v", again.Verifiers, err)
	}
	retired, err := both.Retire()
	if err != nil || len(retired.Verifiers) != 1 || retired.Verifiers[0] != both.Verifiers[0] {
		t.Errorf("without the older one: %v, %v", retired.Verifiers, err)
	}
}

func TestKeys_AreMadeOnceAndForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "record.key")
	var made [8]record.Keys
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			var err error
			if made[i], err = record.OpenKeys(path, fmt.Sprintf("host%d.example.org/log", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, k := range made {
		if len(k.Verifiers) != 1 || k.Verifiers[0] != made[0].Verifiers[0] {
			t.Fatalf("keys %v and %v", k.Verifiers, made[0].Verifiers)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	rotated, err := made[0].Rotate()
	if err != nil || rotated.Save(path) != nil {
		t.Fatal(err)
	}
	if k, err := record.OpenKeys(path, "ignored.example.org"); err != nil || k.Verifiers[1] != made[0].Verifiers[0] {
		t.Errorf("after the change: %v, %v", k.Verifiers, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := record.OpenKeys(path, origin); err == nil || !strings.Contains(err.Error(), "others can read") {
		t.Errorf("a file that others can read: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left over: %v, %v", entries, err)
	}
}

func FuzzParseKeys(f *testing.F) {
	f.Add("PRIVATE+KEY+o+4e1f4a2b+AQ==\n")
	f.Fuzz(func(t *testing.T, text string) {
		if k, err := record.ParseKeys(text); err == nil && len(k.Signers) != len(k.Verifiers) {
			t.Errorf("%q: %d private keys, %d public ones", text, len(k.Signers), len(k.Verifiers))
		}
	})
}

func FuzzVerifiers(f *testing.F) {
	f.Add(newKeys(f).Verifiers[0])
	f.Add("witness.example.org+bb901e8e+BGiP43zhmA42OoeEBHoy64aqMgBRlurK3PR38DgmkkK5")
	f.Fuzz(func(t *testing.T, line string) {
		if known, err := record.Verifiers(line); err == nil && known == nil {
			t.Errorf("%q has no key", line)
		}
	})
}

func FuzzOpenCheckpoint(f *testing.F) {
	k := newKeys(f)
	known := verifiers(f, k.Verifiers...)
	valid := sign(f, newTree(f, 3), k)
	f.Add(valid)
	f.Fuzz(func(t *testing.T, signed []byte) {
		c, n, err := record.OpenCheckpoint(signed, origin, known)
		if err == nil && (c.String() != n.Text || !bytes.HasPrefix(valid, []byte(n.Text))) {
			t.Errorf("%q opens as %+v", signed, c)
		}
	})
}

// prove returns the proof of an entry in the whole of a log.
func prove(t testing.TB, tree *tree, index int64, checkpoint []byte) record.Proof {
	t.Helper()
	hashes, err := record.ProveInclusion(tree.edge.Size, index, tree.data)
	if err != nil {
		t.Fatal(err)
	}
	return record.Proof{Index: index, Hashes: hashes, Checkpoint: checkpoint}
}

func TestProof_HoldsForItsEventAlone(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	known := verifiers(t, k.Verifiers...)
	tree := newTree(t, 1000)
	file := prove(t, tree, 123, sign(t, tree, k)).Marshal()
	p, err := record.ParseProof(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Check(eventHash(123), origin, known); err != nil {
		t.Error(err)
	}
	if _, _, err := p.Check(eventHash(124), origin, known); err == nil {
		t.Error("it holds for another event")
	}
	for _, index := range []int64{-1, 122, 124, 1000, 1 << 40} {
		wrong := p
		if wrong.Index = index; index < 0 {
			wrong.Index, wrong.Hashes = 0, nil
		}
		if _, _, err := wrong.Check(eventHash(123), origin, known); err == nil {
			t.Errorf("it holds at %d", index)
		}
	}
	for i := range bytes.LastIndex(file, []byte("— ")) {
		flipped := bytes.Clone(file)
		flipped[i] ^= 1
		if p, err := record.ParseProof(flipped); err == nil {
			if _, _, err := p.Check(eventHash(123), origin, known); err == nil {
				t.Fatalf("with byte %d changed it holds", i)
			}
		}
	}
	if _, err := record.ProveInclusion(1000, 1000, tree.data); err == nil {
		t.Error("an entry that is not there has a proof")
	}
	if _, err := record.ProveConsistency(1000, 1001, tree.data); err == nil {
		t.Error("a log that is shorter has a proof of growth")
	}
}

func FuzzParseProof(f *testing.F) {
	tree := newTree(f, 5)
	f.Add(prove(f, tree, 3, sign(f, tree, newKeys(f))).Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := record.ParseProof(b); err == nil && !bytes.Equal(p.Marshal(), b) {
			t.Errorf("%q is %+v", b, p)
		}
	})
}

// newWitness returns a witness of a log, how to open it again, and its public key.
func newWitness(t testing.TB, k record.Keys) (w *record.Witness, reopen func() *record.Witness, public string) {
	t.Helper()
	private, _, err := note.GenerateKey(nil, "witness.example.org")
	if err != nil {
		t.Fatal(err)
	}
	if public, err = record.WitnessKey(private); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state.json")
	reopen = func() *record.Witness {
		w, err := record.OpenWitness(path, private, k.Verifiers...)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	return reopen(), reopen, public
}

func ask(t testing.TB, w *record.Witness, tree *tree, old int64, k record.Keys) ([]byte, error) {
	t.Helper()
	hashes, err := record.ProveConsistency(tree.edge.Size, min(old, tree.edge.Size), tree.data)
	if err != nil {
		t.Fatal(err)
	}
	return w.Add(record.AddCheckpoint{Old: old, Proof: hashes, Checkpoint: sign(t, tree, k)}.Marshal())
}

func TestWitness_CosignsALogThatGrowsAndRefusesOneThatWasRewritten(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	w, reopen, public := newWitness(t, k)
	tree := newTree(t, 10)
	refused := func(what string, err error, status int, size int64) {
		t.Helper()
		r, ok := errors.AsType[*record.Refusal](err)
		if !ok || r.Status != status || r.Size != size {
			t.Errorf("%s: got %v, want status %d, size %d", what, err, status, size)
		}
	}
	lines, err := ask(t, w, tree, 0, k)
	if err != nil {
		t.Fatal(err)
	}
	both, err := record.AddCosignature(sign(t, tree, k), lines, public)
	if err != nil {
		t.Fatal(err)
	}
	if _, n, err := record.OpenCheckpoint(both, origin, verifiers(t, append(k.Verifiers, public)...)); err != nil ||
		len(n.Sigs) != 2 {
		t.Errorf("cosigned: %v, %v", n, err)
	}
	if _, _, err := record.OpenCheckpoint(both, origin, verifiers(t, public)); err == nil {
		t.Error("a cosignature alone opens a checkpoint")
	}
	if _, err := ask(t, w, tree, 10, k); err != nil {
		t.Errorf("the same once more: %v", err)
	}
	tree.grow(25)
	_, err = ask(t, w, tree, 0, k)
	refused("a wrong old size", err, 409, 10)
	if _, err := ask(t, w, tree, 10, k); err != nil {
		t.Errorf("growth: %v", err)
	}
	w = reopen()
	tree.grow(30)
	if _, err := ask(t, w, tree, 25, k); err != nil {
		t.Errorf("growth after a restart: %v", err)
	}
	rewritten := newTree(t, 0)
	rewritten.edge.Append(record.Leaf(eventHash(-1)))
	rewritten.grow(30)
	_, err = ask(t, w, rewritten, 30, k)
	refused("rewritten, at the same size", err, 409, 30)
	rewritten.tiles = map[string][]byte{}
	rewritten.store(rewritten.edge.Partial())
	rewritten.grow(40)
	_, err = ask(t, w, rewritten, 30, k)
	refused("rewritten, and grown", err, 422, 0)
	_, err = ask(t, w, tree, 31, k)
	refused("an old size behind the log", err, 400, 0)
	_, err = ask(t, w, tree, 30, newKeys(t))
	refused("another key", err, 403, 0)
	_, err = w.Add([]byte("old 30\n"))
	refused("not a call", err, 400, 0)
	unknown, err := record.NewKeys("unknown.example.org/log")
	if err != nil {
		t.Fatal(err)
	}
	_, err = ask(t, w, tree, 30, unknown)
	refused("a log that it does not know", err, 404, 0)
	if _, err := record.AddCosignature(sign(t, tree, k), lines, public); err == nil {
		t.Error("a cosignature of an earlier checkpoint is accepted")
	}
}

func TestWitness_AskedByManyAtOnceCosignsOneHistory(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	w, _, _ := newWitness(t, k)
	var all sync.WaitGroup
	var mu sync.Mutex
	cosigned := 0
	for i := range int64(8) {
		all.Go(func() {
			tree := newTree(t, 0)
			tree.store(tree.edge.Append(record.Leaf(eventHash(100 + i))))
			tree.grow(5)
			if _, err := ask(t, w, tree, 0, k); err == nil {
				mu.Lock()
				cosigned++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if cosigned != 1 {
		t.Errorf("%d histories are cosigned", cosigned)
	}
}

func FuzzParseAddCheckpoint(f *testing.F) {
	f.Add(record.AddCheckpoint{Old: 3, Proof: []tlog.Hash{{1}}, Checkpoint: []byte("o\n5\nx\n\n- x y\n")}.Marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := record.ParseAddCheckpoint(b); err == nil && !bytes.Equal(a.Marshal(), b) {
			t.Errorf("%q is %+v", b, a)
		}
	})
}
