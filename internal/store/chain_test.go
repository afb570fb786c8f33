package store_test

import (
	stdcontext "context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// databaseOfAppender names the database to which this test binary only appends, until the parent process kills it.
const databaseOfAppender = "ALIQUOT_TEST_APPENDER"

func TestMain(m *testing.M) {
	if where := os.Getenv(databaseOfAppender); where != "" {
		fmt.Fprintln(os.Stderr, appendUntilKilled(stdcontext.Background(), where))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func appendUntilKilled(ctx context, where string) error {
	db, err := store.Open(ctx, where)
	if err != nil {
		return err
	}
	fmt.Println("appending")
	for n := 0; ; n++ {
		err := db.Tx(ctx, func(ctx context, tx store.Conn) error { return addEvents(ctx, tx, rand.N(4), 3) })
		if err == nil {
			_, err = toLog(ctx, db, 1+rand.N(20))
		}
		if err != nil {
			return err
		}
		time.Sleep(rand.N(4 * time.Millisecond)) // SQLite gives nobody a turn who waits
	}
}

// addEvents adds n events to a chain of these tests.
func addEvents(ctx context, tx store.Conn, chain, n int) error {
	list := make([]*store.ChainEvent, n)
	for i := range list {
		list[i] = &store.ChainEvent{}
		list[i].Kind = "message"
		list[i].Draft.Set("set.status", fmt.Sprint("status ", i))
		list[i].Draft.Commit("text", "Dear Zoë")
	}
	_, err := tx.Chains.Append(ctx, store.ChainAct{Chain: fmt.Sprint("example/", chain), Events: list})
	return err
}

// toLog moves up to limit events into the log.
func toLog(ctx context, db *store.DB, limit int) (n int, err error) {
	err = db.Tx(ctx, func(ctx context, tx store.Conn) error {
		n, err = tx.Log.Append(ctx, limit)
		return err
	})
	return n, err
}

// faults are what is wrong with chains and log, given checkpoints that were stored elsewhere.
func faults(t testing.TB, c store.Conn, known ...record.Checkpoint) (list []string) {
	t.Helper()
	fault := func(err error) { list = append(list, err.Error()) }
	_, err := c.VerifyRecord(t.Context(), fault, nil)
	if err == nil {
		err = c.Log.Verify(t.Context(), fault, known...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (l testLab) head() record.Checkpoint {
	l.t.Helper()
	c, err := l.db.Read().Log.Head(l.ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

// begun begins chains, as the act does that makes an object.
func (l testLab) begun(chains int) {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) error {
		for i := range chains {
			if err := addEvents(ctx, tx, i, 1); err != nil {
				return err
			}
		}
		return nil
	})
}

// filled adds events to three chains, some to the log, and a checkpoint.
func (l testLab) filled() {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) error {
		for i := range 300 {
			if err := addEvents(ctx, tx, i%3, 1); err != nil {
				return err
			}
		}
		return nil
	})
	for _, limit := range []int{7, 250, 20} {
		if _, err := toLog(l.ctx, l.db, limit); err != nil {
			l.t.Fatal(err)
		}
	}
	head := l.head()
	l.write(func(ctx context, tx store.Conn) error {
		head.Origin = "o"
		return tx.Log.SaveCheckpoint(ctx, head.Size, head.String())
	})
}

func TestChains_AppendedEventsAreReadAgainAndHold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.filled()
		if got := faults(t, l.db.Read(), l.head()); len(got) > 0 {
			t.Errorf("faults %q", got)
		}
		list, err := l.db.Read().Chains.Events(l.ctx, "example/1", 40, 5)
		if err != nil || len(list) != 5 || list[0].Seq != 41 || list[0].Openings["text"].Text != "Dear Zoë" {
			t.Errorf("got %+v, %v", list, err)
		}
		var wholes []string
		if n, err := l.db.Read().Chains.Verify(l.ctx, func(err error) { t.Error(err) },
			func(v *record.Verifier) {
				if v.Chain == store.InstanceChain {
					return
				}
				wholes = append(wholes, fmt.Sprintf("%s %d %v", v.Chain, v.Head.Seq,
					v.Compare(record.Row{"status": {Text: "status 0"}})))
			}, nil); err != nil || n != 301 ||
			strings.Join(wholes, " ") != "example/0 100 [] example/1 100 [] example/2 100 []" {
			t.Errorf("%d events, whole are %q, %v", n, wholes, err)
		}
	})
}

func TestChains_ErasedTextIsGoneFromTheDatabaseAndTheChainHolds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		const secret = "Dear Zoe Quaxolotl"
		l.write(func(ctx context, tx store.Conn) error {
			var e store.ChainEvent
			e.Draft.Commit("text", secret)
			e.Draft.Commit("reason", "stays")
			var document store.ChainEvent
			document.Draft.Set("document.sha256", strings.Repeat("0", 64))
			_, err := tx.Chains.Append(ctx, store.ChainAct{Chain: "example/1",
				Events: []*store.ChainEvent{&e, &document}})
			return err
		})
		if err := l.db.Erasing(l.ctx, func(ctx context, tx store.Conn) error {
			fields := map[int64][]string{1: {"text", "never"}, 2: {"document.sha256"}, 7: {"text"}}
			return errors.Join(tx.Chains.Erase(ctx, "example/1", "", fields),
				tx.Chains.Erase(ctx, "example/1", "", map[int64][]string{1: {"text"}}))
		}); err != nil {
			t.Fatal(err)
		}
		list, err := l.db.Read().Chains.Events(l.ctx, "example/1", 0, 9)
		if err != nil || len(list) != 3 || len(list[0].Openings) != 1 || list[2].Kind != record.Erased {
			t.Errorf("got %+v, %v", list, err)
		}
		if got := faults(t, l.db.Read()); len(got) > 0 {
			t.Errorf("faults %q", got)
		}
		if l.db.Postgres() {
			return
		}
		for _, file := range []string{"", "-wal"} {
			content, err := os.ReadFile(storetest.Where(l.db) + file)
			if err != nil || strings.Contains(string(content), secret) {
				t.Errorf("the text is still in the file of the database%s, %v", file, err)
			}
		}
	})
}

