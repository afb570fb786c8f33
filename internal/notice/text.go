package notice

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Lengths in characters.
const (
	width           = 76  // of a line of text
	maxSubject      = 150 // of a subject
	subjectName     = 40  // of a name in a subject
	maxName         = 80  // of a name
	maxTitle        = 120 // of the title of a material
	maxExcerpt      = 200 // of a person's text, in a digest
	maxPartRequests = 50  // requests in each part of a digest
	maxGroupEvents  = 20  // events of one request in a digest
)

// glue stands for a blank at which no line of text may break: those within and before names and titles, so that no line
// begins with words of theirs and passes for one of ours. Their own texts cannot contain this character.
const glue = "\x01"

// glued returns a name or a title as part of a sentence.
func glued(s string, most int, instead string) string {
	return glue + strings.ReplaceAll(shortName(s, most, instead), " ", glue)
}

// shortName returns a name or a title as one line of at most most characters, in which no mail program finds an address
// to link; or instead if nothing of it is visible.
func shortName(s string, most int, instead string) string {
	return or(shorten(strings.ReplaceAll(line(s), "://", ": //"), most), instead)
}

// unglued returns a text without glue.
func unglued(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(s, " "+glue, glue), glue), glue, " ")
}

// line returns a text of a person as one line.
func line(s string) string {
	return strings.Join(strings.Fields(strings.Map(dropInvisible, strings.ToValidUTF8(s, "\uFFFD"))), " ")
}

// lines returns a text of a person line by line, without leading and trailing empty lines.
func lines(s string) []string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ").Replace(s)
	var list []string
	for l := range strings.SplitSeq(strings.ToValidUTF8(s, "\uFFFD"), "\n") {
		l = strings.TrimRightFunc(strings.Map(dropInvisible, l), unicode.IsSpace)
		if l != "" || len(list) > 0 {
			list = append(list, l)
		}
	}
	for len(list) > 0 && list[len(list)-1] == "" {
		list = list[:len(list)-1]
	}
	return list
}

// dropInvisible drops invisible characters: controls, and those that change the writing direction or hide text. The two
// joiners stay, which scripts and emoji need; other white space becomes a blank.
func dropInvisible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == '\u200c', r == '\u200d':
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf):
		return -1
	}
	return r
}

// shorten cuts s to at most most characters, the last of which is then an ellipsis.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	s = string([]rune(s)[:most-1])
	return strings.TrimRightFunc(s,
		func(r rune) bool { return r == ' ' || r == '\u200d' || unicode.Is(unicode.Mn, r) }) + "…"
}

// wrap breaks a text at blanks into lines that begin with indent; the first one only with what the
// template has before it. A longer word, such as an address, stays whole.
func wrap(indent, s string) string {
	var b strings.Builder
	column := utf8.RuneCountInString(indent)
	for i, word := range strings.Split(strings.TrimPrefix(strings.ReplaceAll(s, " "+glue, glue), glue), " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return strings.ReplaceAll(b.String(), glue, " ")
}

// quoted returns a text of a person, each line with a quotation mark before it.
func quoted(indent string, list []string) string {
	out := make([]string, len(list))
	for i, l := range list {
		if sign := indent + "> "; utf8.RuneCountInString(sign+l) > width {
			out[i] = sign + wrap(sign, l)
		} else {
			out[i] = strings.TrimRight(sign+l, " ")
		}
	}
	return strings.Join(out, "\n")
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// joinWords joins words as in a sentence.
func joinWords(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// count returns a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// day returns the day of t in the reader's time zone.
func day(t time.Time, in *time.Location) string { return t.In(in).Format("2 January 2006") }

// moment returns day and time of t in the reader's time zone, with the name of the zone: its letters, or that of its
// place if it has none.
func moment(t time.Time, in *time.Location) string {
	t = t.In(in)
	zone, _ := t.Zone()
	if strings.HasPrefix(zone, "+") || strings.HasPrefix(zone, "-") {
		zone = "(" + in.String() + ")"
	}
	return t.Format("2 January 2006, 15:04 ") + zone
}
