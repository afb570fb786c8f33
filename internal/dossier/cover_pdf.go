package dossier

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"github.com/mozillazg/go-unidecode"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
)

// Sizes of the cover page, in millimetres; those of letters in points.
const (
	pageMargin, labelWidth, lineHeight = 20.0, 45.0, 5.0
	titleSize, headSizePoints          = 18.0, 13.0
	textSize, monoSize, noteSize       = 10.0, 7.5, 8.0
)

// coverPDF returns the cover page as a PDF, for reading on paper. Its letters are those of the Latin, Greek and
// Cyrillic alphabets; others are transliterated, and in cover.html as they are.
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
	if d.transliterated() {
		paragraph(p, noteSize, "Letters that this page cannot print are transliterated, in [brackets]; cover.html has "+
			"them as they are.")
	}
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

// transliterated reports whether the cover page has letters that the fonts do not have.
func (d Dossier) transliterated() bool {
	texts := []string{d.Title}
	for _, fact := range d.Cover.Facts {
		texts = append(texts, fact[1])
	}
	for _, line := range d.Cover.Story {
		texts = append(texts, line.Text)
	}
	for _, f := range d.Files {
		texts = append(texts, f.Title)
	}
	return slices.ContainsFunc(texts, func(text string) bool { _, foreign := printable(text); return foreign })
}

func printed(text string) string {
	shown, _ := printable(text)
	return shown
}

// printable returns a text with the letters that the fonts have, and whether it had others: words with those are
// transliterated to Latin letters, in brackets, and a sign without a transliteration is written by its number.
func printable(text string) (shown string, foreign bool) {
	font, err := letters()
	if err != nil {
		return text, false
	}
	var buffer sfnt.Buffer
	var out, words strings.Builder // words: the foreign ones since the last letter that the fonts have
	space := false                 // behind them
	end := func() {
		if text := strings.Join(strings.Fields(words.String()), " "); text != "" {
			foreign = true
			out.WriteString("[" + text + "]")
		}
		words.Reset()
	}
	for _, r := range norm.NFC.String(strings.ReplaceAll(text, "\t", " ")) {
		i, err := font.GlyphIndex(&buffer, r)
		known := r == '\n' || err == nil && i != 0
		switch {
		case r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector): // it has no shape
		case !known:
			words.WriteString(latin(r))
			space = false
		case r == ' ' && words.Len() > 0: // it may be between two of them
			words.WriteRune(r)
			space = true
		default:
			if end(); space {
				out.WriteByte(' ')
			}
			out.WriteRune(r)
			space = false
		}
	}
	end()
	return out.String(), foreign
}

// latin transliterates a letter.
func latin(r rune) string {
	switch text := unidecode.Unidecode(string(r)); {
	case text != "" && !strings.Contains(text, "[?]"):
		return text
	case unicode.Is(unicode.Mn, r): // a mark on the letter before
		return ""
	}
	return fmt.Sprintf(" U+%04X ", r)
}
