package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
)

// Paper is what was read of an uploaded file.
type Paper struct{ Pages []Page }

// Page is a page of a paper.
type Page struct {
	Text   string `json:"text"`
	Images int    `json:"images"`
}

// minWords is how many words a page has at least that is not only a picture.
const minWords = 5

// footer is what our letters have at the end of each page.
var footer = regexp.MustCompile(`(?i)^.*page\s+(\d{1,4})\s+of\s+(\d{1,4})\s*$`)

// Letter returns the id of the letter whose number the paper has; 0: it has none.
func (p *Paper) Letter() int64 {
	for _, page := range p.Pages {
		if id := letter.FirstID(page.Text); id != 0 {
			return id
		}
	}
	return 0
}

// checkPaper compares a paper with the letter that it should be. What cannot be read, is incomplete or blank is said
// once, and not again for each sentence that is therefore not there.
func (r *report) checkPaper(c Case) {
	text, present, total := c.Paper.text()
	p := newPaperText(text)
	if r.checkBlank(c, p) {
		return
	}
	if r.checkPages(present, total) || r.checkSigners(c, p) {
		return
	}
	r.checkText(c, p)
	r.checkRows(c, p)
}

func (r *report) checkReadable(p *Paper) (found bool) {
	all := 0
	for i, page := range p.Pages {
		n := len(words(page.Text))
		all += n
		if n < minWords && page.Images > 0 {
			r.add(UnreadableScan, fmt.Sprintf("page %d", i+1), "Page %d is a picture without text. Scan it with text "+
				"recognition, or sign here.", i+1)
			found = true
		}
	}
	if all < minWords && !found {
		r.add(UnreadableScan, "paper", "The paper has no text that can be read. Scan it again, or sign here.")
		found = true
	}
	return found
}

// text returns the text without the ends of pages, and which pages there are of how many, as they say.
func (p *Paper) text() (text string, present map[int]bool, total int) {
	var b strings.Builder
	present = map[int]bool{}
	for _, page := range p.Pages {
		for line := range strings.Lines(page.Text) {
			found := footer.FindStringSubmatch(strings.TrimSpace(line))
			if found == nil {
				b.WriteString(line)
				continue
			}
			number, _ := strconv.Atoi(found[1]) // the pattern has only short numbers
			last, _ := strconv.Atoi(found[2])
			present[number], total = true, max(total, last)
		}
		b.WriteByte('\n')
	}
	return b.String(), present, total
}

// place is where the template has a value, or what people write instead of one.
var place = regexp.MustCompile(`\{\{[^{}]*\}\}|\[[a-z]+_[a-z_]+\]|_{5,}`)

// checkBlank reports whether the paper is the template with no value in it.
func (r *report) checkBlank(c Case, p *paperText) bool {
	values := 0
	for _, value := range c.Letter.Fields {
		for line := range strings.Lines(value) {
			if w := words(line); len(w) > 0 {
				values++
				if strings.Contains(p.joined, strings.Join(w, "")) {
					return false
				}
			}
		}
	}
	parts := place.Split(c.Instrument.Template, -1)
	known := 0
	for _, part := range parts {
		if w := words(part); len(w) == 0 || strings.Contains(p.joined, strings.Join(w, "")) {
			known++
		}
	}
	if values == 0 || 2*known < len(parts) {
		return false
	}
	r.add(BlankTemplate, "paper", "The paper is the blank form, without a name or a material. Upload the one that was "+
		"filled in and signed.")
	return true
}

func (r *report) checkPages(present map[int]bool, total int) (found bool) {
	for n := 1; n <= total; n++ {
		if !present[n] {
			r.add(PartsMissing, fmt.Sprintf("page %d", n), "Page %d of %d is missing. Upload all pages.", n, total)
			found = true
		}
	}
	return found
}

func (r *report) checkSigners(c Case, p *paperText) (found bool) {
	for _, signer := range c.Instrument.Signers {
		label := letter.SignatureLabel(signer)
		if !strings.Contains(p.joined, strings.Join(words(label), "")) {
			r.add(PartsMissing, signer, "The line to sign for %q is missing. Upload the page that has it.", label)
			found = true
		}
	}
	return found
}

// checkText finds sentences that differ from the letter's, and text that the letter does not have.
func (r *report) checkText(c Case, p *paperText) {
	for n, line := range strings.Split(c.Letter.Text(c.Instrument), "\n") {
		if w := words(line); len(w) >= minWords && !c.isRow(line) {
			if missing, extra := p.compare(w); len(missing)+len(extra) > 0 {
				r.add(TextDiffers, fmt.Sprintf("paragraph %d", n+1), "The paper differs in %q:%s%s. Sign the "+
					"unchanged text, or choose a form that may be changed.", excerpt(strings.Fields(line)),
					listed(" missing ", missing), listed(" added ", extra))
			}
		}
	}
	for _, run := range p.unknown(c.Letter.Printed(c.Instrument)) {
		r.add(TextDiffers, "added text", "The paper has text that the letter does not have: %q. Sign the unchanged "+
			"text.", excerpt(run))
	}
}

// isRow reports whether a line of the letter is one of its materials.
func (c Case) isRow(line string) bool {
	return slices.ContainsFunc(c.Letter.Requests, func(q letter.Request) bool {
		return q.Material != "" && strings.HasPrefix(line, q.Material)
	})
}

// checkRows compares the quantities in the table of a paper.
func (r *report) checkRows(c Case, p *paperText) {
	for _, q := range c.Letter.Requests {
		want := words(q.Quantity)
		have, found := p.after(words(fmt.Sprint(q.ID, " ", q.Material)), len(want))
		if found && len(want) > 0 && quantity(have) != quantity(strings.Join(want, " ")) {
			r.add(QuantitiesDiffer, fmt.Sprintf("request %d", q.ID), "The paper has %q of %s, the letter %q. Correct "+
				"the paper, or make a new version of the letter.", have, q.Material, q.Quantity)
		}
	}
}

func listed(what string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return what + strconv.Quote(excerpt(list))
}

// excerpt returns the first words of a text.
func excerpt(list []string) string {
	const most = 12
	if len(list) > most {
		return strings.Join(list[:most], " ") + " …"
	}
	return strings.Join(list, " ")
}
