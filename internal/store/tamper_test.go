package store_test

import (
	"errors"
	"strings"
	"testing"

	"aliquot/internal/store"
)

// Some events, and the statements that delete them with all that refers to them.
const (
	firstChain = "chain_id = (SELECT id FROM chains WHERE name = 'example/0')"
	lastEvent  = "(SELECT MAX(id) FROM chain_events)"
)

func deleteEvents(which string) string {
	const of = " WHERE event_id IN (SELECT id FROM chain_events WHERE "
	return "DELETE FROM log_entries" + of + which + ");DELETE FROM chain_events WHERE " + which
}

// Each of these is done to a database, whose log has a checkpoint that was stored elsewhere.
var tamperings = map[string]struct{ statements, want string }{
	"a detail rewritten": {"UPDATE chain_events SET detail = REPLACE(detail, 'status 0', 'status 1') WHERE seq = 9",
		"example/0, event 9: it was altered"},
	"a kind rewritten":   {"UPDATE chain_events SET kind = 'x' WHERE seq = 9", "event 9: it was altered"},
	"an actor rewritten": {"UPDATE chain_events SET actor = 'x' WHERE seq = 9", "event 9: it was altered"},
	"a time rewritten": {"UPDATE chain_events SET at = '2026-01-01 00:00:00+00:00' WHERE seq = 9",
		"event 9: it was altered"},
	"an event moved to another chain": {"UPDATE chain_events SET chain_id = (SELECT MAX(id) FROM chains), seq = 101 " +
		"WHERE seq = 100 AND " + firstChain, "example/0, event 99: its events end here"},
	"a text rewritten": {"UPDATE chain_events SET texts = REPLACE(texts, 'Zoë', 'Ada') WHERE id = " + lastEvent,
		"example/2, event 100: the text of text was altered"},
	"a text deleted": {"UPDATE chain_events SET texts = NULL WHERE id = " + lastEvent,
		"example/2, event 100: the text of text is missing, and no event erased it"},
	"a text added": {`UPDATE chain_events SET texts = '{"x":{"salt":"","text":""}}' WHERE id = ` + lastEvent,
		"example/2, event 100: there is a text for x"},
	"an event deleted": {deleteEvents("seq = 50"), "event 51: it does not follow event 49"},
	"the last events cut off and the head set back": {deleteEvents("seq > 40") +
		";UPDATE chains SET last_seq = 40, last_hash = (SELECT hash FROM chain_events e " +
		"WHERE e.chain_id = chains.id AND e.seq = 40) WHERE last_seq > 40", "log, entry 41: its event is missing"},
	"a chain deleted whole": {deleteEvents(firstChain) + ";DELETE FROM chains WHERE name = 'example/0'",
		"log, entry 1: its event is missing"},
	"all events of a chain deleted": {deleteEvents(firstChain), "example/0, event 0: all of its events are missing"},
	"the head of a chain set back":  {"UPDATE chains SET last_seq = 1", "its events end here"},
	"the stored state rewritten": {"UPDATE chains SET state = REPLACE(state, 'status 0', 'status 1')",
		"example/0, event 100: the stored state is not what it led to"},
	"a tile rewritten": {"UPDATE log_tiles SET data = (SELECT data FROM log_tiles WHERE level = 1) " +
		"WHERE level = 0 AND number = 0", "log, tile 0 of level 0"},
	"a tile deleted": {"DELETE FROM log_tiles WHERE level = 1", "log, tile 0 of level 1"},
	"two entries exchanged": {"UPDATE log_entries SET entry = -1 WHERE entry = 9;UPDATE log_entries SET entry = 9 " +
		"WHERE entry = 8;UPDATE log_entries SET entry = 8 WHERE entry = -1", "log, tile 0 of level 0"},
	"an entry deleted":             {"DELETE FROM log_entries WHERE entry = 9", "log, entry 9: its event is missing"},
	"an event kept out of the log": {"UPDATE chains SET logged_seq = last_seq", "example/2, event 100: it is not in the log"},
	"the log cut off": {"DELETE FROM log_entries WHERE entry >= 100;UPDATE log_head SET size = 100",
		"log: it has 100 entries, but had 277 at a checkpoint"},
	"the log emptied, to be written again": {"DELETE FROM log_entries;DELETE FROM log_tiles;" +
		"DELETE FROM log_checkpoints;UPDATE log_head SET size = 0;UPDATE chains SET logged_seq = 0",
		"log: it has 0 entries, but had 277 at a checkpoint"},
	"a checkpoint rewritten": {"UPDATE log_checkpoints SET note = 'x'",
		"the checkpoint of size 277 was altered"},
}

func TestChains_EveryTamperingIsNoticedAndNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.filled()
		kept := l.head()
		undo := errors.New("undone")
		for name, tc := range tamperings {
			if err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
				for statement := range strings.SplitSeq(tc.statements, ";") {
					if _, err := tx.Exec(ctx, statement); err != nil {
						return err
					}
				}
				if got := faults(t, tx, kept); !strings.Contains(strings.Join(got, "\n"), tc.want) {
					t.Errorf("%s: faults %q, want %s", name, got, tc.want)
				}
				return undo
			}); !errors.Is(err, undo) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := faults(t, l.db.Read(), kept); len(got) > 0 {
			t.Errorf("all undone: faults %q", got)
		}
	})
}

// Whoever can write to the database can compute a chain and a log that hold; the checkpoint that was stored elsewhere
// shows that it is another one.
func TestChains_AHistoryRewrittenAsAWholeIsNoticedByAKeptCheckpoint(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.filled()
		kept := l.head()
		for _, table := range []string{"log_checkpoints", "log_tiles", "log_entries", "chain_events", "chains"} {
			l.exec("DELETE FROM " + table)
		}
		l.exec("UPDATE log_head SET size = 0")
		l.write(func(ctx context, tx store.Conn) error { return addEvents(ctx, tx, 0, 290) })
		if _, err := toLog(l.ctx, l.db, 1000); err != nil {
			t.Fatal(err)
		}
		if got := faults(t, l.db.Read()); len(got) > 0 {
			t.Errorf("without a checkpoint: %q", got)
		}
		got := strings.Join(faults(t, l.db.Read(), kept), "\n")
		if !strings.Contains(got, "first 277 entries are not those") {
			t.Errorf("with a checkpoint: %q", got)
		}
	})
}
