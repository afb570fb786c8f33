package sqldb

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"

	"github.com/google/uuid"
)

// ColumnsOf returns the columns of a table of descriptors, each with a prefix, for SELECT.
func ColumnsOf[T any](prefix string, table []field.Descriptor[T]) string {
	var names []string
	for _, d := range table {
		if d.At != nil {
			names = append(names, prefix+d.ColumnName())
		}
	}
	return strings.Join(names, ", ")
}

// ScannedInto returns what ColumnsOf is scanned into.
func ScannedInto[T any](table []field.Descriptor[T], o *T) []any {
	list := make([]any, 0, len(table)+spareFields)
	for i := range table { // every row that is read comes by: a descriptor is too large to copy
		if table[i].At == nil {
			continue
		}
		switch at := table[i].At(o).(type) {
		case *json.RawMessage:
			list = append(list, (*RawText)(at))
		case *[]string:
			list = append(list, FromJSON(at))
		case *[]int64:
			list = append(list, FromJSON(at))
		case *time.Time:
			list = append(list, UTC(at))
		default:
			list = append(list, at)
		}
	}
	return list
}

// spareFields is room for what queries read beside an object, such as its contact.
const spareFields = 16

// WrittenColumns returns the columns that statements write: all but the id and the times, which the store sets.
func WrittenColumns[T any](table []field.Descriptor[T]) (names []string) {
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

// AppendWritten adds the arguments of WrittenColumns.
func AppendWritten[T any](args []any, table []field.Descriptor[T], o *T) ([]any, error) {
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
		case *exchange.Date:
			args = append(args, string(*at))
		case **exchange.Date:
			args = append(args, (*string)(*at))
		case *uuid.UUID:
			if d.OrNobody && *at == uuid.Nil {
				args = append(args, nil)
			} else {
				args = append(args, *at)
			}
		case *json.RawMessage:
			args = append(args, string(*at))
		case *[]string, *[]int64:
			list, err := JSON(at)
			if err != nil {
				return nil, err
			}
			args = append(args, list)
		}
	}
	return args, nil
}

// Setter is a column that a statement writes beside those of a table, or finds a row by.
type Setter struct {
	Column string
	Value  any
}

// writeOf returns the columns of a table that statements write, and more, with their arguments.
func writeOf[T any](table []field.Descriptor[T], o *T, more []Setter) (columns []string, args []any, err error) {
	args, err = AppendWritten(nil, table, o)
	columns = WrittenColumns(table)
	for _, m := range more {
		columns, args = append(columns, m.Column), append(args, m.Value)
	}
	return columns, args, err
}

// InsertOne adds an object with the columns of its table of fields and more, made now, and returns its id.
func InsertOne[T any](ctx context.Context, c *Conn, into string, table []field.Descriptor[T], o *T,
	more ...Setter) (int64, error) {
	columns, args, err := writeOf(table, o, append(more,
		Setter{Column: "created_at", Value: c.Now}, Setter{Column: "updated_at", Value: c.Now}))
	if err != nil {
		return 0, err
	}
	return One(ctx, c, Value[int64], "INSERT INTO "+into+" ("+strings.Join(columns, ", ")+") VALUES "+
		Places(1, len(columns))+" RETURNING id", args...)
}

// UpdateOne saves the object that key finds, changed now.
func UpdateOne[T any](ctx context.Context, c *Conn, in string, table []field.Descriptor[T], key []Setter, o *T,
	more ...Setter) error {
	columns, args, err := writeOf(table, o, append(more, Setter{Column: "updated_at", Value: c.Now}))
	if err != nil {
		return err
	}
	for i := range columns {
		columns[i] += " = $" + strconv.Itoa(i+1)
	}
	var where []string
	for _, k := range key {
		args = append(args, k.Value)
		where = append(where, k.Column+" = $"+strconv.Itoa(len(args)))
	}
	_, err = c.Exec(ctx, "UPDATE "+in+" SET "+strings.Join(columns, ", ")+" WHERE "+strings.Join(where, " AND "),
		args...)
	return err
}

// RawText is JSON that is stored as text and passed on as it is.
type RawText json.RawMessage

// Scan takes text.
func (t *RawText) Scan(src any) error {
	switch s := src.(type) {
	case string:
		*t = RawText(s)
	case []byte:
		*t = append(RawText(nil), s...)
	}
	return nil
}
