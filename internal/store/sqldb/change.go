package sqldb

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Change is a row that a statement of a transaction wrote: as it is afterwards, or was before it was deleted. It has
// the values of the columns that Observe named for its table.
type Change struct {
	Table   string
	Deleted bool
	Values  []any
}

// Changes collects what a transaction changed in the tables that are observed.
type Changes struct {
	Actor   string              // on whose behalf: a user's UUID; "" is Aliquot itself
	Forget  bool                // what it deletes and overwrites is to be forgotten
	Reasons map[string][]string // by chain, reasons that people gave, and that are to be forgotten in it
	Rows    []Change
}

// Observe has transactions collect what they change in some tables, each with the columns that are returned: names,
// or expressions. An UPDATE that sets none of them is not observed. It is called before the database is used.
func (db *DB) Observe(tables map[string][]string) { db.observed = tables }

// observation is how a statement is run so that it returns what it changed.
type observation struct {
	query   string
	table   string
	deleted bool
	columns int
}

var (
	writing   = regexp.MustCompile(`^\s*(INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)\b`)
	nested    = regexp.MustCompile(`\([^()]*\)`)
	where     = regexp.MustCompile(`(?s)\sWHERE\s.*`)
	assigned  = regexp.MustCompile(`(\w+)\s*=`)
	returning = regexp.MustCompile(`\sRETURNING\s`)
)

// observations holds, by query, how it is observed; nil: it is not.
type observations struct{ byQuery sync.Map }

// observe returns how a statement is observed; nil: not at all.
func (c *Conn) observe(query string) *observation {
	if c.Changes == nil {
		return nil
	}
	if o, ok := c.DB.observations.byQuery.Load(query); ok {
		return o.(*observation)
	}
	o := c.DB.observation(query)
	if !c.skipStmtCache {
		c.DB.observations.byQuery.Store(query, o)
	}
	return o
}

func (db *DB) observation(query string) *observation {
	m := writing.FindStringSubmatch(query)
	if m == nil {
		return nil
	}
	columns := db.observed[m[2]]
	if len(columns) == 0 || m[1] == "UPDATE" && !setsOne(query, columns) {
		return nil
	}
	with := " RETURNING "
	if returning.MatchString(query) {
		with = ", "
	}
	return &observation{query + with + strings.Join(columns, ", "), m[2], m[1] == "DELETE FROM", len(columns)}
}

// setsOne reports whether an UPDATE assigns one of the columns.
func setsOne(query string, columns []string) bool {
	for without := ""; without != query; {
		without, query = query, nested.ReplaceAllString(query, "")
	}
	for _, set := range assigned.FindAllStringSubmatch(where.ReplaceAllString(query, ""), -1) {
		if slices.Contains(columns, set[1]) {
			return true
		}
	}
	return false
}

// collecting is a row whose last columns are those of a change.
type collecting struct {
	Row
	change []any
}

// Scan scans the first columns into dst.
func (r collecting) Scan(dst ...any) error {
	for i := range r.change {
		dst = append(dst, &r.change[i])
	}
	return r.Row.Scan(dst...)
}

// note returns the row to scan of a statement that is observed, and keeps what it changed.
func (c *Conn) note(o *observation, r Row) Row {
	change := make([]any, o.columns)
	c.Changes.Rows = append(c.Changes.Rows, Change{o.table, o.deleted, change})
	return collecting{r, change}
}

// execObserved is Exec for a statement that is observed.
func (c *Conn) execObserved(ctx context.Context, o *observation, args []any) (int64, error) {
	s, err := c.statement(ctx, o.query)
	if err != nil {
		return 0, Translate(err)
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return 0, Translate(err)
	}
	defer func() { _ = rows.Close() }()
	n := int64(0)
	for ; rows.Next(); n++ {
		if err := c.note(o, rows).Scan(); err != nil {
			return 0, Translate(err)
		}
	}
	return n, Translate(rows.Err())
}
