package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// TestExampleReceivers_TakeEachMessageOnceAndNoForgery runs those of examples/ against a server
// that tells them of a request.
func TestExampleReceivers_TakeEachMessageOnceAndNoForgery(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "webhook")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program,
		"aliquot/examples/go/webhook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	receivers := map[string][]string{"go": {program}, "python": {"python3", "../examples/python/webhook.py"}}
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--webhook-private")
		l := p.lab(t)
		for name, command := range receivers {
			t.Run(name, func(t *testing.T) {
				hooks := fmt.Sprintf("/organizations/%s/webhooks/", l.id)
				made, err := did(l.owner.call("POST", hooks, `{"url": "http://127.0.0.1:9/"}`))
				if err != nil {
					t.Fatal(err)
				}
				var hook struct {
					ID     int64
					Secret string
				}
				if err := json.Unmarshal(made.body, &hook); err != nil {
					t.Fatal(err)
				}
				url, lines := receive(t, hook.Secret, command)
				path := fmt.Sprintf("%s%d", hooks, hook.ID)
				_, err = did(l.owner.call("PATCH", path, fmt.Sprintf(`{"url": %q}`, url)))
				if err == nil {
					_, err = did(l.owner.call("POST", path+"/ping", ""))
				}
				if err != nil || next(t, lines) != "ping" {
					t.Fatal("no ping: ", err)
				}
				forge(t, url, hook.Secret)
				if got := next(t, lines); got != "twice" {
					t.Errorf("it printed %q", got)
				}
				asked, err := did(l.manager.call("POST", "/material-requests/",
					fmt.Sprintf(`{"material": %s}`, l.material)))
				if err != nil {
					t.Fatal(err)
				}
				request, err := asked.at("id")
				if got, want := next(t, lines), fmt.Sprintf("request.made request %s is OPEN", request); err != nil ||
					got != want {
					t.Errorf("%v: it printed %q, want %q", err, got, want)
				}
				if _, err := did(l.owner.call("DELETE", path, "")); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// receive runs an example and gives where it listens, and what it prints.
func receive(t *testing.T, secret string, command []string) (url string, lines <-chan string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], "0")...)
	cmd.Env = append(os.Environ(), "ALIQUOT_WEBHOOK_SECRET="+secret)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	printed := make(chan string, 100)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			printed <- strings.TrimSpace(scanner.Text())
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	return strings.TrimPrefix(next(t, printed), "listening at "), printed
}

func next(t *testing.T, lines <-chan string) string {
	t.Helper()
	select {
	case line := <-lines:
		return line
	case <-time.After(patience):
		t.Fatal("nothing was printed")
		return ""
	}
}

// forge sends what must not be taken, and then a good message twice.
func forge(t *testing.T, url, secret string) {
	t.Helper()
	official, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"type": "twice", "data": {}}`
	signature := func(at time.Time) string {
		s, err := official.Sign("msg_1", at, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	now := time.Now()
	for _, c := range []struct {
		name      string
		at        time.Time
		signature string
		body      string
		status    int
	}{
		{"no signature", now, "", body, http.StatusUnauthorized},
		{"another's signature", now, "v1," + strings.Repeat("A", 43) + "=", body, http.StatusUnauthorized},
		{"another body", now, signature(now), body + " ", http.StatusUnauthorized},
		{"another version", now, strings.Replace(signature(now), "v1", "v2", 1), body, http.StatusUnauthorized},
		{"ten minutes old", now.Add(-10 * time.Minute), signature(now.Add(-10 * time.Minute)), body,
			http.StatusUnauthorized},
		{"ten minutes ahead", now.Add(10 * time.Minute), signature(now.Add(10 * time.Minute)), body,
			http.StatusUnauthorized},
		{"no ASCII", now, "v1,\u00e9", body, http.StatusUnauthorized},
		{"once", now, "v1,AAAA " + signature(now), body, http.StatusNoContent},
		{"twice", now, signature(now), body, http.StatusNoContent},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {fmt.Sprint(c.at.Unix())},
			"Webhook-Signature": {c.signature}}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s: %s", c.name, answer.Status)
		}
	}
}

// TestWebhook_HangingReceiversDelayNobodyElse: with one slot, a job is done while a message waits for its answer.
func TestWebhook_HangingReceiversDelayNobodyElse(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		reached := make(chan bool, 100)
		hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the server does not see that the caller went away
			reached <- true
			<-r.Context().Done()
		}))
		t.Cleanup(hanging.Close)
		p := in.serve(t, "--webhook-private", "--workers", "1")
		l := p.lab(t)
		made, err := did(l.owner.call("POST", fmt.Sprintf("/organizations/%s/webhooks/", l.id),
			fmt.Sprintf(`{"url": %q}`, hanging.URL)))
		if err != nil {
			t.Fatal(err)
		}
		id, err := made.at("id")
		for range 5 {
			if err == nil {
				_, err = did(l.owner.call("POST", fmt.Sprintf("/organizations/%s/webhooks/%s/ping", l.id, id), ""))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		<-reached
		bulk, err := did(l.manager.send("POST", "/organizations/"+l.id+"/materials/bulk", "text/csv",
			strings.NewReader("category,title\nOTHER,A\n")))
		if err != nil {
			t.Fatal(err)
		}
		job, err := bulk.at("id")
		if err == nil {
			err = poll(func() error {
				got, err := did(l.manager.call("GET", "/jobs/"+job, ""))
				if err == nil && !strings.Contains(string(got.body), `"state":"DONE"`) {
					err = fmt.Errorf("the job is %s", got.body)
				}
				return err
			})
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case <-reached:
			t.Error("the job waited until a message was given up, or there are two slots")
		default:
		}
	})
}
