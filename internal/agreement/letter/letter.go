package letter

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/exchange"
)

// Request is one of the requests that a letter is for.
type Request struct {
	ID       int64  `json:"id"`
	Material string `json:"material"`
	Quantity string `json:"quantity"`
}

// Letter is one version of an agreement. Its hash is that of its canonical JSON, which people sign.
type Letter struct {
	Number     string            `json:"number"`
	Version    int               `json:"version"`
	Date       exchange.Date     `json:"date"`
	Instrument string            `json:"instrument"`
	Edition    string            `json:"instrument_version"`
	TextHash   string            `json:"instrument_sha256"`
	Provider   int64             `json:"provider"`
	Recipient  int64             `json:"recipient"`
	Requests   []Request         `json:"requests"`
	Fields     map[string]string `json:"fields"`
}

// EndsOnField is the field that has the day on which the use of what is transferred ends, if one was agreed on.
const EndsOnField = "ends_on"

// NoEndDay is what a letter says where no day was agreed on: "until the purpose is fulfilled".
const NoEndDay = "the purpose is fulfilled"

// Missing is a field without a value, and whose record it comes from.
type Missing struct {
	Field  string
	Source string
}

// New returns the first version of a letter, with its requests by id, each once, and its list of materials filled.
func New(number string, date exchange.Date, i instrument.Instrument, provider, recipient int64, requests []Request,
	fields map[string]string) Letter {
	l := Letter{Number: number, Version: 1, Date: date, Provider: provider, Recipient: recipient}
	return l.with(i, requests, fields)
}

// Change returns the letter with another instrument, requests or fields: a new version, unless nothing changed.
// Signatures are of a version, so that those of an earlier one no longer count.
func (l Letter) Change(i instrument.Instrument, requests []Request, fields map[string]string) (Letter, error) {
	changed := l.with(i, requests, fields)
	before, err := l.SHA256()
	if err != nil {
		return Letter{}, err
	}
	after, err := changed.SHA256()
	if err != nil || before == after {
		return l, err
	}
	changed.Version++
	return changed, nil
}

func (l Letter) with(i instrument.Instrument, requests []Request, fields map[string]string) Letter {
	l.Instrument, l.Edition, l.TextHash = i.ID, i.Version, i.SHA256
	l.Requests = slices.Clone(requests)
	slices.SortFunc(l.Requests, func(a, b Request) int { return int(a.ID - b.ID) })
	l.Requests = slices.CompactFunc(l.Requests, func(a, b Request) bool { return a.ID == b.ID })
	var lines []string
	for _, r := range l.Requests {
		lines = append(lines, strings.TrimSuffix(r.Material+", "+r.Quantity, ", "))
	}
	l.Fields = map[string]string{}
	for _, f := range i.Fields {
		value := strings.TrimSpace(fields[f.Name])
		if f.Source == "REQUESTS" {
			value = strings.Join(lines, "\n")
		}
		if value != "" {
			l.Fields[f.Name] = value
		}
	}
	return l
}

// EndsOn returns the day on which the use of what is transferred ends; empty: no day was agreed on.
func (l Letter) EndsOn() exchange.Date {
	day, err := exchange.ParseDate(l.Fields[EndsOnField])
	if err != nil {
		return ""
	}
	return day
}

// RequestIDs returns the ids of the requests, in order.
func (l Letter) RequestIDs() []int64 {
	ids := make([]int64, len(l.Requests))
	for i, r := range l.Requests {
		ids[i] = r.ID
	}
	return ids
}

// Missing returns the fields of the instrument that the letter has no value for, in the instrument's order.
func (l Letter) Missing(i instrument.Instrument) (missing []Missing) {
	for _, f := range i.Fields {
		if l.Fields[f.Name] == "" {
			missing = append(missing, Missing{f.Name, f.Source})
		}
	}
	return missing
}

// SHA256 returns the hash of the letter's canonical JSON, in hexadecimal.
func (l Letter) SHA256() (string, error) {
	b, err := Canonical(l)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Text returns the template with the fields filled in, in one pass: a value that looks like a place stays as it is. A
// place without a value shows its name in square brackets.
func (l Letter) Text(i instrument.Instrument) string { return l.replacer(i).Replace(i.Template) }

func (l Letter) replacer(i instrument.Instrument) *strings.Replacer {
	var pairs []string
	for _, f := range i.Fields {
		value := l.Fields[f.Name]
		if value == "" {
			value = "[" + f.Name + "]"
		}
		pairs = append(pairs, "{{"+f.Name+"}}", value)
	}
	return strings.NewReplacer(pairs...)
}
