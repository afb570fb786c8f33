package sqldb

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
)

// Filter builds the WHERE of a list from the conditions that apply, so that the database can use an index for each. The
// listed table has the alias o.
type Filter struct {
	SQL   strings.Builder
	Args  []any
	begun bool // no condition follows the last WHERE yet
}

// And adds a condition; each ? in it is replaced by the placeholder of the next of args.
func (f *Filter) And(condition string, args ...any) {
	if f.SQL.Len() > 0 && !f.begun {
		f.SQL.WriteString(" AND ")
	}
	f.begun = false
	for part := range strings.SplitAfterSeq(condition, "?") {
		text, isArg := strings.CutSuffix(part, "?")
		f.SQL.WriteString(text)
		if isArg {
			f.Args = append(f.Args, args[0])
			args = args[1:]
			f.SQL.WriteString("$" + strconv.Itoa(len(f.Args)))
		}
	}
}

// Begin begins a SELECT in the text of the filter, whose conditions follow.
func (f *Filter) Begin(text string) {
	f.SQL.WriteString(text + " WHERE ")
	f.begun = true
}

// Where returns a filter of one condition.
func Where(condition string, args ...any) *Filter {
	f := &Filter{}
	f.And(condition, args...)
	return f
}

// AndEqual adds a condition on the column unless value is nil.
func AndEqual[T any](f *Filter, column string, value *T) {
	if value != nil {
		f.And(column+" = ?", *value)
	}
}

// Listing describes how rows of one table are listed. joins are the tables that the columns need in addition to the
// table o; they never change the number of rows, so conditions refer to o alone. sorts has the columns of those sort
// fields whose column has another name.
type Listing[T any] struct {
	Columns, Table, Joins string
	Scan                  func(Row, *T) error
	ID                    func(T) int64
	Sorts                 map[string]string
	// of those fields to filter by that are not kept in a column called like them
	Filters map[string]Condition
	// Scopes are alternative conditions: a row is listed if it meets any of them. Each is read by itself in the order
	// of the list, for which it has an index, and no further than the page needs. None: all rows are listed.
	Scopes []Scope
}

// Scope is a condition on the listed table, with a ? for each of Args.
type Scope struct {
	Condition string
	Args      []any
}

// Condition adds to a filter the condition that a field has a value.
type Condition func(*Filter, any)

// Equals returns the condition that an expression equals the value.
func Equals(expression string) Condition {
	return func(f *Filter, value any) { f.And(expression+" = ?", value) }
}

// Page reads one page of a list and counts the whole list as exchange.CountLimit allows; without a limit, the number of
// rows read is the count.
func (l Listing[T]) Page(ctx context.Context, c *Conn, p exchange.Page, f *Filter) (exchange.ListPage[T], error) {
	from := " FROM " + l.Table + " o " + l.Joins + " WHERE "
	for _, match := range p.Where {
		hold, named := l.Filters[match.Field]
		if !named {
			hold = Equals("o." + match.Field)
		}
		hold(f, match.Value)
	}
	if p.Limit == 0 {
		where, args := l.where(f, "")
		list, err := All(ctx, c, l.Scan, "SELECT "+l.Columns+from+where+" ORDER BY o.id DESC", args...)
		return exchange.ListPage[T]{Items: list, Total: exchange.Count{N: int64(len(list))}}, err
	}
	total, err := l.count(ctx, c, f, p.CountAll)
	if err != nil {
		return exchange.ListPage[T]{}, err
	}
	columns, scan, column := l.Columns, l.Scan, l.column(p.Order.Field)
	var keys []any // what the rows have in the sorted column
	if p.Order.Name != "" {
		c = c.WithoutStmtCache()
		columns += ", " + column
		scan = func(r Row, item *T) error {
			keys = append(keys, nil)
			return l.Scan(MoreColumns(r, []any{&keys[len(keys)-1]}), item)
		}
	}
	f.behind(column, p)
	f.Args = append(f.Args, p.Limit+1)
	tail := orderBy(column, p.Order) + " LIMIT $" + strconv.Itoa(len(f.Args))
	where, args := l.where(f, tail)
	list, err := All(ctx, c, scan, "SELECT "+columns+from+where+tail, args...)
	if err != nil {
		return exchange.ListPage[T]{}, err
	}
	part := exchange.ListPage[T]{Items: list, Total: total}
	if len(list) > p.Limit {
		part.Items = list[:p.Limit]
		part.Next = &exchange.Position{ID: l.ID(part.Items[p.Limit-1])}
		if keys != nil {
			part.Next.Value = keys[p.Limit-1]
		}
	}
	return part, nil
}

