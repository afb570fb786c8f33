package search

import (
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/store/sqldb"
)

// searchSQL is what differs between the databases in a search.
type searchSQL struct {
	asked   func(fulltext.Expr) string
	found   string // FROM of the hits x of an expression in the index of %[1]s
	foundBy string // and their condition
	join    string // beside it of further tables, which never come first
	place   string // the rank of a hit, in the order of which they come
	matches string // whether the row x of an index is a hit; never looked up by index
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
		// The subselect keeps PostgreSQL from thinking of the expression, which it takes for rare, and the sum
		// from going through ranks instead of words.
		foundBy: "x.words @@ (SELECT CAST(? AS TSQUERY))",
		join:    " JOIN ",
		place:   "x.rank + 0",
		matches: "(x.words @@ (SELECT CAST(? AS TSQUERY))) IS TRUE",
	}
)

// Asked returns an expression as the database of a connection is asked for it.
func Asked(c *sqldb.Conn, e fulltext.Expr) string { return searchSQLOf(c).asked(e) }

// searchSQLOf returns what a search says to the database of a connection.
func searchSQLOf(c *sqldb.Conn) *searchSQL {
	if c.Postgres() {
		return &postgresSearch
	}
	return &sqliteSearch
}
