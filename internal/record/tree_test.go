package record_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/record"

	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// tree is a log in memory.
type tree struct {
	edge  record.Edge
	tiles map[string][]byte
}

func (t *tree) data(level int, index int64) ([]byte, error) {
	data, ok := t.tiles[fmt.Sprint(level, " ", index)]
	if !ok {
		return nil, errors.New("there is no such tile")
	}
	return data, nil
}

func (t *tree) store(tiles []record.Tile) {
	for _, tile := range tiles {
		t.tiles[fmt.Sprint(tile.Level, " ", tile.Index)] = append([]byte{}, tile.Data...)
	}
}

// eventHash is the hash of the event that is entry i in the logs of these tests.
func eventHash(i int64) string {
	sum := sha256.Sum256([]byte(strconv.FormatInt(i, 10)))
	return hex.EncodeToString(sum[:])
}

func (t *tree) grow(size int64) {
	for t.edge.Size < size {
		t.store(t.edge.Append(record.Leaf(eventHash(t.edge.Size))))
	}
	t.store(t.edge.Partial())
}

func newTree(_ testing.TB, size int64) *tree {
	t := &tree{tiles: map[string][]byte{}}
	t.grow(size)
	return t
}

func bytesOf(hashes []tlog.Hash) (list [][]byte) {
	for _, h := range hashes {
		list = append(list, h[:])
	}
	return list
}

func TestTree_ProofsAgreeWithAnotherImplementationAtEverySize(t *testing.T) {
	t.Parallel()
	tree := newTree(t, 0)
	var roots []tlog.Hash
	check := func(size int64) {
		root := tree.edge.Root()
		for _, index := range []int64{0, size / 3, size / 2, size - 1} {
			hashes, err := record.ProveInclusion(size, index, tree.data)
			if err != nil {
				t.Fatal(err)
			}
			leaf := record.Leaf(eventHash(index))
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf[:],
				bytesOf(hashes), root[:]); err != nil {
				t.Fatalf("entry %d of %d: %v", index, size, err)
			}
		}
		for _, old := range []int64{1, size / 3, size / 2, size - 1, size} {
			if old < 1 || old >= int64(len(roots)) && old != size {
				continue
			}
			oldRoot := root
			if old < size {
				oldRoot = roots[old]
			}
			hashes, err := record.ProveConsistency(size, old, tree.data)
			if err != nil {
				t.Fatal(err)
			}
			if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old), uint64(size), bytesOf(hashes),
				oldRoot[:], root[:]); err != nil {
				t.Fatalf("size %d from %d: %v", size, old, err)
			}
		}
	}
	roots = append(roots, tree.edge.Root())
	for size := int64(1); size <= 600; size++ {
		tree.grow(size)
		check(size)
		roots = append(roots, tree.edge.Root())
	}
	for _, size := range []int64{65535, 65536, 65537, 70001} {
		tree.grow(size)
		check(size)
	}
}

func TestEdge_ReadAgainAppendsAsIfItHadNeverBeenStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		stored := &tree{tiles: map[string][]byte{}}
		kept := &tree{tiles: map[string][]byte{}}
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			size := stored.edge.Size + rapid.Int64Range(0, 700).Draw(t, "more")
			edge, err := record.ReadEdge(stored.edge.Size, stored.data)
			if err != nil {
				t.Fatal(err)
			}
			stored.edge = *edge
			stored.grow(size)
			kept.grow(size)
			if stored.edge.Root() != kept.edge.Root() {
				t.Fatalf("size %d: the roots differ", size)
			}
		}
	})
}

func TestEdge_OfATileThatIsCutIsRefused(t *testing.T) {
	t.Parallel()
	tree := newTree(t, 300)
	tree.tiles["0 1"] = tree.tiles["0 1"][:32]
	if _, err := record.ReadEdge(300, tree.data); err == nil || !strings.Contains(err.Error(), "tile 1 of level 0") {
		t.Errorf("got %v", err)
	}
}