// countMargin is how many rows more than exchange.CountLimit a list has to have before that is remembered: so many
// would have to go within longListAge for the memory to be wrong.
const countMargin = 1000

// count counts the rows that f leaves: all of them, or as many as tell whether there are more than exchange.CountLimit.
// Counting that far is most of what a page costs, so which lists are long is remembered for longListAge.
func (l Listing[T]) count(ctx context.Context, c *Conn, f *Filter, all bool) (exchange.Count, error) {
	if all {
		rows, args := l.ids(f, "")
		n, err := One(ctx, c, Value[int64], "SELECT COUNT(*) FROM ("+rows+") rows", args...)
		return exchange.Count{N: n}, err
	}
	limit := " LIMIT " + strconv.Itoa(exchange.CountLimit+countMargin+1)
	rows, args := l.ids(f, limit)
	list := fmt.Sprintf("%s%v", rows, args)
	if c.DB.longLists.has(list, c.Now) {
		return exchange.Count{N: exchange.CountLimit, AtLeast: true}, nil
	}
	n, err := One(ctx, c, Value[int64], "SELECT COUNT(*) FROM (SELECT 1 FROM ("+rows+") found"+limit+") rows", args...)
	if n > exchange.CountLimit+countMargin {
		c.DB.longLists.add(list, c.Now)
	}
	return exchange.Count{N: min(n, exchange.CountLimit), AtLeast: n > exchange.CountLimit}, err
}

// where returns the condition for the rows that f leaves, of which each scope is read with tail (an order and a limit).
func (l Listing[T]) where(f *Filter, tail string) (condition string, args []any) {
	if len(l.Scopes) == 0 {
		return f.SQL.String(), f.Args
	}
	rows, args := l.ids(f, tail)
	return "o.id IN (" + rows + ")", args
}

// ids returns a SELECT of the ids of the rows that f leaves, with tail (an order and a limit) after each of its parts.
func (l Listing[T]) ids(f *Filter, tail string) (query string, args []any) {
	from := "SELECT o.id FROM " + l.Table + " o WHERE "
	if len(l.Scopes) == 0 {
		return from + f.SQL.String() + tail, f.Args
	}
	all := &Filter{Args: slices.Clone(f.Args)}
	for i, scope := range l.Scopes {
		if i > 0 {
			all.SQL.WriteString(" UNION ")
		}
		all.SQL.WriteString("SELECT id FROM (" + from + f.SQL.String() + " AND ")
		all.begun = true
		all.And(scope.Condition, scope.Args...)
		all.SQL.WriteString(tail + ") part")
	}
	return all.SQL.String(), all.Args
}

// rowID is the column of the zero order.
const rowID = "o.id"

// column returns the column of a sort field.
func (l Listing[T]) column(f exchange.Field) string {
	switch column, named := l.Sorts[f.Name]; {
	case named:
		return column
	case f.Name == "":
		return rowID
	case f.Kind == exchange.Text:
		return "o." + f.Name + "_sort"
	}
	return "o." + f.Name
}

// after adds the condition that rows come after the previous page.
func (f *Filter) behind(column string, p exchange.Page) {
	than, at := " < ", exchange.Position{ID: math.MaxInt64}
	if p.Order.Ascending {
		than, at.ID = " > ", 0
	}
	if p.After != nil {
		at = *p.After
	}
	switch {
	case column == rowID:
		f.And(rowID+than+"?", at.ID)
	case p.After == nil:
	case at.Value == nil:
		f.And(column+" IS NULL AND o.id"+than+"?", at.ID)
	case p.Order.Nullable:
		f.And("("+column+than+"? OR "+column+" = ? AND o.id"+than+"? OR "+column+" IS NULL)", at.Value, at.Value, at.ID)
	default:
		f.And("("+column+", o.id)"+than+"(?, ?)", at.Value, at.ID)
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

// MoreColumns returns a row that scans the columns of more after those that it is asked for.
func MoreColumns(r Row, more []any) Row { return extraColumns{r, more} }

// extraColumns scans more columns than its scan function asks for.
type extraColumns struct {
	Row
	more []any
}

// Scan scans the extra columns after dst.
func (r extraColumns) Scan(dst ...any) error { return r.Row.Scan(append(dst, r.more...)...) }
