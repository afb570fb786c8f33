package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	api "aliquot/client"
	"aliquot/internal/store/storetest"
	"aliquot/internal/store/storetest/pgserver"
)

// TestPostgreSQL_RestartUnderLoadAnswers503 stops and starts a PostgreSQL server under calls of all kinds. Each is
// answered: as ever, or with 503 and when to come again; and nothing that was answered is lost.
func TestPostgreSQL_RestartUnderLoadAnswers503(t *testing.T) {
	t.Parallel()
	if _, ok := storetest.Postgres(); !ok {
		return // as in every test of both databases: without PostgreSQL there is SQLite alone
	}
	server, err := pgserver.Start(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	in := installation{folder: t.TempDir(), postgres: server.URL()}
	p := in.serve(t, "--rate-limit", "off")
	l, content, kept := openStockedLab(t, p)
	nobody := client{base: p.base}
	sheet := "title,category\n" + strings.Repeat("Sample,OTHER\n", 50)
	calls := map[string]func() (answer, error){
		"read":     func() (answer, error) { return l.manager.call("GET", "/materials/"+l.material, "") },
		"list":     func() (answer, error) { return nobody.call("GET", "/materials/?limit=5", "") },
		"search":   func() (answer, error) { return nobody.call("GET", "/search/materials?search=HT-29", "") },
		"inbox":    func() (answer, error) { return l.manager.call("GET", "/material-requests/", "") },
		"download": func() (answer, error) { return l.manager.call("GET", kept, "") },
		"page":     func() (answer, error) { return nobody.call("GET", "/catalog/"+l.material, "") },
		"catalog":  func() (answer, error) { return nobody.call("GET", "/catalog?q=HT", "") },
		"own page": func() (answer, error) { return l.manager.form("/account/notifications/retry") },
		"form": func() (answer, error) {
			return l.manager.form("/account", "first_name", "Mario", "last_name", "Rossi", "email", "mario@example.org")
		},
		"change": func() (answer, error) {
			return l.owner.call("PATCH", "/materials/"+l.material,
				fmt.Sprintf(`{"additional_info": "%d"}`, time.Now().UnixNano()))
		},
		"upload": func() (answer, error) { return l.manager.upload("reads.txt", content) },
		"sheet": func() (answer, error) {
			return l.manager.send("POST", "/organizations/"+l.id+"/materials/bulk?dry_run=true", "text/csv",
				strings.NewReader(sheet))
		},
		"stream":  func() (answer, error) { return l.manager.listen() },
		"sign in": func() (answer, error) { _, err := signIn(p.base, josiah); return refused(err) },
		"message": func() (answer,
			error) {
			return l.manager.call("GET", "/users/"+l.manager.id+"/notifications/", "")
		},
		"unsubscribe": func() (answer, error) { return nobody.call("GET", "/unsubscribe?token=none", "") },
	}
	ended := make(chan struct{})
	var working sync.WaitGroup
	var refusals atomic.Int64
	for name, call := range calls {
		working.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				a, err := call()
				switch {
				case err != nil:
					t.Errorf("%s: no answer: %v", name, err)
				case a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
					refusals.Add(1)
					time.Sleep(5 * time.Millisecond) // as clients do, but for longer
				case a.status >= 500:
					t.Errorf("%s: %d %s", name, a.status, a.body)
				default:
					continue
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	var made []string
	working.Go(func() { // what is answered is there afterwards
		for n := 0; ; n++ {
			select {
			case <-ended:
				return
			default:
			}
			a, err := l.manager.call("POST", "/materials/",
				fmt.Sprintf(`{"category": "OTHER", "title": "Sample %d", "organization_id": %s}`, n, l.id))
			switch {
			case err != nil || a.status != http.StatusCreated && a.status != http.StatusServiceUnavailable:
				t.Errorf("create: %d, %v: %s", a.status, err, a.body)
				return
			case a.status == http.StatusServiceUnavailable:
				time.Sleep(5 * time.Millisecond)
			default:
				id, _ := a.at("id")
				made = append(made, id)
			}
		}
	})
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGINT} {
		before := refusals.Load()
		if err := server.Restart(t.Context(), signal); err != nil {
			t.Fatal(err)
		}
		if err := p.ready(); err != nil {
			t.Errorf("after %v: %v", signal, err)
		}
		if err := poll(func() error {
			_,
				err := did(nobody.call("GET", "/materials/?limit=5", ""))
			return err
		}); err != nil {
			t.Errorf("after %v: %v", signal, err)
		}
		if refusals.Load() == before {
			t.Errorf("nobody noticed %v", signal)
		}
	}
	close(ended)
	working.Wait()
	for _, id := range made {
		if _, err := did(nobody.call("GET", "/materials/"+id, "")); err != nil {
			t.Errorf("material %s was answered and is lost: %v", id, err)
		}
	}
	if len(made) == 0 {
		t.Error("nothing was made")
	}
}

// listen opens a stream of notifications and reads it for a moment.
func (c client) listen() (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/users/"+c.id+"/notifications/stream",
		http.NoBody)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Token "+c.token)
	response, err := web.Do(r)
	if errors.Is(err, context.DeadlineExceeded) { // the server waits for the database
		return answer{status: http.StatusOK}, nil
	}
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	return answer{status: response.StatusCode, header: response.Header}, nil
}

// refused is the answer that err is about.
func refused(err error) (answer, error) {
	if e, ok := errors.AsType[*api.Error](err); ok && e.Code == api.ErrorCodeUNAVAILABLE {
		// the client keeps no more of it
		return answer{status: http.StatusServiceUnavailable, header: http.Header{"Retry-After": {"5"}}}, nil
	}
	return answer{status: http.StatusOK}, err
}