func TestLog_ThatWasRewrittenHasNoProofOfGrowth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.Int64Range(0, 600).Draw(t, "old")
		size := old + rapid.Int64Range(0, 600).Draw(t, "more")
		one := &tree{tiles: map[string][]byte{}}
		one.grow(old)
		before := record.Checkpoint{Origin: "o", Size: old, Root: one.edge.Root()}
		one.grow(size)
		after := record.Checkpoint{Origin: "o", Size: size, Root: one.edge.Root()}
		hashes, err := record.ProveConsistency(size, old, one.data)
		if err != nil || after.CheckGrowth(before, hashes) != nil {
			t.Fatalf("from %d to %d: %v, %v", old, size, err, after.CheckGrowth(before, hashes))
		}
		if old == 0 {
			return
		}
		rewritten := rapid.Int64Range(0, old-1).Draw(t, "rewritten")
		other := &tree{tiles: map[string][]byte{}}
		for other.edge.Size < size {
			i := other.edge.Size
			if i == rewritten {
				i = -1
			}
			other.store(other.edge.Append(record.Leaf(eventHash(i))))
		}
		other.store(other.edge.Partial())
		after.Root = other.edge.Root()
		if hashes, err = record.ProveConsistency(size, old, other.data); err != nil {
			t.Fatal(err)
		}
		if err := after.CheckGrowth(before, hashes); !errors.Is(err, record.ErrRewritten) {
			t.Fatalf("entry %d of %d rewritten: %v", rewritten, size, err)
		}
		if size > old {
			shorter := record.Checkpoint{Origin: "o", Size: old, Root: before.Root}
			if shorter.CheckGrowth(after, nil) == nil {
				t.Fatal("a log that lost entries is accepted")
			}
		}
	})
}

func TestTilePath_IsThatOfC2SP(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]record.TilePath{
		"0/000":                {Level: 0, Index: 0, Width: 256},
		"0/x001/x234/067":      {Level: 0, Index: 1234067, Width: 256},
		"2/000.p/17":           {Level: 2, Index: 0, Width: 17},
		"entries/x001/000":     {Entries: true, Index: 1000, Width: 256},
		"entries/x001/000.p/1": {Entries: true, Index: 1000, Width: 1},
	} {
		got, err := record.ParseTilePath(path)
		if err != nil || got != want || got.String() != path {
			t.Errorf("%s: got %+v, %v, again %s", path, got, err, got)
		}
	}
	for _, path := range []string{"", "0", "0/0", "data/000", "-1/000", "0/000.p/0", "0/000.p/256", "0/000.p/257",
		"00/000", "0/x000/001", "0/../000", "0/000/", "64/000", "entries", "8/0/000"} {
		if got, err := record.ParseTilePath(path); err == nil {
			t.Errorf("%q is read as %+v", path, got)
		}
	}
}

func FuzzParseTilePath(f *testing.F) {
	f.Add("0/x001/234.p/17")
	f.Add("entries/000")
	f.Fuzz(func(t *testing.T, path string) {
		if p, err := record.ParseTilePath(path); err == nil && p.String() != path {
			t.Errorf("%q is %+v, which is %q", path, p, p)
		}
	})
}

func TestEntries_AreReadAgain(t *testing.T) {
	t.Parallel()
	var bundle []byte
	for i := range int64(3) {
		bundle = record.AppendEntry(bundle, eventHash(i))
	}
	list, err := record.ParseEntries(bundle)
	if err != nil || len(list) != 3 || list[2] != eventHash(2) {
		t.Errorf("got %v, %v", list, err)
	}
	for n := range bundle {
		if list, err := record.ParseEntries(bundle[:n]); err == nil && n%66 != 0 {
			t.Errorf("cut at %d: %v", n, list)
		}
	}
}

func FuzzParseEntries(f *testing.F) {
	f.Add(record.AppendEntry(nil, eventHash(1)))
	f.Fuzz(func(t *testing.T, bundle []byte) {
		list, err := record.ParseEntries(bundle)
		if err != nil {
			return
		}
		var again []byte
		for _, hash := range list {
			again = record.AppendEntry(again, hash)
		}
		if string(again) != string(bundle) {
			t.Errorf("%q is %v, which is %q", bundle, list, again)
		}
	})
}

func BenchmarkEdge_Append(b *testing.B) {
	tree := newTree(b, 0)
	for b.Loop() {
		tree.edge.Append(record.Leaf(eventHash(7)))
	}
}
