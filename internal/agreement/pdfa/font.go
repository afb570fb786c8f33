package pdfa

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
)

// The fonts: DejaVu Sans for alphabets, then WenQuanYi Micro Hei for Chinese, Japanese and Korean.
//
//go:embed fonts/*.gz
var fontFiles embed.FS

var (
	regularFace = load("DejaVuSans.ttf")
	boldFace    = load("DejaVuSans-Bold.ttf")
	hanFace     = load("wqy-microhei.ttc")
)

// load returns a function that reads a font when it is first needed. It panics if the font is broken.
func load(name string) func() *face {
	return sync.OnceValue(func() *face {
		packed, err := fontFiles.ReadFile("fonts/" + name + ".gz")
		if err != nil {
			panic(err)
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			panic(err)
		}
		file, err := io.ReadAll(unpacked)
		if err != nil {
			panic(err)
		}
		return parseFace(file)
	})
}

// font is a face as one document uses it: the codes of its letters are 1, 2, ... in the order of their first use.
type font struct {
	name  string // in PostScript
	face  func() *face
	codes map[rune]int
	runes []rune
}

func newFont(name string, face func() *face) *font {
	return &font{name: name, face: face, codes: map[rune]int{}}
}

// code returns the code of a letter, or false if the face does not have it.
func (f *font) code(r rune) (int, bool) {
	if code, known := f.codes[r]; known {
		return code, true
	}
	if f.face().glyphOf[r] == 0 {
		return 0, false
	}
	f.runes = append(f.runes, r)
	f.codes[r] = len(f.runes)
	return len(f.runes), true
}

// printable reports whether a letter can be set by itself. Scripts whose letters change with their neighbours, or that
// run from right to left, cannot; nor can signs without a form, with which a name could pretend to be another.
func printable(r rune) bool {
	return !unicode.In(r, unicode.Arabic, unicode.Hebrew, unicode.Nko, unicode.Lao, unicode.Thai, unicode.Devanagari,
		unicode.C, unicode.Zl, unicode.Zp)
}

// write adds the objects of a font to a file, and returns the number of its dictionary.
func (f *font) write(w *writer) int {
	var glyphs []uint16
	var widths []string
	for _, r := range f.runes {
		glyph := f.face().glyphOf[r]
		glyphs = append(glyphs, glyph)
		widths = append(widths, fmt.Sprint(f.face().width(glyph)))
	}
	program := f.face().subset(glyphs)
	name := subsetTag(program) + "+" + f.name
	file := w.stream(fmt.Sprintf("/Length1 %d", len(program)), program)
	em := func(table string, at int) int {
		return int(int16(u16(f.face().tables[table][at:]))) * 1000 / f.face().perEm
	}
	descriptor := w.add(fmt.Sprintf("<</Type/FontDescriptor/FontName/%s/Flags 4/FontBBox[%d %d %d %d]/ItalicAngle 0"+
		"/Ascent %d/Descent %d/CapHeight %d/StemV 80/FontFile2 %d 0 R>>", name, em("head", 36), em("head", 38),
		em("head", 40), em("head", 42), em("hhea", 4), em("hhea", 6), em("hhea", 4), file))
	descendant := w.add(fmt.Sprintf("<</Type/Font/Subtype/CIDFontType2/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)"+
		"/Ordering(Identity)/Supplement 0>>/FontDescriptor %d 0 R/CIDToGIDMap/Identity/W[1[%s]]>>", name, descriptor,
		strings.Join(widths, " ")))
	unicodes := w.stream("", f.unicodes())
	return w.add(fmt.Sprintf("<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/DescendantFonts[%d 0 R]"+
		"/ToUnicode %d 0 R>>", name, descendant, unicodes))
}

// subsetTag returns the six letters that tell one subset of a font from another.
func subsetTag(program []byte) string {
	sum := sha256.Sum256(program)
	for i := range sum[:6] {
		sum[i] = 'A' + sum[i]%26
	}
	return string(sum[:6])
}

// unicodes returns the table by which readers find the letters of the codes.
func (f *font) unicodes() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n/CMapName /Adobe-Identity-UCS def\n" +
		"/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	const maxChunk = 100 // lines of a section
	code := 0
	for chunk := range slices.Chunk(f.runes, maxChunk) {
		fmt.Fprintf(&b, "%d beginbfchar\n", len(chunk))
		for _, r := range chunk {
			code++
			fmt.Fprintf(&b, "<%04X> <", code)
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, "%04X", unit)
			}
			b.WriteString(">\n")
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return b.Bytes()
}
