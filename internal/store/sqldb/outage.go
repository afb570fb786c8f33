package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/jackc/pgx/v5/pgconn"
)

// diskFull is PostgreSQL's code of a disk without room; SQLite's errors of that kind are given it.
const diskFull = "53100"

// failedWrites are the codes of SQLite for a write that the file system did not take: FULL for ENOSPC, and for a quota
// (EDQUOT) or a limit of the process (EFBIG) those of I/O, which do not tell the cause.
var failedWrites = map[int]bool{
	13:   true, // SQLITE_FULL
	778:  true, // SQLITE_IOERR_WRITE
	1034: true, // SQLITE_IOERR_FSYNC
	1290: true, // SQLITE_IOERR_DIR_FSYNC
	1546: true, // SQLITE_IOERR_TRUNCATE
	4874: true, // SQLITE_IOERR_SHMSIZE
}

// unreachable reports whether err, which has a code of PostgreSQL or none, is of a server that is stopping, starting
// or a standby, or of a connection to it that broke or could not be made.
func unreachable(err error, code string) bool {
	if errors.Is(err, context.Canceled) { // the caller went away, and with it the connection
		return false
	}
	if strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P") || code == "25006" {
		return true
	}
	for _, lost := range []error{driver.ErrBadConn, sql.ErrConnDone, pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF,
		net.ErrClosed} {
		if errors.Is(err, lost) {
			return true
		}
	}
	_, refused := errors.AsType[*pgconn.ConnectError](err)
	_, broken := errors.AsType[*net.OpError](err)
	return refused || broken
}

// fullFor is how long a database counts as full after it refused a write for that and took none since.
const fullFor = time.Minute

// Full reports whether the disk of the database took no write lately.
func (db *DB) Full() bool {
	at := db.fullAt.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < fullFor
}

// noteFull notes how a transaction ended, for Full.
func (db *DB) noteFull(err error) {
	switch {
	case err == nil && db.fullAt.Load() != 0:
		db.fullAt.Store(0)
	case exchange.CodeOf(err) == exchange.StorageFull:
		db.fullAt.Store(time.Now().UnixNano())
	}
}

// reserveSize is more than opening an SQLite database takes on the disk.
const reserveSize = 256 << 10

// reserve is a file next to an SQLite database whose room is for opening it on a disk that is full.
func (db *DB) reserve() string { return db.where + "-reserve" }

// release makes room for opening the database where err means that there is none, and reports whether it did.
func (db *DB) release(err error) bool {
	return !db.Postgres() && exchange.CodeOf(Translate(err)) == exchange.StorageFull && os.Remove(db.reserve()) == nil
}

// setAside fills the reserve again. On a disk without room for it the next start has less, which is no reason not to go
// on.
func (db *DB) setAside() {
	if db.Postgres() {
		return
	}
	if info, err := os.Stat(db.reserve()); err == nil && info.Size() == reserveSize {
		return
	}
	_ = os.WriteFile(db.reserve(), make([]byte, reserveSize), 0o600)
}
