package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"
)

// What only the tests of this room reach.

// Translate is translate, and MaxTries is maxTries.
var Translate = translate

const MaxTries = maxTries

// Exec runs any statement.
func (c Conn) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return c.conn.exec(ctx, query, args...)
}

// Values reads a query of one column.
func Values[T any](ctx context.Context, c Conn, query string, args ...any) ([]T, error) {
	return all(ctx, c.conn, value[T], query, args...)
}

// SetNow gives the database another clock.
func (db *DB) SetNow(now func() time.Time) { db.Clock = now }

// Kept counts the statements that are kept prepared, for reading and for writing.
func (db *DB) Kept() (reading, writing int) {
	count := func(n *int) func(any, any) bool { return func(any, any) bool { *n++; return true } }
	db.prepared[0].Range(count(&reading))
	db.prepared[1].Range(count(&writing))
	return reading, writing
}

// Search counts only so many hits one by one, lets so many stand for more, and thinks of tests as so cheap.
func (db *DB) Search(exactUpTo, sampled int, testCost float64) {
	db.exactUpTo, db.sampled, db.testCost = exactUpTo, sampled, testCost
}

// RankOf is rankOf.
var RankOf = rankOf

// ManyRanks is from how many ranks on all hits are found.
const ManyRanks = (manyParts - 1) << (32 + 1 - 7)

// AttachmentsWithDeleted reads an attachment, deleted or not.
func AttachmentsWithDeleted(ctx context.Context, c Conn, id int64) ([]exchange.Attachment, error) {
	return all(ctx, c.conn, scanAttachment, "SELECT "+attachmentColumns+" FROM attachments o WHERE o.id = $1", id)
}
