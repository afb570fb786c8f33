package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// carriedAtOnce is how many rows are carried over in one transaction.
const carriedAtOnce = 512

// Migrate brings the schema up to date and names what it ran; with dryRun it only names it. It begins the chains of
// objects that are older than these: each with an event that has its row as it is, and for a request the last event of
// its chain of format 1. Materials with terms of data use that were not found by them are indexed.
func (db *DB) Migrate(ctx context.Context, dryRun bool) ([]string, error) {
	names, err := db.DB.Migrate(ctx, dryRun)
	if err != nil || dryRun {
		return names, err
	}
	if err := db.carryOver(ctx); err != nil || !slices.Contains(names, dataUsesFound) {
		return names, err
	}
	return names, db.indexDataUses(ctx)
}

// dataUsesFound is the migration since which materials are found by their terms of data use.
const dataUsesFound = "00112_data_uses_found.sql"

// indexDataUses indexes the materials that have terms of data use.
func (db *DB) indexDataUses(ctx context.Context) error {
	ids, err := sqldb.All(ctx, db.DB.Read(), sqldb.Value[int64], `SELECT id FROM materials
		WHERE category = 'DATASET' AND additional_metadata LIKE '%DUO%'
		UNION SELECT material_id FROM transfer_facts WHERE data_uses NOT IN ('null', '[]')`)
	for some := range slices.Chunk(ids, carriedAtOnce) {
		if err == nil {
			err = db.Tx(ctx, func(ctx context.Context, tx Conn) error { return tx.Materials.Reindex(ctx, some) })
		}
	}
	return err
}

// allCarriedOver is the field of the instance's chain that says that nothing is carried over any more: what has no
// chain since then was added by somebody else than Aliquot.
const allCarriedOver = "carried_over"

// carryOver carries over what is older than the chains, once. The column carry_over.done counts until the instance's
// chain says so; whoever sets it back later gains nothing.
func (db *DB) carryOver(ctx context.Context) error {
	if over, err := db.Read().Chains.allCarriedOver(ctx); err != nil || over {
		return err
	}
	done, err := sqldb.One(ctx, db.DB.Read(), sqldb.Value[bool], "SELECT done FROM carry_over")
	if err != nil {
		return err
	}
	if !done {
		if err := carryOver(ctx, db.Tx); err != nil {
			return err
		}
	}
	return db.Tx(ctx, func(ctx context.Context, tx Conn) error {
		if _, err := tx.Log.Lock(ctx); err != nil {
			return err
		}
		if over, err := tx.Chains.allCarriedOver(ctx); err != nil || over { // by another process
			return err
		}
		_, err := tx.Chains.Append(ctx, ChainAct{Chain: InstanceChain, Row: record.Row{allCarriedOver: {Text: "true"}},
			Events: []*ChainEvent{{Kind: record.CarriedOver}}})
		return err
	})
}

func (st Chains) allCarriedOver(ctx context.Context) (bool, error) {
	text, err := sqldb.One(ctx, st.conn, sqldb.Value[string], "SELECT state FROM chains WHERE name = $1", InstanceChain)
	if err != nil {
		return false, err
	}
	state, err := record.ParseState(text)
	_, over := state.Detail.Get(allCarriedOver)
	return over, err
}

// carryOver begins the chains of all objects that have none, some in each transaction. What failed continues with the
// next ones.
func carryOver(ctx context.Context, tx func(context.Context, func(context.Context, Conn) error) error) error {
	steps := []func(ctx context.Context, c Conn, after any) (n int, last any, err error){}
	for _, name := range sortedTables() {
		if t := recordedTables[name]; t.part == "" {
			steps = append(steps, func(ctx context.Context, c Conn, after any) (int, any, error) {
				return c.Chains.carryObjects(ctx, name, t, after)
			})
		}
	}
	steps = append(steps, func(ctx context.Context, c Conn, _ any) (int, any, error) {
		return c.Chains.carryAudit(ctx)
	})
	for _, step := range steps {
		// The key with which a part ended, so that the next one need not look for its beginning. What others added in
		// front of it meanwhile is found at last, when all is looked through once more.
		var after any
		for more := true; more; {
			var n int
			var last any
			if err := tx(ctx, func(ctx context.Context, c Conn) (err error) {
				// only one process at a time
				if _, err = c.Log.Lock(ctx); err == nil {
					n, last, err = step(ctx, c, after)
				}
				return err
			}); err != nil {
				return fmt.Errorf("begin the record: %w", err)
			}
			if n < carriedAtOnce {
				last = nil
			}
			more, after = n == carriedAtOnce || after != nil, last
		}
	}
	return nil
}

