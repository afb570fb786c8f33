package requirement

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/identifier"
)

// Limit is a term of data use that does not simply allow a purpose.
type Limit struct {
	Term    datause.Term
	Allowed Answer   // No, or Unknown
	Asks    []string // what would settle it: fields of the purpose, or other questions; none if the answer is No
}

// What is asked apart from fields of the purpose.
const (
	askKind      = "institution"
	askCountry   = "country"
	askApproval  = "approval"
	askValue     = "value"
	askClinical  = "clinical_too"
	askCommittee = "committee"
)

var otherQuestions = map[string]string{
	askKind: "Is the institution that receives it not for profit? Its kind has to be stated, and an officer has to " +
		"confirm the institution, and that the requester is there.",
	askCountry: "In which country is the institution that receives it? An officer has to confirm the institution, " +
		"and that the requester is there.",
	askApproval:  "Did a review board (IRB) approve the research? Choose its approval for the request.",
	askValue:     "What is the value of the term? The lab states it.",
	askClinical:  "Does the lab, or its committee, also allow the care of patients? Its decision is a permit.",
	askCommittee: "Does the lab, or its committee, allow it? Its decision is a permit.",
}

// asksOf has what terms ask about. People decide about a term that is not here and not always fulfilled.
var asksOf = map[string][]string{
	"DUO:0000006": {"biomedical", "ancestry"},
	"DUO:0000007": {"diseases"},
	"DUO:0000011": {"ancestry"},
	"DUO:0000015": {"methods"},
	"DUO:0000016": {"genetic"},
	"DUO:0000018": {askKind, "commercial"},
	"DUO:0000021": {askApproval},
	"DUO:0000022": {askCountry},
	"DUO:0000025": {askValue},
	clinicalCare:  {"clinical"},
	"DUO:0000044": {"ancestry"},
	"DUO:0000045": {askKind},
	"DUO:0000046": {"commercial"},
}

// AskedBy returns the fields of a purpose that terms of data use ask about.
func AskedBy(uses []datause.Term) (names []string) {
	for i := range PurposeFields {
		name := PurposeFields[i].Name
		if slices.ContainsFunc(uses, func(u datause.Term) bool { return slices.Contains(asksOf[u.ID], name) }) {
			names = append(names, name)
		}
	}
	return names
}

// Questions are those whose answers would settle the limit.
func (l Limit) Questions() (list []string) {
	for _, name := range l.Asks {
		question := otherQuestions[name]
		if d := purposeField(name); d != nil {
			question = d.Help
		}
		list = append(list, question)
	}
	return list
}

// permissions are the terms that say what research is allowed. All others limit it further, or add to it.
var permissions = []string{noRestriction, "DUO:0000006", "DUO:0000007", "DUO:0000011", "DUO:0000042"}

const noRestriction, clinicalCare = "DUO:0000004", "DUO:0000043"

// Match returns whether the terms allow the purpose on the day, with those that do not: No if one forbids it, Unknown
// if the purpose lacks what a term asks about, or a term cannot be decided by a program. No terms: Yes.
func Match(uses []datause.Term, p Purpose, day exchange.Date) (allowed Answer, limits []Limit) {
	allowed = Yes
	has := func(ids ...string) bool {
		return slices.ContainsFunc(uses, func(u datause.Term) bool { return slices.Contains(ids, u.ID) })
	}
	for _, u := range uses {
		l := Limit{Term: u, Allowed: matchTerm(u, p, day)}
		l.Asks = p.open(u)
		switch {
		case u.ID == clinicalCare && p.Clinical != Yes && has(permissions...): // it adds to what is allowed
			continue
		case l.Allowed == Yes && p.Clinical == Yes && slices.Contains(permissions, u.ID) &&
			!has(noRestriction, clinicalCare): // care of patients is no research
			l.Allowed, l.Asks = Unknown, []string{askClinical}
		case l.Allowed == Yes:
			continue
		case l.Allowed == No:
			l.Asks = nil
		}
		limits = append(limits, l)
		if l.Allowed == No || allowed == Yes {
			allowed = l.Allowed
		}
	}
	return allowed, limits
}

// open returns what a term asks about that is not answered.
func (p Purpose) open(u datause.Term) []string {
	asks, known := asksOf[u.ID]
	switch {
	case !known:
		return []string{askCommittee}
	case u.About == "" && datause.NeedsValue(u.ID):
		return []string{askValue}
	}
	return slices.DeleteFunc(slices.Clone(asks), func(name string) bool {
		switch name {
		case askKind:
			return p.Nonprofit != Unknown
		case "diseases", askCountry, askApproval, askValue: // they are asked about until they fit
			return false
		}
		return *purposeField(name).At(&p).(*string) != ""
	})
}

// matchTerm returns whether a term by itself allows the purpose.
func matchTerm(u datause.Term, p Purpose, day exchange.Date) Answer {
	switch u.ID {
	case noRestriction, "DUO:0000042":
		return Yes
	case "DUO:0000019", "DUO:0000024", "DUO:0000029": // about what is published or returned afterwards
		return Yes
	case "DUO:0000006":
		return both(p.Biomedical, not(p.Ancestry))
	case "DUO:0000007":
		return ofDisease(u.About, p)
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
		return inCountry(u.About, p.Country)
	case "DUO:0000025":
		last, err := exchange.ParseDate(u.About)
		if err != nil {
			return Unknown
		}
		return answer(day < last)
	case clinicalCare:
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

// ofDisease returns whether research is about a disease. Another disease may be a kind of it, which is not known here.
func ofDisease(disease string, p Purpose) Answer {
	switch {
	case disease == "":
		return Unknown
	case p.Biomedical == No:
		return No
	case slices.ContainsFunc(p.Diseases, func(d string) bool { return strings.EqualFold(d, disease) }):
		return Yes
	}
	return Unknown
}

// inCountry returns whether a country is the one that a term names; Unknown if that is another place, such as a union
// of states.
func inCountry(place, country string) Answer {
	allowed, err := identifier.Country(place)
	if err != nil || country == "" {
		return Unknown
	}
	return answer(country == allowed)
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
