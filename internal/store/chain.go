package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"
)

// ChainEvent is an event to append to a chain.
type ChainEvent struct {
	Kind  string
	Actor string // a user's UUID, "" Aliquot itself
	Draft record.Draft
}

// StoredEvent is an event of a chain with the texts that are still there of those that it has commitments to.
type StoredEvent struct {
	ID int64
	record.Event
	Openings map[string]record.Opening // by field

	chain int64
	end   record.Head // of the chain, by its row
	state string      // likewise, if this is the last event
}

// ChainAct is what one act did to an object.
type ChainAct struct {
	Chain  string
	Actor  string        // of the event if Events is empty
	Row    record.Row    // the fields of the object that it may have changed, which the first event notes
	Events []*ChainEvent // none: one that reports whether the object was made, changed or removed, if it was
	erase  []string      // salts of texts that are erased
}

// The kinds of events that note what an act did to a row and have no kind of their own.
const (
	RowCreated = "created"
	RowChanged = "changed"
	RowRemoved = "removed"
)

// Append seals the events of acts on different objects after the last ones of their chains, which begin with them if
// there are none, and stores them with their texts, as part of what is next for the log. Until commit nobody else can
// append to these chains; a transaction appends to several in the order of their names. A chain is begun by the act
// that makes its object, of which nobody else knows yet. All events have the time of the transaction.
func (st Chains) Append(ctx context.Context, acts ...ChainAct) ([]StoredEvent, error) {
	slices.SortFunc(acts, func(a, b ChainAct) int { return strings.Compare(a.Chain, b.Chain) })
	var stored []StoredEvent
	for some := range slices.Chunk(acts, sqldb.MaxIn) {
		rows, err := st.lock(ctx, some)
		if err != nil {
			return nil, err
		}
		errs := make([]error, len(some))
		sqldb.Parallel(len(some), func(i int) { errs[i] = rows[some[i].Chain].apply(some[i], st.conn.Now) })
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
		var grown []*chainRow
		for _, act := range some {
			if row := rows[act.Chain]; len(row.events) > 0 {
				grown = append(grown, row)
			}
		}
		if err := st.save(ctx, grown); err != nil {
			return nil, err
		}
		for _, row := range grown {
			stored = append(stored, row.events...)
		}
	}
	return stored, nil
}

type chainRow struct {
	id     int64
	name   string
	head   record.Head
	state  record.State
	salts  map[string]string // of the texts that the state has commitments to, by field
	events []StoredEvent     // that are appended
}

// lock reads the chains of some acts and locks them. One that is new has no id.
func (st Chains) lock(ctx context.Context, acts []ChainAct) (map[string]*chainRow, error) {
	rows, names := map[string]*chainRow{}, make([]string, len(acts))
	for i, act := range acts {
		names[i] = act.Chain
		rows[act.Chain] = &chainRow{name: act.Chain, salts: map[string]string{}}
	}
	places, args := sqldb.In(nil, names)
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, c *chainRow) error {
		c.salts = map[string]string{}
		var state string
		err := r.Scan(&c.id, &c.name, &c.head.Seq, &c.head.Hash, &state, sqldb.FromJSON(&c.salts))
		if err == nil {
			c.state, err = record.ParseState(state)
		}
		read := *c
		rows[c.name] = &read
		return err
	}, "SELECT id, name, last_seq, last_hash, state, salts FROM chains WHERE name IN ("+places+") ORDER BY name"+
		st.conn.Dialect().ForUpdate, args...)
	return rows, err
}

// apply appends the events of an act.
func (c *chainRow) apply(act ChainAct, at time.Time) error {
	events := act.Events
	if len(events) == 0 {
		events = []*ChainEvent{{Actor: act.Actor}}
	}
	maps.DeleteFunc(c.salts, func(_, salt string) bool { return slices.Contains(act.erase, salt) })
	for i, e := range events {
		draft := e.Draft.Clone() // the transaction may run again
		if i == 0 {
			draft.SetRow(c.state, c.salts, act.Row)
		}
		if len(act.Events) == 0 && len(draft.Detail) == 0 {
			return nil
		}
		first := len(c.state.Detail) == 0
		var err error
		if c.state, err = draft.Apply(c.state); err != nil {
			return err
		}
		kind := e.Kind
		if kind == "" {
			kind = c.kind(first)
		}
		for _, f := range draft.Detail {
			if field, ok := strings.CutPrefix(f.Name, record.SetPrefix); ok {
				if delete(c.salts, field); f.Mark == record.Committed {
					c.salts[field] = draft.Openings[f.Name].Salt
				}
			}
		}
		sealed := c.head.Seal(record.Event{Chain: c.name, Kind: kind, Actor: e.Actor, At: at,
			Detail: draft.Detail.String()})
		c.head = sealed.Head()
		c.events = append(c.events, StoredEvent{Event: sealed, Openings: draft.Openings})
	}
	return nil
}

