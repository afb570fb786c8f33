package pdfa

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// face is a TrueType font, as much of it as a subset needs.
type face struct {
	tables  map[string][]byte
	glyphOf map[rune]uint16
	loca    []uint32 // where each glyph begins in the table glyf, and where the last one ends
	perEm   int
}

func u16(b []byte) uint16 { return binary.BigEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// parseFace reads a font, or the first one of a collection. It panics if the file is none: the program has its own
// fonts, and a test of this package would show it.
func parseFace(file []byte) *face {
	start := uint32(0)
	if string(file[:4]) == "ttcf" {
		start = u32(file[12:])
	}
	f := &face{tables: map[string][]byte{}, glyphOf: map[rune]uint16{}}
	for i := range uint32(u16(file[start+4:])) {
		entry := file[start+12+16*i:]
		f.tables[string(entry[:4])] = file[u32(entry[8:]):][:u32(entry[12:])]
	}
	head, loca := f.tables["head"], f.tables["loca"]
	f.perEm = int(u16(head[18:]))
	for i := range int(u16(f.tables["maxp"][4:])) + 1 {
		if u16(head[50:]) == 1 {
			f.loca = append(f.loca, u32(loca[4*i:]))
		} else {
			f.loca = append(f.loca, 2*uint32(u16(loca[2*i:])))
		}
	}
	f.readLetters()
	return f
}

// readLetters reads which letter has which glyph: from a subtable of format 12, or of format 4 if there is none.
func (f *face) readLetters() {
	cmap := f.tables["cmap"]
	var four, twelve []byte
	for i := range int(u16(cmap[2:])) {
		table := cmap[u32(cmap[4+8*i+4:]):]
		switch platform, format := u16(cmap[4+8*i:]), u16(table); {
		case platform == 3 && format == 12:
			twelve = table
		case platform == 3 && format == 4:
			four = table
		}
	}
	if twelve != nil {
		for i := range int(u32(twelve[12:])) {
			group := twelve[16+12*i:]
			for n := range u32(group[4:]) - u32(group) + 1 {
				f.glyphOf[rune(u32(group)+n)] = uint16(u32(group[8:]) + n)
			}
		}
		return
	}
	segments := int(u16(four[6:])) / 2
	ends := four[14:]
	starts := ends[2*segments+2:]
	deltas, offsets := starts[2*segments:], starts[4*segments:]
	for i := range segments {
		first, last, offset := int(u16(starts[2*i:])), int(u16(ends[2*i:])), int(u16(offsets[2*i:]))
		for r := first; r <= last && r != 0xffff; r++ {
			glyph := uint16(r)
			if offset != 0 {
				if glyph = u16(offsets[2*i+offset+2*(r-first):]); glyph == 0 {
					continue
				}
			}
			f.glyphOf[rune(r)] = glyph + u16(deltas[2*i:])
		}
	}
}

// metrics returns the entry of a glyph in the table hmtx: its width and its left side bearing.
func (f *face) metrics(glyph uint16) (width, bearing uint16) {
	hmtx, full := f.tables["hmtx"], int(u16(f.tables["hhea"][34:]))
	if g := int(glyph); g >= full {
		return u16(hmtx[4*(full-1):]), u16(hmtx[4*full+2*(g-full):])
	}
	return u16(hmtx[4*int(glyph):]), u16(hmtx[4*int(glyph)+2:])
}

// width returns the width of a glyph in thousandths of the size of the letters.
func (f *face) width(glyph uint16) int {
	width, _ := f.metrics(glyph)
	return (int(width)*1000 + f.perEm/2) / f.perEm
}

// Flags of a component of a glyph that is put together of others.
const (
	wordArguments = 1 << iota
	_
	_
	scaled
	_
	moreComponents
	scaledTwice
	transformed
)

// components returns where in a glyph the numbers of other glyphs are, of which it is put together.
func components(glyph []byte) (places []int) {
	if len(glyph) == 0 || u16(glyph)>>15 == 0 { // empty, or with outlines of its own
		return nil
	}
	for at := 10; ; {
		flags := u16(glyph[at:])
		places = append(places, at+2)
		at += 6
		if flags&wordArguments != 0 {
			at += 2
		}
		switch {
		case flags&scaled != 0:
			at += 2
		case flags&scaledTwice != 0:
			at += 4
		case flags&transformed != 0:
			at += 8
		}
		if flags&moreComponents == 0 {
			return places
		}
	}
}

// subset returns a font with the glyph for a letter that is missing, then these glyphs in their order, then those of
// which they are put together.
func (f *face) subset(glyphs []uint16) []byte {
	order := append([]uint16{0}, glyphs...)
	var glyf, loca, hmtx []byte
	for i := 0; i < len(order); i++ {
		old := order[i]
		glyph := bytes.Clone(f.tables["glyf"][f.loca[old]:f.loca[old+1]])
		for _, at := range components(glyph) {
			part := u16(glyph[at:])
			n := slices.Index(order, part)
			if n < 0 {
				n = len(order)
				order = append(order, part)
			}
			binary.BigEndian.PutUint16(glyph[at:], uint16(n))
		}
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
		glyf = append(glyf, padded(glyph)...)
		width, bearing := f.metrics(old)
		hmtx = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(hmtx, width), bearing)
	}
	loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf)))
	head, hhea, maxp := bytes.Clone(f.tables["head"]), bytes.Clone(f.tables["hhea"]), bytes.Clone(f.tables["maxp"])
	binary.BigEndian.PutUint32(head[8:], 0)  // checksum of the file, see below
	binary.BigEndian.PutUint16(head[50:], 1) // loca has 32 bits
	binary.BigEndian.PutUint16(hhea[34:], uint16(len(order)))
	binary.BigEndian.PutUint16(maxp[4:], uint16(len(order)))
	return assemble(map[string][]byte{"cvt ": f.tables["cvt "], "fpgm": f.tables["fpgm"], "glyf": glyf, "head": head,
		"hhea": hhea, "hmtx": hmtx, "loca": loca, "maxp": maxp, "prep": f.tables["prep"]})
}

// assemble puts a font together of its tables.
func assemble(tables map[string][]byte) []byte {
	var names []string
	for name, table := range tables {
		if len(table) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	power := 1 // the largest power of two that is not more than the tables
	steps := uint16(0)
	for power*2 <= len(names) {
		power *= 2
		steps++
	}
	out := []byte{0, 1, 0, 0}
	for _, n := range []uint16{uint16(len(names)), uint16(power * 16), steps, uint16((len(names) - power) * 16)} {
		out = binary.BigEndian.AppendUint16(out, n)
	}
	at, headAt := 12+16*len(names), 0
	var body []byte
	for _, name := range names {
		if name == "head" {
			headAt = at
		}
		out = append(out, name...)
		for _, n := range []uint32{checksum(tables[name]), uint32(at), uint32(len(tables[name]))} {
			out = binary.BigEndian.AppendUint32(out, n)
		}
		body = append(body, padded(tables[name])...)
		at = 12 + 16*len(names) + len(body)
	}
	out = append(out, body...)
	const wholeFile = 0xB1B0AFBA // what the checksum of a font with the adjustment comes to
	binary.BigEndian.PutUint32(out[headAt+8:], wholeFile-checksum(out))
	return out
}

// padded returns the bytes with zeros up to a multiple of four.
func padded(b []byte) []byte { return append(bytes.Clone(b), make([]byte, -len(b)&3)...) }

func checksum(b []byte) (sum uint32) {
	b = padded(b)
	for i := 0; i < len(b); i += 4 {
		sum += u32(b[i:])
	}
	return sum
}
