package fulltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// longestWord is how many letters of a word count, in objects and in queries.
const longestWord = 64

// part is one word of a text: letters and digits, folded.
type part struct {
	word       string
	start, end int // in bytes of the text
	glue       glue
	humps      []int // positions in word of a capital after a small letter, as in tdTomato
}

// glue is what separates a part from the one before.
type glue int

const (
	apart    glue = iota // nothing, or a separator within no name: a bracket, a comma
	spaced               // white space only
	parted               // a hyphen, slash, dot... or a change to or from a Greek letter
	touching             // nothing; both are of a script that is written without spaces
)

// scanner splits a text into parts.
type scanner struct {
	parts   []part
	most    int // maximum number of parts
	word    []byte
	letters int // of word
	first   int // where it starts
	last    int // where it ends
	glue    glue
	greek   int  // number of Greek letters in word, if it has no others
	single  bool // word is a letter of a script without spaces
	base    bool // the last letter is of a script whose accents are dropped
	humps   []int
	small   bool // the last letter is from a to z
}

// scan returns at most most parts of a text, folded: NFKC, lower case, without accents; a group of one or two Greek
// letters by name.
func scan(text string, most int) []part {
	s := scanner{most: most, parts: make([]part, 0, min(most, len(text)/6+2))}
	for i := 0; i < len(text) && len(s.parts) < most; {
		if c := text[i]; c < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
			s.rune(rune(c), i, i+1)
			i++
			continue
		}
		// A sequence that forms one character is composed first, then folded rune by rune.
		n := norm.NFKC.NextBoundaryInString(text[i:], true)
		end := i + max(n, 1)
		var iter norm.Iter
		iter.InitString(norm.NFKC, bare.Replace(text[i:end]))
		for !iter.Done() {
			for segment := iter.Next(); len(segment) > 0; {
				r, size := utf8.DecodeRune(segment)
				s.fold(r, i, end)
				segment = segment[size:]
			}
		}
		i = end
	}
	s.end()
	return s.parts[:min(len(s.parts), most)]
}

// bare removes signs that compatibility normalisation would turn into letters.
var bare = strings.NewReplacer("™", " ", "℠", " ", "ª", " ", "º", " ")

var letters = map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th",
	'ı': "i", 'ħ': "h", 'ŋ': "n"}

// fold removes the accents of r, which came from text[from:to].
func (s *scanner) fold(r rune, from, to int) {
	switch {
	case r < utf8.RuneSelf:
		s.rune(r, from, to)
	case unicode.Is(unicode.M, r):
		if !s.base && len(s.word) > 0 { // a vowel sign of an Indian script is not an accent
			s.add(r, to)
		}
	case unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic):
		for _, d := range norm.NFD.String(string(r)) {
			d = unicode.ToLower(d)
			if unicode.Is(unicode.M, d) {
				continue
			}
			if spelt, ok := letters[d]; ok {
				for _, l := range spelt {
					s.rune(l, from, to)
				}
				continue
			}
			s.rune(d, from, to)
		}
		s.base = true
	default:
		s.rune(unicode.ToLower(r), from, to)
		s.base = unicode.In(r, unicode.Arabic, unicode.Hebrew)
	}
}

// rune adds the next folded rune, which is not an accent.
func (s *scanner) rune(r rune, from, to int) {
	small := false
	if r < utf8.RuneSelf {
		s.base, small = true, 'a' <= r && r <= 'z'
		if 'A' <= r && r <= 'Z' {
			if r += 'a' - 'A'; s.small && len(s.word) > 0 {
				s.humps = append(s.humps, len(s.word))
			}
		}
	}
	s.small = small
	if !inWord(r) {
		s.end()
		switch {
		case unicode.IsSpace(r):
			if s.glue == parted {
				s.glue = spaced
			}
		case !parts(r):
			s.glue = apart
		}
		return
	}
	greek, single := r >= utf8.RuneSelf && greekNames[r] != "", r >= utf8.RuneSelf && unicode.In(r, unspaced...)
	if len(s.word) > 0 && (greek != (s.greek > 0) || single || s.single) {
		was := s.single
		s.end()
		switch {
		case single && was:
			s.glue = touching
		case single || was:
			s.glue = apart
		}
	}
	if len(s.word) == 0 {
		s.first = from
	}
	s.single = single
	if greek {
		s.greek++
	}
	s.add(r, to)
}

// inWord reports whether r is a letter or digit; an ASCII letter is in lower case.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// unspaced lists the scripts that are written without spaces.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer,
	unicode.Myanmar,
}

// parts reports whether r occurs inside of names and addresses.
func parts(r rune) bool {
	switch r {
	case '/', '.', '_', ':', '\'', '’', '+', '⁄', '−', '·', '\u00ad':
		return true
	}
	return unicode.Is(unicode.Pd, r)
}

func (s *scanner) add(r rune, to int) {
	if s.letters < longestWord {
		s.word = utf8.AppendRune(s.word, r)
		s.letters++
	}
	s.last = to
}

// end ends the current word, if there is one.
func (s *scanner) end() {
	if len(s.word) == 0 {
		return
	}
	if 0 < s.greek && s.greek <= 2 {
		for _, r := range string(s.word) {
			s.keep(greekNames[r])
		}
	} else {
		s.keep(string(s.word))
	}
	s.word, s.letters, s.greek, s.single, s.humps = s.word[:0], 0, 0, false, nil
}

func (s *scanner) keep(word string) {
	if len(s.parts) == 0 {
		s.glue = apart
	}
	s.parts = append(s.parts, part{word, s.first, s.last, s.glue, s.humps})
	s.glue = parted
}

// greekNames are the names of the Greek letters in lower case, folded.
var greekNames = func() map[rune]string {
	names := map[rune]string{}
	letter := 'α'
	for name := range strings.FieldsSeq("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi " +
		"omicron pi rho sigma sigma tau upsilon phi chi psi omega") {
		names[letter] = name
		letter++
	}
	return names
}()

var isGreekName = func() map[string]bool {
	is := map[string]bool{}
	for _, name := range greekNames {
		is[name] = true
	}
	return is
}()

// Fold returns the words of a text as they are compared: in lower case, without accents, separated by one blank.
func Fold(text string) string {
	var b strings.Builder
	for i, p := range scan(text, len(text)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.word)
	}
	return b.String()
}

// whole returns the letters and digits of parts, at most letters of them.
func whole(parts []part, letters int) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.word)
		if b.Len() >= utf8.UTFMax*letters {
			break
		}
	}
	return cut(b.String(), letters)
}

// cut returns the first letters of s.
func cut(s string, letters int) string {
	if len(s) <= letters {
		return s
	}
	for i := range s {
		if letters == 0 {
			return s[:i]
		}
		letters--
	}
	return s
}
