package store_test

import (
	"bytes"
	stdcontext "context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/store/storetest"
)

const clearSecret, clearOld, clearAnswer, clearLinks = "whsec_present+secret", "whsec_older+secret",
	`{"secret": "whsec_answered"}`, "key of links"

// secrets are all that the database has to give back, as they lie in it.
func (l testLab) secrets() (list []string) {
	l.t.Helper()
	rows, err := storetest.SQL(l.t, l.db).QueryContext(l.ctx, `SELECT value FROM secrets WHERE name <> 'loaded'
		UNION ALL SELECT secret FROM webhooks UNION ALL SELECT old_secret FROM webhooks WHERE old_secret <> ''
		UNION ALL SELECT body FROM idempotency_keys WHERE body <> ''`)
	if err != nil {
		l.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			l.t.Fatal(err)
		}
		list = append(list, one)
	}
	if err := rows.Err(); err != nil {
		l.t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// withSecrets makes a webhook with both secrets, an answer that is stored, and the secret of links.
func (l testLab) withSecrets() (organization, webhook int64) {
	organization = l.organization(l.user().ID)
	until := start.AddDate(1, 0, 0)
	l.write(func(ctx context, tx store.Conn) (err error) {
		w := notify.Webhook{OrganizationID: organization, Secret: clearSecret}
		if webhook, err = tx.Webhooks.Insert(ctx, w); err != nil {
			return err
		}
		w.ID, w.OldSecret, w.OldUntil, w.UpdatedAt = webhook, clearOld, &until, tx.Now
		if err = tx.Webhooks.Update(ctx, w); err != nil {
			return err
		}
		if _, err = tx.IdempotentCalls.Insert(ctx,
			exchange.IdempotentCall{Caller: "user 1", Key: "k", Body: clearAnswer},
			time.Time{}); err != nil {
			return err
		}
		if _, err = tx.IdempotentCalls.Insert(ctx, exchange.IdempotentCall{Caller: "user 1", Key: "nothing"},
			time.Time{}); err != nil {
			return err
		}
		_, err = tx.Secrets.Get(ctx, "links", clearLinks)
		return err
	})
	return organization, webhook
}

// given fails unless the database gives its secrets back.
func (l testLab) given(db *store.DB, organization, webhook int64) {
	l.t.Helper()
	c := db.Read()
	w, err := c.Webhooks.Get(l.ctx, organization, webhook)
	if err != nil || w.Secret != clearSecret || w.OldSecret != clearOld {
		l.t.Errorf("webhook: %q, %q, %v", w.Secret, w.OldSecret, err)
	}
	if links, err := c.Secrets.Known(l.ctx, "links"); err != nil || links != clearLinks {
		l.t.Errorf("links: %q, %v", links, err)
	}
	for key, want := range map[string]string{"k": clearAnswer, "nothing": ""} {
		if k, err := c.IdempotentCalls.Get(l.ctx, "user 1", key, time.Time{}); err != nil || k.Body != want {
			l.t.Errorf("answer %s: %q, %v", key, k.Body, err)
		}
	}
}

func TestKey_SecretsLieSealedAndOpenInTheirPlaceAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization, webhook := l.withSecrets()
		l.given(l.db, organization, webhook)
		for _, one := range l.secrets() {
			if !strings.HasPrefix(one, "sealed:1:") || strings.Contains(one, "whsec") {
				t.Errorf("in clear: %s", one)
			}
		}
		l.exec("UPDATE webhooks SET old_secret = secret") // from one column to another
		if _, err := l.db.Read().Webhooks.Get(l.ctx, organization, webhook); err == nil ||
			strings.Contains(err.Error(), "whsec") {
			t.Errorf("a secret opens in another place: %v", err)
		}
		l.exec("UPDATE webhooks SET old_secret = 'whsec_planted'")
		if _, err := l.db.Read().Webhooks.Get(l.ctx, organization, webhook); err == nil {
			t.Error("a secret that is not sealed is taken")
		}
	})
}

