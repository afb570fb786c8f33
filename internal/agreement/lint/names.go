package lint

import (
	_ "embed" // the words of organizations
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"aliquot/internal/agreement/party"
)

// hyphens takes out hyphens at the ends of lines, and strokes that are no accents to Unicode.
var hyphens = strings.NewReplacer("\u00ad\n", "", "\u00ad", "", "-\r\n", "", "-\n", "", "ø", "o", "Ø", "O", "ł", "l",
	"Ł", "L")

// words returns the words of a text without accents, case, punctuation, and hyphens at the ends of lines.
func words(text string) []string {
	text = cases.Fold().String(norm.NFKD.String(hyphens.Replace(text)))
	return strings.FieldsFunc(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

//go:embed organizations.txt
var organizationFile string

// organizationWords are words that names of organizations have and those of people do not. What is also a family name,
// such as Hall or Church, is not among them.
var organizationWords = sync.OnceValue(func() []string { return words(organizationFile) })

// namesOrganization reports whether a text for a person names an organization: one of the institutions, or another by
// its words.
func namesOrganization(name string, institutions []party.Institution) bool {
	have := words(name)
	for _, i := range institutions {
		for _, known := range append([]string{i.LegalName}, i.Aliases...) {
			// an alias of one word may be part of a person's name
			if w := words(known); len(w) > 1 && contains(have, w) || len(w) == 1 && slices.Equal(have, w) {
				return true
			}
		}
	}
	return slices.ContainsFunc(have, func(w string) bool { return slices.Contains(organizationWords(), w) })
}

// contains reports whether words have others in a row.
func contains(have, part []string) bool {
	for i := 0; i+len(part) <= len(have); i++ {
		if slices.Equal(have[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// shortWords are words of addresses by their short forms.
var shortWords = map[string]string{"st": "street", "str": "strasse", "rd": "road", "ave": "avenue", "av": "avenue",
	"bldg": "building", "univ": "university", "dept": "department", "sq": "square", "blvd": "boulevard", "fl": "floor",
	"rm": "room", "no": "", "nr": "", "uk": "kingdom", "gb": "kingdom", "united": "", "usa": "states", "us": "states",
	"de": "germany", "deutschland": "germany", "ste": "suite"}

func addressWords(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words(text) {
		if strings.HasSuffix(w, "str") && len(w) > len("str") {
			w += "asse"
		}
		if long, ok := shortWords[w]; ok {
			w = long
		}
		if w != "" {
			set[w] = true
		}
	}
	return set
}

// sameAddress reports whether one address has all that the other has: one may leave out a country or a building.
func sameAddress(one, other string) bool {
	a, b := addressWords(one), addressWords(other)
	if len(a) > len(b) {
		a, b = b, a
	}
	for w := range a {
		if !b[w] {
			return false
		}
	}
	return true
}

// numbers are numbers in words.
var numbers = map[string]string{"one": "1", "a": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
	"seven": "7", "eight": "8", "nine": "9", "ten": "10"}

// quantity returns a quantity in one form: 2 vials, two Vials and 2 vial are the same.
func quantity(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text { // 5ml is 5 ml
		if unicode.IsLetter(r) && unicode.IsDigit(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	// a comma or full stop between digits stays: 1.5 is not 15
	list := strings.Fields(cases.Fold().String(norm.NFKC.String(strings.ReplaceAll(b.String(), ",", "."))))
	for i, w := range list {
		w = strings.Trim(w, ".()")
		if n, ok := numbers[w]; ok {
			w = n
		}
		if len(w) > 2 {
			w = strings.TrimSuffix(w, "s")
		}
		list[i] = w
	}
	return strings.Join(list, " ")
}
