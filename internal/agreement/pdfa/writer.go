package pdfa

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf16"
)

// writer has the objects of a file by number, from 1.
type writer struct{ objects [][]byte }

// reserve returns the number of an object that is set later.
func (w *writer) reserve() int {
	w.objects = append(w.objects, nil)
	return len(w.objects)
}

func (w *writer) set(number int, body string) { w.objects[number-1] = []byte(body) }

func (w *writer) add(body string) int {
	n := w.reserve()
	w.set(n, body)
	return n
}

// stream adds a compressed stream.
func (w *writer) stream(entries string, data []byte) int {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return w.plainStream("/Filter/FlateDecode"+entries, packed.Bytes())
}

func (w *writer) plainStream(entries string, data []byte) int {
	return w.add(fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(data), data))
}

// file returns the file, whose id is the hash of its objects.
func (w *writer) file(catalog int) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	var offsets []int
	for i, body := range w.objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	id := sha256.Sum256(b.Bytes())
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root %d 0 R/ID[<%X><%X>]>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, catalog,
		id[:16], id[:16], start)
	return b.Bytes()
}

// textString writes a text in UTF-16.
func textString(text string) string {
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, "%04X", unit)
	}
	return b.String() + ">"
}

// references writes numbers of objects.
func references(numbers []int) string {
	var list []string
	for _, n := range numbers {
		list = append(list, fmt.Sprintf("%d 0 R", n))
	}
	return "[" + strings.Join(list, " ") + "]"
}

// write returns the file of a document that is complete.
func (d *Document) write() []byte {
	w := &writer{}
	catalog, tree := w.reserve(), w.reserve()
	pages := w.reserve()
	fonts := ""
	for _, f := range []*font{d.regular, d.bold, d.han} {
		if len(f.runes) > 0 {
			fonts += fmt.Sprintf("/%s %d 0 R", d.resource(f), f.write(w))
		}
	}
	resources := w.add("<</Font<<" + fonts + ">>>>")
	var numbers []int
	for range d.pages {
		numbers = append(numbers, w.reserve())
	}
	fields := d.writeFields(w, numbers)
	for i, p := range d.pages {
		annotations := ""
		for n, f := range d.fields {
			if f.page == i {
				annotations += fmt.Sprintf("%d 0 R ", fields[n])
			}
		}
		if annotations != "" {
			annotations = "/Tabs/S/Annots[" + annotations + "]"
		}
		w.set(numbers[i], fmt.Sprintf("<</Type/Page/Parent %d 0 R/MediaBox[0 0 %s %s]/Resources %d 0 R/Contents %d 0 R"+
			"/StructParents %d%s>>", pages, points(pageWidth), points(pageHeight), resources,
			w.stream("", p.content.Bytes()), i, annotations))
	}
	w.set(pages, fmt.Sprintf("<</Type/Pages/Kids%s/Count %d>>", references(numbers), len(numbers)))
	d.writeTree(w, tree, numbers)
	profile := w.stream("/N 3", sRGB())
	w.set(catalog, fmt.Sprintf("<</Type/Catalog/Pages %d 0 R/Lang(%s)/MarkInfo<</Marked true>>"+
		"/ViewerPreferences<</DisplayDocTitle true>>/StructTreeRoot %d 0 R/Metadata %d 0 R"+
		"/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(sRGB)/Info(sRGB)"+
		"/DestOutputProfile %d 0 R>>]%s%s>>", pages, d.meta.Lang, tree,
		w.plainStream("/Type/Metadata/Subtype/XML", d.metadata()), profile, d.writeFiles(w), form(fields)))
	return w.file(catalog)
}

func form(fields []int) string {
	if len(fields) == 0 {
		return ""
	}
	const signaturesExistAndAppendOnly = 3
	return fmt.Sprintf("/AcroForm<</Fields%s/SigFlags %d>>", references(fields), signaturesExistAndAppendOnly)
}

// writeFields adds the empty fields for signatures. Each is outside its page, so that it needs no place in the
// structure: a signature then changes nothing of the document but the field.
func (d *Document) writeFields(w *writer, pages []int) (numbers []int) {
	const printAndLocked = 132
	for _, f := range d.fields {
		numbers = append(numbers, w.add(fmt.Sprintf("<</Type/Annot/Subtype/Widget/FT/Sig/T(%s)/TU%s/P %d 0 R"+
			"/Rect[-1 -1 -1 -1]/F %d>>", f.name, textString(f.label), pages[f.page], printAndLocked)))
	}
	return numbers
}

// writeFiles adds the attachments, and returns what the catalog says about them.
func (d *Document) writeFiles(w *writer) string {
	if len(d.files) == 0 {
		return ""
	}
	names, numbers := "", []int(nil)
	for _, a := range d.files {
		content := w.stream(fmt.Sprintf("/Type/EmbeddedFile/Subtype/%s/Params<</Size %d/ModDate%s>>",
			strings.ReplaceAll(a.MediaType, "/", "#2F"), len(a.Data), d.date()), a.Data)
		n := w.add(fmt.Sprintf("<</Type/Filespec/F(%s)/UF%s/Desc%s/AFRelationship/Data/EF<</F %d 0 R/UF %d 0 R>>>>",
			a.Name, textString(a.Name), textString(a.Description), content, content))
		names += fmt.Sprintf("(%s)%d 0 R", a.Name, n)
		numbers = append(numbers, n)
	}
	return fmt.Sprintf("/Names<</EmbeddedFiles<</Names[%s]>>>>/AF%s", names, references(numbers))
}

// date writes the date of the document.
func (d *Document) date() string { return d.meta.Date.UTC().Format("(D:20060102150405+00'00')") }

// writeTree adds the structure, and the table from the marked parts of each page to their elements.
func (d *Document) writeTree(w *writer, tree int, pages []int) {
	d.root.reserve(w)
	d.root.write(w, tree, pages)
	rows := ""
	for i, p := range d.pages {
		var owners []int
		for _, e := range p.owners {
			owners = append(owners, e.object)
		}
		rows += fmt.Sprintf("%d %s", i, references(owners))
	}
	parents := w.add("<</Nums[" + rows + "]>>")
	w.set(tree, fmt.Sprintf("<</Type/StructTreeRoot/K %d 0 R/ParentTree %d 0 R/ParentTreeNextKey %d>>", d.root.object,
		parents, len(pages)))
}

func (e *element) reserve(w *writer) {
	e.object = w.reserve()
	for _, kid := range e.kids {
		if kid, ok := kid.(*element); ok {
			kid.reserve(w)
		}
	}
}

func (e *element) write(w *writer, parent int, pages []int) {
	var kids []string
	for _, kid := range e.kids {
		switch kid := kid.(type) {
		case *element:
			kids = append(kids, fmt.Sprintf("%d 0 R", kid.object))
			kid.write(w, e.object, pages)
		case mark:
			kids = append(kids, fmt.Sprintf("<</Type/MCR/Pg %d 0 R/MCID %d>>", pages[kid.page], kid.id))
		}
	}
	w.set(e.object, fmt.Sprintf("<</Type/StructElem/S/%s/P %d 0 R%s/K[%s]>>", e.tag, parent, e.attributes,
		strings.Join(kids, " ")))
}
