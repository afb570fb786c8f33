package lint

import (
	"fmt"
	"regexp"
	"strings"
)

// gap is where people write into a form.
var gap = regexp.MustCompile(`_{3,}|\.{4,}|…{2,}`)

// checkForm compares a paper with the form that it is by. What people wrote into the form is no difference, and what is
// missing of it is said once.
func (r *report) checkForm(c Case) {
	if c.Blank {
		r.add(BlankTemplate, "paper", "The paper is the form as it was handed out. Upload the one that was filled in "+
			"and signed.")
		return
	}
	text, present, total := c.Paper.text()
	if r.checkPages(present, total) {
		return
	}
	p := newPaperText(text)
	if c.Form != nil {
		r.checkFormText(c.Form, p)
	}
	r.checkRecipient(c, p)
}

// checkFormText finds lines of a form of which the paper lacks words. Lines with a place to fill in may have others.
func (r *report) checkFormText(form *Paper, p *paperText) {
	text, _, _ := form.text()
	lines, lacking, first := 0, 0, ""
	for line := range strings.Lines(text) {
		w := words(line)
		if len(w) < minWords || gap.MatchString(line) {
			continue
		}
		lines++
		if missing, _ := p.compare(w); len(missing) > 0 {
			if lacking++; first == "" {
				first = excerpt(strings.Fields(line))
			}
		}
	}
	switch {
	case lacking == 0:
	case 2*lacking > lines:
		r.add(TextDiffers, "paper", "The paper has little of the form that the lab handed out. Use that form, or "+
			"agree on another with the lab.")
	default:
		r.add(TextDiffers, "paper", "The paper lacks words of the form that the lab handed out, in %d of %d lines; "+
			"the first is %q. Sign the unchanged text, or agree on the changes.", lacking, lines, first)
	}
}

// checkRecipient checks that a paper names the institution that receives, by any of its names. Handwriting is not read,
// so that a paper with pictures may name it nevertheless.
func (r *report) checkRecipient(c Case, p *paperText) {
	i := c.Recipient.Institution
	if i.LegalName == "" {
		return
	}
	for _, page := range c.Paper.Pages {
		if page.Images > 0 {
			return
		}
	}
	for _, name := range append([]string{i.LegalName}, i.Aliases...) {
		if w := words(name); len(w) > 0 && contains(p.words, w) {
			return
		}
	}
	r.findings = append(r.findings, Finding{InstitutionsDiffer, Warning, "recipient", fmt.Sprintf("The paper does not "+
		"name %s, where the requester works. Enter the legal name of the institution that receives.", i.LegalName)})
}
