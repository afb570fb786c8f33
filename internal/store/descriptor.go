package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// columnsOf returns the columns of a table of descriptors, each with a prefix, for SELECT.
func columnsOf[T any](prefix string, table []field.Descriptor[T]) string {
	var names []string
	for _, d := range table {
		if d.At != nil {
			names = append(names, prefix+d.ColumnName())
		}
	}
	return strings.Join(names, ", ")
}

// scanned returns what columnsOf is scanned into.
func scanned[T any](table []field.Descriptor[T], o *T) []any {
	list := make([]any, 0, len(table)+spareFields)
	for i := range table { // every row that is read comes by: a descriptor is too large to copy
		if table[i].At == nil {
			continue
		}
		switch at := table[i].At(o).(type) {
		case *json.RawMessage:
			list = append(list, (*rawText)(at))
		case *[]string:
			list = append(list, sqldb.FromJSON(at))
		case *time.Time:
			list = append(list, sqldb.UTC(at))
		default:
			list = append(list, at)
		}
	}
	return list
}

// spareFields is room for what queries read beside an object, such as its contact.
const spareFields = 16

// writtenColumns returns the columns that statements write: all but the id and the times, which the store sets.
func writtenColumns[T any](table []field.Descriptor[T]) (names []string) {
	for _, d := range table {
		if written(d) {
			names = append(names, d.ColumnName())
		}
	}
	return names
}

func written[T any](d field.Descriptor[T]) bool {
	return d.At != nil && d.Name != "id" && d.Name != "created_at" && d.Name != "updated_at"
}

// appendWritten adds the arguments of writtenColumns.
func appendWritten[T any](args []any, table []field.Descriptor[T], o *T) ([]any, error) {
	for _, d := range table {
		if !written(d) {
			continue
		}
		switch at := d.At(o).(type) {
		case *string:
			args = append(args, *at)
		case **string:
			args = append(args, *at)
		case *bool:
			args = append(args, *at)
		case *int:
			args = append(args, *at)
		case *int64:
			args = append(args, *at)
		case **int64:
			args = append(args, *at)
		case **exchange.Date:
			args = append(args, (*string)(*at))
		case *uuid.UUID:
			args = append(args, *at)
		case *json.RawMessage:
			args = append(args, string(*at))
		case *[]string:
			list, err := sqldb.JSON(*at)
			if err != nil {
				return nil, err
			}
			args = append(args, list)
		}
	}
	return args, nil
}

// setter is a column that a statement writes beside those of a table, or finds a row by.
type setter struct {
	column string
	value  any
}

// writeOf returns the columns of a table that statements write, and more, with their arguments.
func writeOf[T any](table []field.Descriptor[T], o *T, more []setter) (columns []string, args []any, err error) {
	args, err = appendWritten(nil, table, o)
	columns = writtenColumns(table)
	for _, m := range more {
		columns, args = append(columns, m.column), append(args, m.value)
	}
	return columns, args, err
}

// insertOne adds an object, made now, and returns its id.
func insertOne[T any](ctx context.Context, c *sqldb.Conn, into string, table []field.Descriptor[T], o *T,
	more ...setter) (int64, error) {
	columns, args, err := writeOf(table, o, append(more, setter{"created_at", c.Now}, setter{"updated_at", c.Now}))
	if err != nil {
		return 0, err
	}
	return sqldb.One(ctx, c, sqldb.Value[int64], "INSERT INTO "+into+" ("+strings.Join(columns, ", ")+") VALUES "+
		sqldb.Places(1, len(columns))+" RETURNING id", args...)
}

// updateOne saves the object with a key, changed now.
func updateOne[T any](ctx context.Context, c *sqldb.Conn, in string, table []field.Descriptor[T], key []setter, o *T,
	more ...setter) error {
	columns, args, err := writeOf(table, o, append(more, setter{"updated_at", c.Now}))
	if err != nil {
		return err
	}
	for i := range columns {
		columns[i] += " = $" + strconv.Itoa(i+1)
	}
	var where []string
	for _, k := range key {
		args = append(args, k.value)
		where = append(where, k.column+" = $"+strconv.Itoa(len(args)))
	}
	_, err = c.Exec(ctx, "UPDATE "+in+" SET "+strings.Join(columns, ", ")+" WHERE "+strings.Join(where, " AND "),
		args...)
	return err
}

// rawText is JSON that is kept as text and passed on as it is.
type rawText json.RawMessage

// Scan takes text.
func (t *rawText) Scan(src any) error {
	switch s := src.(type) {
	case string:
		*t = rawText(s)
	case []byte:
		*t = append(rawText(nil), s...)
	}
	return nil
}