// kind is that of an event that has none of its own; first: the object had no state before.
func (c *chainRow) kind(first bool) string {
	switch {
	case first:
		return RowCreated
	case slices.ContainsFunc(c.state.Detail, func(f record.Field) bool { return f.Mark != record.Null }):
		return RowChanged
	default:
		return RowRemoved
	}
}

// openingsJSON are the texts of an event as its row has them.
func openingsJSON(openings map[string]record.Opening) (*string, error) {
	if len(openings) == 0 {
		return nil, nil
	}
	raw, err := sqldb.JSON(openings)
	return &raw, err
}

// save writes chains that have grown, with their new events.
func (st Chains) save(ctx context.Context, rows []*chainRow) error {
	byName := map[string]*chainRow{}
	var chains, events [][]any
	for _, c := range rows {
		byName[c.name] = c
		salts, err := sqldb.JSON(c.salts)
		if err != nil {
			return err
		}
		chains = append(chains, []any{c.name, c.head.Seq, c.head.Hash, c.state.String(), salts, 0})
	}
	err := st.insert(ctx, "chains (name, last_seq, last_hash, state, salts, logged_seq)", chains,
		"ON CONFLICT (name) DO UPDATE SET "+sqldb.Excluded([]string{"last_seq", "last_hash", "state", "salts"})+
			" RETURNING id, name", func(r sqldb.Row, _ *struct{}) error {
			var id int64
			var name string
			err := r.Scan(&id, &name)
			byName[name].id = id
			return err
		})
	if err != nil {
		return err
	}
	for _, c := range rows {
		for i := range c.events {
			e := &c.events[i]
			e.chain = c.id
			texts, err := openingsJSON(e.Openings)
			if err != nil {
				return err
			}
			events = append(events, []any{c.id, e.Seq, e.Kind, e.Actor, e.At, e.Detail, e.Prev, e.Hash, texts})
		}
	}
	return st.insert(ctx, "chain_events (chain_id, seq, kind, actor, at, detail, prev_hash, hash, texts)", events,
		"", nil)
}

// insert adds rows to a table, named with its columns, some at a time.
func (st Chains) insert(ctx context.Context, into string, rows [][]any, ending string,
	scan func(sqldb.Row, *struct{}) error) error {
	for some := range sqldb.Batches(rows, st.conn.Dialect().AtOnce) {
		if _, err := sqldb.All(ctx, st.conn, scan, "INSERT INTO "+into+" VALUES "+
			sqldb.Places(len(some), len(some[0]))+" "+ending, slices.Concat(some...)...); err != nil {
			return err
		}
	}
	return nil
}

// Erase deletes texts of a chain, by the number of their event and by field, and appends the event that says so. Those
// that are gone already are left out, and an erasure of nothing is no event. For the field with the hash of a document,
// the caller deletes the content. In SQLite nothing of the texts is left in the file only if the transaction is one of
// DB.Erasing.
func (st Chains) Erase(ctx context.Context, chain, actor string, fields map[int64][]string) error {
	erased := map[int64][]string{}
	var salts []string
	for seq, names := range fields {
		list, err := st.events(ctx, "c.name = $1 AND e.seq = $2", chain, seq)
		if err != nil {
			return err
		}
		for _, name := range names {
			for _, e := range list {
				o, stored := e.Openings[name]
				if !stored {
					continue
				}
				delete(e.Openings, name)
				salts, erased[seq] = append(salts, o.Salt), append(erased[seq], name)
			}
			if record.ErasesContent(name) {
				erased[seq] = append(erased[seq], name)
			}
		}
		if err := st.saveTexts(ctx, list); err != nil {
			return err
		}
	}
	if len(erased) == 0 {
		return nil
	}
	_, err := st.Append(ctx, ChainAct{Chain: chain, erase: salts,
		Events: []*ChainEvent{{record.Erased, actor, record.EraseDraft(erased)}}})
	return err
}

