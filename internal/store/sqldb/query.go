package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
)

// runner is the common interface of a prepared statement and of a handle bound to a query.
type runner interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
}

// statement returns the runner of a query. On SQLite the prepared statement is kept for the life of the pool unless
// c.skipStmtCache is set; the texts of all other queries are constants, so there are few. pgx has its own cache.
func (c *Conn) statement(ctx context.Context, query string) (runner, error) {
	c.DB.queries.Add(1)
	switch {
	case c.tx != nil && (!c.DB.dialect.prepare || c.wanted == nil):
		return bound{c.tx, query}, nil
	case c.tx == nil && (c.skipStmtCache || !c.DB.dialect.prepare):
		return bound{c.DB.read, c.DB.dialect.text(query)}, nil
	case c.tx == nil:
		if stmt, ok := c.DB.prepared[0].Load(query); ok {
			return stmt.(*sql.Stmt), nil
		}
		return c.DB.keep(ctx, 0, c.DB.read, query)
	default:
		if stmt, ok := c.DB.prepared[1].Load(query); ok {
			return c.tx.StmtContext(ctx, stmt.(*sql.Stmt)), nil
		}
		// The one writing connection is ours until the end of the transaction, so it is kept then.
		if stmt, ok := c.wanted[query]; ok {
			return stmt, nil
		}
		stmt, err := c.tx.PrepareContext(ctx, c.DB.dialect.text(query))
		if err == nil {
			c.wanted[query] = stmt
		}
		return stmt, err
	}
}

// WithoutStmtCache returns the connection for statements that have too many texts to keep each prepared.
func (c *Conn) WithoutStmtCache() *Conn {
	other := *c
	other.skipStmtCache = true
	return &other
}

// At returns the connection for writing as if it were another time.
func (c *Conn) At(now time.Time) *Conn {
	other := *c
	other.Now = now
	return &other
}

// Today is the day up to whose beginning embargoes ended.
func (c *Conn) Today() string { return c.Now.Format(time.DateOnly) }

// Prepared counts the statements that are kept prepared, for reading and for writing.
func (db *DB) Prepared() (reading, writing int) {
	count := func(n *int) func(any, any) bool { return func(any, any) bool { *n++; return true } }
	db.prepared[0].Range(count(&reading))
	db.prepared[1].Range(count(&writing))
	return reading, writing
}

// Postgres reports whether the database is PostgreSQL; otherwise it is SQLite.
func (c *Conn) Postgres() bool { return c.DB.Postgres() }

// Dialect returns the words of the database.
func (c *Conn) Dialect() *Dialect { return &c.DB.dialect }

// InTx reports whether the connection is that of a transaction.
func (c *Conn) InTx() bool { return c.tx != nil }

// keep prepares a query on a pool and keeps the statement until Close.
func (db *DB) keep(ctx context.Context, which int, pool *sql.DB, query string) (*sql.Stmt, error) {
	stmt, err := pool.PrepareContext(ctx, db.dialect.text(query))
	if err != nil {
		return nil, err
	}
	if other, raced := db.prepared[which].LoadOrStore(query, stmt); raced {
		_ = stmt.Close() //nolint:sqlclosecheck // the other one is kept, until DB.Close
		return other.(*sql.Stmt), nil
	}
	return stmt, nil
}

type bound struct {
	handle interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
	query string
}

func (b bound) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return b.handle.ExecContext(ctx, b.query, args...)
}

func (b bound) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return b.handle.QueryContext(ctx, b.query, args...)
}

// uninterrupted returns the context for a statement. In a group, cancelling takes effect between statements: SQLite
// would roll back the other members too if it were interrupted while it writes.
func (c *Conn) uninterrupted(ctx context.Context) (context.Context, error) {
	if c.group == nil {
		return ctx, nil
	}
	return context.WithoutCancel(ctx), ctx.Err()
}

// Exec runs a statement and returns the number of rows that it changed.
func (c *Conn) Exec(ctx context.Context, query string, args ...any) (n int64, err error) {
	ctx, err = c.uninterrupted(ctx)
	if err != nil {
		return 0, err
	}
	ctx, ran := c.DB.run(ctx, query)
	defer func() { ran.end(ctx, err) }()
	if o := c.observe(query); o != nil {
		return c.execObserved(ctx, o, args)
	}
	s, err := c.statement(ctx, query)
	if err != nil {
		return 0, Translate(err)
	}
	result, err := s.ExecContext(ctx, args...)
	if err != nil {
		return 0, Translate(err)
	}
	n, err = result.RowsAffected()
	return n, Translate(err)
}

// Row is the part of sql.Rows that scan functions use.
type Row interface{ Scan(dst ...any) error }

