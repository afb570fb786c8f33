package record

import (
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// TilePath is the path of a tile as C2SP tlog-tiles has it, after "tile/".
type TilePath struct {
	Level   int // Entries: not hashes, but what the leaves are the hashes of
	Index   int64
	Entries bool
	Width   int // how many hashes or entries; 256 in a full one
}

// maxLevel is the highest level that a path may name.
const maxLevel = 63

var errTilePath = errors.New("not the path of a tile")

// ParseTilePath parses "0/x001/234" or "0/x001/234.p/17", with "entries" in place of the level for a bundle of entries.
func ParseTilePath(path string) (TilePath, error) {
	level, rest, _ := strings.Cut(path, "/")
	switch level {
	case "entries":
		level = "data"
	case "data":
		return TilePath{}, errTilePath
	}
	t, err := tlog.ParseTilePath("tile/8/" + level + "/" + rest)
	if err != nil || t.L > maxLevel {
		return TilePath{}, errTilePath
	}
	return TilePath{Level: max(t.L, 0), Index: t.N, Entries: t.L < 0, Width: t.W}, nil
}

// String is the reverse of ParseTilePath.
func (p TilePath) String() string {
	t := tlog.Tile{H: tileHeight, L: p.Level, N: p.Index, W: p.Width}
	if p.Entries {
		t.L = -1
		return "entries" + strings.TrimPrefix(t.Path(), "tile/8/data")
	}
	return strings.TrimPrefix(t.Path(), "tile/8/")
}

// EntrySize is the size of an entry in a bundle.
const EntrySize = 2 + hashLetters

const hashLetters = 64

// AppendEntry appends the hash of an event to a bundle of entries: its length in two bytes, then its 64 hex letters.
func AppendEntry(bundle []byte, hash string) []byte {
	return append(binary.BigEndian.AppendUint16(bundle, uint16(len(hash))), hash...)
}

// ParseEntries returns the hashes of a bundle of entries.
func ParseEntries(bundle []byte) ([]string, error) {
	var list []string
	for len(bundle) > 0 {
		if len(bundle) < EntrySize || binary.BigEndian.Uint16(bundle) != hashLetters ||
			!isHash(string(bundle[2:EntrySize])) {
			return nil, errors.New("not a bundle of hashes of events")
		}
		list = append(list, string(bundle[2:EntrySize]))
		bundle = bundle[EntrySize:]
	}
	if len(list) > TileWidth {
		return nil, errors.New("a bundle of more than 256 entries")
	}
	return list, nil
}
