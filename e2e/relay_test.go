package e2e

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// relay is a network between processes of ours and a server: it passes bytes on, late or not at all as a test wants.
type relay struct {
	address string // of its own

	mu     sync.Mutex
	to     string // host and port of the server
	delay  time.Duration
	silent bool // takes bytes and passes none on
	broken bool // takes no connections
	open   map[net.Conn]bool
}

// startRelay starts a relay to a server, which ends with the test.
func startRelay(t testing.TB, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{address: l.Addr().String(), to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = l.Close()
		r.set(func() { r.broken = true })
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go r.connect(client)
		}
	}()
	return r
}

// set changes what the relay does. Connections that it should no longer have are closed.
func (r *relay) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	to := r.to
	change()
	if r.broken || r.to != to {
		for conn := range r.open {
			_ = conn.Close()
		}
	}
}

// connect passes on what client and server send each other.
func (r *relay) connect(client net.Conn) {
	defer client.Close()
	r.mu.Lock()
	to, broken := r.to, r.broken
	r.mu.Unlock()
	if broken {
		return
	}
	server, err := net.DialTimeout("tcp", to, time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	r.mu.Lock()
	r.open[client], r.open[server] = true, true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.open, client)
		delete(r.open, server)
		r.mu.Unlock()
	}()
	both := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			_, _ = io.Copy(lateWriter{r, way[1]}, way[0])
			both <- struct{}{}
		}()
	}
	<-both
}

// lateWriter writes when the network is as it should be.
type lateWriter struct {
	relay *relay
	to    io.Writer
}

// Write waits while the relay is silent.
func (w lateWriter) Write(b []byte) (int, error) {
	for {
		w.relay.mu.Lock()
		silent, delay := w.relay.silent, w.relay.delay
		w.relay.mu.Unlock()
		if !silent {
			time.Sleep(delay)
			return w.to.Write(b)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
