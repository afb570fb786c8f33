// Package pdfa writes documents as PDF files that can be read in decades, and with a screen reader: PDF/A-3a
// (ISO 19005-3) and PDF/UA-1 (ISO 14289-1). The same document is the same bytes.
package pdfa

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Meta is what a document says about itself.
type Meta struct {
	Title  string
	Author string
	Lang   string // BCP 47
	Footer string // of each page, before its number
	Date   time.Time
}

// Attachment is a file inside the document.
type Attachment struct {
	Name        string // in ASCII
	MediaType   string
	Description string
	Data        []byte
}

// Item is an entry of a list.
type Item struct{ Label, Text string }

// Lengths are in thousandths of a point. Whole numbers keep the result the same on every machine.
const (
	pageWidth, pageHeight   = 595_276, 841_890 // A4
	margin                  = 56_000
	bottom                  = margin + 20_000
	textWidth               = pageWidth - 2*margin
	textSize, footSize      = 10_000, 8_000
	indent                  = 24_000
	gap                     = 6_000  // after a paragraph
	cellGap                 = 4_000  // around the text of a cell
	signatureRoom           = 34_000 // to sign by hand
	signatureWidth          = 240_000
	lineFactor, lineDivisor = 14, 10 // height of a line by size of its letters
)

var headingSizes = []int{16_000, 12_000, 11_000}

// Document is a document that is written from top to bottom.
type Document struct {
	meta          Meta
	regular, bold *font
	han           *font // for what the others lack
	pages         []*page
	y             int // of the last line, from the lower end of the page
	root          *element
	fields        []field
	files         []Attachment
	missing       map[rune]bool
}

// page has what was drawn on it, and of which element each marked part is.
type page struct {
	content bytes.Buffer
	owners  []*element
}

// element is a node of the structure: what a screen reader reads.
type element struct {
	tag        string
	attributes string
	parent     *element
	kids       []any // *element or mark
	object     int
}

// mark is a marked part of a page.
type mark struct{ page, id int }

// field is an empty field for a digital signature, on a page.
type field struct {
	name, label string
	page        int
}

// MissingLettersError says which letters no font has, or cannot be set by themselves.
type MissingLettersError struct{ Letters []rune }

func (e *MissingLettersError) Error() string {
	var list []string
	for _, r := range e.Letters {
		list = append(list, fmt.Sprintf("%q (U+%04X)", r, r))
	}
	return "a letter cannot be printed: " + strings.Join(list, ", ") + "; write the name in Latin letters"
}

// New returns an empty document.
func New(meta Meta) *Document {
	d := &Document{meta: meta, regular: newFont("DejaVuSans", regularFace), bold: newFont("DejaVuSans-Bold", boldFace),
		han: newFont("WenQuanYiMicroHei", hanFace), root: &element{tag: "Document"}, missing: map[rune]bool{}}
	d.newPage()
	return d
}

func (e *element) add(tag, attributes string) *element {
	kid := &element{tag: tag, attributes: attributes, parent: e}
	e.kids = append(e.kids, kid)
	return kid
}

// Heading adds a heading of a level from 1 to 3. The first one of a document has level 1, and none skips a level.
func (d *Document) Heading(level int, text string) {
	size := headingSizes[level-1]
	lines := d.wrap(text, d.bold, size, textWidth)
	d.need((len(lines)+2)*height(size) + gap) // not alone at the end of a page
	d.y -= gap
	d.flow(d.root.add(fmt.Sprintf("H%d", level), ""), lines, d.bold, size, margin)
	d.y -= gap
}

// Paragraph adds a paragraph, which may have several lines.
func (d *Document) Paragraph(text string) {
	d.flow(d.root.add("P", ""), d.wrap(text, d.regular, textSize, textWidth), d.regular, textSize, margin)
	d.y -= gap
}

// List adds entries with their labels.
func (d *Document) List(items []Item) {
	list := d.root.add("L", "/A<</O/List/ListNumbering/Decimal>>")
	for _, item := range items {
		d.need(height(textSize))
		entry, top := list.add("LI", ""), d.y
		d.flow(entry.add("Lbl", ""), []string{item.Label}, d.regular, textSize, margin)
		d.y = top
		lines := d.wrap(item.Text, d.regular, textSize, textWidth-indent)
		d.flow(entry.add("LBody", ""), lines, d.regular, textSize, margin+indent)
		d.y -= gap
	}
}

// Table adds a table. Widths are parts of the whole; the header is repeated on each page.
func (d *Document) Table(widths []int, header []string, rows [][]string) {
	whole := 0
	for _, w := range widths {
		whole += w
	}
	absolute := make([]int, len(widths))
	for i, w := range widths {
		absolute[i] = textWidth * w / whole
	}
	t := &table{element: d.root.add("Table", ""), widths: absolute}
	for i, text := range header {
		t.header = append(t.header, d.wrap(text, d.bold, textSize, absolute[i]-cellGap))
	}
	d.need(3 * height(textSize))
	d.row(t, "TH", "/A<</O/Table/Scope/Column>>", t.header, d.bold)
	for _, row := range rows {
		var cells [][]string
		for i, text := range row {
			cells = append(cells, d.wrap(text, d.regular, textSize, absolute[i]-cellGap))
		}
		d.row(t, "TD", "", cells, d.regular)
	}
	d.y -= gap
}

// Signature adds a line to sign on, its label, and an empty field for a digital signature. The name is in ASCII letters
// and digits, and no other field has it.
func (d *Document) Signature(name, label string) {
	lines := d.wrap(label, d.regular, textSize, textWidth)
	d.need(signatureRoom + len(lines)*height(textSize))
	d.y -= signatureRoom
	d.rule(margin, d.y, signatureWidth)
	d.flow(d.root.add("P", ""), lines, d.regular, textSize, margin)
	d.Field(name, label)
}

// Field adds an empty field for a digital signature that shows nowhere.
func (d *Document) Field(name, label string) {
	d.fields = append(d.fields, field{name, label, len(d.pages) - 1})
}

// Attach adds a file.
func (d *Document) Attach(a Attachment) { d.files = append(d.files, a) }

// Bytes ends the document and returns the file. It fails with a MissingLettersError if a letter cannot be printed.
func (d *Document) Bytes() ([]byte, error) {
	for i, p := range d.pages {
		d.footer(p, fmt.Sprintf("%s, page %d of %d", d.meta.Footer, i+1, len(d.pages)))
	}
	d.check(d.meta.Title + d.meta.Author)
	if len(d.missing) > 0 {
		return nil, &MissingLettersError{slices.Sorted(maps.Keys(d.missing))}
	}
	return d.write(), nil
}