func TestChains_ARowIsComparedWithTheEventsThatLedToIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		save := func(row record.Row) (details []string) {
			t.Helper()
			l.write(func(ctx context, tx store.Conn) error {
				stored, err := tx.Chains.Append(ctx, store.ChainAct{Chain: "example/1", Row: row,
					Events: []*store.ChainEvent{{Kind: "changed"}, {Kind: "also"}}})
				for _, e := range stored {
					details = append(details, e.Detail)
				}
				return err
			})
			return details
		}
		row := record.Row{"status": {Text: "OPEN"}, "abstract": {Text: "We study 100% _.", Personal: true}}
		first := save(row)
		if !strings.Contains(first[0], "set.status") || !strings.Contains(first[0], "set.abstract") ||
			strings.Contains(first[0], "study") || strings.Contains(first[1], "set.") {
			t.Errorf("got %q", first)
		}
		row["status"] = record.Value{Text: "APPROVED"}
		second := save(row)
		if !strings.Contains(second[0], "APPROVED") || strings.Contains(second[0], "set.abstract") {
			t.Errorf("got %q", second)
		}
		compare := func() (differ []string) {
			t.Helper()
			if _, err := l.db.Read().Chains.Verify(l.ctx, func(err error) { t.Error(err) },
				func(v *record.Verifier) { differ = v.Compare(row) }, nil); err != nil {
				t.Fatal(err)
			}
			return differ
		}
		if differ := compare(); len(differ) > 0 {
			t.Errorf("the row differs in %q", differ)
		}
		row["abstract"] = record.Value{Text: "We sell", Personal: true}
		if differ := compare(); len(differ) != 1 || differ[0] != "abstract" {
			t.Errorf("the altered row differs in %q", differ)
		}
	})
}
