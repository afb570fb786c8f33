package search

import (
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store/sqldb"
)

// What is found does not depend on the database: it stores tokens and their positions unchanged, and everything about
// language is in package fulltext. This file has the syntax in which each database takes tokens and expressions.

// maxPlaces is how many words of an object have a position, and maxRepeats how many positions one word has: phrases
// are found up to there, words everywhere. PostgreSQL stores no more.
const (
	maxPlaces  = 16_383
	maxRepeats = 255
)

// maxBytes limits the words of one object: PostgreSQL stores less than a mebibyte of them. Words beyond it are not
// found.
const maxBytes = 700_000

// spread returns the different tokens of fulltext.Doc.Tokens in their order, and the positions of those that are words.
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

// FTSText returns fulltext.Doc.Tokens for FTS5, which numbers positions itself: a lone "=", which no query contains,
// fills empty ones.
func FTSText(doc []string) string {
	if len(doc) > maxRepeats {
		marks := slices.IndexFunc(doc, func(token string) bool { return token != fulltext.Gap && isMark(token) })
		if marks < 0 || marks > maxRepeats {
			return ftsLongText(doc)
		}
	}
	return strings.ReplaceAll(strings.Join(doc, " "), "  ", " = ") // far from every bound: as it is
}

// ftsLongText is FTSText of an object that may exceed the limits above.
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

// TSVector returns fulltext.Doc.Tokens for PostgreSQL.
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

// ftsExpression returns e in the syntax of FTS5.
func ftsExpression(e fulltext.Expr) string {
	return render(e, [...]string{" AND ", " OR ", " NOT ", " + "}, func(b *strings.Builder, token string) {
		b.WriteString(`"` + strings.ReplaceAll(token, `"`, `""`) + `"`)
	})
}

// tsquery returns e in the syntax of PostgreSQL.
func tsquery(e fulltext.Expr) string {
	return render(e, [...]string{" & ", " | ", " & !", " <-> "}, lexeme)
}

// render writes an expression with a database's operators for and, or, but not, and followed by.
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

// searchSQL is what differs between the databases in a search.
type searchSQL struct {
	asked   func(fulltext.Expr) string
	found   string // FROM of the hits x of an expression in the index of %[1]s
	foundBy string // their condition
	join    string // joins further tables, which the database must not read first
	place   string // the rank of a hit, in the order of which they come
	matches string // whether the row x of an index is a hit, tested row by row
}

var (
	sqliteSearch = searchSQL{
		asked:   ftsExpression,
		found:   "%[1]s_words w CROSS JOIN %[1]s_index x ON x.rank = w.rowid",
		foundBy: "w.%[1]s_words MATCH ?",
		join:    " CROSS JOIN ",
		place:   "w.rowid",
		matches: "EXISTS (SELECT 1 FROM %[1]s_words w WHERE w.%[1]s_words MATCH ? AND w.rowid = x.rank)",
	}
	postgresSearch = searchSQL{
		asked: tsquery,
		found: "%[1]s_index x",
		// The subselect hides the expression from the planner, which would take it for rare, and the sum keeps the
		// planner from reading by rank instead of by words.
		foundBy: "x.words @@ (SELECT CAST(? AS TSQUERY))",
		join:    " JOIN ",
		place:   "x.rank + 0",
		matches: "(x.words @@ (SELECT CAST(? AS TSQUERY))) IS TRUE",
	}
)

// Asked returns an expression in the syntax of the database of a connection.
func Asked(c *sqldb.Conn, e fulltext.Expr) string { return searchSQLOf(c).asked(e) }

// searchSQLOf returns the SQL of searches for the database of a connection.
func searchSQLOf(c *sqldb.Conn) *searchSQL {
	if c.Postgres() {
		return &postgresSearch
	}
	return &sqliteSearch
}
