package instrument

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/term"
	"aliquot/internal/exchange"
)

// Lint returns every fault of the instruments, each with the instrument and its field: what is not a known value, a
// field without a source or a place in the template, a place without a field, a template that differs from its hash,
// and two instruments of a family in force at once.
func Lint(instruments []Instrument) error {
	var faults []error
	for n, i := range instruments {
		found := i.faults()
		for _, other := range instruments[:n] {
			if other.ID == i.ID && other.Version == i.Version {
				found.Add("version", "is there twice")
			} else if other.Family == i.Family && (i.Until == "" || other.From < i.Until) &&
				(other.Until == "" || i.From < other.Until) {
				found.Add("from", "%s, version %s, of the same family, is in force at the same time", other.ID,
					other.Version)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(found)) {
			for _, text := range found[field] {
				faults = append(faults, fmt.Errorf("instrument %s, version %s: %s: %s", i.ID, i.Version, field, text))
			}
		}
	}
	return errors.Join(faults...)
}

var (
	codes       = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,39}$`)
	versions    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$`)
	placeNames  = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)
)

// maxTemplate is how many characters a template has.
const maxTemplate = 100_000

// faults returns what is wrong with an instrument by itself, by field.
func (i Instrument) faults() (f exchange.FieldErrors) {
	for field, code := range map[string]string{"id": i.ID, "family": i.Family} {
		must(&f, field, codes.MatchString(code),
			"must be a code of at most 40 letters, digits and _, such as UBMTA_LETTER")
	}
	must(&f, "version", versions.MatchString(i.Version),
		"must be at most 20 letters, digits, dots and dashes, such as 1.1")
	must(&f, "from", i.From != "", "is required: the first day on which it may be used")
	must(&f, "until", i.Until == "" || i.Until > i.From,
		"must be later than from: the first day on which it no longer holds")
	for field, text := range map[string]string{"title": i.Title, "citation": i.Citation} {
		must(&f, field, text != "", "is required")
		must(&f, field, utf8.RuneCountInString(text) <= exchange.TitleLength &&
			!strings.ContainsFunc(text, unicode.IsControl), "must be one line of at most %d characters",
			exchange.TitleLength)
	}
	var kinds []string
	for _, k := range i.Parties {
		kinds = append(kinds, string(k))
	}
	for _, list := range []struct {
		field, one  string
		have, known []string
		needed      bool
	}{
		{"parties", "kind of party", kinds, party.Kinds(), true}, {"subjects", "subject", i.Subjects, subjects, true},
		{"purposes", "purpose", i.Purposes, purposes, true}, {"signers", "signer", i.Signers, party.Roles(), true},
		{"excludes", "fact", i.Excludes, excludes, false},
		{"terms", "term", i.Terms, strings.Split(term.List(), ", "), false},
	} {
		must(&f, list.field, len(list.have) > 0 || !list.needed, "has no %s", list.one)
		for n, v := range list.have {
			must(&f, list.field, slices.Contains(list.known, v), "there is no %s %q; it is one of %s", list.one, v,
				strings.Join(list.known, ", "))
			must(&f, list.field, !slices.Contains(list.have[:n], v), "has %s twice", v)
		}
	}
	must(&f, "master", i.Master == "" || codes.MatchString(i.Master), "must be the code of a family, such as UBMTA")
	must(&f, "least_level", slices.Contains(party.Levels(), i.LeastLevel), "there is no level %q; it is one of %s",
		i.LeastLevel, strings.Join(party.Levels(), ", "))
	if i.Template != "" {
		i.lintTemplate(&f)
	}
	return f
}

func (i Instrument) lintTemplate(f *exchange.FieldErrors) {
	must(f, "sha256", Hash(i.Template) == i.SHA256, "differs from the SHA-256 of the template, which is %s",
		Hash(i.Template))
	must(f, "template", utf8.RuneCountInString(i.Template) <= maxTemplate,
		"must be at most %d characters", maxTemplate)
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' }
	must(f, "template", !strings.ContainsFunc(i.Template, control),
		"must not contain control characters other than line feeds")
	must(f, "template", !strings.ContainsAny(placeholder.ReplaceAllString(i.Template, ""), "{}"),
		"has braces that are no place: a place is {{name}}, with the name of a field; no conditions, no loops")
	places := map[string]bool{}
	for _, found := range placeholder.FindAllStringSubmatch(i.Template, -1) {
		places[found[1]] = true
	}
	var names []string
	for _, field := range i.Fields {
		must(f, "fields", placeNames.MatchString(field.Name),
			"%q must be a name of at most 40 small letters, digits and _, such as provider_name", field.Name)
		must(f, "fields", slices.Contains(sources, field.Source), "%s has the unknown source %q; it is one of %s",
			field.Name, field.Source, strings.Join(sources, ", "))
		must(f, "fields", places[field.Name], "%s has no place in the template", field.Name)
		must(f, "fields", !slices.Contains(names, field.Name), "has %s twice", field.Name)
		names = append(names, field.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		must(f, "template", slices.Contains(names, name), "has the place {{%s}}, which has no field", name)
	}
}

// must adds a fault of a field unless it is all right.
func must(f *exchange.FieldErrors, field string, right bool, format string, args ...any) {
	if !right {
		f.Add(field, format, args...)
	}
}

// Hash returns the SHA-256 of a text in hexadecimal.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
