package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pressly/goose/v3"
)

// ErrNewer means that the database was migrated by a newer binary.
var ErrNewer = errors.New("the database is newer than this program; use the newer one")

// Migrate brings the schema up to date and names what it ran; with dryRun it only names it.
// Several processes may start at once: one migrates, the others wait.
func (db *DB) Migrate(ctx context.Context, dryRun bool) ([]string, error) {
	files, err := db.dialect.migrations()
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(db.dialect.name, db.write, files, goose.WithAllowOutofOrder(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	names, err := db.pending(ctx, p)
	// with nothing to do there is nothing to write, which a full disk would not take
	if err != nil || dryRun || len(names) == 0 {
		return names, err
	}
	unlock, err := db.lockSchema(ctx)
	if err != nil {
		return nil, fmt.Errorf("wait for another process to migrate: %w", err)
	}
	defer unlock()
	if names, err = db.pending(ctx, p); err != nil || len(names) == 0 { // another process migrated meanwhile
		return names, err
	}
	if _, err := p.Up(ctx); err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	return names, nil
}

// pending names the migrations that were not run yet, also one that is older than others that were.
func (db *DB) pending(ctx context.Context, p *goose.Provider) ([]string, error) {
	ran, err := versions(ctx, db.Read())
	if err != nil {
		return nil, fmt.Errorf("read schema versions: %w", err)
	}
	var newest int64
	var names []string
	for _, s := range p.ListSources() {
		newest = max(newest, s.Version)
		if !slices.Contains(ran, s.Version) {
			names = append(names, filepath.Base(s.Path))
		}
	}
	if len(ran) > 0 && slices.Max(ran) > newest {
		return nil, ErrNewer
	}
	return names, nil
}

// lockSchema waits until no other process migrates, and keeps them from it until unlock. The
// lock is a transaction that changes nothing, so it goes with a process that dies: on PostgreSQL
// it holds an advisory lock. On SQLite, where a transaction on the database would be in the way of
// the migrations, it locks an empty file next to it, which stays.
func (db *DB) lockSchema(ctx context.Context) (unlock func(), err error) {
	pool, free := db.write, func() error { return nil }
	if !db.Postgres() {
		if err := ownFile(db.where + "-migrate"); err != nil {
			return nil, err
		}
		if pool, err = sql.Open("sqlite", sqliteURL(db.where+"-migrate")+
			"?_pragma=busy_timeout(60000)&_txlock=exclusive"); err != nil {
			return nil, err
		}
		free = pool.Close
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err == nil && db.Postgres() {
		_, err = tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(418312017524)") // any number that is ours
	}
	unlock = func() {
		if tx != nil {
			_ = tx.Rollback()
		}
		_ = free()
	}
	if err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// versions are those of the migrations that were run.
func versions(ctx context.Context, c *Conn) ([]int64, error) {
	migrated, err := One(ctx, c, Value[bool], c.DB.dialect.migrated)
	if err != nil || !migrated {
		return nil, err
	}
	return All(ctx, c, Value[int64], "SELECT version_id FROM "+goose.DefaultTablename)
}
