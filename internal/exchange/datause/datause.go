// Package datause has the terms of the Data Use Ontology (DUO), under which data and material of people may be used.
package datause

import (
	"regexp"
	"slices"

	"aliquot/internal/exchange"
)

// Term is a term of the Data Use Ontology, with its value where it has one: a disease, a country, a date.
type Term struct {
	ID    string `json:"id"` // DUO:0000007
	About string `json:"value,omitempty"`
}

// labels has the terms that are known, by their id.
var labels = map[string]string{
	"DUO:0000004": "no restriction",
	"DUO:0000006": "health or medical or biomedical research",
	"DUO:0000007": "disease specific research",
	"DUO:0000011": "population origins or ancestry research only",
	"DUO:0000012": "research specific restrictions",
	"DUO:0000015": "no general methods research",
	"DUO:0000016": "genetic studies only",
	"DUO:0000018": "not for profit, non commercial use only",
	"DUO:0000019": "publication required",
	"DUO:0000020": "collaboration required",
	"DUO:0000021": "ethics approval required",
	"DUO:0000022": "geographical restriction",
	"DUO:0000024": "publication moratorium",
	"DUO:0000025": "time limit on use",
	"DUO:0000026": "user specific restriction",
	"DUO:0000027": "project specific restriction",
	"DUO:0000028": "institution specific restriction",
	"DUO:0000029": "return to database or resource",
	"DUO:0000042": "general research use",
	"DUO:0000043": "clinical care use",
	"DUO:0000044": "population origins or ancestry research prohibited",
	"DUO:0000045": "not for profit organisation use only",
	"DUO:0000046": "non-commercial use only",
}

// needsValue are the terms that mean nothing without a value.
var needsValue = []string{"DUO:0000007", "DUO:0000022", "DUO:0000024", "DUO:0000025"}

// Label returns the name of the term with an id; "" if it is not known.
func Label(id string) string { return labels[id] }

// NeedsValue reports whether the term with an id means nothing without a value.
func NeedsValue(id string) bool { return slices.Contains(needsValue, id) }

// Label returns the name of the term with its value, or its id if it is not known.
func (u Term) Label() string {
	label := Label(u.ID)
	if label == "" {
		label = u.ID
	}
	if u.About != "" {
		label += ": " + u.About
	}
	return label
}

var pattern = regexp.MustCompile(`DUO[:_](\d{7})(?:\s*[=(]\s*([^()=;\n]+?)\s*\)?\s*(?:[;\n]|$))?`)

// Parse returns the terms in a text, such as "DUO:0000007 (MONDO:0005148); DUO:0000021". It fails on one that is
// not known or lacks its value, and returns it nevertheless: what cannot be read is no permission.
func Parse(s string) ([]Term, error) {
	var uses []Term
	var faults exchange.FieldErrors
	for _, found := range pattern.FindAllStringSubmatch(s, -1) {
		u := Term{ID: "DUO:" + found[1], About: found[2]}
		if labels[u.ID] == "" {
			faults.Add("data_uses", "has the unknown term %s", u.ID)
		} else if u.About == "" && NeedsValue(u.ID) {
			faults.Add("data_uses", "has %s (%s) without its value", u.ID, labels[u.ID])
		}
		uses = append(uses, u)
	}
	return uses, faults.Err()
}
