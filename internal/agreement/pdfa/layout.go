package pdfa

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// height returns the height of a line of letters of a size.
func height(size int) int { return size * lineFactor / lineDivisor }

// points writes a length in points.
func points(length int) string {
	return strconv.FormatFloat(float64(length)/1000, 'f', -1, 64)
}

func (d *Document) newPage() {
	d.pages = append(d.pages, &page{})
	d.y = pageHeight - margin
}

func (d *Document) page() *page { return d.pages[len(d.pages)-1] }

// need begins a new page unless there is room of a height on this one, or no page has that much.
func (d *Document) need(room int) {
	if d.y-room < bottom && d.y < pageHeight-margin {
		d.newPage()
	}
}

// fit returns how many lines fit on this page; it begins a new one if none does.
func (d *Document) fit(size int) (lines int, fresh bool) {
	if d.y-height(size) < bottom {
		d.newPage()
		fresh = true
	}
	return (d.y - bottom) / height(size), fresh
}

// tagged draws a part of the page that belongs to an element.
func (d *Document) tagged(e *element, draw func(*bytes.Buffer)) {
	p := d.page()
	fmt.Fprintf(&p.content, "/%s<</MCID %d>>BDC\n", e.tag, len(p.owners))
	draw(&p.content)
	p.content.WriteString("EMC\n")
	e.kids = append(e.kids, mark{len(d.pages) - 1, len(p.owners)})
	p.owners = append(p.owners, e)
}

// artifact draws a part of a page that a screen reader leaves out.
func artifact(p *page, properties string, draw func(*bytes.Buffer)) {
	fmt.Fprintf(&p.content, "/Artifact%sBDC\n", properties)
	draw(&p.content)
	p.content.WriteString("EMC\n")
}

const (
	layoutArtifact = "<</Type/Layout>>"
	footerArtifact = "<</Type/Pagination/Subtype/Footer>>"
	headerArtifact = "<</Type/Pagination>>"
)

// flow draws lines of an element below each other, on the next pages if they do not fit.
func (d *Document) flow(e *element, lines []string, f *font, size, x int) {
	for len(lines) > 0 {
		room, _ := d.fit(size)
		n := min(len(lines), room)
		d.tagged(e, func(b *bytes.Buffer) {
			for _, line := range lines[:n] {
				d.y -= height(size)
				d.text(b, line, f, size, x, d.y)
			}
		})
		lines = lines[n:]
	}
}

// table is a table that is being drawn.
type table struct {
	element *element
	widths  []int
	header  [][]string
}

// row draws a row of cells, which may continue on the next pages.
func (d *Document) row(t *table, tag, attributes string, cells [][]string, f *font) {
	row, most := t.element.add("TR", ""), 1
	var elements []*element
	for _, lines := range cells {
		most = max(most, len(lines))
		elements = append(elements, row.add(tag, attributes))
	}
	for done := 0; done < most; {
		room, fresh := d.fit(textSize)
		if fresh && tag != "TH" {
			artifact(d.page(), headerArtifact, func(b *bytes.Buffer) { d.repeatHeader(b, t) })
			room, _ = d.fit(textSize)
		}
		n := min(most-done, room)
		top := d.y
		for i, lines := range cells {
			part := lines[min(done, len(lines)):min(done+n, len(lines))]
			if len(part) == 0 {
				continue
			}
			d.y = top
			d.tagged(elements[i], func(b *bytes.Buffer) { d.cell(b, t, i, part, f) })
		}
		d.y = top - n*height(textSize)
		done += n
	}
	d.y -= cellGap
	d.rule(margin, d.y, textWidth)
}

// repeatHeader draws the header of a table on a further page.
func (d *Document) repeatHeader(b *bytes.Buffer, t *table) {
	top, most := d.y, 0
	for i, lines := range t.header {
		most = max(most, len(lines))
		d.y = top
		d.cell(b, t, i, lines, d.bold)
	}
	d.y = top - most*height(textSize) - cellGap
}

func (d *Document) cell(b *bytes.Buffer, t *table, column int, lines []string, f *font) {
	x := margin
	for _, w := range t.widths[:column] {
		x += w
	}
	for _, line := range lines {
		d.y -= height(textSize)
		d.text(b, line, f, textSize, x, d.y)
	}
}

// rule draws a thin horizontal line.
func (d *Document) rule(x, y, width int) {
	artifact(d.page(), layoutArtifact, func(b *bytes.Buffer) {
		fmt.Fprintf(b, "0.5 w %s %s m %s %s l S\n", points(x), points(y), points(x+width), points(y))
	})
}

func (d *Document) footer(p *page, text string) {
	artifact(p, footerArtifact, func(b *bytes.Buffer) {
		for i, line := range d.wrap(text, d.regular, footSize, textWidth) {
			d.text(b, line, d.regular, footSize, margin, margin-i*height(footSize))
		}
	})
}

// setting returns the font that has a letter, the first one or that for Han letters, and its code there. A letter that
// cannot be printed is noted, and has no font.
func (d *Document) setting(r rune, first *font) (*font, int) {
	if printable(r) {
		if code, ok := first.code(r); ok {
			return first, code
		}
		if code, ok := d.han.code(r); ok {
			return d.han, code
		}
	}
	d.missing[r] = true
	return nil, 0
}

// check notes the letters of a text that cannot be printed.
func (d *Document) check(text string) {
	for _, r := range norm.NFC.String(text) {
		d.setting(r, d.regular)
	}
}

// text draws a line of text.
func (d *Document) text(b *bytes.Buffer, line string, first *font, size, x, y int) {
	fmt.Fprintf(b, "BT %s %s Td", points(x), points(y))
	var current *font
	for _, r := range line {
		f, code := d.setting(r, first)
		if f == nil {
			continue
		}
		if f != current {
			if current != nil {
				b.WriteString(">Tj")
			}
			fmt.Fprintf(b, "/%s %s Tf<", d.resource(f), points(size))
			current = f
		}
		fmt.Fprintf(b, "%04X", code)
	}
	if current != nil {
		b.WriteString(">Tj")
	}
	b.WriteString(" ET\n")
}

// resource returns the name of a font on pages.
func (d *Document) resource(f *font) string {
	switch f {
	case d.regular:
		return "R"
	case d.bold:
		return "B"
	}
	return "H"
}

// wrap breaks a text into lines of a width: where it has line breaks, at spaces, beside Han letters, and where a word
// is longer than a line. A line that continues ends with its space, so that words stay apart when it is read.
func (d *Document) wrap(text string, f *font, size, width int) (lines []string) {
	for part := range strings.SplitSeq(norm.NFC.String(strings.ReplaceAll(text, "\t", " ")), "\n") {
		runes := []rune(strings.TrimSpace(part))
		start, breakAt, used, sinceBreak := 0, 0, 0, 0
		for i, r := range runes {
			if i > start && (runes[i-1] == ' ' || han(r) || han(runes[i-1])) {
				breakAt, sinceBreak = i, 0
			}
			w := 0
			if found, _ := d.setting(r, f); found != nil {
				w = found.face().width(found.face().glyphOf[r]) * size / 1000
			}
			if used+w > width && r != ' ' && i > start {
				if breakAt == start {
					breakAt, sinceBreak = i, 0
				}
				lines = append(lines, string(runes[start:breakAt]))
				start, used = breakAt, sinceBreak
			}
			used += w
			sinceBreak += w
		}
		if start < len(runes) {
			lines = append(lines, string(runes[start:]))
		}
	}
	return lines
}

func han(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
