package requirement

import (
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/datause"
)

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
func Match(uses []datause.Term, p Purpose, day exchange.Date) (allowed Answer, because []string) {
	allowed = Yes
	note := func(u datause.Term, answer Answer) {
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

func matchTerm(u datause.Term, p Purpose, day exchange.Date) Answer {
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
