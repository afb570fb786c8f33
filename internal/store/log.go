package store

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"

	"golang.org/x/mod/sumdb/tlog"
)

// Append adds up to limit events to the log that are not in it, those of one chain in their order, and returns how
// many. Only one transaction at a time appends; another waits for it. A chain to which somebody is appending waits for
// the next time.
func (st Log) Append(ctx context.Context, limit int) (n int, err error) {
	size, err := st.Lock(ctx)
	if err != nil {
		return 0, err
	}
	next, err := st.next(ctx, limit)
	if err != nil || len(next) == 0 {
		return 0, err
	}
	edge, err := record.ReadEdge(size, st.Tiles(ctx))
	if err != nil {
		return 0, err
	}
	var tiles []record.Tile
	var entries [][]any
	chains := map[int64]int64{}
	for i, e := range next {
		tiles = append(tiles, edge.Append(record.Leaf(e.hash))...)
		entries = append(entries, []any{size + int64(i), e.id})
		chains[e.chain] = e.seq
	}
	if err := (Chains(st)).insert(ctx, "log_entries (entry, event_id)", entries, "", nil); err != nil {
		return 0, err
	}
	for _, t := range append(tiles, edge.Partial()...) {
		if _, err := st.conn.Exec(ctx, `INSERT INTO log_tiles (level, number, data) VALUES ($1, $2, $3)
			ON CONFLICT (level, number) DO UPDATE SET data = excluded.data`, t.Level, t.Index, t.Data); err != nil {
			return 0, err
		}
	}
	if err := st.logged(ctx, chains); err != nil {
		return 0, err
	}
	_, err = st.conn.Exec(ctx, "UPDATE log_head SET size = $1", edge.Size)
	return len(next), err
}

// Lock makes others wait until commit who append to the log or change its keys, and returns its size.
func (st Log) Lock(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT size FROM log_head"+st.conn.Dialect().ForUpdate)
}

// nextEntry is an event that is not in the log yet.
type nextEntry struct {
	id, chain, seq int64
	hash           string
}

// next reads and locks what is next for the log.
func (st Log) next(ctx context.Context, limit int) ([]nextEntry, error) {
	ids, err := sqldb.All(ctx, st.conn, sqldb.Value[int64], "SELECT id FROM chains WHERE logged_seq < last_seq "+
		"ORDER BY id LIMIT "+strconv.Itoa(limit)+st.conn.Dialect().SkipLocked)
	if err != nil {
		return nil, err
	}
	var list []nextEntry
	scan := func(r sqldb.Row, e *nextEntry) error { return r.Scan(&e.id, &e.chain, &e.seq, &e.hash) }
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In([]any{limit - len(list)}, some)
		more, err := sqldb.All(ctx, st.conn, scan, `SELECT e.id, e.chain_id, e.seq, e.hash FROM chains c
			JOIN chain_events e ON e.chain_id = c.id AND e.seq > c.logged_seq WHERE c.id IN (`+places+`)
			ORDER BY c.id, e.seq LIMIT $1`, args...)
		if list = append(list, more...); err != nil || len(list) >= limit {
			return list, err
		}
	}
	return list, nil
}

// logged notes the last event of each chain that is in the log.
func (st Log) logged(ctx context.Context, chains map[int64]int64) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(chains)), sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		if _, err := st.conn.Exec(ctx, `UPDATE chains SET logged_seq = (SELECT MAX(e.seq) FROM chain_events e
			JOIN log_entries l ON l.event_id = e.id WHERE e.chain_id = chains.id AND e.seq > chains.logged_seq)
			WHERE id IN (`+places+")", args...); err != nil {
			return err
		}
	}
	return nil
}

// Entries reads the hashes of the events that are the entries of the log from first on.
func (st Log) Entries(ctx context.Context, first int64, limit int) ([]string, error) {
	// CROSS JOIN: without statistics SQLite would begin with the events, and sort.
	return sqldb.All(ctx, st.conn, sqldb.Value[string], `SELECT e.hash FROM log_entries l
		CROSS JOIN chain_events e WHERE e.id = l.event_id AND l.entry >= $1 ORDER BY l.entry
		LIMIT `+strconv.Itoa(limit), first)
}

