package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStop_FinishesAnUpload: SIGTERM closes the server, and lets out who is inside.
func TestStop_FinishesAnUpload(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t)
		josiah, err := signIn(p.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		record, err := did(josiah.call("POST", "/attachments/", `{"filename": "counts.csv"}`))
		if err != nil {
			t.Fatal(err)
		}
		id, idErr := record.at("id")
		url, urlErr := record.at("download_url")
		if err := errors.Join(idErr, urlErr); err != nil {
			t.Fatal(err)
		}
		content := bytes.Repeat([]byte("gene,count\n"), 1<<16)
		half := len(content) / 2

		body, sending := io.Pipe()
		answered := make(chan error, 1)
		go func() {
			_, err := did(josiah.send("PUT", url, "text/csv", body))
			answered <- err
		}()
		if _, err := sending.Write(content[:half]); err != nil {
			t.Fatal(err)
		}
		if err := poll(func() error { // the server has begun to keep it
			if part, _ := filepath.Glob(filepath.Join(in.folder, "data/files/*/*.part")); len(part) != 1 {
				return fmt.Errorf("files under way: %v", part)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		stopped := make(chan error, 1)
		go func() { stopped <- p.stop() }()
		if err := poll(func() error { // nobody new comes in
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
			if err != nil {
				return nil
			}
			_ = conn.Close()
			return errors.New("the server still listens")
		}); err != nil {
			t.Fatal(err)
		}
		_, err = sending.Write(content[half:])
		if err := errors.Join(err, sending.Close(), <-answered, <-stopped); err != nil {
			t.Fatal(err)
		}

		josiah.base = in.serve(t).base
		got, err := did(josiah.call("GET", url, ""))
		if err != nil || !bytes.Equal(got.body, content) {
			t.Errorf("attachment %s has %d bytes, want %d: %v", id, len(got.body), len(content), err)
		}
	})
}

// TestStop_EndsStreams at once: nobody waits for who only listens.
func TestStop_EndsStreams(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t)
		josiah, err := signIn(p.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/v1/users/"+josiah.id+
			"/notifications/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Token "+josiah.token)
		stream, err := web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		begin := time.Now()
		if err := p.stop(); err != nil || time.Since(begin) > 5*time.Second { // answers under way have 20
			t.Errorf("stopped after %v: %v", time.Since(begin), err)
		}
		said, err := io.ReadAll(stream.Body)
		if err != nil || !strings.Contains(string(said), "event: unread\ndata: {\"unread\":0}\n\n") {
			t.Errorf("the stream said %q, %v", said, err)
		}
	})
}

// TestStop_AnswersUntilProxiesKnow: with stop-delay, a process that is asked to stop says so and still answers for a while.
func TestStop_AnswersUntilProxiesKnow(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--stop-delay", "4s")
		nobody := client{base: p.base}
		asked := time.Now()
		stopped := make(chan error, 1)
		go func() { stopped <- p.stop() }()
		if err := poll(func() error {
			return nobody.readiness(http.StatusServiceUnavailable, "another process: this one stops")
		}); err != nil {
			t.Error(err)
		}
		if _, err := did(nobody.call("GET", "/materials/", "")); err != nil {
			t.Errorf("while it says that it stops: %v", err)
		}
		if err := <-stopped; err != nil || time.Since(asked) < 4*time.Second {
			t.Errorf("it stopped after %s: %v", time.Since(asked), err)
		}
	})
}
