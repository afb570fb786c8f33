package sqldb

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// maxLine is how many bytes a row may have as text.
const maxLine = 64 << 20

// copyTime is a time as PostgreSQL writes it in UTC.
const copyTime = "2006-01-02 15:04:05.999999-07"

// append appends a value of SQLite in the text format of PostgreSQL's COPY.
func (c Column) append(line []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(line, `\N`...), nil
	case bool:
		return append(line, "ft"[asInt(v)]), nil
	case int64:
		if c.Type == "BOOLEAN" {
			return append(line, "ft"[asInt(v != 0)]), nil
		}
		return strconv.AppendInt(line, v, 10), nil
	case time.Time:
		return v.UTC().AppendFormat(line, copyTime), nil
	case string:
		return appendEscaped(line, v), nil
	case []byte:
		if c.Type == "BLOB" {
			return hex.AppendEncode(append(line, `\\x`...), v), nil
		}
		return appendEscaped(line, string(v)), nil
	}
	return line, fmt.Errorf("a value of the type %T", value)
}

func asInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The characters that are escaped, and the letters behind their backslash.
const escaped, letters = "\\\b\f\n\r\t\v", `\bfnrtv`

func appendEscaped(line []byte, text string) []byte {
	for {
		i := strings.IndexAny(text, escaped)
		if i < 0 {
			return append(line, text...)
		}
		line = append(append(line, text[:i]...), '\\', letters[strings.IndexByte(escaped, text[i])])
		text = text[i+1:]
	}
}

func unescape(field string) (string, error) {
	i := strings.IndexByte(field, '\\')
	if i < 0 {
		return field, nil
	}
	text := make([]byte, 0, len(field))
	for ; i >= 0; i = strings.IndexByte(field, '\\') {
		letter := -1
		if i+1 < len(field) {
			letter = strings.IndexByte(letters, field[i+1])
		}
		if letter < 0 {
			return "", errors.New(`a backslash without \, b, f, n, r, t or v behind it`)
		}
		text = append(append(text, field[:i]...), escaped[letter])
		field = field[i+2:]
	}
	return string(append(text, field...)), nil
}

// parse is the value of a field for SQLite.
func (c Column) parse(field string) (any, error) {
	if field == `\N` {
		return nil, nil
	}
	text, err := unescape(field)
	if err != nil {
		return nil, err
	}
	switch c.Type {
	case "TEXT":
		return text, nil
	case "INTEGER":
		return strconv.ParseInt(text, 10, 64)
	case "BOOLEAN":
		if text != "t" && text != "f" {
			return nil, errors.New("neither t nor f")
		}
		return text == "t", nil
	case "TIMESTAMP":
		at, err := time.Parse(copyTime, text)
		return at.UTC(), err
	case "BLOB":
		digits, ok := strings.CutPrefix(text, `\x`)
		if !ok {
			return nil, errors.New(`bytes that do not begin with \x`)
		}
		return hex.DecodeString(digits)
	}
	return nil, fmt.Errorf("a column of the type %s", c.Type)
}

// Replace takes all rows from a table and adds those that Conn.Copy wrote of a table with the same columns.
func (l *Loader) Replace(ctx context.Context, t Table, r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := readLine(in)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	columns, err := t.ordered(strings.Split(head, "\t"))
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if err := l.Do(ctx, func() error {
		_, err := l.Conn.Exec(ctx, "DELETE FROM "+t.Name)
		return err
	}); err != nil {
		return err
	}
	if l.Conn.Postgres() {
		return l.Do(ctx, func() error {
			return l.session.Raw(func(driver any) error {
				_, err := driver.(*stdlib.Conn).Conn().PgConn().CopyFrom(ctx, in, "COPY "+t.Name+" ("+
					strings.Join(Table{Columns: columns}.names(), ", ")+") FROM STDIN")
				return err
			})
		})
	}
	return l.parse(ctx, Table{t.Name, columns}, in)
}

// ordered are the columns of a table in the order of names, each once.
func (t Table) ordered(names []string) ([]Column, error) {
	var columns []Column
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
		if i < 0 || slices.Contains(columns, t.Columns[i]) {
			return nil, fmt.Errorf("the table has no further column %.100q", name)
		}
		columns = append(columns, t.Columns[i])
	}
	if len(columns) < len(t.Columns) {
		return nil, fmt.Errorf("it names %d of the %d columns of the table", len(columns), len(t.Columns))
	}
	return columns, nil
}

// The most that is held back before it is written: rows, and their bytes as text.
const linesAtOnce, bytesAtOnce = 512, 1 << 20

// parse adds rows to a table of SQLite.
func (l *Loader) parse(ctx context.Context, t Table, in *bufio.Reader) error {
	var rows [][]any
	size := 0
	for number := 2; ; number++ {
		line, err := readLine(in)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return fmt.Errorf("line %d: %w", number, err)
		}
		if len(rows) == linesAtOnce || size >= bytesAtOnce || end && len(rows) > 0 {
			if err := l.Put(ctx, t.Name, t.names(), rows, perRound(len(t.Columns))); err != nil {
				return err
			}
			rows, size = nil, 0
		}
		if end {
			return nil
		}
		row, err := t.parse(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		rows, size = append(rows, row), size+len(line)
	}
}

// parse is the row of a line.
func (t Table) parse(line string) ([]any, error) {
	row := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		field, rest, more := strings.Cut(line, "\t")
		if more == (i == len(t.Columns)-1) {
			return nil, fmt.Errorf("it does not have %d fields", len(t.Columns))
		}
		var err error
		if row[i], err = c.parse(field); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		line = rest
	}
	return row, nil
}

// readLine reads a line without its end; io.EOF: there is none.
func readLine(in *bufio.Reader) (string, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > maxLine {
			return "", fmt.Errorf("it is longer than %d bytes", maxLine)
		}
		line = append(line, piece...)
		switch {
		case err == nil:
			return string(line[:len(line)-1]), nil
		case err == io.EOF && len(line) > 0:
			return "", io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// Number has the next row of a table get an id above last.
func (l *Loader) Number(ctx context.Context, table string, last int64) error {
	if last <= 0 {
		return nil
	}
	return l.Do(ctx, func() error {
		if l.Conn.Postgres() {
			_, err := One(ctx, l.Conn, Value[int64], "SELECT setval(pg_get_serial_sequence($1, 'id'), $2)", table, last)
			return err
		}
		if _, err := l.Conn.Exec(ctx, "DELETE FROM sqlite_sequence WHERE name = $1", table); err != nil {
			return err
		}
		_, err := l.Conn.Exec(ctx, "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", table, last)
		return err
	})
}

// CheckReferences reports a row of SQLite that refers to one that there is not, while a new database is loaded;
// PostgreSQL reports it itself.
func (c *Conn) CheckReferences(ctx context.Context) error {
	if c.Postgres() {
		return nil
	}
	scan := func(r Row, text *string) error {
		var table, parent string
		err := r.Scan(&table, &parent)
		*text = fmt.Sprintf("the table %s has a row that refers to no row of %s", table, parent)
		return err
	}
	list, err := All(ctx, c, scan, `SELECT "table", parent FROM pragma_foreign_key_check LIMIT 1`)
	if err == nil && len(list) > 0 {
		err = errors.New(list[0])
	}
	return err
}
