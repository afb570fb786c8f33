package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"
)

// ChainEvent is an event to append to a chain.
type ChainEvent struct {
	Kind  string
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

// Append seals the events of one act behind the last of a chain, which begins with them if it has none, and stores them
// with their texts, as part of what is next for the log. Until commit nobody else can append to the chain; a
// transaction that appends to several does so in the order of their names. actor is a user's UUID, "" Aliquot itself.
// All events have the time of the transaction. object is the row that the act led to, whose differences the first event
// notes; nil: the act changed none.
func (st Chains) Append(ctx context.Context, chain, actor string, object record.Row,
	list ...ChainEvent) ([]StoredEvent, error) {
	if len(list) == 0 {
		return nil, nil
	}
	row, err := st.lock(ctx, chain)
	if err != nil {
		return nil, err
	}
	stored := make([]StoredEvent, len(list))
	for i, e := range list {
		draft := e.Draft.Clone() // the transaction may run again
		if i == 0 && object != nil {
			texts, err := st.stateTexts(ctx, row)
			if err != nil {
				return nil, err
			}
			draft.SetRow(row.state, texts, object)
		}
		if row.state, err = draft.Apply(row.state); err != nil {
			return nil, err
		}
		sealed := row.head.Seal(record.Event{Chain: chain, Kind: e.Kind, Actor: actor, At: st.conn.Now,
			Detail: draft.Detail.String()})
		row.head = sealed.Head()
		stored[i] = StoredEvent{Event: sealed, Openings: draft.Openings, chain: row.id}
		if err := st.insert(ctx, &stored[i]); err != nil {
			return nil, err
		}
	}
	_, err = st.conn.Exec(ctx, "UPDATE chains SET last_seq = $2, last_hash = $3, state = $4 WHERE id = $1", row.id,
		row.head.Seq, row.head.Hash, row.state.String())
	return stored, err
}

type chainRow struct {
	id    int64
	head  record.Head
	state record.State
}

// lock reads the row of a chain, which is added if there is none, and locks it.
func (st Chains) lock(ctx context.Context, chain string) (chainRow, error) {
	scan := func(r sqldb.Row, c *chainRow) error {
		var state string
		err := r.Scan(&c.id, &c.head.Seq, &c.head.Hash, &state)
		if err == nil {
			c.state, err = record.ParseState(state)
		}
		return err
	}
	return sqldb.One(ctx, st.conn, scan, `INSERT INTO chains (name, last_seq, last_hash, state) VALUES ($1, 0, '', '')
		ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id, last_seq, last_hash, state`, chain)
}

// stateTexts reads what opens the commitments of a chain's state, by field.
func (st Chains) stateTexts(ctx context.Context, row chainRow) (map[string]record.Opening, error) {
	texts := map[string]record.Opening{}
	if !slices.ContainsFunc(row.state.Detail, func(f record.Field) bool { return f.Mark == record.Committed }) {
		return texts, nil
	}
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var field string
		var o record.Opening
		if err := r.Scan(&field, &o.Salt, &o.Text); err != nil {
			return err
		}
		field = strings.TrimPrefix(field, record.SetPrefix)
		if f, ok := row.state.Get(field); ok && o.Opens(f.Value) {
			texts[field] = o
		}
		return nil
	}, `SELECT t.field, t.salt, t.text FROM chain_events e JOIN chain_texts t ON t.event_id = e.id
		WHERE e.chain_id = $1 AND t.field LIKE 'set.%'`, row.id)
	return texts, err
}

func (st Chains) insert(ctx context.Context, e *StoredEvent) (err error) {
	e.ID, err = sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO chain_events (chain_id, seq, kind, actor, at,
		detail, prev_hash, hash) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		e.chain, e.Seq, e.Kind, e.Actor, e.At, e.Detail, e.Prev, e.Hash)
	if err != nil {
		return err
	}
	for field, o := range e.Openings {
		if _, err := st.conn.Exec(ctx, "INSERT INTO chain_texts (event_id, field, salt, text) VALUES ($1, $2, $3, $4)",
			e.ID, field, o.Salt, o.Text); err != nil {
			return err
		}
	}
	_, err = st.conn.Exec(ctx, "INSERT INTO log_outbox (event_id) VALUES ($1)", e.ID)
	return err
}

