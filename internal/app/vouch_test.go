package app_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/witness"
	"aliquot/internal/witness/witnesstest"

	"golang.org/x/mod/sumdb/note"
)

// vouching starts a worker that signs the log of an installation, which asks others to vouch for it.
func (l *logged) vouching(tsa string, witnesses ...witness.Witness) {
	l.Helper()
	l.app.TimestampURL, l.app.Witnesses = tsa, witnesses
	jobtest.Start(l.T, job.Config{DB: l.db, Handlers: append(l.app.Senders(),
		evidence.Checkpoint.Handle(l.app.Evidence.SignLog))})
}

// watch runs a witness of the log whose state is in a file.
func (l *logged) watch(state string) (w witness.Witness) {
	l.Helper()
	private, _, err := note.GenerateKey(nil, "witness.example.org")
	l.must(err)
	w.Key, err = record.WitnessKey(private)
	l.must(err)
	keys, err := l.db.Read().Log.Keys(l.Context(), false)
	l.must(err)
	opened, err := record.OpenWitness(state, private, keys...)
	l.must(err)
	server := httptest.NewServer(witness.Handler(opened))
	l.Cleanup(server.Close)
	w.URL = server.URL
	return w
}

func TestCheckpoint_IsVouchedForByOthers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		tsa, cert := witnesstest.StartAuthority(t)
		w := l.watch(filepath.Join(t.TempDir(), "state.json"))
		down := l.watch(filepath.Join(t.TempDir(), "down.json"))
		down.URL = "http://127.0.0.1:1"
		l.vouching(tsa, down, w)
		var c store.SavedCheckpoint
		for range 2 { // the second time the log grew from what the witness knows
			l.grow(l.app, "ada")
			size := l.sign().Size
			jobtest.Poll(t, "the checkpoint has a timestamp", func() bool {
				var err error
				c, err = db.Read().Log.Checkpoint(t.Context(), size)
				return err == nil && c.Response != nil
			})
			if !record.Cosigned([]byte(c.Note), w.Key) {
				t.Errorf("the witness did not cosign %s", c.Note)
			}
		}
		folder := t.TempDir()
		for name, content := range map[string][]byte{"checkpoint": []byte(c.Note), "checkpoint.tsr": c.Response,
			"tsa.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})} {
			l.must(os.WriteFile(filepath.Join(folder, name), content, 0o600))
		}
		check := exec.CommandContext(t.Context(), "openssl", "ts", "-verify", "-data", "checkpoint", "-in",
			"checkpoint.tsr", "-CAfile", "tsa.pem")
		check.Dir = folder
		if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "Verification: OK") {
			t.Errorf("openssl says %s, %v", out, err)
		}
		report, err := l.app.Evidence.Verify(t.Context(), evidence.Verification{})
		if err != nil || len(report.Faults) > 0 || report.Checkpoints != 2 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

func TestCheckpoint_OfARewrittenLogIsNotCosigned(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		state := filepath.Join(t.TempDir(), "state.json")
		w := l.watch(state)
		l.vouching("", w)
		l.grow(l.app, "ada")
		first := l.sign()
		jobtest.Poll(t, "the checkpoint is cosigned", func() bool {
			c, err := db.Read().Log.Checkpoint(t.Context(), first.Size)
			return err == nil && record.Cosigned([]byte(c.Note), w.Key)
		})
		// Whoever has the database and the key writes another history.
		raw := storetest.SQL(t, db)
		for _, statement := range []string{"DELETE FROM log_checkpoints", "DELETE FROM log_tiles",
			"DELETE FROM log_entries", "UPDATE log_head SET size = 0", "UPDATE chains SET logged_seq = 0",
			"UPDATE chain_events SET hash = '" + strings.Repeat("0", 64) + "' WHERE id = (SELECT MIN(id) FROM chain_events)"} {
			_, err := raw.ExecContext(t.Context(), statement)
			l.must(err)
		}
		l.grow(l.app, "ben")
		second := l.sign()
		id := jobtest.Enqueue(t, db, evidence.Vouch, second.Size, job.EnqueueOptions{Key: "again"})
		jobtest.Poll(t, "the witness refused", func() bool {
			j, err := db.Read().Jobs.Get(t.Context(), id)
			return err == nil && (j.Failures > 0 || j.State == exchange.JobFailed)
		})
		c, err := db.Read().Log.Checkpoint(t.Context(), second.Size)
		if err != nil || record.Cosigned([]byte(c.Note), w.Key) {
			t.Errorf("a rewritten history is cosigned: %s, %v", c.Note, err)
		}
	})
}
