package requirement

import (
	"regexp"
	"slices"
	"strings"

	"aliquot/internal/exchange"
)

// DataUse is a term of the Data Use Ontology, with its value where it has one: a disease, a country, a date.
type DataUse struct {
	ID    string `json:"id"` // DUO:0000007
	About string `json:"value,omitempty"`
}

// duoTerms has the terms that are known, by their id.
var duoTerms = map[string]string{
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

// Label returns the name of the term, or its id if it is not known.
func (u DataUse) Label() string {
	label := duoTerms[u.ID]
	if label == "" {
		label = u.ID
	}
	if u.About != "" {
		label += ": " + u.About
	}
	return label
}

var duoPattern = regexp.MustCompile(`DUO[:_](\d{7})(?:\s*[=(]\s*([^()=;\n]+?)\s*\)?\s*(?:[;\n]|$))?`)

// ParseUses returns the terms in a text, such as "DUO:0000007 (MONDO:0005148); DUO:0000021". It fails on one that is
// not known or lacks its value, and returns it nevertheless: what cannot be read is no permission.
func ParseUses(s string) ([]DataUse, error) {
	var uses []DataUse
	var faults exchange.FieldErrors
	for _, found := range duoPattern.FindAllStringSubmatch(s, -1) {
		u := DataUse{ID: "DUO:" + found[1], About: found[2]}
		if duoTerms[u.ID] == "" {
			faults.Add("data_uses", "has the unknown term %s", u.ID)
		} else if u.About == "" && slices.Contains(needsValue, u.ID) {
			faults.Add("data_uses", "has %s (%s) without its value", u.ID, duoTerms[u.ID])
		}
		uses = append(uses, u)
	}
	return uses, faults.Err()
}

// Purpose is what a recipient wants a material for.
type Purpose struct {
	Biomedical Answer
	Diseases   []string // ids of MONDO
	Methods    Answer   // development of methods
	Ancestry   Answer
	Genetic    Answer
	Clinical   Answer // care of patients
	Commercial Answer
	Nonprofit  Answer // the recipient
	Country    string
	Ethics     Answer // has an ethics approval
}

// Match returns whether the terms allow the purpose on the day, with the terms that decide: No if one forbids it,
// Unknown if the purpose lacks what a term asks about, or a term cannot be decided by a program. No terms: Yes.
func Match(uses []DataUse, p Purpose, day exchange.Date) (allowed Answer, because []string) {
	allowed = Yes
	note := func(u DataUse, answer Answer) {
		if answer == Yes {
			return
		}
		because = append(because, u.Label())
		if answer == No || allowed == Yes {
			allowed = answer
		}
	}
	for _, u := range uses {
		note(u, matchTerm(u, p, day))
	}
	return allowed, because
}

func matchTerm(u DataUse, p Purpose, day exchange.Date) Answer {
	switch u.ID {
	case "DUO:0000004", "DUO:0000019", "DUO:0000029", "DUO:0000042": // open, or a duty afterwards
		return Yes
	case "DUO:0000006":
		return p.Biomedical
	case "DUO:0000007":
		if len(p.Diseases) == 0 || u.About == "" {
			return Unknown
		}
		return answer(slices.ContainsFunc(p.Diseases, func(d string) bool { return strings.EqualFold(d, u.About) }))
	case "DUO:0000011":
		return p.Ancestry
	case "DUO:0000015":
		return not(p.Methods)
	case "DUO:0000016":
		return p.Genetic
	case "DUO:0000018":
		return both(p.Nonprofit, not(p.Commercial))
	case "DUO:0000021":
		return p.Ethics
	case "DUO:0000022":
		if p.Country == "" || u.About == "" {
			return Unknown
		}
		return answer(strings.EqualFold(p.Country, u.About))
	case "DUO:0000024": // about publishing, not about use
		return Yes
	case "DUO:0000025":
		if u.About == "" {
			return Unknown
		}
		return answer(day < exchange.Date(u.About))
	case "DUO:0000043":
		return p.Clinical
	case "DUO:0000044":
		return not(p.Ancestry)
	case "DUO:0000045":
		return p.Nonprofit
	case "DUO:0000046":
		return not(p.Commercial)
	}
	return Unknown
}

func answer(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

func not(a Answer) Answer {
	switch a {
	case Yes:
		return No
	case No:
		return Yes
	}
	return Unknown
}

func both(a, b Answer) Answer {
	switch {
	case a == No || b == No:
		return No
	case a == Yes && b == Yes:
		return Yes
	}
	return Unknown
}
