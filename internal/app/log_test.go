package app_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// logged is an installation whose log is signed.
type logged struct {
	*testing.T
	db   *store.DB
	app  *app.App
	path string // of the keys
}

func newLogged(t *testing.T, db *store.DB) *logged {
	t.Helper()
	l := &logged{T: t, db: db, path: filepath.Join(t.TempDir(), "record.key")}
	l.app = l.process(db)
	l.must(l.app.Evidence.OpenKeys(t.Context(), l.path, l.app.PublicURL))
	return l
}

// process returns the use cases as another process has them.
func (l *logged) process(db *store.DB) *app.App {
	return app.New(app.Config{DB: db, PublicURL: "https://aliquot.example.org", Access: exchange.AccessMembers,
		Registration: []string{"open"}, TokenLifetime: time.Hour, Log: slog.New(slog.DiscardHandler),
		LogKeys: func() (record.Keys, error) { return record.ReadKeys(l.path) }})
}

func (l *logged) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// grow makes events.
func (l *logged) grow(a *app.App, people ...string) {
	l.Helper()
	for _, name := range people {
		_, err := a.Accounts.SignIn(l.Context(), identity.Person{RegistryID: name}, person.Registration{})
		l.must(err)
	}
}

// work starts a worker that signs the log.
func (l *logged) work(a *app.App, db *store.DB) {
	l.Helper()
	jobtest.Start(l.T, job.Config{DB: db, Handlers: []job.Handler{evidence.Checkpoint.Handle(a.Evidence.SignLog)}})
}

// sign runs the job that signs the log, and returns the newest checkpoint.
func (l *logged) sign() store.SavedCheckpoint {
	l.Helper()
	jobtest.Wait(l.T, l.db, jobtest.Enqueue(l.T, l.db, evidence.Checkpoint, struct{}{}, job.EnqueueOptions{}),
		exchange.JobDone)
	c, err := l.db.Read().Log.Checkpoint(l.Context(), 0)
	l.must(err)
	return c
}

// whole checks that there is one log, all checkpoints of which hold.
func (l *logged) whole(known ...record.Checkpoint) {
	l.Helper()
	fault := func(err error) { l.Error(err) }
	_, err := l.db.Read().VerifyRecord(l.Context(), fault, nil)
	l.must(errors.Join(err, l.db.Read().Log.Verify(l.Context(), fault, known...)))
}

// open opens a checkpoint with keys of the log.
func (l *logged) open(c store.SavedCheckpoint, keys ...string) record.Checkpoint {
	l.Helper()
	known, err := record.Verifiers(keys...)
	l.must(err)
	opened, _, err := record.OpenCheckpoint([]byte(c.Note), "aliquot.example.org/log/2026", known)
	l.must(err)
	return opened
}

func TestCheckpoint_IsSignedIfTheLogGrew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		l.work(l.app, db)
		l.grow(l.app, "ada")
		first := l.sign()
		if again := l.sign(); again.Size != first.Size || again.Note != first.Note {
			t.Errorf("a log that did not grow was signed again: %+v, then %+v", first, again)
		}
		keys, err := db.Read().Log.Keys(t.Context(), false)
		l.must(err)
		before := l.open(first, keys...)
		db.Clock = func() time.Time { return time.Now().AddDate(-1, 0, 0) } // it is set back
		l.grow(l.app, "ben")
		if after := l.sign(); after.Size <= first.Size {
			t.Errorf("with the clock set back the newest checkpoint is of size %d, want more than %d", after.Size,
				first.Size)
		}
		if n, _, err := db.Read().Log.Waiting(t.Context()); n != 0 || err != nil {
			t.Errorf("%d events wait, %v", n, err)
		}
		l.whole(before)
	})
}

func TestCheckpoint_OfSeveralProcessesAtOnceIsOfOneLog(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		other := storetest.Again(t, db)
		second := l.process(other)
		l.work(l.app, db)
		l.work(second, other)
		var all sync.WaitGroup
		for people, a := range map[string]*app.App{"ada ben cleo dora": l.app, "eve finn gus hana": second} {
			all.Go(func() {
				for _, name := range strings.Fields(people) {
					l.grow(a, name)
					jobtest.Enqueue(t, a.DB, evidence.Checkpoint, struct{}{}, job.EnqueueOptions{})
				}
			})
		}
		all.Wait()
		jobtest.Poll(t, "all events are in the log", func() bool {
			l.sign()
			n, _, err := db.Read().Log.Waiting(t.Context())
			return err == nil && n == 0
		})
		l.whole()
	})
}

func TestRecordKey_IsReplacedWhileTheOldOneStillSigns(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		l.work(l.app, db)
		old, err := record.ReadKeys(l.path)
		l.must(err)
		first := l.open(l.sign(), old.Verifiers...)
		rotated, err := l.app.Evidence.RotateKey(t.Context(), l.path)
		l.must(err)
		both := l.sign()
		for _, key := range append(rotated.Verifiers, old.Verifiers...) {
			l.open(both, key)
		}
		retired, err := l.app.Evidence.RetireKey(t.Context(), l.path)
		l.must(err)
		last := l.sign()
		l.open(last, retired.Verifiers...)
		known, err := record.Verifiers(old.Verifiers...)
		l.must(err)
		if _, _, err := record.OpenCheckpoint([]byte(last.Note), first.Origin, known); err == nil {
			t.Error("a retired key signed")
		}
		if keys, err := db.Read().Log.Keys(t.Context(), true); len(keys) != 2 || err != nil {
			t.Errorf("the log has the keys %v, %v", keys, err)
		}
		l.whole(first)
	})
}

func TestRecordKey_OfAnotherLogOrLostIsRefusedUntilItIsReset(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		l := newLogged(t, db)
		l.work(l.app, db)
		first := l.sign()
		l.path = filepath.Join(t.TempDir(), "other.key")
		if err := l.app.Evidence.OpenKeys(t.Context(), l.path, l.app.PublicURL); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a lost file: %v", err)
		}
		other, err := record.OpenKeys(l.path, "aliquot.example.org/log/2026")
		l.must(err)
		if err := l.app.Evidence.OpenKeys(t.Context(), l.path, ""); !errors.Is(err, evidence.ErrOtherKey) {
			t.Errorf("another key: %v", err)
		}
		if _, err := l.app.Evidence.RotateKey(t.Context(), l.path); !errors.Is(err, evidence.ErrOtherKey) {
			t.Errorf("another key is rotated: %v", err)
		}
		_, err = l.app.Evidence.ResetKey(t.Context(), l.path)
		l.must(err)
		if _, err := l.app.Evidence.ResetKey(t.Context(), l.path); err == nil {
			t.Error("a key that signs is reset")
		}
		second := l.sign()
		l.open(second, other.Verifiers...)
		if second.Size <= first.Size {
			t.Error("the other key is no event")
		}
		l.whole()
	})
}

func TestRecordKey_ThatIsAlteredInTheDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		newLogged(t, db)
		if _, err := storetest.SQL(t, db).ExecContext(t.Context(), "UPDATE log_keys SET public_key = 'x'"); err != nil {
			t.Fatal(err)
		}
		var faults []string
		if _, err := db.Read().VerifyRecord(t.Context(), func(err error) { faults = append(faults, err.Error()) }, nil); err != nil ||
			!strings.Contains(strings.Join(faults, "\n"), ", event 1: the row is not what the events led to: public_key") {
			t.Errorf("%q, %v", faults, err)
		}
	})
}
