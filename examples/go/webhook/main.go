// Command webhook takes what Aliquot tells a webhook, checks who sent it, and prints each message once.
// It needs the standard library alone; the libraries of standardwebhooks.com verify too.
//
//	ALIQUOT_WEBHOOK_SECRET=whsec_... go run ./examples/go/webhook 8000
//
// In the place of the printing do what is quick, such as keeping the message in a database: Aliquot
// waits 15 seconds for the answer. Put it behind a server that speaks https.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance = 5 * time.Minute
	largest   = 1 << 20 // bytes
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string, out io.Writer) error {
	secret, ok := strings.CutPrefix(getenv("ALIQUOT_WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if len(args) != 1 || !ok || err != nil {
		return errors.New("usage: ALIQUOT_WEBHOOK_SECRET=whsec_... webhook PORT")
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", args[0]))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "listening at http://%s\n", l.Addr())
	server := http.Server{Handler: &receiver{key: key, out: out, taken: map[string]bool{}},
		ReadTimeout: 15 * time.Second}
	return server.Serve(l)
}

// receiver takes messages.
type receiver struct {
	key []byte
	out io.Writer

	mu    sync.Mutex
	taken map[string]bool // ids; a database remembers them longer
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, largest))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if !verified(r.key, q.Header, body, time.Now()) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var message struct {
		Type string
		Data struct {
			Request *struct {
				ID     int64
				Status string
			}
		}
	}
	if err := json.Unmarshal(body, &message); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if id := q.Header.Get("webhook-id"); !r.taken[id] { // a message may come twice
		text := ""
		if request := message.Data.Request; request != nil {
			text = fmt.Sprintf("request %d is %s", request.ID, request.Status)
		}
		fmt.Fprintln(r.out, message.Type, text)
		r.taken[id] = true
	}
	w.WriteHeader(http.StatusNoContent)
}

// verified reports whether a message was signed with the key, within the last minutes.
func verified(key []byte, h http.Header, body []byte, now time.Time) bool {
	sent, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	// or whoever saw it once could send it forever
	if age := now.Sub(time.Unix(sent, 0)); err != nil || age.Abs() > tolerance {
		return false
	}
	sum := hmac.New(sha256.New, key)
	fmt.Fprintf(sum, "%s.%d.%s", h.Get("webhook-id"), sent, body) // the bytes as they came
	want := "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	for given := range strings.SplitSeq(h.Get("webhook-signature"), " ") { // more than one while the secret is changed
		if hmac.Equal([]byte(want), []byte(given)) {
			return true
		}
	}
	return false
}
