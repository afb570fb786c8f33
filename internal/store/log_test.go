package store_test

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"golang.org/x/mod/sumdb/tlog"
)

func TestLog_ProvesAnEventOnceACheckpointCoversIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.filled()
		keys, err := record.NewKeys("aliquot.example.org/log/2026")
		if err != nil {
			t.Fatal(err)
		}
		head := l.head()
		head.Origin = keys.Origin()
		note, err := head.Sign(keys.Signers...)
		if err != nil {
			t.Fatal(err)
		}
		l.exec("DELETE FROM log_checkpoints")
		if _, err := l.db.Read().Log.Prove(l.ctx, "example/1", 41); err == nil {
			t.Error("an event is proved without a checkpoint")
		}
		l.write(func(ctx context, tx store.Conn) error { return tx.Log.SaveCheckpoint(ctx, head.Size, string(note)) })
		if _, err := toLog(l.ctx, l.db, 1000); err != nil { // the log grows on
			t.Fatal(err)
		}
		p, err := l.db.Read().Log.Prove(l.ctx, "example/1", 41)
		if err != nil {
			t.Fatal(err)
		}
		known, err := record.Verifiers(keys.Verifiers...)
		if err != nil {
			t.Fatal(err)
		}
		list, err := l.db.Read().Chains.Events(l.ctx, "example/1", 40, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Check(list[0].Hash, keys.Origin(), known); err != nil {
			t.Error(err)
		}
		if _, err := l.db.Read().Log.Prove(l.ctx, "example/2", 100); err == nil {
			t.Error("an event behind the checkpoint is proved")
		}
		l.write(func(ctx context, tx store.Conn) error {
			return errors.Join(tx.Log.AddToCheckpoint(ctx, head.Size, "cosigned", nil),
				tx.Log.AddToCheckpoint(ctx, head.Size, "cosigned by two", []byte{1}),
				tx.Log.AddToCheckpoint(ctx, head.Size, "cosigned by three", nil),
				tx.Log.SaveCheckpoint(ctx, head.Size, "again"))
		})
		c, err := l.db.Read().Log.Checkpoint(l.ctx, 0)
		if err != nil || c.Note != "cosigned by two" || len(c.Response) != 1 || c.Size != head.Size {
			t.Errorf("got %+v, %v", c, err)
		}
		if n, since, err := l.db.Read().Log.Waiting(l.ctx); err != nil || n != 0 || since != nil {
			t.Errorf("%d events wait, since %v, %v", n, since, err)
		}
		l.write(func(ctx context, tx store.Conn) error { return addEvents(ctx, tx, 0, 2) })
		if n, since, err := l.db.Read().Log.Waiting(l.ctx); err != nil || n != 2 || since == nil {
			t.Errorf("%d events wait, since %v, %v", n, since, err)
		}
	})
}

func TestLog_TilesAreThoseOfC2SP(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.filled()
		log := l.db.Read().Log
		tile := func(path string) []byte {
			t.Helper()
			p, err := record.ParseTilePath(path)
			if err != nil {
				t.Fatal(err)
			}
			data, err := log.Tile(l.ctx, p)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return data
		}
		head := l.head() // of 277 entries
		entries, err := record.ParseEntries(tile("entries/001.p/21"))
		if err != nil || len(entries) != 21 || record.Leaf(entries[20]) != tlog.Hash(tile("0/001.p/21")[20*32:]) {
			t.Errorf("entries %v, %v", entries, err)
		}
		if got := tile("0/001.p/5"); string(got) != string(tile("0/001.p/21")[:5*32]) {
			t.Error("a tile of an earlier size differs from the later one")
		}
		// What C2SP and x/mod read of the tiles leads to the root.
		hashes, err := tlog.TileHashReader(tlog.Tree{N: head.Size, Hash: head.Root}, tiles{tile}).ReadHashes(
			[]int64{tlog.StoredHashIndex(0, 0), tlog.StoredHashIndex(0, 276)})
		if err != nil || len(hashes) != 2 {
			t.Errorf("got %v, %v", hashes, err)
		}
		for _, path := range []string{"0/001", "0/001.p/22", "0/002.p/1", "1/000.p/2", "entries/001.p/22",
			"2/000.p/1"} {
			p, err := record.ParseTilePath(path)
			if err != nil {
				t.Fatal(err)
			}
			if data, err := log.Tile(l.ctx, p); err == nil {
				t.Errorf("%s has %d bytes", path, len(data))
			}
		}
	})
}

// tiles reads tiles for x/mod.
type tiles struct{ read func(path string) []byte }

func (r tiles) Height() int                     { return 8 }
func (r tiles) SaveTiles([]tlog.Tile, [][]byte) {}
func (r tiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	var data [][]byte
	for _, t := range list {
		data = append(data, r.read(strings.TrimPrefix(t.Path(), "tile/8/")))
	}
	return data, nil
}

func TestLog_OfManyAppendersAtOnceIsOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.begun(3)
		other := storetest.Again(t, l.db)
		var all sync.WaitGroup
		for _, db := range []*store.DB{l.db, other, l.db, other} {
			all.Go(func() {
				for range 20 {
					err := db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
						return addEvents(ctx, tx, rand.N(3), 2)
					})
					if err == nil {
						_, err = toLog(l.ctx, db, 3)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if _, err := toLog(l.ctx, l.db, 1000); err != nil {
			t.Fatal(err)
		}
		if got := faults(t, l.db.Read()); len(got) > 0 || l.head().Size != 164 {
			t.Errorf("size %d, faults %q", l.head().Size, got)
		}
	})
}

func TestLog_OfAppendersThatAreKilledIsOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.begun(4)
		start := func() *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), databaseOfAppender+"="+storetest.Where(l.db))
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "appending\n" {
				t.Fatalf("the appender said %q, %v", line, err)
			}
			return cmd
		}
		processes := []*exec.Cmd{start(), start()}
		kill := func(p *exec.Cmd) {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
		var kept []record.Checkpoint
		for n := range 12 {
			time.Sleep(rand.N(60 * time.Millisecond)) // somewhere in the middle of something
			kill(processes[n%2])
			processes[n%2] = start()
			kept = append(kept, l.consistentHead())
		}
		for _, p := range processes {
			kill(p)
		}
		for {
			n, err := toLog(l.ctx, l.db, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
		}
		if got := faults(t, l.db.Read(), kept...); len(got) > 0 || l.head().Size < 20 {
			t.Errorf("size %d, faults %q", l.head().Size, got)
		}
	})
}

// consistentHead is the head of a log to which others append.
func (l testLab) consistentHead() (c record.Checkpoint) {
	l.t.Helper()
	l.write(func(ctx context, tx store.Conn) (err error) {
		if _, err = tx.Log.Append(ctx, 1); err == nil { // holds the log
			c, err = tx.Log.Head(ctx)
		}
		return err
	})
	return c
}
