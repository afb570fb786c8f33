package record

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// The tiles of the log are those of C2SP tlog-tiles: 256 hashes of a level in a full one.
const (
	tileHeight = 8
	TileWidth  = 1 << tileHeight
)

// Leaf returns the leaf of an event in the log: the RFC 6962 leaf hash of the 64 hex letters of its hash.
func Leaf(hash string) tlog.Hash { return tlog.RecordHash([]byte(hash)) }

// Tile is the hashes of up to 256 nodes of a level of the tree, level 0 being its leaves.
type Tile struct {
	Level int // in tiles: a node of level 1 has 256 leaves below it
	Index int64
	Data  []byte // 32 bytes each
}

// Edge is the right edge of a tree: the tiles that are not full. It is all that is needed to append; the zero Edge is
// that of an empty tree.
type Edge struct {
	Size int64
	part [][]byte // by level
}

// TileData reads the hashes of a tile. It may return more than there were when the tree was smaller.
type TileData func(level int, index int64) ([]byte, error)

// ReadEdge reads the edge of a tree of a size.
func ReadEdge(size int64, read TileData) (*Edge, error) {
	e := &Edge{Size: size}
	for level, nodes := 0, size; nodes > 0; level, nodes = level+1, nodes/TileWidth {
		width := int(nodes % TileWidth)
		var data []byte
		if width > 0 {
			var err error
			if data, err = readTile(read, level, nodes/TileWidth, width); err != nil {
				return nil, err
			}
		}
		e.part = append(e.part, append([]byte{}, data...))
	}
	return e, nil
}

func readTile(read TileData, level int, index int64, width int) ([]byte, error) {
	data, err := read(level, index)
	if err == nil && len(data) < width*tlog.HashSize {
		err = shortTile(level, index, len(data), width)
	}
	if err != nil {
		return nil, err
	}
	return data[:width*tlog.HashSize], nil
}

func shortTile(level int, index int64, size, width int) error {
	return fmt.Errorf("log, tile %d of level %d: %d bytes, which are not %d hashes", index, level, size, width)
}

// Append appends a leaf and returns the tiles that it filled, none in most cases.
func (e *Edge) Append(leaf tlog.Hash) (full []Tile) {
	index := e.Size / TileWidth
	e.Size++
	for level := 0; ; level, index = level+1, index/TileWidth {
		if level == len(e.part) {
			e.part = append(e.part, nil)
		}
		e.part[level] = append(e.part[level], leaf[:]...)
		if len(e.part[level]) < TileWidth*tlog.HashSize {
			return full
		}
		full = append(full, Tile{level, index, e.part[level]})
		leaf, _ = fold(e.part[level])
		e.part[level] = nil
	}
}

// Partial returns the tiles of the edge, which are to be stored over what was stored of them before.
func (e *Edge) Partial() []Tile {
	var list []Tile
	for level, nodes := 0, e.Size; level < len(e.part); level, nodes = level+1, nodes/TileWidth {
		if len(e.part[level]) > 0 {
			list = append(list, Tile{level, nodes / TileWidth, e.part[level]})
		}
	}
	return list
}

// Root returns the RFC 6962 hash of the tree.
func (e *Edge) Root() tlog.Hash {
	var nodes []tlog.Hash // of the perfect trees that it is made of, the smallest first
	for _, data := range e.part {
		_, perfect := fold(data)
		nodes = append(nodes, perfect...)
	}
	if len(nodes) == 0 {
		return emptyRoot
	}
	root := nodes[0]
	for _, left := range nodes[1:] {
		root = tlog.NodeHash(left, root)
	}
	return root
}

var emptyRoot, _ = tlog.TreeHash(0, nil)

// fold returns the nodes of the perfect trees that hashes are the leaves of, the smallest first, and the last of them.
func fold(data []byte) (last tlog.Hash, nodes []tlog.Hash) {
	row := make([]tlog.Hash, len(data)/tlog.HashSize)
	for i := range row {
		row[i] = tlog.Hash(data[i*tlog.HashSize:])
	}
	for len(row) > 0 {
		if len(row)%2 == 1 {
			last = row[len(row)-1]
			nodes = append(nodes, last)
		}
		for i := range len(row) / 2 {
			row[i] = tlog.NodeHash(row[2*i], row[2*i+1])
		}
		row = row[:len(row)/2]
	}
	return last, nodes
}

// ReadHashes makes a tlog.HashReader of stored tiles, for proofs.
func (read TileData) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	type place struct {
		level int
		index int64
	}
	known := map[place][]byte{}
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		t := tlog.TileForIndex(tileHeight, index)
		p := place{t.L, t.N}
		var err error
		if known[p] == nil {
			if known[p], err = read(t.L, t.N); err != nil {
				return nil, err
			}
		}
		if len(known[p]) < t.W*tlog.HashSize {
			return nil, shortTile(t.L, t.N, len(known[p]), t.W)
		}
		if hashes[i], err = tlog.HashFromTile(t, known[p][:t.W*tlog.HashSize], index); err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// ProveInclusion proves that the leaf of an index, from 0, is in the tree of a size.
func ProveInclusion(size, index int64, read TileData) ([]tlog.Hash, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("the log of size %d has no entry %d", size, index)
	}
	return tlog.ProveRecord(size, index, read)
}

// ProveConsistency proves that the tree of a size begins with that of an older one.
func ProveConsistency(size, old int64, read TileData) ([]tlog.Hash, error) {
	if old < 0 || old > size {
		return nil, fmt.Errorf("the log of size %d was never of size %d", size, old)
	}
	if old == 0 || old == size {
		return nil, nil
	}
	return tlog.ProveTree(size, old, read)
}
