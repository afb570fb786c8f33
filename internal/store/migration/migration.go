// Package migration holds the statements that make the schema of the database. Words in braces stand for what differs
// between the databases.
package migration

import "embed"

// Files are the migrations, and in folders the statements of one database alone.
//
//go:embed *.sql fulltext/*.sql storage/*.sql sheets/*.sql
var Files embed.FS
