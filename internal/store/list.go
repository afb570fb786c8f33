package store

import (
	"context"
	"math"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// filter builds the WHERE of a list from the conditions that apply, so that the database can use an index for each. The
// listed table has the alias o.
type filter struct {
	sql   strings.Builder
	args  []any
	begun bool // no condition stands behind the last WHERE yet
}

// and adds a condition; each ? in it is replaced by the placeholder of the next of args.
func (f *filter) and(condition string, args ...any) {
	if f.sql.Len() > 0 && !f.begun {
		f.sql.WriteString(" AND ")
	}
	f.begun = false
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

// where returns a filter of one condition.
func where(condition string, args ...any) *filter {
	f := &filter{}
	f.and(condition, args...)
	return f
}

// andEqual adds a condition on the column unless value is nil.
func andEqual[T any](f *filter, column string, value *T) {
	if value != nil {
		f.and(column+" = ?", *value)
	}
}

// listing describes how rows of one table are listed. joins are the tables that the columns need beside the table o;
// they never change the number of rows, so conditions refer to o alone. sorts has the columns of those sort fields
// whose column has another name.
type listing[T any] struct {
	columns, table, joins string
	scan                  func(row, *T) error
	id                    func(T) int64
	sorts                 map[string]string
	// of those fields to filter by that are not kept in a column called like them
	filters map[string]condition
}

// condition adds to a filter the condition that a field has a value.
type condition func(*filter, any)

// equals returns the condition that an expression equals the value.
func equals(expression string) condition {
	return func(f *filter, value any) { f.and(expression+" = ?", value) }
}

// page reads one page of a list and counts the whole list; without a limit, the number of rows read is the count.
func (l listing[T]) page(ctx context.Context, c *conn, p exchange.Page, f *filter) (exchange.ListPage[T], error) {
	from := " FROM " + l.table + " o " + l.joins + " WHERE "
	for _, match := range p.Where {
		hold, named := l.filters[match.Field]
		if !named {
			hold = equals("o." + match.Field)
		}
		hold(f, match.Value)
	}
	if p.Limit == 0 {
		list, err := all(ctx, c, l.scan, "SELECT "+l.columns+from+f.sql.String()+" ORDER BY o.id DESC", f.args...)
		return exchange.ListPage[T]{Items: list, Total: int64(len(list))}, err
	}
	total, err := one(ctx, c, value[int64], "SELECT COUNT(*) FROM "+l.table+" o WHERE "+f.sql.String(), f.args...)
	if err != nil {
		return exchange.ListPage[T]{}, err
	}
	columns, scan, column := l.columns, l.scan, l.column(p.Order.Field)
	var keys []any // what the rows have in the sorted column
	if p.Order.Name != "" {
		c = c.withoutStmtCache()
		columns += ", " + column
		scan = func(r row, item *T) error {
			keys = append(keys, nil)
			return l.scan(extraColumns{r, []any{&keys[len(keys)-1]}}, item)
		}
	}
	f.behind(column, p)
	query := "SELECT " + columns + from + f.sql.String() + orderBy(column, p.Order) + " LIMIT $" +
		strconv.Itoa(len(f.args)+1)
	list, err := all(ctx, c, scan, query, append(f.args, p.Limit+1)...)
	if err != nil {
		return exchange.ListPage[T]{}, err
	}
	part := exchange.ListPage[T]{Items: list, Total: total}
	if len(list) > p.Limit {
		part.Items = list[:p.Limit]
		part.Next = &exchange.Position{ID: l.id(part.Items[p.Limit-1])}
		if keys != nil {
			part.Next.Value = keys[p.Limit-1]
		}
	}
	return part, nil
}

// rowID is the column of the zero order.
const rowID = "o.id"

// column returns the column of a sort field.
func (l listing[T]) column(f exchange.Field) string {
	switch column, named := l.sorts[f.Name]; {
	case named:
		return column
	case f.Name == "":
		return rowID
	case f.Kind == exchange.Text:
		return "o." + f.Name + "_sort"
	}
	return "o." + f.Name
}

// behind adds the condition that rows come after the previous page.
func (f *filter) behind(column string, p exchange.Page) {
	than, at := " < ", exchange.Position{ID: math.MaxInt64}
	if p.Order.Ascending {
		than, at.ID = " > ", 0
	}
	if p.After != nil {
		at = *p.After
	}
	switch {
	case column == rowID:
		f.and(rowID+than+"?", at.ID)
	case p.After == nil:
	case at.Value == nil:
		f.and(column+" IS NULL AND o.id"+than+"?", at.ID)
	case p.Order.Nullable:
		f.and("("+column+than+"? OR "+column+" = ? AND o.id"+than+"? OR "+column+" IS NULL)", at.Value, at.Value, at.ID)
	default:
		f.and("("+column+", o.id)"+than+"(?, ?)", at.Value, at.ID)
	}
}

func orderBy(column string, o exchange.Order) string {
	direction, nulls := " DESC", ""
	if o.Ascending {
		direction = " ASC"
	}
	if o.Nullable {
		nulls = " NULLS LAST"
	}
	if column == rowID {
		return " ORDER BY " + rowID + direction
	}
	return " ORDER BY " + column + direction + nulls + ", " + rowID + direction
}

// extraColumns scans more columns than its scan function asks for.
type extraColumns struct {
	row
	more []any
}

// Scan scans the extra columns after dst.
func (r extraColumns) Scan(dst ...any) error { return r.row.Scan(append(dst, r.more...)...) }
