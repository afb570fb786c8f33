package exchange

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Lengths of text in characters (contract.md section 4, "Text").
const (
	TitleLength = 500
	LineLength  = 255
	LongLength  = 20_000
)

// Tidy returns the stored form of a text: NFC, without white space and invisible characters around it.
func Tidy(s string) string {
	return strings.TrimFunc(norm.NFC.String(s), func(r rune) bool {
		return unicode.IsSpace(r) || r == '\u200b' || r == '\u2060' || r == '\ufeff'
	})
}

// directions are the characters that change the direction of what follows, so that a text looks like another one. Marks
// that only stand between words of different scripts, as in Hebrew and Arabic texts, are not among them.
var directions = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x202a, Hi: 0x202e, Stride: 1},
	{Lo: 0x2066, Hi: 0x2069, Stride: 1}}}

// Line stores the tidy form of a single line of at most most characters in dst.
func (f *FieldErrors) Line(field string, o Opt[string], most int, dst *string) {
	f.Rule(field, Rule{Max: most, Pattern: LinePattern})
	if !o.Set {
		return
	}
	s := Tidy(o.Value)
	if strings.ContainsFunc(s,
		func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, directions) }) {
		f.Add(field, "must be a single line without control characters, or any that turn the direction of writing")
		return
	}
	if f.length(field, s, most) {
		*dst = s
	}
}

// Long stores the tidy form of a text that may have several lines.
func (f *FieldErrors) Long(field string, o Opt[string], dst *string) {
	f.Rule(field, Rule{Max: LongLength, Pattern: linesPattern})
	if !o.Set {
		return
	}
	s := Tidy(o.Value)
	if strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Cc, directions) && r != '\n' && r != '\t' && r != '\r'
	}) {
		f.Add(field, "must not contain control characters, or any that turn the direction of writing")
		return
	}
	if f.length(field, s, LongLength) {
		*dst = s
	}
}

// NullLine is line for a field that null clears.
func (f *FieldErrors) NullLine(field string, o Null[string], most int, dst **string) {
	f.Rule(field, Rule{Max: most, Pattern: LinePattern})
	if !o.Set {
		return
	}
	if o.Value == nil {
		*dst = nil
		return
	}
	s := ""
	f.Line(field, Some(*o.Value), most, &s)
	*dst = &s
}

// NullLong is long for a field that null clears.
func (f *FieldErrors) NullLong(field string, o Null[string], dst **string) {
	f.Rule(field, Rule{Max: LongLength, Pattern: linesPattern})
	if !o.Set {
		return
	}
	if o.Value == nil {
		*dst = nil
		return
	}
	s := ""
	f.Long(field, Some(*o.Value), &s)
	*dst = &s
}

func (f *FieldErrors) length(field, s string, most int) bool {
	n := utf8.RuneCountInString(s)
	if !utf8.ValidString(s) {
		f.Add(field, "must be UTF-8 text")
		return false
	}
	if n > most {
		f.Add(field, "must be at most %d characters; it has %d", most, n)
		return false
	}
	return true
}

// OneAlphabet requires that no word of a name has both Latin and Cyrillic letters: many look alike, so that such a name
// passes for another one.
func (f *FieldErrors) OneAlphabet(field, name string) {
	words := strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	for _, word := range words {
		if strings.ContainsFunc(word, isIn(unicode.Latin)) && strings.ContainsFunc(word, isIn(unicode.Cyrillic)) {
			f.Add(field, "has Latin and Cyrillic letters in the word %q; type it in one alphabet", word)
		}
	}
}

func isIn(script *unicode.RangeTable) func(rune) bool {
	return func(r rune) bool { return unicode.Is(script, r) }
}

// Need requires that a text is not empty.
func (f *FieldErrors) Need(field, value string) {
	f.Needed(field)
	f.Must(field, value != "", "is required")
}

// strokes maps letters with a stroke or joint that Unicode does not count as a mark.
var strokes = strings.NewReplacer("ø", "o", "đ", "d", "ħ", "h", "ı", "i", "ł", "l", "ŧ", "t", "æ", "ae", "œ", "oe")

// sortLength is how many characters of a text determine its place in a list, so that every key fits in a database
// index.
const sortLength = 255

// SortKey returns the key by which a text is sorted: without case, accents and other marks.
func SortKey(s string) string {
	s = strokes.Replace(cases.Fold().String(norm.NFKD.String(s)))
	key := make([]rune, 0, sortLength)
	for _, r := range s {
		if len(key) == sortLength {
			break
		}
		if !unicode.Is(unicode.Mn, r) {
			key = append(key, r)
		}
	}
	return string(key)
}

// MaxURL is the maximum length of an address, in characters.
const MaxURL = 2000

// Canonical stores an identifier in its canonical form; "" clears it.
func (f *FieldErrors) Canonical(field string, o Opt[string], parse func(string) (string, error), dst *string) {
	if !o.Set {
		return
	}
	s := Tidy(o.Value)
	if s == "" {
		*dst = ""
		return
	}
	id, err := parse(s)
	if err != nil {
		f.Add(field, "%v", err)
		return
	}
	*dst = id
}
