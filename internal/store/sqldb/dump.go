package sqldb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
)

// Table is a table of the schema.
type Table struct {
	Name    string
	Columns []Column
}

// Column is a column of a table; Type is the word that the database has for its type.
type Column struct{ Name, Type string }

// names are those of the columns.
func (t Table) names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// Tables reads the tables of the schema, in the order of their names.
func (c *Conn) Tables(ctx context.Context) (tables []Table, err error) {
	_, err = All(ctx, c, func(r Row, _ *struct{}) error {
		var table string
		var column Column
		if err := r.Scan(&table, &column.Name, &column.Type); err != nil {
			return err
		}
		if len(tables) == 0 || tables[len(tables)-1].Name != table {
			tables = append(tables, Table{Name: table})
		}
		last := &tables[len(tables)-1]
		last.Columns = append(last.Columns, column)
		return nil
	}, c.DB.dialect.columns)
	return tables, err
}

// SchemaVersion is the number of the newest migration that was run, 0 when there was none.
func (c *Conn) SchemaVersion(ctx context.Context) (int64, error) {
	ran, err := versions(ctx, c)
	return slices.Max(append(ran, 0)), err
}

// Numbers reads the last id that each table with ids gave, whether or not the row is still there.
func (c *Conn) Numbers(ctx context.Context) (map[string]int64, error) {
	numbers := map[string]int64{}
	_, err := All(ctx, c, func(r Row, _ *struct{}) error {
		var table string
		var last int64
		err := r.Scan(&table, &last)
		numbers[table] = last
		return err
	}, c.DB.dialect.numbers)
	return numbers, err
}

// Copy writes the rows of a table in the text format of PostgreSQL's COPY, a line each, below a line that names the
// columns. Both databases give the same lines. c is a snapshot.
func (c *Conn) Copy(ctx context.Context, t Table, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if _, err := out.WriteString(strings.Join(t.names(), "\t") + "\n"); err != nil {
		return err
	}
	query := "SELECT " + strings.Join(t.names(), ", ") + " FROM " + t.Name
	var err error
	if c.Postgres() {
		// the form of the values
		if _, err := c.Exec(ctx, "SELECT set_config('timezone', 'UTC', true), set_config('datestyle', 'ISO', true), "+
			"set_config('bytea_output', 'hex', true)"); err != nil {
			return err
		}
		err = c.session.Raw(func(driver any) error {
			_, err := driver.(*stdlib.Conn).Conn().PgConn().CopyTo(ctx, out, "COPY ("+query+") TO STDOUT")
			return err
		})
	} else {
		err = c.writeRows(ctx, t, query, out)
	}
	return errors.Join(err, out.Flush())
}

// writeRows writes the rows of a query of SQLite.
func (c *Conn) writeRows(ctx context.Context, t Table, query string, w io.Writer) error {
	rows, err := c.tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	values, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		into[i] = &values[i]
	}
	var line []byte
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		line = line[:0]
		for i, column := range t.Columns {
			if line, err = column.append(line, values[i]); err != nil {
				return fmt.Errorf("%s.%s: %w", t.Name, column.Name, err)
			}
			line = append(line, '\t')
		}
		if len(line) > maxLine {
			return fmt.Errorf("%s: a row of %d bytes; at most %d are restored", t.Name, len(line), maxLine)
		}
		line[len(line)-1] = '\n'
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return rows.Err()
}
