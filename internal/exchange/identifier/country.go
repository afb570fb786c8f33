package identifier

import (
	_ "embed"
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// One line per country of ISO 3166-1: alpha-2, alpha-3, then its English names, of which the first
// is the one we show.
//
//go:embed countries.tsv
var countriesTSV string

// Nation is a country or territory of ISO 3166-1.
type Nation struct{ Alpha2, Alpha3, Name string }

var nations, nationOf = func() (all []Nation, byName map[string]string) {
	byName = map[string]string{}
	for line := range strings.Lines(countriesTSV) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		names := strings.Split(cells[2], "|")
		all = append(all, Nation{cells[0], cells[1], names[0]})
		for _, name := range append(names, cells[0], cells[1]) {
			byName[plain(name)] = cells[0]
		}
	}
	slices.SortFunc(all, func(a, b Nation) int { return strings.Compare(plain(a.Name), plain(b.Name)) })
	return all, byName
}()

// Countries returns all countries by their English name, for a form to choose from.
func Countries() []Nation { return slices.Clone(nations) }

// Country returns the ISO 3166-1 alpha-2 code of a country given by its alpha-2 or alpha-3 code or an English name,
// without regard to case, accents and punctuation. Canonical: DE.
func Country(s string) (string, error) {
	if len(s) <= 4*longest {
		if code := nationOf[plain(s)]; code != "" {
			return code, nil
		}
	}
	return "", errors.New("a country is an ISO 3166 code or an English name, such as DE, DEU or Germany")
}

// plain folds a name to its letters and digits, so that "St. Lucia" and "saint lucia" are equal.
func plain(s string) string {
	letters := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		case r == '.' || r == '\'' || r == '’' || unicode.Is(unicode.Mn, r):
			return -1
		}
		return ' '
	}, norm.NFD.String(strings.ReplaceAll(s, "&", " and ")))
	words := strings.Fields(letters)
	for i, word := range words {
		if word == "st" && len(words) > 1 { // alone it is the code of São Tomé and Príncipe
			words[i] = "saint"
		}
	}
	return strings.Join(words, " ")
}
