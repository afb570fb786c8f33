package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// examples are the commands of examples/ that ask for a material; each takes title, document and
// abstract.
var examples = map[string][]string{
	"curl":   {"sh", "../examples/curl/request.sh"},
	"python": {"python3", "../examples/python/request.py"},
}

// roughRoad is a way to a server on which each call goes wrong first: it is told to come again, and
// the answer of a POST is lost after the server did what it says. Lists come in the smallest parts.
func roughRoad(t *testing.T, base string) (address string) {
	t.Helper()
	to, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	var mu sync.Mutex
	seen := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		call := r.Method + " " + r.URL.RequestURI()
		seen[call]++
		times := seen[call]
		mu.Unlock()
		if q := r.URL.Query(); q.Has("limit") {
			q.Set("limit", "2")
			r.URL.RawQuery = q.Encode()
		}
		switch {
		case times == 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case times == 2 && r.Method == http.MethodPost:
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // closes the connection
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestExamples_RequestOnceThroughAFailingProxy: each example finds the material behind several parts of the list,
// asks once and uploads once whatever is lost on the way, and prints the lab's answer.
func TestExamples_RequestOnceThroughAFailingProxy(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--rate-limit", "off") // the road has its own
		l := p.lab(t)
		requester, err := signIn(p.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		const title = `The lab's "best" \ cells, 株`
		var material string
		for _, name := range []string{"A", "B", "C", "D", "Z", title} {
			body := fmt.Sprintf(`{"category": "OTHER", "title": %s, "organization_id": %s, "needs_mta": true}`,
				quoted(name), l.id)
			made, err := did(l.manager.call("POST", "/materials/", body))
			if err == nil {
				material, err = made.at("id")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, command := range examples {
			t.Run(name, func(t *testing.T) {
				cmd := example(t, roughRoad(t, p.base), requester.token, command, title, "signed-mta.pdf",
					"We study \"why\".")
				var out, complaints bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &complaints
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				var request string
				err := poll(func() (err error) {
					request, err = onlyOpen(l.manager)
					return err
				})
				if err == nil {
					_, err = did(l.manager.call("PATCH", "/material-requests/"+request, `{"status": "APPROVED"}`))
				}
				if err != nil {
					_ = cmd.Process.Kill()
				}
				err = errors.Join(err, cmd.Wait())
				want := fmt.Sprintf("material %[1]s\nrequest %[2]s is OPEN\nsubmitted signed-mta.pdf\nrequest %[2]s "+
					"is APPROVED\n", material, request)
				if err != nil || out.String() != want {
					t.Errorf("%v\n%s\n%s", err, &out, &complaints)
				}
				if _, err := onlyOpen(l.manager); err == nil {
					t.Error("another request is open")
				}
			})
		}
	})
}

// onlyOpen is the one open request with a document, which has one version.
func onlyOpen(who client) (id string, err error) {
	got, err := did(who.call("GET", "/material-requests/?status=OPEN", ""))
	if err != nil {
		return "", err
	}
	var list []struct {
		ID        json.Number
		Documents []struct{}
	}
	if err := json.Unmarshal(got.body, &list); err != nil {
		return "", err
	}
	if len(list) != 1 || len(list[0].Documents) != 1 {
		return "", fmt.Errorf("the open requests are %s", got.body)
	}
	return list[0].ID.String(), nil
}

// TestExamples_ReportErrors and end.
func TestExamples_ReportErrors(t *testing.T) {
	t.Parallel()
	in := install(t, "sqlite", t.TempDir())
	p := in.serve(t, "--demo")
	requester, err := signIn(p.base, josiah)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, base, token, title, says string }{
		{"nobody lists it", p.base, requester.token, "The philosopher's stone", "nobody lists The philosopher's stone"},
		{"a token of nobody", p.base, "alq_nobody", "HT-29", "NOT_AUTHENTICATED"},
		{"no token", p.base, "", "HT-29", "ALIQUOT_TOKEN"},
	}
	for name, command := range examples {
		for _, c := range tests {
			t.Run(name+": "+c.name, func(t *testing.T) {
				t.Parallel()
				out, err := example(t, c.base, c.token, command, c.title, "signed-mta.pdf", "").CombinedOutput()
				if _, ended := errors.AsType[*exec.ExitError](err); !ended || !strings.Contains(string(out), c.says) {
					t.Errorf("%v, and it says\n%s", err, out)
				}
			})
		}
	}
}

// example prepares a command in a folder with the sample documents.
func example(t *testing.T, base, token string, command []string, args ...string) *exec.Cmd {
	t.Helper()
	for _, tool := range []string{command[0], "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the examples need %s: %v", tool, err)
		}
	}
	script, err := filepath.Abs(command[1])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, command[0], append([]string{script}, args...)...)
	cmd.Dir = "../internal/demo/files"
	cmd.Env = append(os.Environ(), "ALIQUOT_URL="+base, "ALIQUOT_TOKEN="+token, "ALIQUOT_POLL=0.05")
	return cmd
}

func quoted(s string) string {
	raw, _ := json.Marshal(s) // cannot fail: a string
	return string(raw)
}