// saveTexts replaces the texts of events by those that are left.
func (st Chains) saveTexts(ctx context.Context, list []StoredEvent) error {
	for _, e := range list {
		texts, err := openingsJSON(e.Openings)
		if err != nil {
			return err
		}
		if _, err := st.conn.Exec(ctx, "UPDATE chain_events SET texts = $2 WHERE id = $1", e.ID, texts); err != nil {
			return err
		}
	}
	return nil
}

// Events reads events of a chain after a number, in their order.
func (st Chains) Events(ctx context.Context, chain string, after int64, limit int) ([]StoredEvent, error) {
	return st.events(ctx, "c.name = $1 AND e.seq > $2 ORDER BY e.seq LIMIT "+strconv.Itoa(limit), chain, after)
}

func (st Chains) events(ctx context.Context, condition string, args ...any) ([]StoredEvent, error) {
	scan := func(r sqldb.Row, e *StoredEvent) error {
		return r.Scan(&e.ID, &e.chain, &e.Chain, &e.Seq, &e.Kind, &e.Actor, sqldb.UTC(&e.At), &e.Detail, &e.Prev,
			&e.Hash, sqldb.FromJSON(&e.Openings), &e.end.Seq, &e.end.Hash, &e.state)
	}
	return sqldb.All(ctx, st.conn, scan, `SELECT e.id, c.id, c.name, e.seq, e.kind, e.actor, e.at, e.detail,
		e.prev_hash, e.hash, e.texts, c.last_seq, c.last_hash, CASE WHEN e.seq = c.last_seq THEN c.state ELSE '' END
		FROM chain_events e JOIN chains c ON c.id = e.chain_id
		WHERE `+condition, args...)
}

// Count counts the events of all chains.
func (st Chains) Count(ctx context.Context) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COALESCE(SUM(last_seq), 0) FROM chains")
}

// Verify checks every chain, its events and texts, and passes what is wrong to fault, at most one error for each chain.
// It reads some events at a time while others may append, and returns how many there are. event gets each event that
// holds, and object each chain that is whole, to compare the object's row with it; both may be nil.
func (st Chains) Verify(ctx context.Context, fault func(error), object func(*record.Verifier),
	event func(StoredEvent)) (n int64, err error) {
	const batch = 512
	var v *record.Verifier
	var last StoredEvent
	var broken bool
	finish := func() {
		if v == nil || broken {
			return
		}
		err := v.End(last.end)
		if err == nil && last.state != v.State.String() {
			err = &record.Fault{Chain: v.Chain, Seq: v.Head.Seq, What: "the stored state is not what it led to"}
		}
		if err != nil {
			fault(err)
		} else if object != nil {
			object(v)
		}
	}
	for {
		list, err := st.events(ctx, "(e.chain_id, e.seq) > ($1, $2) ORDER BY e.chain_id, e.seq LIMIT "+
			strconv.Itoa(batch), last.chain, last.Seq)
		if err != nil {
			return n, err
		}
		for _, e := range list {
			if v == nil || e.chain != last.chain {
				finish()
				v, broken = &record.Verifier{Chain: e.Chain}, false
			}
			last = e
			if n++; broken {
				continue
			}
			if err := v.Add(e.Event, e.Openings); err != nil {
				fault(err)
				broken = true
			} else if event != nil {
				event(e)
			}
		}
		if len(list) < batch {
			break
		}
	}
	finish()
	return n, st.verifyEmpty(ctx, fault)
}

// verifyEmpty finds chains all of whose events are missing.
func (st Chains) verifyEmpty(ctx context.Context, fault func(error)) error {
	empty, err := sqldb.All(ctx, st.conn, sqldb.Value[string], `SELECT name FROM chains WHERE last_seq > 0
		AND NOT EXISTS (SELECT 1 FROM chain_events e WHERE e.chain_id = chains.id) ORDER BY id LIMIT 100`)
	for _, name := range empty {
		fault(&record.Fault{Chain: name, What: "all of its events are missing"})
	}
	return err
}
