package pdfa

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func newTestDocument() *Document {
	return New(Meta{Title: "A title", Author: "Us", Lang: "en", Footer: "T-1",
		Date: time.Date(2026, 6, 15, 0, 0, 0, 0, time.UTC)})
}

func TestFaces_HaveTheLettersOfTheirScripts(t *testing.T) {
	t.Parallel()
	for text, load := range map[string]func() *face{"AzÄß łŚ αΩ Жя": regularFace, "Title Übersicht": boldFace,
		"東京 マウス 생쥐": hanFace} {
		for _, r := range text {
			if load().glyphOf[r] == 0 {
				t.Errorf("%q has no glyph", r)
			}
		}
	}
	if w := regularFace().width(regularFace().glyphOf['M']); w != 863 {
		t.Errorf("M is %d wide, not 863", w)
	}
}

// TestSubset_IsAFontThatIsReadAgain reads a subset as a font: the same outlines in the new order, with the parts of which
// a glyph is put together.
func TestSubset_IsAFontThatIsReadAgain(t *testing.T) {
	t.Parallel()
	f := regularFace()
	var glyphs []uint16
	for _, r := range "zÄA" {
		glyphs = append(glyphs, f.glyphOf[r])
	}
	program := f.subset(glyphs)
	const wholeFile = 0xB1B0AFBA
	if sum := checksum(program); sum != wholeFile {
		t.Errorf("the checksum is %X", sum)
	}
	s := &face{tables: map[string][]byte{}}
	for i := range uint32(u16(program[4:])) {
		entry := program[12+16*i:]
		s.tables[string(entry[:4])] = program[u32(entry[8:]):][:u32(entry[12:])]
	}
	count := int(u16(s.tables["maxp"][4:]))
	if count < 5 || len(s.tables["loca"]) != 4*(count+1) || len(s.tables["hmtx"]) != 4*count {
		t.Fatalf("%d glyphs, loca %d, hmtx %d", count, len(s.tables["loca"]), len(s.tables["hmtx"]))
	}
	glyph := func(i int) []byte {
		loca := s.tables["loca"]
		return s.tables["glyf"][u32(loca[4*i:]):u32(loca[4*i+4:])]
	}
	if !bytes.Equal(glyph(1), padded(f.tables["glyf"][f.loca[glyphs[0]]:f.loca[glyphs[0]+1]])) {
		t.Error("z has other outlines")
	}
	parts := components(glyph(2))
	if len(parts) != 2 || u16(glyph(2)[parts[0]:]) != 3 || int(u16(glyph(2)[parts[1]:])) >= count {
		t.Errorf("Ä is put together of glyphs at %v", parts)
	}
}

func TestWrap_BreaksAtSpacesBesideHanLettersAndInLongWords(t *testing.T) {
	t.Parallel()
	d := newTestDocument()
	for text, want := range map[string]string{
		"":                    "",
		"one two":             "one two",
		"one two three four":  "one two |three four",
		"  one\ttwo\nthree  ": "one two|three",
		"WWWWWWWWWWWWWWW":     "WWWWWW|WWWWWW|WWW",
		"一二三四五六七八":            "一二三四五六|七八",
		"a\u0308":             "ä",
	} {
		if got := strings.Join(d.wrap(text, d.regular, textSize, 62_000), "|"); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestTable_ContinuesOnTheNextPages(t *testing.T) {
	t.Parallel()
	d := newTestDocument()
	d.Heading(1, "Title")
	d.Table([]int{1, 1}, []string{"One", "Other"}, [][]string{{strings.Repeat("word ", 3000), "short"}, {"a", ""}})
	if len(d.pages) < 3 {
		t.Fatalf("%d pages", len(d.pages))
	}
	for i, p := range d.pages {
		opened := bytes.Count(p.content.Bytes(), []byte("BDC\n"))
		if closed := bytes.Count(p.content.Bytes(), []byte("EMC\n")); opened != closed {
			t.Errorf("page %d: %d marked parts begin, %d end", i+1, opened, closed)
		}
	}
	table := d.root.kids[1].(*element)
	cell := table.kids[1].(*element).kids[0].(*element)
	if len(table.kids) != 3 || len(cell.kids) != len(d.pages) {
		t.Errorf("%d rows; the long cell has %d parts on %d pages", len(table.kids), len(cell.kids), len(d.pages))
	}
	if _, err := d.Bytes(); err != nil {
		t.Error(err)
	}
}

func TestBytes_EscapesTheTitleInItsMetadata(t *testing.T) {
	t.Parallel()
	d := New(Meta{Title: "A <b> & (c)", Author: "x", Lang: "en"})
	b, err := d.Bytes()
	if err != nil || !bytes.Contains(b, []byte("A &lt;b&gt; &amp; (c)")) {
		t.Errorf("the title is not there: %v", err)
	}
}
