package dossier

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
)

// Sizes of the cover page, in millimetres; those of letters in points.
const (
	pageMargin, labelWidth, lineHeight = 20.0, 45.0, 5.0
	titleSize, headSizePoints          = 18.0, 13.0
	textSize, monoSize, noteSize       = 10.0, 7.5, 8.0
)

// coverPDF returns the cover page as a PDF, for reading on paper. Its letters are those of the Latin, Greek and
// Cyrillic alphabets; others are squares, and in cover.html.
func (d Dossier) coverPDF() ([]byte, error) {
	p := fpdf.New("P", "mm", "A4", "")
	p.SetCompression(false)
	p.SetCatalogSort(true)
	at := d.last().At.UTC()
	p.SetCreationDate(at)
	p.SetModificationDate(at)
	p.SetTitle(d.Title, true)
	p.SetAuthor(d.Publisher, true)
	p.SetLang("en")
	p.AddUTF8FontFromBytes("go", "", bytes.Clone(goregular.TTF)) // it writes to the font that it is given
	p.AddUTF8FontFromBytes("go", "B", bytes.Clone(gobold.TTF))
	p.AddUTF8FontFromBytes("mono", "", bytes.Clone(gomono.TTF))
	p.SetMargins(pageMargin, pageMargin, pageMargin)
	p.SetAutoPageBreak(true, pageMargin)
	p.AliasNbPages("")
	p.SetFooterFunc(func() {
		p.SetY(-pageMargin + lineHeight)
		p.SetFont("go", "", noteSize)
		text := printed(fmt.Sprintf("%s, page %d of {nb}", d.Title, p.PageNo()))
		p.CellFormat(0, lineHeight, text, "", 0, "C", false, 0, "")
	})
	p.AddPage()
	heading(p, titleSize, d.Title)
	paragraph(p, textSize, fmt.Sprintf("The record of %s as of %s. README.txt explains how to check it without the "+
		"server.", d.Publisher, shownTime(at)))
	for _, fact := range d.Cover.Facts {
		row(p, fact[0], fact[1])
	}
	heading(p, headSizePoints, "What happened")
	for _, line := range d.Cover.Story {
		row(p, shownTime(line.At), line.Text)
	}
	if len(d.Files) > 0 {
		heading(p, headSizePoints, "Documents")
	}
	for _, f := range d.Files {
		paragraph(p, textSize, f.Title)
		p.SetFont("mono", "", monoSize)
		p.MultiCell(0, lineHeight, f.Name+"\nSHA-256 "+f.SHA256, "", "L", false)
		p.Ln(lineHeight / 2)
	}
	heading(p, headSizePoints, "Checkpoint of the log")
	paragraph(p, textSize, "The log of all events, of which those above are a part, had this size and this hash when "+
		"the dossier was made.")
	p.SetFont("mono", "", monoSize)
	p.MultiCell(0, lineHeight, printed(string(d.Chains[0].Proof.Checkpoint)), "", "L", false)
	var b bytes.Buffer
	err := p.Output(&b)
	return b.Bytes(), err
}

func heading(p *fpdf.Fpdf, size float64, text string) {
	p.Ln(lineHeight)
	p.SetFont("go", "B", size)
	p.MultiCell(0, size/2, printed(text), "", "L", false)
	p.Ln(lineHeight / 2)
}

func paragraph(p *fpdf.Fpdf, size float64, text string) {
	p.SetFont("go", "", size)
	p.MultiCell(0, lineHeight, printed(text), "", "L", false)
}

// row writes a label and a text beside it.
func row(p *fpdf.Fpdf, label, text string) {
	_, height := p.GetPageSize()
	if p.GetY() > height-pageMargin-2*lineHeight { // otherwise the text begins on another page than its label
		p.AddPage()
	}
	p.SetFont("go", "B", textSize)
	p.CellFormat(labelWidth, lineHeight, printed(label), "", 0, "L", false, 0, "")
	p.SetFont("go", "", textSize)
	p.SetLeftMargin(pageMargin + labelWidth)
	p.MultiCell(0, lineHeight, printed(text), "", "L", false)
	p.SetLeftMargin(pageMargin)
	p.SetX(pageMargin)
}

// letters are those that the fonts have.
var letters = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(goregular.TTF) })

// printed returns a text with a square in place of each letter that the fonts do not have.
func printed(text string) string {
	font, err := letters()
	if err != nil {
		return text
	}
	var buffer sfnt.Buffer
	return strings.Map(func(r rune) rune {
		if i, err := font.GlyphIndex(&buffer, r); r != '\n' && (err != nil || i == 0) {
			return '□'
		}
		return r
	}, strings.ReplaceAll(text, "\t", " "))
}
