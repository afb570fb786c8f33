package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// AtOnce runs n functions at the same time and gives what each of them gave.
func atOnce[T any](n int, do func(i int) T) []T {
	results := make([]T, n)
	begin := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			results[i] = do(i)
		})
	}
	close(begin)
	all.Wait()
	return results
}

func TestProcesses_EightStartsAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		type start struct {
			*process
			err error
		}
		migrated := 0
		for _, s := range atOnce(8, func(int) start {
			p, err := in.launch()
			return start{p, err}
		}) {
			if s.err != nil {
				t.Error(s.err)
				continue
			}
			migrated += strings.Count(s.logged(), `"msg":"migrated"`)
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		}
		if migrated != 1 {
			t.Errorf("%d processes migrated", migrated)
		}
	})
}

// twins are two processes on one installation, and a lab that both serve.
func twins(t *testing.T, in installation) (lab, []string) {
	t.Helper()
	first, second := in.serve(t, "--rate-limit", "off"), in.serve(t, "--rate-limit", "off")
	l := first.lab(t)
	return l, []string{first.base, second.base}
}

func TestProcesses_TwoWriteAndLoseNothing(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		l, bases := twins(t, in)
		const writers, each = 6, 20
		wrote := atOnce(writers, func(i int) []string {
			manager := l.manager
			manager.base = bases[i%2]
			var ids []string
			for n := range each {
				made, err := did(manager.call("POST", "/materials/",
					fmt.Sprintf(`{"category": "OTHER", "title": "Sample %d of %d", "organization_id": %s}`, n, i,
						l.id)))
				id, idErr := made.at("id")
				if err := errors.Join(err, idErr); err != nil {
					t.Error(err)
					return ids
				}
				ids = append(ids, id)
			}
			return ids
		})
		for i, ids := range wrote {
			for n, id := range ids {
				read := client{base: bases[(i+1)%2]} // what one wrote the other has
				got, err := did(read.call("GET", "/materials/"+id, ""))
				title, _ := got.at("title")
				if want := fmt.Sprintf("Sample %d of %d", n, i); err != nil || title != want {
					t.Errorf("material %s is %q, want %q: %v", id, title, want, err)
				}
			}
		}
		content := []byte("gene,count\n")
		l.manager.base = bases[0]
		uploaded, err := did(l.manager.upload("counts.csv", content))
		url, urlErr := uploaded.at("download_url")
		if err := errors.Join(err, urlErr); err != nil {
			t.Fatal(err)
		}
		l.manager.base = bases[1]
		if got, err := did(l.manager.call("GET", url, "")); err != nil || !bytes.Equal(got.body, content) {
			t.Errorf("%s at the other process is %q: %v", url, got.body, err)
		}
		ids := slices.Concat(wrote...)
		slices.Sort(ids)
		if distinct := len(slices.Compact(ids)); distinct != writers*each {
			t.Errorf("%d materials have %d ids", writers*each, distinct)
		}
	})
}

func TestProcesses_RivalDecisionsGiveOne(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		l, bases := twins(t, in)
		josiah, err := signIn(bases[0], josiah)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			made, err := did(josiah.call("POST", "/material-requests/", `{"material": `+l.material+`}`))
			id, idErr := made.at("id")
			if err := errors.Join(err, idErr); err != nil {
				t.Fatal(err)
			}
			path := "/material-requests/" + id
			rivals := []client{josiah, l.manager}
			decisions := []string{"CANCELLED", "REJECTED"}
			statuses := atOnce(2, func(i int) int {
				rivals[i].base = bases[i]
				a, err := rivals[i].call("PATCH", path, `{"status": "`+decisions[i]+`"}`)
				if err != nil {
					t.Error(err)
				}
				return a.status
			})
			won := slices.Index(statuses, http.StatusOK)
			if won < 0 || statuses[1-won] != http.StatusConflict {
				t.Fatalf("request %s: the answers are %v, want one 200 and one 409", id, statuses)
			}
			for _, base := range bases {
				josiah.base = base
				got, _ := josiah.call("GET", path, "")
				events, _ := josiah.call("GET", path+"/events", "")
				if status, _ := got.at("status"); status != decisions[won] ||
					events.header.Get("X-Total-Count") != "2" {
					t.Errorf("request %s is %s with %s events at %s, want %s with 2", id, status,
						events.header.Get("X-Total-Count"), base, decisions[won])
				}
			}
		}
		verified(t, in)
	})
}

