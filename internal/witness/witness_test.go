package witness_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"aliquot/internal/record"
	"aliquot/internal/witness"
	"aliquot/internal/witness/witnesstest"

	"golang.org/x/mod/sumdb/note"
)

// log is a log in memory.
type log struct {
	keys  record.Keys
	edge  record.Edge
	tiles map[string][]byte
}

func newLog(t *testing.T) *log {
	t.Helper()
	keys, err := record.NewKeys("aliquot.example.org/log/2026")
	if err != nil {
		t.Fatal(err)
	}
	return &log{keys: keys, tiles: map[string][]byte{}}
}

func (l *log) grow(n int, hash string) {
	for range n {
		l.store(l.edge.Append(record.Leaf(hash)))
	}
	l.store(l.edge.Partial())
}

func (l *log) store(tiles []record.Tile) {
	for _, tile := range tiles {
		l.tiles[fmt.Sprint(tile.Level, tile.Index)] = bytes.Clone(tile.Data)
	}
}

func (l *log) checkpoint(t *testing.T) []byte {
	t.Helper()
	c := record.Checkpoint{Origin: l.keys.Origin(), Size: l.edge.Size, Root: l.edge.Root()}
	signed, err := c.Sign(l.keys.Signers...)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func (l *log) prove(old int64) (record.AddCheckpoint, error) {
	hashes, err := record.ProveConsistency(l.edge.Size, old, func(level int, index int64) ([]byte, error) {
		data, ok := l.tiles[fmt.Sprint(level, index)]
		if !ok {
			return nil, errors.New("there is no such tile")
		}
		return data, nil
	})
	return record.AddCheckpoint{Old: old, Proof: hashes}, err
}

// serve runs a witness of a log.
func serve(t *testing.T, l *log) witness.Witness {
	t.Helper()
	private, _, err := note.GenerateKey(nil, "witness.example.org")
	if err != nil {
		t.Fatal(err)
	}
	key, err := record.WitnessKey(private)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.OpenWitness(filepath.Join(t.TempDir(), "state.json"), private, l.keys.Verifiers...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(witness.Handler(w))
	t.Cleanup(server.Close)
	return witness.Witness{URL: server.URL, Key: key}
}

func TestCosign_FollowsALogThatGrowsAndFindsTheSizeThatTheWitnessKnows(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	w := serve(t, l)
	known, err := record.Verifiers(append(l.keys.Verifiers, w.Key)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []int64{0, 10, 0, 5} { // the last two are not what the witness knows
		l.grow(10, strings.Repeat("ab", 32))
		signed, err := witness.Cosign(t.Context(), http.DefaultClient, w, l.checkpoint(t), old, l.prove)
		if err != nil {
			t.Fatal(err)
		}
		c, n, err := record.OpenCheckpoint(signed, l.keys.Origin(), known)
		if err != nil || c.Size != l.edge.Size || len(n.Sigs) != 2 {
			t.Errorf("got %v, %v, %v", c, n, err)
		}
	}
	other := newLog(t)
	other.keys = l.keys
	for _, size := range []int{40, 20} {
		other.grow(size, strings.Repeat("cd", 32))
		_, err := witness.Cosign(t.Context(), http.DefaultClient, w, other.checkpoint(t), 40, other.prove)
		if err == nil {
			t.Errorf("a log that was rewritten is cosigned at size %d", other.edge.Size)
		}
	}
}

func TestCosign_OfAWitnessThatDoesNotAnswerAsItShouldIsAnError(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.grow(3, strings.Repeat("ab", 32))
	honest := serve(t, l)
	for name, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) },
		"nothing":  func(http.ResponseWriter, *http.Request) {},
		"another's signature": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "— witness.example.org AAAA\n")
		},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, record.MaxNote+1))
		},
		"conflicts without end": func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			size := 1
			if bytes.HasPrefix(body, []byte("old 1\n")) {
				size = 2
			}
			w.WriteHeader(http.StatusConflict)
			_, _ = fmt.Fprintln(w, size)
		},
		"a size that is none": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "-", http.StatusConflict) },
		"a size behind the log": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "99", http.StatusConflict)
		},
	} {
		server := httptest.NewServer(answer)
		t.Cleanup(server.Close)
		w := witness.Witness{URL: server.URL, Key: honest.Key}
		if signed, err := witness.Cosign(t.Context(), http.DefaultClient, w, l.checkpoint(t), 0, l.prove); err == nil {
			t.Errorf("%s: got %s", name, signed)
		}
	}
}

func TestHandler_RefusesWithTheStatusOfTheProtocol(t *testing.T) {
	t.Parallel()
	l := newLog(t)
	l.grow(3, strings.Repeat("ab", 32))
	w := serve(t, l)
	call, err := l.prove(0)
	if err != nil {
		t.Fatal(err)
	}
	call.Checkpoint = l.checkpoint(t)
	old := call
	old.Old = 2
	for _, tc := range []struct {
		method, path string
		body         []byte
		status       int
		answer       string
	}{
		{"POST", "/add-checkpoint", old.Marshal(), 409, "0\n"},
		{"POST", "/add-checkpoint", call.Marshal(), 200, "— witness.example.org "},
		{"POST", "/add-checkpoint", nil, 400, "not a call"},
		{"POST", "/add-checkpoint", make([]byte, 1<<20), 400, "too long"},
		{"GET", "/add-checkpoint", nil, 405, ""},
		{"POST", "/", nil, 404, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, w.URL+tc.path, bytes.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != tc.status || !strings.Contains(string(answer), tc.answer) {
			t.Errorf("%s %s: got %d, %q, %v, want %d, %q", tc.method, tc.path, response.StatusCode, answer, err,
				tc.status, tc.answer)
		}
		if is := response.Header.Get("Content-Type"); tc.status == 409 && is != "text/x.tlog.size" {
			t.Errorf("the size is %s", is)
		}
	}
}

// newAuthority runs a timestamping authority and returns its address and certificate.
func newAuthority(t *testing.T) (string, *x509.CertPool) {
	t.Helper()
	address, cert := witnesstest.StartAuthority(t)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return address, roots
}

func TestTimestamp_OfAnAuthorityIsChecked(t *testing.T) {
	t.Parallel()
	address, roots := newAuthority(t)
	message := []byte("a checkpoint")
	response, err := witness.Timestamp(t.Context(), http.DefaultClient, address, message, roots)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.CheckTimestamp(response, message, nil, roots); err != nil {
		t.Error(err)
	}
	_, others := newAuthority(t)
	if _, err := witness.Timestamp(t.Context(), http.DefaultClient, address, message, others); err == nil {
		t.Error("the timestamp of an authority that is not trusted is accepted")
	}
	replay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(response)
	}))
	t.Cleanup(replay.Close)
	if _, err := witness.Timestamp(t.Context(), http.DefaultClient, replay.URL, message, roots); err == nil {
		t.Error("an answer to an earlier query is accepted")
	}
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)
	if _, err := witness.Timestamp(t.Context(), http.DefaultClient, down.URL, message, roots); err == nil {
		t.Error("no answer is accepted")
	}
}