func sortedTables() (names []string) {
	for name := range recordedTables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// unchained is the condition of rows of a table that have no chain.
func (t recordedTable) unchained(table string) string {
	return "NOT EXISTS (SELECT 1 FROM chains WHERE name = '" + t.object + "/' || CAST(" + table + "." + t.key +
		" AS TEXT))"
}

// carryObjects begins the chains of some objects behind a key that have none, and returns how many and the last key;
// nil is before all keys.
func (st Chains) carryObjects(ctx context.Context, table string, t recordedTable, after any) (n int, last any,
	err error) {
	condition, args := t.unchained(table), []any{}
	if after != nil {
		condition, args = condition+" AND "+t.key+" > $1", []any{after}
	}
	rows, last, err := st.rows(ctx, table, t, condition+" ORDER BY "+t.key+fmt.Sprint(" LIMIT ", carriedAtOnce),
		args...)
	if err != nil || len(rows) == 0 {
		return 0, nil, err
	}
	acts := make([]ChainAct, 0, len(rows))
	var keys []string
	for key, row := range rows {
		keys = append(keys, key)
		event := &ChainEvent{Kind: record.CarriedOver}
		if t.object == "request" {
			event.Draft = record.CarryDraft(headOf(row))
		}
		acts = append(acts, ChainAct{Chain: t.object + "/" + key, Row: row, Events: []*ChainEvent{event}})
	}
	if err := st.addParts(ctx, t.object, keys, rows); err != nil {
		return 0, nil, err
	}
	_, err = st.Append(ctx, acts...)
	return len(rows), last, err
}

// headOf is the last event of a request's chain of format 1.
func headOf(row record.Row) record.Head {
	var h record.Head
	_, _ = fmt.Sscan(row["last_seq"].Text, &h.Seq)
	h.Hash = row["last_hash"].Text
	return h
}

// rows reads rows of a recorded table by the key of their object; those of the same object are joined. last is the key
// of the last one.
func (st Chains) rows(ctx context.Context, table string, t recordedTable, condition string,
	args ...any) (found map[string]record.Row, last any, err error) {
	columns := t.columns(table)
	found = map[string]record.Row{}
	_, err = sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			return err
		}
		key, row, err := t.read(table, values, false)
		if err != nil {
			return err
		}
		if found[key] == nil {
			found[key] = record.Row{}
		}
		for name, value := range row {
			found[key][name] = value
		}
		last = values[0]
		return nil
	}, "SELECT "+strings.Join(columns, ", ")+" FROM "+table+" WHERE "+condition, args...)
	return found, last, err
}

// addParts adds to the rows of objects of a kind, by key, those of their parts.
func (st Chains) addParts(ctx context.Context, object string, keys []string, rows map[string]record.Row) error {
	for _, table := range recordedOf(object) {
		t := recordedTables[table]
		if t.part == "" {
			continue
		}
		parts, err := st.rowsOf(ctx, table, t, keys)
		if err != nil {
			return err
		}
		for key, part := range parts {
			if rows[key] == nil {
				rows[key] = record.Row{}
			}
			for name, value := range part {
				rows[key][name] = value
			}
		}
	}
	return nil
}

// rowsOf reads the rows of a table of some objects.
func (st Chains) rowsOf(ctx context.Context, table string, t recordedTable, keys []string) (map[string]record.Row,
	error) {
	found := map[string]record.Row{}
	for some := range slices.Chunk(keys, sqldb.MaxIn) {
		places, args := sqldb.In(nil, keysOf(t, some))
		for i := len(some); i < len(args); i++ {
			args[i] = args[0] // what pads the list has the type of the others
		}
		rows, _, err := st.rows(ctx, table, t, t.key+" IN ("+places+")", args...)
		if err != nil {
			return nil, err
		}
		for key, row := range rows {
			found[key] = row
		}
	}
	return found, nil
}

// carryAudit records some audit events that are older than the chains, and notes how far they are; done after the last.
func (st Chains) carryAudit(ctx context.Context) (n int, last any, err error) {
	type span struct{ after, until int64 }
	left, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, s *span) error { return r.Scan(&s.after, &s.until) },
		"SELECT audit_after, audit_until FROM carry_over")
	if err != nil {
		return 0, nil, err
	}
	rows, err := auditRows(ctx, st.conn, "id > $1 AND id <= $2 ORDER BY id"+fmt.Sprint(" LIMIT ", carriedAtOnce),
		left.after, left.until)
	if err != nil {
		return 0, nil, err
	}
	r := recorder{acts: map[string]*ChainAct{}}
	for _, values := range rows {
		if err := r.addAudit(sqldb.Change{Table: "audit_events", Values: values}); err != nil {
			return 0, nil, err
		}
		left.after = values[0].(int64)
	}
	if _, err := st.Append(ctx, r.list()...); err != nil {
		return 0, nil, err
	}
	_, err = st.conn.Exec(ctx, "UPDATE carry_over SET audit_after = $1, done = $2", left.after,
		len(rows) < carriedAtOnce)
	return len(rows), nil, err
}

// auditRows reads audit events, each with the values of auditColumnsRecorded.
func auditRows(ctx context.Context, c *sqldb.Conn, condition string, args ...any) ([][]any, error) {
	return sqldb.All(ctx, c, func(r sqldb.Row, values *[]any) error {
		*values = make([]any, len(auditColumnsRecorded))
		into := make([]any, len(*values))
		for i := range into {
			into[i] = &(*values)[i]
		}
		return r.Scan(into...)
	}, "SELECT "+strings.Join(auditColumnsRecorded, ", ")+" FROM audit_events WHERE "+condition, args...)
}

// keysOf are the keys of objects as their table has them.
func keysOf(t recordedTable, keys []string) []any {
	list := make([]any, len(keys))
	for i, key := range keys {
		list[i] = key
		if t.object == "user" {
			id, err := uuid.Parse(key)
			if err == nil {
				list[i] = id
			}
			continue
		}
		if n, err := strconv.ParseInt(key, 10, 64); err == nil {
			list[i] = n
		}
	}
	return list
}