func TestUnlock_SealsWhatAnOlderProgramLeftInClear(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization, webhook := l.withSecrets()
		l.exec("UPDATE webhooks SET secret = $1, old_secret = $2", clearSecret, clearOld)
		l.exec("UPDATE idempotency_keys SET body = $1 WHERE key = 'k'", clearAnswer)
		l.exec("UPDATE secrets SET value = $1 WHERE name = 'links'", clearLinks)
		l.exec("INSERT INTO secrets (name, value, created_at) VALUES ('loaded', 'a label', $1)", start)
		for range 2 { // the second start finds all done
			if err := l.db.Unlock(l.ctx, storetest.Key()); err != nil {
				t.Fatal(err)
			}
			l.given(l.db, organization, webhook)
		}
		if sealed, err := l.db.Sealed(l.ctx); !sealed || err != nil {
			t.Errorf("sealed %v, %v", sealed, err)
		}
		for _, one := range l.secrets() {
			if !strings.HasPrefix(one, "sealed:1:") {
				t.Errorf("in clear: %s", one)
			}
		}
		if label, err := l.db.Read().Secrets.Loaded(l.ctx); err != nil || label != "a label" {
			t.Errorf("the label is %q, %v", label, err)
		}
		if l.db.Postgres() {
			return
		}
		files, err := filepath.Glob(storetest.Where(l.db) + "*")
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, clear := range []string{clearSecret, clearOld, "whsec_answered", clearLinks} {
				if bytes.Contains(raw, []byte(clear)) {
					t.Errorf("%s has %q still", filepath.Base(file), clear)
				}
			}
		}
	})
}

func TestUnlock_WithAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization, webhook := l.withSecrets()
		if err := l.db.Unlock(l.ctx, storetest.Key()); err != nil {
			t.Fatal(err)
		}
		before := l.secrets()
		other, err := sqldb.ParseKey(sqldb.NewKey())
		if err != nil {
			t.Fatal(err)
		}
		again := storetest.Again(t, l.db)
		if err := again.Unlock(l.ctx, other); !errors.Is(err, sqldb.ErrOtherKey) {
			t.Errorf("got %v", err)
		}
		if !slices.Equal(before, l.secrets()) {
			t.Error("another key changed something")
		}
		l.given(l.db, organization, webhook)
	})
}

func TestUnlock_OfProcessesWithDifferentKeysOneWins(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		var won sync.Map
		var all sync.WaitGroup
		for i := range 4 {
			db := storetest.Again(t, l.db)
			all.Go(func() {
				key, err := sqldb.ParseKey(sqldb.NewKey())
				if err == nil {
					err = db.Unlock(l.ctx, key)
				}
				if err == nil {
					won.Store(i, true)
				} else if !errors.Is(err, sqldb.ErrOtherKey) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		n := 0
		won.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d keys are in use", n)
		}
	})
}

func TestParseKey_TakesOnlyAWholeKey(t *testing.T) {
	t.Parallel()
	key := sqldb.NewKey()
	for text, ok := range map[string]bool{key: true, key + "\r\n": true, "": false, key[:len(key)-1]: false, key +
		"A": false, strings.TrimPrefix(key, "alqk_"): false, "alqk_": false} {
		if _, err := sqldb.ParseKey(text); (err == nil) != ok || err != nil && text != "" &&
			strings.Contains(err.Error(), text) && len(text) > 10 {
			t.Errorf("%d characters: %v", len(text), err)
		}
	}
	if key == sqldb.NewKey() {
		t.Error("two keys are the same")
	}
}

