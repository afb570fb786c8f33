package e2e

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"
)

const (
	kills   = 10
	writers = 16 // so many that they wait for each other and share commits
)

// TestKill_LosesNothingThatWasAnswered kills the server in the middle of writes. In the end
// all that was answered is there and unchanged, and of what was not answered there is nothing or
// the whole.
func TestKill_LosesNothingThatWasAnswered(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--rate-limit", "off")
		l := p.lab(t)
		josiah, err := signIn(p.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		var all []*transfer
		for range kills {
			all = append(all, writeUntilKilled(t, p, josiah, l)...)
			if t.Failed() {
				return
			}
			p = in.serve(t, "--rate-limit", "off")
		}
		verified(t, in)
		josiah.base, l.manager.base = p.base, p.base
		for _, written := range all {
			written.josiah, written.mario = josiah, l.manager
			if err := written.check(); err != nil {
				t.Errorf("request %s: %v", written.request, err)
			}
		}
		heardOnce(t, josiah, l.manager)
	})
}

// writeUntilKilled lets writers write, kills the server at a random moment, and gives what they
// wrote.
func writeUntilKilled(t *testing.T, p *process, josiah client, l lab) []*transfer {
	t.Helper()
	josiah.base, l.manager.base = p.base, p.base
	answered := make(chan struct{})
	killed := make(chan struct{})
	var mu sync.Mutex
	var written []*transfer
	var working sync.WaitGroup
	for range writers {
		working.Go(func() {
			for {
				w := &transfer{josiah: josiah, mario: l.manager, lab: l.id, answered: func() {
					select {
					case answered <- struct{}{}:
					case <-killed:
					}
				}}
				err := w.write()
				mu.Lock()
				written = append(written, w)
				mu.Unlock()
				if err == nil {
					continue
				}
				select {
				case <-killed:
					if _, refused := errors.AsType[refusal](err); !refused {
						return
					}
				default:
				}
				t.Errorf("not for the kill: %v", err)
				return
			}
		})
	}
	for range 5 + mathrand.IntN(40) {
		select {
		case <-answered:
		case <-time.After(patience):
			t.Error("nothing is answered any more")
		}
	}
	close(killed)
	time.Sleep(time.Duration(mathrand.IntN(int(20 * time.Millisecond)))) // somewhere in the middle of a write
	p.kill()
	<-p.ended
	working.Wait()
	return written
}

// transfer is one request that one writer takes through its steps, and what it noted of it.
type transfer struct {
	josiah, mario client
	lab           string
	answered      func() // is called for each answer

	materialPath string
	material     []byte   // as it was answered
	request      string   // the id; empty where no answer came
	told         []string // its events that were answered
	asked        string   // the event of the step that was not; empty when all were
	contentPath  string
	content      []byte
}

// write takes every step, until one has no answer.
func (w *transfer) write() error {
	made, err := w.step("", w.mario, "POST", "/materials/",
		fmt.Sprintf(`{"category": "CELL_LINE", "title": %q, "organization_id": %s,
		"needs_mta": true, "additional_metadata": {"cell_line_name": "HT-29"}}`, rand.Text(), w.lab))
	material, err := id(made, err)
	if err != nil {
		return err
	}
	w.materialPath, w.material = "/materials/"+material, made.body

	made, err = w.step("", w.josiah, "POST", "/material-requests/", `{"material": `+material+`}`)
	if w.request, err = id(made, err); err != nil {
		return err
	}
	w.told = []string{"request_made"}

	content := bytes.Repeat([]byte(rand.Text()+"\n"), 8<<10)
	path, words, tracking := "/material-requests/"+w.request, rand.Text(), rand.Text()
	if _, err := w.step("status_changed APPROVED", w.mario, "PATCH", path, `{"status": "APPROVED"}`); err != nil {
		return err
	}
	if _, err := w.step("message "+words, w.josiah, "POST", path+"/messages",
		fmt.Sprintf(`{"text": %q}`, words)); err != nil {
		return err
	}
	uploaded, err := did(w.josiah.upload("signed.txt", content))
	signed, err := id(uploaded, err)
	if err != nil {
		return err
	}
	w.answered()
	if w.contentPath, err = uploaded.at("download_url"); err != nil {
		return err
	}
	w.content = content
	if _, err := w.step("document_added "+signed, w.josiah, "PATCH", path, `{"requester_signed_mta_attachment": `+
		signed+`}`); err != nil {
		return err
	}
	if _, err := w.step("shipment_changed "+tracking, w.mario, "PATCH", path+"/shipment",
		fmt.Sprintf(`{"tracking": %q}`, tracking)); err != nil {
		return err
	}
	_, err = w.step("status_changed FULFILLED", w.mario, "PATCH", path,
		`{"status": "FULFILLED", "override_reason": "in person"}`)
	return err
}

// step makes one call; event is what it adds to the request, if anything.
func (w *transfer) step(event string, by client, method, path, body string) (answer, error) {
	w.asked = event
	a, err := did(by.call(method, path, body))
	if err != nil {
		return a, err
	}
	if w.answered(); event != "" {
		w.told, w.asked = append(w.told, event), ""
	}
	return a, nil
}

func id(a answer, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return a.at("id")
}
