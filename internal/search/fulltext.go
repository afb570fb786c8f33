package search

import (
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/fulltext"
)

// What is found never depends on the database: it keeps tokens and their places as they are, and all
// that knows about language is in words. Here is how each database is given tokens and asked for them.

// maxPlaces is how many words of a thing have a place, and maxRepeats how often one word has: phrases
// are found up to there, words everywhere. PostgreSQL keeps no more.
const (
	maxPlaces  = 16_383
	maxRepeats = 255
)

// maxBytes bounds the words of one thing: PostgreSQL keeps less than a mebibyte of them. Words behind
// are not found.
const maxBytes = 700_000

// spread assigns each word of fulltext.Doc.Tokens its places, and the other tokens none. It keeps the order.
func spread(doc []string) (tokens []string, places map[string][]int) {
	places = map[string][]int{}
	place, size := 0, 0
	for _, token := range doc {
		if token == fulltext.Gap {
			place++
			continue
		}
		mark := isMark(token)
		if !mark {
			place++
		}
		at, known := places[token]
		if !known {
			if size += len(token) + 8; size > maxBytes && !mark {
				continue
			}
			tokens = append(tokens, token)
		}
		if !mark && place <= maxPlaces && len(at) < maxRepeats && size <= maxBytes {
			at = append(at, place)
			size += 3
		}
		places[token] = at
	}
	return tokens, places
}

func isMark(token string) bool { return strings.IndexByte("=~^#@", token[0]) >= 0 }

// FTSText are fulltext.Doc.Tokens for FTS5, which gives places by counting: a lone "=", which nobody asks for, fills
// those that are empty.
func FTSText(doc []string) string {
	if len(doc) > maxRepeats {
		marks := slices.IndexFunc(doc, func(token string) bool { return token != fulltext.Gap && isMark(token) })
		if marks < 0 || marks > maxRepeats {
			return ftsLongText(doc)
		}
	}
	return strings.ReplaceAll(strings.Join(doc, " "), "  ", " = ") // far from every bound: as it is
}

// ftsLongText is ftsText of a thing that may have more than is kept.
func ftsLongText(doc []string) string {
	tokens, places := spread(doc)
	last := 0
	for _, at := range places {
		if len(at) > 0 {
			last = max(last, at[len(at)-1])
		}
	}
	row := make([]string, last, last+len(tokens))
	for i := range row {
		row[i] = "="
	}
	for _, token := range tokens {
		at := places[token]
		for _, place := range at {
			row[place-1] = token
		}
		if len(at) == 0 {
			if !isMark(token) {
				row = append(row, "=") // no phrase begins here
			}
			row = append(row, token)
		}
	}
	return strings.Join(row, " ")
}

// TSVector are fulltext.Doc.Tokens for PostgreSQL.
func TSVector(doc []string) string {
	tokens, places := spread(doc)
	var b strings.Builder
	for _, token := range tokens {
		lexeme(&b, token)
		for i, place := range places[token] {
			b.WriteByte(":,"[min(i, 1)])
			b.WriteString(strconv.Itoa(place))
		}
		b.WriteByte(' ')
	}
	return b.String()
}

var lexemeQuotes = strings.NewReplacer("'", "''", `\`, `\\`)

// lexeme quotes a token for PostgreSQL.
func lexeme(b *strings.Builder, token string) {
	b.WriteByte('\'')
	_, _ = lexemeQuotes.WriteString(b, token)
	b.WriteByte('\'')
}

// ftsExpression asks FTS5 for what e asks.
func ftsExpression(e fulltext.Expr) string {
	return render(e, [...]string{" AND ", " OR ", " NOT ", " + "}, func(b *strings.Builder, token string) {
		b.WriteString(`"` + strings.ReplaceAll(token, `"`, `""`) + `"`)
	})
}

// tsquery asks PostgreSQL for what e asks.
func tsquery(e fulltext.Expr) string {
	return render(e, [...]string{" & ", " | ", " & !", " <-> "}, lexeme)
}

// render writes an expression with a database's words for and, or, but not, and followed by.
func render(e fulltext.Expr, operators [4]string, quote func(*strings.Builder, string)) string {
	var b strings.Builder
	var write func(fulltext.Expr)
	join := func(list []fulltext.Expr, operator string) {
		b.WriteByte('(')
		for i, each := range list {
			if i > 0 {
				b.WriteString(operator)
			}
			write(each)
		}
		b.WriteByte(')')
	}
	write = func(e fulltext.Expr) {
		switch {
		case e.And != nil:
			join(e.And, operators[0])
		case e.Or != nil:
			join(e.Or, operators[1])
		case e.But != nil:
			join([]fulltext.Expr{e.But.Yes, e.But.No}, operators[2])
		case e.Phrase != nil:
			b.WriteByte('(')
			for i, token := range e.Phrase {
				if i > 0 {
					b.WriteString(operators[3])
				}
				quote(&b, token)
			}
			b.WriteByte(')')
		default:
			quote(&b, e.Token)
		}
	}
	write(e)
	return b.String()
}