// Tiles reads tiles of the log; NotFound if there is none.
func (st Log) Tiles(ctx context.Context) record.TileData {
	return func(level int, index int64) ([]byte, error) {
		return sqldb.One(ctx, st.conn, sqldb.Value[[]byte],
			"SELECT data FROM log_tiles WHERE level = $1 AND number = $2", level, index)
	}
}

// Tile reads the tile at a path of C2SP tlog-tiles; NotFound where the log is not that long yet.
func (st Log) Tile(ctx context.Context, p record.TilePath) ([]byte, error) {
	var data []byte
	var err error
	width := p.Width * tlog.HashSize
	if p.Entries {
		width = p.Width * record.EntrySize
		var hashes []string
		hashes, err = st.Entries(ctx, p.Index*record.TileWidth, p.Width)
		for _, hash := range hashes {
			data = record.AppendEntry(data, hash)
		}
	} else {
		data, err = st.Tiles(ctx)(p.Level, p.Index)
	}
	if err != nil || len(data) < width {
		return nil, noTile(err)
	}
	return data[:width], nil
}

func noTile(err error) error {
	if err != nil {
		return err
	}
	return exchange.Errorf(exchange.NotFound, "The log is not that long.")
}

// Size reads the size of the log.
func (st Log) Size(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT size FROM log_head")
}

// Head reads the size of the log and the root of its tree. The checkpoint has no origin.
func (st Log) Head(ctx context.Context) (c record.Checkpoint, err error) {
	if c.Size, err = st.Size(ctx); err != nil {
		return c, err
	}
	edge, err := record.ReadEdge(c.Size, st.Tiles(ctx))
	if err != nil {
		return c, err
	}
	c.Root = edge.Root()
	return c, nil
}

// Waiting counts the events that are not in the log yet, and returns when the oldest of them happened.
func (st Log) Waiting(ctx context.Context) (n int64, since *time.Time, err error) {
	const waiting = "FROM chains c JOIN chain_events e ON e.chain_id = c.id AND e.seq > c.logged_seq " +
		"WHERE c.logged_seq < c.last_seq"
	scan := func(r sqldb.Row, _ *struct{}) error { return r.Scan(&n, sqldb.UTCOrNull(&since)) }
	_, err = sqldb.One(ctx, st.conn, scan, "SELECT (SELECT COUNT(*) "+waiting+"), (SELECT e.at "+waiting+
		" ORDER BY e.at LIMIT 1)")
	return n, since, err
}

// SavedCheckpoint is a signed checkpoint of the log.
type SavedCheckpoint struct {
	Size     int64
	At       time.Time // when it was signed
	Note     string    // signed, with cosignatures
	Response []byte    // of a timestamping authority; nil: none
}

const checkpointColumns = "size, at, note, response"

func scanCheckpoint(r sqldb.Row, c *SavedCheckpoint) error {
	return r.Scan(&c.Size, sqldb.UTC(&c.At), &c.Note, &c.Response)
}