// TestProcesses_ArchiveAndRequestAtOnceOneHappens: a material that is asked for stays, or it is archived and nobody
// gets to ask for it.
func TestProcesses_ArchiveAndRequestAtOnceOneHappens(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		l, bases := twins(t, in)
		josiah, err := signIn(bases[0], josiah)
		if err != nil {
			t.Fatal(err)
		}
		l.manager.base = bases[1]
		for range 40 {
			made, err := did(l.manager.call("POST", "/materials/",
				`{"category": "OTHER", "title": "Rare", "organization_id": `+l.id+`}`))
			id, idErr := made.at("id")
			if err := errors.Join(err, idErr); err != nil {
				t.Fatal(err)
			}
			statuses := atOnce(2, func(i int) int {
				var a answer
				if i == 0 {
					a, _ = josiah.call("POST", "/material-requests/", `{"material": `+id+`}`)
				} else {
					a, _ = l.manager.call("DELETE", "/materials/"+id, "")
				}
				return a.status
			})
			if !slices.Equal(statuses, []int{201, 409}) && !slices.Equal(statuses, []int{409, 204}) {
				t.Fatalf("material %s: asking gave %d and archiving %d, so one of them did not know of the other", id,
					statuses[0], statuses[1])
			}
		}
	})
}

// TestProcesses_RequestNeverStaysWithAFormerMember: a request never stays with someone who is no longer in the lab.
func TestProcesses_RequestNeverStaysWithAFormerMember(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		l, bases := twins(t, in)
		josiah, err := signIn(bases[0], josiah)
		if err != nil {
			t.Fatal(err)
		}
		l.owner.base = bases[1]
		members := func(list string) error {
			_, err := did(l.owner.call("PATCH", "/organizations/"+l.id, `{"members": [`+list+`]}`))
			return err
		}
		for range 40 {
			if err := members(`"` + l.manager.id + `"`); err != nil { // whom the material names as its contact
				t.Fatal(err)
			}
			path := ""
			if err := errors.Join(atOnce(2, func(i int) error {
				if i == 0 {
					return members("")
				}
				made, err := did(josiah.call("POST", "/material-requests/", `{"material": `+l.material+`}`))
				id, idErr := made.at("id")
				path = "/material-requests/" + id
				return errors.Join(err, idErr)
			})...); err != nil {
				t.Fatal(err)
			}
			got, err := josiah.call("GET", path, "")
			if assigned, _ := got.at("assigned_to"); err != nil || assigned != l.owner.id {
				t.Fatalf("%s waits for %s, who left, want %s: %v", path, assigned, l.owner.id, err)
			}
		}
	})
}

// verified runs "aliquot verify", which must find nothing.
func verified(t *testing.T, in installation) {
	t.Helper()
	if out, err := in.command("verify").CombinedOutput(); err != nil {
		t.Errorf("aliquot verify: %v\n%s", err, out)
	}
}

func TestProcesses_DivideTheLimits(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		if in.postgres == "" {
			return // several processes on one SQLite file are not what it is for
		}
		first, second := in.serve(t), in.serve(t)
		allows := func(base, policy string) func() error {
			return func() error {
				a, err := client{base: base}.call("GET", "/materials/", "")
				if got := a.header.Get("RateLimit-Policy"); err == nil && got != policy {
					err = fmt.Errorf("the limit is %s, want %s", got, policy)
				}
				return err
			}
		}
		for _, p := range []*process{first, second} {
			if err := poll(allows(p.base, `"address";q=15;w=6`)); err != nil {
				t.Error(err)
			}
		}
		if err := second.stop(); err != nil {
			t.Fatal(err)
		}
		if err := poll(allows(first.base, `"address";q=30;w=6`)); err != nil {
			t.Errorf("alone: %v", err)
		}
	})
}
