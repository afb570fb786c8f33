package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store/sqldb"
)

// Loader writes the indexes of a database that is being loaded.
type Loader struct {
	rows *sqldb.Loader
	held map[string]*pendingEntries
	said map[string]bool // the words that mistyped ones are compared with
}

// pendingEntries are entries that are indexed in the order of their ranks once all rows are loaded.
type pendingEntries struct {
	Index
	rows []indexRow
}

// indexRow is a row of an index, and that of its words.
type indexRow struct {
	rank       int64
	row, words []any
}

// NewLoader returns a loader into an empty database. Until its End, what is indexed by rows.Conn is held back.
func NewLoader(ctx context.Context, rows *sqldb.Loader) (*Loader, error) {
	l := &Loader{rows: rows, held: map[string]*pendingEntries{}, said: map[string]bool{}}
	rows.Conn.Loader = l
	return l, l.configure(ctx, ftsLoad)
}

func (l *Loader) row(ix Index, e entry) indexRow {
	row := indexRow{rank: e.rank, row: On(l.rows.Conn).indexRow(ix, e, e.digest())}
	if !l.rows.Conn.Postgres() {
		row.words = []any{e.rank, FTSText(e.Doc.Tokens)}
	}
	return row
}

// hold keeps entries of a small index until all are there.
func (l *Loader) hold(ix Index, entries []entry) {
	if l.held[ix.name] == nil {
		l.held[ix.name] = &pendingEntries{Index: ix}
	}
	for _, e := range entries {
		l.held[ix.name].rows = append(l.held[ix.name].rows, l.row(ix, e))
	}
}

// Materials indexes materials, which come in the order of InOrderOfRank, archived ones after all others.
func (l *Loader) Materials(ctx context.Context, list []material.Material,
	organization func(id int64) lab.Organization) error {
	rows, spelt, errs := make([]indexRow, len(list)), make([][]string, len(list)), make([]error, len(list))
	sqldb.Parallel(len(list), func(i int) {
		var e entry
		errs[i] = e.material(list[i], organization(list[i].OrganizationID), nil)
		rows[i], spelt[i] = l.row(Materials, e), fulltext.Spellings(e.Doc.Weights)
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, word := range slices.Concat(spelt...) {
		l.said[word] = true
	}
	return l.put(ctx, Materials, rows)
}

// InOrderOfRank returns the ids from 1 to n in the order of the ranks of materials that are not archived.
func InOrderOfRank(n int) ([]int64, error) {
	ids, ranks := make([]int64, n), make([]int64, n+1)
	for i := range ids {
		id, err := int64(i+1), error(nil)
		if ranks[id], err = RankOf(id, false); err != nil {
			return nil, err
		}
		ids[i] = id
	}
	slices.SortFunc(ids, func(a, b int64) int { return cmp.Compare(ranks[a], ranks[b]) })
	return ids, nil
}

// Flush writes what was held back.
func (l *Loader) Flush(ctx context.Context) error {
	for _, h := range l.held {
		slices.SortFunc(h.rows, func(a, b indexRow) int { return cmp.Compare(a.rank, b.rank) })
		for some := range slices.Chunk(h.rows, heldAtOnce) {
			if err := l.put(ctx, h.Index, some); err != nil {
				return err
			}
		}
	}
	return l.rows.Add(ctx, func() error {
		return On(l.rows.Conn).addWords(ctx, slices.Collect(maps.Keys(l.said)))
	})
}

const heldAtOnce = 512

// put adds rows to an index, in the order of their ranks.
func (l *Loader) put(ctx context.Context, ix Index, list []indexRow) error {
	rows, words := make([][]any, len(list)), make([][]any, len(list))
	for i, r := range list {
		rows[i], words[i] = r.row, r.words
	}
	err := l.rows.Put(ctx, ix.name+"_index", On(l.rows.Conn).indexColumns(ix), rows, 1)
	if err != nil || l.rows.Conn.Postgres() {
		return err
	}
	return l.rows.Put(ctx, ix.name+"_words", []string{"rowid", "words"}, words, 1)
}

// The settings of SQLite's index of words while it is loaded: few large segments, which are merged at the end; and its
// defaults, which hold otherwise.
var (
	ftsLoad  = []string{"'hashsize', 16777216", "'automerge', 0", "'crisismerge', 1000"}
	ftsUsual = []string{"'hashsize', 1048576", "'automerge', 4", "'crisismerge', 16"}
)

func (l *Loader) configure(ctx context.Context, settings []string) error {
	if l.rows.Conn.Postgres() {
		return nil
	}
	for _, ix := range []Index{Materials, Organizations, Users} {
		if err := configure(ctx, l.rows.Conn, ix.name, settings); err != nil {
			return err
		}
	}
	return nil
}

// configure changes settings of the index of words of a name.
func configure(ctx context.Context, c *sqldb.Conn, name string, settings []string) error {
	for _, setting := range settings {
		if _, err := c.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s_words (%[1]s_words, rank) VALUES (%[2]s)", name,
			setting)); err != nil {
			return err
		}
	}
	return nil
}

// merge merges the segments of the index of words of a name into one.
func merge(ctx context.Context, c *sqldb.Conn, name string) error {
	_, err := c.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s_words (%[1]s_words) VALUES ('optimize')", name))
	return err
}

// LoadWords has fill add to SQLite's empty index of words of a name, with the settings for many at once.
func LoadWords(ctx context.Context, c *sqldb.Conn, name string, fill func() error) error {
	err := configure(ctx, c, name, ftsLoad)
	if err == nil {
		err = fill()
	}
	if err == nil {
		err = merge(ctx, c, name)
	}
	if err != nil {
		return err
	}
	return configure(ctx, c, name, ftsUsual)
}

// End merges the segments of SQLite's index of words into one.
func (l *Loader) End(ctx context.Context) error {
	l.rows.Conn.Loader = nil
	if l.rows.Conn.Postgres() {
		return nil
	}
	for _, ix := range []Index{Materials, Organizations, Users} {
		if err := merge(ctx, l.rows.Conn, ix.name); err != nil {
			return err
		}
	}
	return l.configure(ctx, ftsUsual)
}
