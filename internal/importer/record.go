package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Record is a folder of recorded answers of the sources, for tests. It is a transport that saves every answer to a file
// of its own; answers.json says which call each file answers. Keys, tokens and e-mail addresses of the caller are not
// saved.
type Record struct {
	root *os.Root
	mu   sync.Mutex
	list []Answer
	err  error // the first error while saving
}

// Answer is one entry of answers.json.
type Answer struct {
	Host   string `json:"host"`
	Path   string `json:"path"` // with the query, without our own parameters
	Status int    `json:"status"`
	Type   string `json:"type"` // Content-Type
	File   string `json:"file"`
}

const recordIndex = "answers.json"

// OpenRecord opens a folder and creates it if it is missing; its files stay.
func OpenRecord(folder string) (*Record, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // nothing secret is kept
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	r := &Record{root: root}
	raw, err := root.ReadFile(recordIndex)
	if err == nil {
		err = json.Unmarshal(raw, &r.list)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s: %w", recordIndex, err), root.Close())
	}
	return r, nil
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// RoundTrip makes the call, and saves the answer whatever its status is.
func (r *Record) RoundTrip(call *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(call)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(raw))
	a := Answer{Host: call.URL.Host, Path: asked(call.URL), Status: answer.StatusCode,
		Type: answer.Header.Get("Content-Type")}
	a.File = fmt.Sprintf("%.150s.%d", strings.Trim(unsafe.ReplaceAllString(a.Path, "-"), "-."), a.Status)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.root.WriteFile(a.File, raw, 0o644); err != nil && r.err == nil { //nolint:gosec // see above
		r.err = err
	}
	for i := range r.list {
		if r.list[i].Path == a.Path && r.list[i].Host == a.Host {
			r.list[i] = a
			return answer, nil
		}
	}
	r.list = append(r.list, a)
	return answer, nil
}

// asked returns the path and query of a call without the caller's own parameters.
func asked(u *url.URL) string {
	query := u.Query()
	for _, name := range []string{"api_key", "email", "mailto", "tool"} {
		query.Del(name)
	}
	if len(query) == 0 {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + query.Encode()
}

// Close writes answers.json, and returns an error if an answer could not be saved.
func (r *Record) Close() error {
	raw, err := json.MarshalIndent(r.list, "", "  ")
	if err == nil {
		err = r.root.WriteFile(recordIndex, append(raw, '\n'), 0o644) //nolint:gosec // see above
	}
	return errors.Join(r.err, err, r.root.Close())
}