// SaveCheckpoint stores a signed checkpoint. One of the same size that is there stays, with its timestamp.
func (st Log) SaveCheckpoint(ctx context.Context, size int64, note string) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO log_checkpoints (size, at, note) VALUES ($1, $2, $3)
		ON CONFLICT (size) DO NOTHING`, size, st.conn.Now, note)
	return err
}

// AddToCheckpoint replaces the note of a checkpoint by one with cosignatures, and stores its timestamp, unless that is
// nil. A checkpoint that has a timestamp stays as it is, because the timestamp is of its signatures too.
func (st Log) AddToCheckpoint(ctx context.Context, size int64, note string, response []byte) error {
	_, err := st.conn.Exec(ctx, "UPDATE log_checkpoints SET note = $2, response = $3 "+
		"WHERE size = $1 AND response IS NULL", size, note, response)
	return err
}

// Checkpoint reads the newest checkpoint of a size of at least min; NotFound if there is none.
func (st Log) Checkpoint(ctx context.Context, min int64) (SavedCheckpoint, error) {
	return sqldb.One(ctx, st.conn, scanCheckpoint, "SELECT "+checkpointColumns+
		" FROM log_checkpoints WHERE size >= $1 ORDER BY size DESC LIMIT 1", min)
}

// Keys reads the public keys of the log, the newest first: those that sign, and if retired also those that did.
func (st Log) Keys(ctx context.Context, retired bool) ([]string, error) {
	return sqldb.All(ctx, st.conn, sqldb.Value[string], "SELECT public_key FROM log_keys "+
		"WHERE $1 OR retired_at IS NULL ORDER BY id DESC", retired)
}

// AddKey adds a public key; one that is there stays.
func (st Log) AddKey(ctx context.Context, key string) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO log_keys (public_key, created_at) VALUES ($1, $2)
		ON CONFLICT (public_key) DO NOTHING`, key, st.conn.Now)
	return err
}

// RetireKey retires a public key.
func (st Log) RetireKey(ctx context.Context, key string) error {
	_, err := st.conn.Exec(ctx, "UPDATE log_keys SET retired_at = $2 WHERE public_key = $1 AND retired_at IS NULL", key,
		st.conn.Now)
	return err
}

// Checkpoints reads the checkpoints of more than a size, the smallest first.
func (st Log) Checkpoints(ctx context.Context, after int64, limit int) ([]SavedCheckpoint, error) {
	return sqldb.All(ctx, st.conn, scanCheckpoint, "SELECT "+checkpointColumns+
		" FROM log_checkpoints WHERE size > $1 ORDER BY size LIMIT "+strconv.Itoa(limit), after)
}

// Prove proves that an event of a chain is in the log of the newest checkpoint; NotFound while that is older than the
// event's entry.
func (st Log) Prove(ctx context.Context, chain string, seq int64) (record.Proof, error) {
	entry, err := sqldb.One(ctx, st.conn, sqldb.Value[int64], `SELECT l.entry FROM log_entries l
		JOIN chain_events e ON e.id = l.event_id JOIN chains c ON c.id = e.chain_id WHERE c.name = $1 AND e.seq = $2`,
		chain, seq)
	if err != nil {
		return record.Proof{}, err
	}
	c, err := st.Checkpoint(ctx, entry+1)
	if err != nil {
		return record.Proof{}, err
	}
	hashes, err := record.ProveInclusion(c.Size, entry, st.Tiles(ctx))
	return record.Proof{Index: entry, Hashes: hashes, Checkpoint: []byte(c.Note)}, err
}

// Verify recomputes the log from the events and passes to fault what differs in the tiles, from the checkpoints that
// are stored and from known, which were stored elsewhere. It reads some entries at a time. The signatures of the
// checkpoints are not checked.
func (st Log) Verify(ctx context.Context, fault func(error), known ...record.Checkpoint) error {
	size, err := st.Size(ctx)
	if err != nil {
		return err
	}
	v := logVerifier{Log: st, fault: fault, known: map[int64][]tlog.Hash{}}
	for _, c := range known {
		if v.known[c.Size] = append(v.known[c.Size], c.Root); c.Size > size {
			fault(fmt.Errorf("log: it has %d entries, but had %d at a checkpoint", size, c.Size))
		}
	}
	if err := v.entries(ctx, size); err != nil {
		return err
	}
	if err := v.beyond(ctx, size); err != nil {
		return err
	}
	return v.lost(ctx)
}

// lost finds events that are not in the log although their chains say so.
func (v *logVerifier) lost(ctx context.Context) error {
	scan := func(r sqldb.Row, f *record.Fault) error { return r.Scan(&f.Chain, &f.Seq) }
	lost, err := sqldb.All(ctx, v.conn, scan, `SELECT c.name, e.seq FROM chain_events e
		JOIN chains c ON c.id = e.chain_id WHERE NOT EXISTS (SELECT 1 FROM log_entries l WHERE l.event_id = e.id)
		AND e.seq <= c.logged_seq ORDER BY e.id LIMIT 100`)
	for _, f := range lost {
		f.What = "it is not in the log"
		v.fault(&f)
	}
	return err
}