func newKey(t *testing.T) *sqldb.Key {
	t.Helper()
	key, err := sqldb.ParseKey(sqldb.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func noNote(context, store.Conn) error { return nil }

func TestRotate_SealsEverythingWithTheNewKeyOrNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization, webhook := l.withSecrets()
		if err := l.db.Unlock(l.ctx, storetest.Key()); err != nil {
			t.Fatal(err)
		}
		before, next, cut := l.secrets(), newKey(t), errors.New("cut off")
		rotating := storetest.Again(t, l.db)
		if err := rotating.Unlock(l.ctx, storetest.Key()); err != nil {
			t.Fatal(err)
		}
		if err := rotating.Rotate(l.ctx, next, func(context, store.Conn) error { return cut }); !errors.Is(err, cut) {
			t.Fatal(err)
		}
		if !slices.Equal(before, l.secrets()) {
			t.Error("a rotation that failed changed something")
		}
		if err := rotating.Unlock(l.ctx, storetest.Key()); err != nil {
			t.Fatal(err)
		}
		if err := rotating.Rotate(l.ctx, next, noNote); err != nil {
			t.Fatal(err)
		}
		l.given(rotating, organization, webhook)
		if err := l.db.Unlock(l.ctx, storetest.Key()); !errors.Is(err, sqldb.ErrOtherKey) {
			t.Errorf("the old key: %v", err)
		}
		if opens, err := l.db.Opens(l.ctx, next); !opens || err != nil {
			t.Errorf("the new key opens: %v, %v", opens, err)
		}
		if err := l.db.Rotate(l.ctx, newKey(t), noNote); !errors.Is(err, sqldb.ErrOtherKey) {
			t.Errorf("a rotation by the old key: %v", err)
		}
		for _, value := range l.secrets() {
			if slices.Contains(before, value) {
				t.Error("a value is sealed with the old key still")
			}
		}
	})
}

// TestRotate_NobodySealsWithTheOldKeyBehindIt: a process that runs with the old key refuses, and what it had kept
// before opens.
func TestRotate_NobodySealsWithTheOldKeyBehindIt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		organization := l.organization(l.user().ID)
		if err := l.db.Unlock(l.ctx, storetest.Key()); err != nil {
			t.Fatal(err)
		}
		rotating := storetest.Again(t, l.db)
		if err := rotating.Unlock(l.ctx, storetest.Key()); err != nil {
			t.Fatal(err)
		}
		var kept, refused atomic.Int64
		var writers sync.WaitGroup
		for writer := range 4 {
			writers.Go(func() {
				for i := 0; l.ctx.Err() == nil; i++ {
					err := l.db.Tx(l.ctx, func(ctx stdcontext.Context, tx store.Conn) error {
						if _, err := tx.Webhooks.Insert(ctx,
							notify.Webhook{OrganizationID: organization, Secret: clearSecret}); err != nil {
							return err
						}
						_, err := tx.IdempotentCalls.Insert(ctx,
							exchange.IdempotentCall{Caller: "user 1", Key: fmt.Sprint(writer, " ", i),
								Body: clearAnswer}, time.Time{})
						return err
					})
					if exchange.CodeOf(err) == exchange.Unavailable && strings.Contains(err.Error(), "old key") {
						refused.Add(1)
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					kept.Add(1)
				}
			})
		}
		for kept.Load() < 20 && l.ctx.Err() == nil {
			runtime.Gosched()
		}
		// On SQLite the writers may keep it from its turn for longer than it waits; who rotates tries again.
		key := newKey(t)
		err := rotating.Rotate(l.ctx, key, noNote)
		for err != nil && strings.Contains(err.Error(), "busy") && l.ctx.Err() == nil {
			err = rotating.Rotate(l.ctx, key, noNote)
		}
		if err != nil {
			t.Fatal(err)
		}
		writers.Wait()
		if refused.Load() != 4 {
			t.Errorf("%d of 4 writers were refused", refused.Load())
		}
		list, err := rotating.Read().Webhooks.On(l.ctx, organization)
		if err != nil {
			t.Fatal(err)
		}
		var sealed int64
		if err := storetest.SQL(t, l.db).QueryRowContext(l.ctx,
			"SELECT COUNT(*) FROM webhooks").Scan(&sealed); err != nil || sealed != kept.Load() || len(list) != 0 {
			t.Errorf("%d webhooks, %d were kept, %d are on: %v", sealed, kept.Load(), len(list), err)
		}
		if _, err := rotating.Read().Webhooks.List(l.ctx, organization, exchange.Page{Limit: int(sealed)}); err != nil {
			t.Error(err)
		}
		if _, err := l.db.Read().Webhooks.List(l.ctx, organization,
			exchange.Page{Limit: 1}); exchange.CodeOf(err) != exchange.Unavailable {
			t.Errorf("read with the old key: %v", err)
		}
	})
}
