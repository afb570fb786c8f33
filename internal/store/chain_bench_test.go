package store_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// BenchmarkChains_Append compares an event in a transaction of its own with the same rows written as they are.
func BenchmarkChains_Append(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		db, n := storetest.Open(b, kind), 0
		b.Run(kind+"/event", func(b *testing.B) {
			for b.Loop() {
				if err := db.Tx(b.Context(), func(ctx context, tx store.Conn) error {
					return addEvents(ctx, tx, 1, 1)
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(kind+"/rows", func(b *testing.B) {
			hash := strings.Repeat("0", 64)
			for ; b.Loop(); n++ {
				if err := db.Tx(b.Context(), func(ctx context, tx store.Conn) error {
					return bareRows(ctx, tx, n, hash)
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// bareRows writes the rows of an event without computing any of them.
func bareRows(ctx context, tx store.Conn, n int, hash string) error {
	ids, err := store.Values[int64](ctx, tx, `INSERT INTO chains (name, last_seq, last_hash, state, salts, logged_seq)
		VALUES ($1, 0, '', '', '{}', 0) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`, "bare")
	if err != nil {
		return err
	}
	for _, s := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO chain_events (chain_id, seq, kind, actor, at, detail, prev_hash, hash, texts)
			VALUES ($1, $2, 'message', '', $3, $4, $5, $5, $6)`, []any{ids[0], n, tx.Now,
			"10:set.status\n9:=status 0\n5:state\n65:=" + hash + "\n4:text\n65:#" + hash + "\n", hash, "Dear Zoë" + hash}},
		{"UPDATE chains SET last_seq = $2, last_hash = $3, state = $4 WHERE id = $1",
			[]any{ids[0], n, hash, "6:status\n9:=status 0\n"}},
	} {
		if _, err := tx.Exec(ctx, s.text, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkChains_Verify verifies 20,000 events in chains of 40, or as many as CHAIN_EVENTS says, and the log that they
// are in.
func BenchmarkChains_Verify(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			db := storetest.Open(b, kind)
			const each = 40
			chains := 500
			if events, err := strconv.Atoi(os.Getenv("CHAIN_EVENTS")); err == nil {
				chains = events / each
			}
			if err := db.Tx(b.Context(), func(ctx context, tx store.Conn) error {
				for chain := range chains {
					if err := addEvents(ctx, tx, chain, each); err != nil {
						return err
					}
				}
				_, err := tx.Log.Append(ctx, chains*each)
				return err
			}); err != nil {
				b.Fatal(err)
			}
			var known record.Checkpoint
			for b.Loop() {
				if got := faults(b, db.Read(), known); len(got) > 0 {
					b.Fatal(fmt.Sprint(got))
				}
			}
			b.ReportMetric(float64(chains*each*b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

// BenchmarkLog_Append measures moving events into the log, 1,000 at a time.
func BenchmarkLog_Append(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			db := storetest.Open(b, kind)
			fill := `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
				INSERT INTO chain_events (chain_id, seq, kind, actor, at, detail, prev_hash, hash)
				SELECT 1, i, 'message', '', '2026-03-12 09:40:00+00:00', '', '', $1 FROM n`
			if err := db.Tx(b.Context(), func(ctx context, tx store.Conn) error {
				_, err := tx.Exec(ctx, "UPDATE chains SET last_seq = 200000 WHERE id = 1")
				if err == nil {
					_, err = tx.Exec(ctx, fill, strings.Repeat("cd", 32))
				}
				return err
			}); err != nil {
				b.Fatal(err)
			}
			moved, worst := 0, time.Duration(0)
			for b.Loop() {
				start := time.Now()
				n, err := toLog(b.Context(), db, 1000)
				if err != nil {
					b.Fatal(err)
				}
				worst = max(worst, time.Since(start))
				if moved += n; n < 1000 {
					b.Fatalf("only %d events; give a smaller -benchtime", moved)
				}
			}
			b.ReportMetric(float64(moved)/b.Elapsed().Seconds(), "leaves/s")
			b.ReportMetric(float64(worst.Milliseconds()), "worst-ms")
		})
	}
}
