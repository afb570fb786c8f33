package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
	"aliquot/internal/store/storetest/pgserver"
)

// TestPostgreSQL_GoesOnWithAPromotedStandby kills the primary under writes and promotes its standby: the process finds it
// by itself, each call is answered, and nothing that was answered is lost.
func TestPostgreSQL_GoesOnWithAPromotedStandby(t *testing.T) {
	t.Parallel()
	if _, ok := storetest.Postgres(); !ok {
		return // as in every test of both databases: without PostgreSQL there is SQLite alone
	}
	primary, standby, address, err := pgserver.Pair(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(standby.Stop(), primary.Stop()) })
	p := installation{folder: t.TempDir(), postgres: address}.serve(t, "--rate-limit", "off")
	l := p.lab(t)
	var mu sync.Mutex
	var made []string
	refusals := 0
	ended := make(chan struct{})
	var writers sync.WaitGroup
	for writer := range 4 {
		writers.Go(func() {
			for n := 0; !t.Failed(); n++ {
				select {
				case <-ended:
					return
				default:
				}
				a, err := l.manager.call("POST", "/materials/", fmt.Sprintf(
					`{"category": "OTHER", "title": "Sample %d of %d", "organization_id": %s}`, n, writer, l.id))
				mu.Lock()
				switch {
				case err == nil && a.status == http.StatusCreated:
					id, _ := a.at("id")
					made = append(made, id)
				case err == nil && a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
					refusals++
				default:
					t.Errorf("%d, %v: %s", a.status, err, a.body)
				}
				mu.Unlock()
			}
		})
	}
	more := func(what string) {
		t.Helper()
		mu.Lock()
		before := len(made)
		mu.Unlock()
		if err := poll(func() error {
			mu.Lock()
			defer mu.Unlock()
			if len(made) < before+20 {
				return fmt.Errorf("%s, %d were made", what, len(made)-before)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	more("at first")
	killed := time.Now()
	if err := primary.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := standby.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	more("after the promotion")
	t.Logf("20 more were made %s after the primary was killed, between %d refusals", time.Since(killed), refusals)
	if err := p.ready(); err != nil {
		t.Errorf("after the promotion: %v", err)
	}
	close(ended)
	writers.Wait()
	for _, id := range made {
		if _, err := did(l.manager.call("GET", "/materials/"+id, "")); err != nil {
			t.Errorf("material %s was answered and is lost: %v", id, err)
		}
	}
}

// hostOf is the host and port of a server.
func hostOf(s *pgserver.Server) string {
	u, err := url.Parse(s.URL())
	if err != nil {
		panic(err) // pgserver wrote it
	}
	return u.Host
}