// Erase deletes texts of a chain, by the number of their event and by field, and appends the event that says so. Those
// that are gone already are left out, and an erasure of nothing is no event. For the field with the hash of a document,
// the caller deletes the content. In SQLite nothing of the texts is left in the file only if the transaction is one of
// DB.Erasing.
func (st Chains) Erase(ctx context.Context, chain, actor string, fields map[int64][]string) error {
	erased := map[int64][]string{}
	for seq, names := range fields {
		for _, name := range names {
			n, err := st.conn.Exec(ctx, `DELETE FROM chain_texts WHERE field = $3 AND event_id IN (SELECT e.id
				FROM chain_events e JOIN chains c ON c.id = e.chain_id WHERE c.name = $1 AND e.seq = $2)`,
				chain, seq, name)
			if err != nil {
				return err
			}
			if n > 0 || record.ErasesContent(name) {
				erased[seq] = append(erased[seq], name)
			}
		}
	}
	if len(erased) == 0 {
		return nil
	}
	_, err := st.Append(ctx, chain, actor, nil, ChainEvent{record.Erased, record.EraseDraft(erased)})
	return err
}

// Events reads events of a chain behind a number, in their order.
func (st Chains) Events(ctx context.Context, chain string, after int64, limit int) ([]StoredEvent, error) {
	return st.events(ctx, "c.name = $1 AND e.seq > $2 ORDER BY e.seq LIMIT "+strconv.Itoa(limit), chain, after)
}

func (st Chains) events(ctx context.Context, condition string, args ...any) ([]StoredEvent, error) {
	scan := func(r sqldb.Row, e *StoredEvent) error {
		return r.Scan(&e.ID, &e.chain, &e.Chain, &e.Seq, &e.Kind, &e.Actor, sqldb.UTC(&e.At), &e.Detail, &e.Prev,
			&e.Hash, &e.end.Seq, &e.end.Hash, &e.state)
	}
	list, err := sqldb.All(ctx, st.conn, scan, `SELECT e.id, c.id, c.name, e.seq, e.kind, e.actor, e.at, e.detail,
		e.prev_hash, e.hash, c.last_seq, c.last_hash, CASE WHEN e.seq = c.last_seq THEN c.state ELSE '' END
		FROM chain_events e JOIN chains c ON c.id = e.chain_id
		WHERE `+condition, args...)
	if err != nil {
		return nil, err
	}
	return list, st.open(ctx, list)
}

// open reads the texts of events.
func (st Chains) open(ctx context.Context, list []StoredEvent) error {
	at := map[int64]int{}
	var ids []int64
	for i, e := range list {
		if strings.Contains(e.Detail, ":"+string(record.Committed)) {
			at[e.ID], ids = i, append(ids, e.ID)
		}
	}
	for len(ids) > 0 {
		some := ids[:min(len(ids), sqldb.MaxIn)]
		ids = ids[len(some):]
		places, args := sqldb.In(nil, some)
		_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
			var event int64
			var field string
			var o record.Opening
			if err := r.Scan(&event, &field, &o.Salt, &o.Text); err != nil {
				return err
			}
			e := &list[at[event]]
			if e.Openings == nil {
				e.Openings = map[string]record.Opening{}
			}
			e.Openings[field] = o
			return nil
		}, "SELECT event_id, field, salt, text FROM chain_texts WHERE event_id IN ("+places+")", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Verify checks every chain, its events and texts, and passes what is wrong to fault, at most one error for each chain.
// It reads some events at a time while others may append, and returns how many there are. object, unless nil, gets each
// chain that is whole, to compare the object's row with it.
func (st Chains) Verify(ctx context.Context, fault func(error), object func(*record.Verifier)) (n int64, err error) {
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
	empty, err := sqldb.All(ctx, st.conn, sqldb.Value[string], `SELECT name FROM chains WHERE NOT EXISTS
		(SELECT 1 FROM chain_events e WHERE e.chain_id = chains.id) ORDER BY id LIMIT 100`)
	for _, name := range empty {
		fault(&record.Fault{Chain: name, What: "all of its events are missing"})
	}
	return err
}
