package store

import (
	"context"
	"math"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// filter is the WHERE of a list, built of those conditions that apply, so that the database can
// use an index for each. The listed table is called o.
type filter struct {
	sql  strings.Builder
	args []any
}

// and adds a condition; each ? in it stands for the next of args.
func (f *filter) and(condition string, args ...any) {
	if f.sql.Len() > 0 {
		f.sql.WriteString(" AND ")
	}
	for part := range strings.SplitAfterSeq(condition, "?") {
		text, isArg := strings.CutSuffix(part, "?")
		f.sql.WriteString(text)
		if isArg {
			f.args = append(f.args, args[0])
			args = args[1:]
			f.sql.WriteString("$" + strconv.Itoa(len(f.args)))
		}
	}
}

// where is a filter of one condition.
func where(condition string, args ...any) *filter {
	f := &filter{}
	f.and(condition, args...)
	return f
}

// andEqual adds a condition where there is a value to compare with.
func andEqual[T any](f *filter, column string, value *T) {
	if value != nil {
		f.and(column+" = ?", *value)
	}
}

// listing is how rows of one table are listed: joins are what columns need beside the table o,
// and never change the number of rows.
type listing[T any] struct {
	columns, table, joins string
	scan                  func(row, *T) error
	id                    func(T) int64
}

// page reads a part of a list, newest first, and counts all of it; a page without a limit is
// its own count.
func (l listing[T]) page(ctx context.Context, c Conn, p exchange.Page, f *filter) (exchange.Part[T], error) {
	query := "SELECT " + l.columns + " FROM " + l.table + " o " + l.joins + " WHERE "
	if p.Limit == 0 {
		list, err := all(ctx, c, l.scan, query+f.sql.String()+" ORDER BY o.id DESC", f.args...)
		return exchange.Part[T]{Items: list, Total: int64(len(list))}, err
	}
	total, err := one(ctx, c, value[int64], "SELECT COUNT(*) FROM "+l.table+" o WHERE "+f.sql.String(), f.args...)
	if err != nil {
		return exchange.Part[T]{}, err
	}
	before := p.Before
	if before == 0 {
		before = math.MaxInt64
	}
	f.and("o.id < ? ORDER BY o.id DESC LIMIT ?", before, p.Limit+1)
	list, err := all(ctx, c, l.scan, query+f.sql.String(), f.args...)
	if err != nil {
		return exchange.Part[T]{}, err
	}
	part := exchange.Part[T]{Items: list, Total: total}
	if len(list) > p.Limit {
		part.Items = list[:p.Limit]
		part.Next = l.id(part.Items[p.Limit-1])
	}
	return part, nil
}
