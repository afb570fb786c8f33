package importer

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"aliquot/internal/exchange"
)

var (
	lineEnd = regexp.MustCompile(`(?i)<br[^<>]*>|</(?:p|div|li|tr|h[1-6])\s*>`)
	code    = regexp.MustCompile(`(?is)<script\b.*?</script\s*>|<style\b.*?</style\s*>`)
	tag     = regexp.MustCompile(`(?s)<!--.*?-->|</?[A-Za-z][^<>]*>`)
	blanks  = regexp.MustCompile(`[ \t\x{a0}]+`)
	gaps    = regexp.MustCompile(`\n{3,}`)
)

// plain returns the text of HTML without its mark-up.
func plain(s string) string {
	s = tag.ReplaceAllString(lineEnd.ReplaceAllString(code.ReplaceAllString(s, ""), "\n"), "")
	return paragraphs(html.UnescapeString(s))
}

// paragraphs returns a text of several lines without control characters, characters that change the
// direction of writing, and redundant white space.
func paragraphs(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r', unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp), r == utf8.RuneError:
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	lines := strings.Split(blanks.ReplaceAllString(s, " "), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.TrimSpace(gaps.ReplaceAllString(strings.Join(lines, "\n"), "\n\n"))
}

// line returns a text on one line.
func line(s string) string { return strings.Join(strings.Fields(paragraphs(s)), " ") }

// shorten cuts a text from a source to the length of a field; … marks the cut.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// set is a list without duplicates and empty texts, in the order of first occurrence.
type set []string

func (s *set) add(texts ...string) {
	for _, text := range texts {
		if text = line(text); text != "" && !slices.Contains(*s, text) {
			*s = append(*s, text)
		}
	}
}

// metadata returns additional_metadata without unknown values.
func metadata(values map[string]any) exchange.Opt[json.RawMessage] {
	for key, value := range values {
		if list, ok := value.(set); ok && len(list) == 0 || value == "" || value == 0 {
			delete(values, key)
		}
	}
	raw, err := json.Marshal(values)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return exchange.Some[json.RawMessage](raw)
}

// joined returns a list as one line.
func joined(list []string) string { return shorten(strings.Join(list, "; "), exchange.LineLength) }

// flexString is a text that a source may write as a number.
type flexString string

// UnmarshalJSON accepts both, and turns anything else into "".
func (l *flexString) UnmarshalJSON(raw []byte) error {
	var text string
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*l = flexString(text)
		return nil
	}
	var number json.Number
	if json.Unmarshal(raw, &number) == nil {
		*l = flexString(number)
	}
	return nil
}