// All returns every row of a query.
func All[T any](ctx context.Context, c *Conn, scan func(Row, *T) error, query string, args ...any) (list []T,
	err error) {
	ctx, err = c.uninterrupted(ctx)
	if err != nil {
		return nil, err
	}
	ctx, ran := c.DB.run(ctx, query)
	defer func() { ran.end(ctx, err) }()
	observed := c.observe(query)
	if observed != nil {
		query = observed.query
	}
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, Translate(err)
	}
	if watch := c.DB.watch.Load(); watch != nil {
		(*watch)(c.DB.dialect.text(query), args)
	}
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return nil, Translate(err)
	}
	defer func() { _ = rows.Close() }()
	list = []T{}
	for rows.Next() {
		list = append(list, *new(T)) // scanned in its place: an item of its own would be another allocation
		var row Row = rows
		if observed != nil {
			row = c.note(observed, rows)
		}
		if err := scan(row, &list[len(list)-1]); err != nil {
			return nil, Translate(err)
		}
	}
	return list, Translate(rows.Err())
}

// One returns the first row of a query, or NotFound if it has none.
func One[T any](ctx context.Context, c *Conn, scan func(Row, *T) error, query string, args ...any) (T, error) {
	list, err := All(ctx, c, scan, query, args...)
	if err == nil && len(list) == 0 {
		err = Translate(sql.ErrNoRows)
	}
	if err != nil {
		var none T
		return none, err
	}
	return list[0], nil
}

// Value scans a row of one column.
func Value[T any](r Row, v *T) error { return r.Scan(v) }

// Translate turns the drivers' errors into ours; every query passes through it. No row is NotFound, a unique violation
// Conflict, a foreign key violation InvalidInput, a full disk StorageFull, and a server that is busy, restarting or
// unreachable Unavailable.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if _, translated := errors.AsType[*exchange.Error](err); translated {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return &exchange.Error{Code: exchange.NotFound, Message: "There is no such object."}
	}
	code := ""
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = strconv.Itoa(e.Code())
		switch primary := e.Code() & 0xff; {
		case primary == 5, primary == 6: // SQLITE_BUSY_SNAPSHOT and their like
			code = strconv.Itoa(primary)
		case failedWrites[e.Code()]:
			code = diskFull
		}
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = e.Code
	}
	switch code {
	case "2067", "1555", "23505": // SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY, unique_violation
		return &exchange.Error{Code: exchange.Conflict, Message: "Someone else did this first.", Cause: err}
	case "787", "23503": // SQLITE_CONSTRAINT_FOREIGNKEY, foreign_key_violation
		return &exchange.Error{Code: exchange.InvalidInput, Message: "This names an object that does not exist.",
			Cause: err}
	// SQLITE_BUSY, _LOCKED; PostgreSQL: rivals, no memory or connection left, waited too long
	case "5", "6", "40001", "40P01", "53200", "53300", "55P03", "57014":
		return &exchange.Error{Code: exchange.Unavailable, Message: "The database is busy; try again.", Cause: err}
	case diskFull:
		return &exchange.Error{Code: exchange.StorageFull, Message: "The server's storage is full, so nothing can be " +
			"saved until its operator frees space. Nothing was changed.", Cause: err}
	}
	if unreachable(err, code) {
		return &exchange.Error{Code: exchange.Unavailable, Message: "The database does not respond; try again.",
			Cause: err}
	}
	return err
}

// MaxIn is the length above which lists of ids are split: SQLite compares each placeholder with all others, so ten
// thousand of them would occupy its only writer for seconds.
const MaxIn = 256

// In appends a list to the arguments of a query and returns its placeholders, for IN (...). Their number is a power of
// two, padded with zero ids, which no row has: this keeps the number of query texts, and of cached statements, small,
// And makes an empty list valid SQL.
func In[T any](args []any, list []T) (string, []any) {
	first := len(args) + 1
	for _, id := range list {
		args = append(args, id)
	}
	n := 1
	for n < len(list) {
		n *= 2
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(first+i))
		if i >= len(list) {
			var zero T
			args = append(args, zero)
		}
	}
	return b.String(), args
}

// Batches splits a list into batches of most items, a power of two, and the rest into smaller powers of two, so that
// there are few texts of statements.
func Batches[T any](list []T, most int) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for n := most; len(list) > 0; {
			for n > len(list) {
				n /= 2
			}
			if !yield(list[:n]) {
				return
			}
			list = list[n:]
		}
	}
}

// Places returns the placeholders for rows of the given number of columns, for VALUES.
func Places(rows, columns int) string {
	var b strings.Builder
	for n := range rows * columns {
		switch {
		case n == 0:
			b.WriteByte('(')
		case n%columns == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n + 1))
	}
	b.WriteByte(')')
	return b.String()
}

// Excluded returns the assignments of an upsert: each column gets the value that the rejected INSERT had for it.
func Excluded(columns []string) string {
	sets := make([]string, len(columns))
	for i, column := range columns {
		sets[i] = column + " = excluded." + column
	}
	return strings.Join(sets, ", ")
}
