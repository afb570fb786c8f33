package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/field"
	"aliquot/internal/search"
	"aliquot/internal/store/sqldb"
)

// What only the tests of this room reach.

// Translate is translate, and MaxTries is maxTries.
var Translate = sqldb.Translate

const MaxTries = sqldb.MaxTries

// Exec runs any statement.
func (c Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return c.conn.Exec(ctx, query, args...)
}

// Values reads a query of one column.
func Values[T any](ctx context.Context, c Conn, query string, args ...any) ([]T, error) {
	return sqldb.All(ctx, c.conn, sqldb.Value[T], query, args...)
}

// IndexDataUses is indexDataUses.
func (db *DB) IndexDataUses(ctx context.Context) error { return db.indexDataUses(ctx) }

// SetNow gives the database another clock.
func (db *DB) SetNow(now func() time.Time) { db.Clock = now }

// Search reads only so many hits one by one, lets so many stand for more, and thinks of tests as so cheap; it counts
// no more than countLimit.
func (db *DB) Search(exactUpTo, sampled int, countLimit int64, testCost float64) {
	db.Sampling = sqldb.Sampling{ExactUpTo: exactUpTo, Sampled: sampled, CountLimit: countLimit, ProbeCost: testCost}
}

// AttachmentsWithDeleted reads an attachment, deleted or not.
func AttachmentsWithDeleted(ctx context.Context, c Conn, id int64) ([]document.Attachment, error) {
	return sqldb.All(ctx, c.conn, scanAttachment, "SELECT "+attachmentColumns+" FROM attachments o WHERE o.id = $1", id)
}

// RankOf is rankOf.
var RankOf = search.RankOf

// ManyRanks is manyRanks.
const ManyRanks = search.ManyRanks

// UnknownToRecord lists the tables of which the record does not say whether their changes are recorded.
func UnknownToRecord(tables []string) (unknown []string) {
	for _, table := range tables {
		_, recorded := observed[table]
		_, not := unrecordedTables[table]
		own := strings.HasPrefix(table, "chain") || strings.HasPrefix(table, "log_") || table == "carry_over" ||
			table == "goose_db_version" || strings.Contains(table, "_words") || table == "words"
		if !recorded && !not && !own {
			unknown = append(unknown, table)
		}
	}
	return unknown
}

// RecordedColumns lists the columns of each recorded table that the record knows.
func RecordedColumns() map[string][]string {
	all := map[string][]string{}
	for name, t := range recordedTables {
		columns := strings.Fields(strings.Join([]string{t.key, t.partKey, t.clear, t.bools, t.times, t.personal,
			t.left}, " "))
		slices.Sort(columns)
		all[name] = slices.Compact(columns)
	}
	return all
}

// RecordedWith lists the flags and the texts of a table that is recorded by its fields.
func RecordedWith[T any](table []field.Descriptor[T]) (flags, texts []string) {
	t := withFields(recordedTable{key: "id", left: "left"}, table)
	return strings.Fields(t.bools), strings.Fields(t.personal)
}
