package letter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/pdfa"
)

// Attached is the name of the file in a letter's PDF that has its canonical JSON.
const Attached = "agreement.json"

// The fields of a letter's PDF that the service fills by itself. Each signer of the instrument has a field, whose name
// is that of the signer in lower case.
const (
	SealField      = "seal"
	TimestampField = "timestamp"
)

// signerLabels says who signs on a line.
var signerLabels = map[string]string{
	party.ProviderScientist:  "Provider scientist: name, date",
	party.RecipientScientist: "Recipient scientist: name, date",
	party.ProviderOfficial:   "For the provider, authorised official: name, title, date",
	party.RecipientOfficial:  "For the recipient, authorised official: name, title, date",
}

// SignatureLabel returns what is printed where a signer of an instrument signs.
func SignatureLabel(signer string) string { return signerLabels[signer] }

var clause = regexp.MustCompile(`^(\d{1,3}[.)]|\([a-z]\)) +(.+)$`)

// PDF returns the letter as PDF/A-3a and PDF/UA-1 with its canonical JSON attached and an empty field for each
// signature: the same bytes for the same letter. It fails if a letter of a name cannot be printed.
func (l Letter) PDF(i instrument.Instrument) ([]byte, error) {
	data, err := Canonical(l)
	if err != nil {
		return nil, err
	}
	date, ok := l.Date.Begin()
	if !ok {
		return nil, fmt.Errorf("letter %s: %q is no date", l.Number, l.Date)
	}
	reference := l.reference()
	d := pdfa.New(pdfa.Meta{Title: i.Title + " " + reference, Author: "Aliquot", Lang: "en", Footer: reference,
		Date: date})
	d.Heading(1, i.Title)
	for _, line := range l.preamble(i) {
		d.Paragraph(line)
	}
	l.body(d, i)
	d.Heading(2, signatures)
	for _, signer := range i.Signers {
		d.Signature(strings.ToLower(signer), SignatureLabel(signer))
	}
	d.Field(SealField, "Seal of the service")
	d.Field(TimestampField, "Timestamp")
	d.Attach(pdfa.Attachment{Name: Attached, MediaType: "application/json", Description: "The letter as data",
		Data: data})
	return d.Bytes()
}

// signatures is the heading of the lines to sign on.
const signatures = "Signatures"

func (l Letter) reference() string { return fmt.Sprintf("%s, version %d", l.Number, l.Version) }

// preamble says which letter it is and which text it has.
func (l Letter) preamble(i instrument.Instrument) []string {
	lines := []string{fmt.Sprintf("Letter %s of %s. Its text is version %s of %s, with the SHA-256 %s.", l.reference(),
		l.Date, l.Edition, l.Instrument, l.TextHash)}
	if !i.Reviewed {
		lines = append(lines, "The text was not reviewed by counsel.")
	}
	return lines
}

// Printed returns the text of the letter's PDF, for comparisons: its rows of materials as in the table.
func (l Letter) Printed(i instrument.Instrument) string {
	lines := append([]string{i.Title}, l.preamble(i)...)
	lines = append(lines, l.Text(i), strings.Join(tableHeader, " "))
	for _, r := range l.Requests {
		lines = append(lines, fmt.Sprintf("%d %s %s", r.ID, r.Material, r.Quantity))
	}
	lines = append(lines, signatures)
	for _, signer := range i.Signers {
		lines = append(lines, SignatureLabel(signer))
	}
	return strings.Join(lines, "\n")
}

// body adds the text: numbered clauses as a list, the place of the materials as a table, other lines as paragraphs.
func (l Letter) body(d *pdfa.Document, i instrument.Instrument) {
	fill := l.replacer(i)
	var clauses []pdfa.Item
	flush := func() {
		if len(clauses) > 0 {
			d.List(clauses)
			clauses = nil
		}
	}
	for n, line := range strings.Split(i.Template, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || n == 0 && line == i.Title {
			continue
		}
		if found := clause.FindStringSubmatch(line); found != nil {
			clauses = append(clauses, pdfa.Item{Label: found[1], Text: fill.Replace(found[2])})
			continue
		}
		flush()
		if slices.ContainsFunc(i.Fields, func(f instrument.Field) bool {
			return f.Source == "REQUESTS" && line == "{{"+f.Name+"}}"
		}) {
			l.table(d)
			continue
		}
		d.Paragraph(fill.Replace(line))
	}
	flush()
}

var tableHeader = []string{"Request", "Material", "Quantity"}

func (l Letter) table(d *pdfa.Document) {
	var rows [][]string
	for _, r := range l.Requests {
		rows = append(rows, []string{fmt.Sprint(r.ID), r.Material, r.Quantity})
	}
	d.Table([]int{2, 9, 4}, tableHeader, rows)
}