// logVerifier recomputes a log.
type logVerifier struct {
	Log
	fault func(error)
	known map[int64][]tlog.Hash // roots by size
	edge  record.Edge
}

func (v *logVerifier) entries(ctx context.Context, size int64) error {
	const batch = 4096
	type entry struct {
		number, event int64
		hash          *string // nil: the event is missing
	}
	for v.edge.Size < size {
		scan := func(r sqldb.Row, e *entry) error { return r.Scan(&e.number, &e.event, &e.hash) }
		list, err := sqldb.All(ctx, v.conn, scan, `SELECT l.entry, l.event_id, e.hash FROM log_entries l
			LEFT JOIN chain_events e ON e.id = l.event_id
			WHERE l.entry >= $1 AND l.entry < $2 ORDER BY l.entry LIMIT `+strconv.Itoa(batch), v.edge.Size, size)
		if err != nil {
			return err
		}
		if err := v.checkpoints(ctx, v.edge.Size, v.edge.Size+int64(len(list))); err != nil {
			return err
		}
		for _, e := range list {
			if e.number != v.edge.Size || e.hash == nil {
				v.fault(fmt.Errorf("log, entry %d: its event is missing", v.edge.Size))
				return nil
			}
			if err := v.append(ctx, record.Leaf(*e.hash)); err != nil {
				return err
			}
		}
		if len(list) == 0 {
			v.fault(fmt.Errorf("log: it ends at %d, and not at %d as its record says", v.edge.Size, size))
			return nil
		}
	}
	return v.compare(ctx, v.edge.Partial())
}

// beyond finds checkpoints of a longer log. One that was signed meanwhile is not one.
func (v *logVerifier) beyond(ctx context.Context, size int64) error {
	list, err := sqldb.All(ctx, v.conn, sqldb.Value[int64], `SELECT size FROM log_checkpoints
		WHERE size > $1 AND size > (SELECT size FROM log_head) ORDER BY size LIMIT 100`, size)
	for _, longer := range list {
		v.fault(fmt.Errorf("log: it has %d entries, but had %d at a checkpoint", size, longer))
	}
	return err
}

func (v *logVerifier) append(ctx context.Context, leaf tlog.Hash) error {
	full := v.edge.Append(leaf)
	for _, root := range v.known[v.edge.Size] {
		if root != v.edge.Root() {
			v.fault(fmt.Errorf("log: its first %d entries are not those of the checkpoint of that size", v.edge.Size))
		}
	}
	delete(v.known, v.edge.Size)
	return v.compare(ctx, full)
}

// checkpoints reads the roots of the stored checkpoints of sizes up to one, after another.
func (v *logVerifier) checkpoints(ctx context.Context, after, to int64) error {
	list, err := sqldb.All(ctx, v.conn, scanCheckpoint, "SELECT "+checkpointColumns+
		" FROM log_checkpoints WHERE size > $1 AND size <= $2", after, to)
	for _, c := range list {
		stored, err := record.ParseCheckpoint(c.Note)
		if err != nil || stored.Size != c.Size {
			v.fault(fmt.Errorf("log: the checkpoint of size %d was altered", c.Size))
			continue
		}
		v.known[c.Size] = append(v.known[c.Size], stored.Root)
	}
	return err
}

func (v *logVerifier) compare(ctx context.Context, tiles []record.Tile) error {
	for _, t := range tiles {
		data, err := v.Tiles(ctx)(t.Level, t.Index)
		if err != nil && exchange.CodeOf(err) != exchange.NotFound {
			return err
		}
		if !bytes.HasPrefix(data, t.Data) { // it may have grown meanwhile
			v.fault(fmt.Errorf("log, tile %d of level %d: it is not that of the events", t.Index, t.Level))
		}
	}
	return nil
}
