package webhook

import (
	"bufio"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// quick is a client of private addresses that waits half a second.
func quick() *Client {
	c := New(true)
	c.http.Timeout = 500 * time.Millisecond
	return c
}

func message(url string) Message {
	return Message{URL: url, ID: "msg_1", Secrets: []string{NewSecret()}, At: time.Now(),
		Payload: []byte(`{"type":"ping"}`)}
}

// raw is a server that answers each connection with bytes of its own, and then does more.
func raw(t *testing.T, answer string, more func(net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(c, answer)
				if more != nil {
					more(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// drip writes a byte now and then until the other side is gone.
func drip(c net.Conn) {
	for {
		if _, err := io.WriteString(c, "x"); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// flood writes until the other side is gone, or 10 MB are written.
func flood(c net.Conn) { _, _ = io.WriteString(c, strings.Repeat("x", 10<<20)) }

func TestClient_HostileReceiverCostsLittle(t *testing.T) {
	t.Parallel()
	hang := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, c := range map[string]struct {
		answer string
		more   func(net.Conn)
		status int
		says   string // "": delivered
		body   string // how the excerpt begins
	}{
		"takes it":                {answer: ok + "Content-Length: 4\r\n\r\nfine", status: 200, body: "fine"},
		"takes it without a word": {answer: "HTTP/1.1 204 No Content\r\n\r\n", status: 204},
		"answers in HTTP/1.0":     {answer: "HTTP/1.0 202 Accepted\r\n\r\nyes", status: 202, body: "yes"},
		"answers 10 MB": {answer: ok + "Content-Length: 10485760\r\n\r\n", more: flood, status: 200,
			body: "xxxx"},
		"answers without end": {answer: ok + "\r\n", more: flood, status: 200, body: "xxxx"},
		"drips the body": {answer: ok + "Content-Length: 10485760\r\n\r\n", more: drip, status: 200,
			body: "x"},
		"breaks off the body": {answer: ok + "Content-Length: 100\r\n\r\nhalf", status: 200, body: "half"},
		"answers a bomb": {answer: ok + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8bab",
			status: 200, body: "ab"},
		"answers what is no UTF-8": {answer: ok + "Content-Length: 5\r\n\r\na\xff\x00\x1bb", status: 200, body: "ab"},
		"never answers":            {more: hang, says: "did not answer within"},
		"drips the head": {answer: "HTTP/1.1 200 OK\r\nX-Slow: ", more: drip,
			says: "did not answer within"},
		"sends early hints only": {answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 3), more: hang,
			says: "did not answer within"},
		"closes the connection":   {says: "the connection failed"},
		"speaks another protocol": {answer: "220 mail.example.org ESMTP\r\n", says: "the connection failed"},
		"sends garbage":           {answer: "\x00\xff\x16\x03\x01", says: "the connection failed"},
		"has a head of a megabyte": {answer: ok + "X-Long: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
			says: "the connection failed"},
		"has a hundred thousand": {answer: ok + strings.Repeat("X-Many: 1\r\n", 100_000) + "\r\n",
			says: "the connection failed"},
		"moved": {answer: "HTTP/1.1 301 Moved Permanently\r\nLocation: " +
			"http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n", status: 301,
			says: `301 Moved Permanently to "http://169.254.169.254/"; redirects are not followed`},
		"moved for now": {answer: "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: " +
			"0\r\n\r\n", status: 307, says: "redirects are not followed"},
		"is gone": {answer: "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", status: 410,
			says: "it answered 410 Gone"},
		"does not know us": {answer: "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nwho?", status: 404,
			says: "it answered 404 Not Found", body: "who?"},
		"fails": {answer: "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n", status: 500,
			says: "it answered 500"},
		"has a status of its own": {answer: "HTTP/1.1 799 X\r\nContent-Length: 0\r\n\r\n", status: 799,
			says: "it answered 799"},
		"has more to say than we do": {answer: "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" +
			strings.Repeat("é", 1000), status: 200, body: strings.Repeat("é", 512)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			a, err := quick().Send(t.Context(), message(raw(t, c.answer, c.more)))
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if a.Status != c.status || !strings.HasPrefix(a.Excerpt, c.body) || len(a.Excerpt) > excerptSize ||
				!utf8.ValidString(a.Excerpt) {
				t.Errorf("status %d with %.20q (%d bytes), want %d with %.20q", a.Status, a.Excerpt, len(a.Excerpt),
					c.status, c.body)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestClient_MessageVerifiesByTheOfficialLibrary(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	m := message(s.URL + "/hook?x=1")
	a, err := New(true).Send(t.Context(), m)
	s.Close()
	if err == nil || a.RetryAfter != 7*time.Second {
		t.Errorf("%+v, %v", a, err)
	}
	official, err := standardwebhooks.NewWebhook(m.Secrets[0])
	if err == nil {
		err = official.Verify(body, got.Header)
	}
	if err != nil || got.Method != http.MethodPost || got.RequestURI != "/hook?x=1" ||
		got.Header.Get("Content-Type") != "application/json" ||
		got.Header.Get("Webhook-Id") != "msg_1" || string(body) != string(m.Payload) ||
		got.Header.Get("Accept-Encoding") != "" {
		t.Errorf("%v: %s %s %v %s", err, got.Method, got.RequestURI, got.Header, body)
	}
}

func TestClient_RetryAfterIsAtMostADay(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(time.Hour)
	for header, want := range map[string]time.Duration{"": 0, "x": 0, "-5": 0, "30": 30 * time.Second,
		"999999999": 24 * time.Hour, "99999999999999999999": 0,
		soon.UTC().Format(http.TimeFormat): time.Hour, "Mon, 02 Jan 2006 15:04:05 GMT": 0} {
		if got := retryAfter(header); got > want || got < want-2*time.Second {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}

// TestClient_RefusesPrivateAddressesWhenDialling: what a name leads to may differ from
// one look-up to the next, so it is the address that is dialled that counts.
func TestClient_RefusesPrivateAddressesWhenDialling(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("the receiver was reached")
	}))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"} {
		m := message("http://" + host + ":" + port)
		// behind CheckURL
		if _, err := New(false).post(t.Context(), m); err == nil || err.Error() != errPrivate.Error() {
			t.Errorf("%s: %v", host, err)
		}
		if _, err := New(false).Send(t.Context(), m); err == nil ||
			!strings.HasPrefix(err.Error(), "the address must start with https://") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestClient_UsesNoProxyOfTheEnvironment(t *testing.T) {
	t.Parallel()
	if New(false).http.Transport.(*http.Transport).Proxy != nil {
		t.Error("there is a proxy, which would dial in place of us")
	}
}

func TestClient_FailuresHideOurAddresses(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String()
	_ = l.Close()
	if _, err := quick().Send(t.Context(), message(closed)); err == nil || err.Error() != "it refused the connection" {
		t.Errorf("a closed port: %v", err)
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	c := quick()
	c.http.Transport.(*http.Transport).TLSClientConfig.RootCAs = x509.NewCertPool()
	if _, err := c.Send(t.Context(), message(secure.URL)); err == nil ||
		!strings.HasPrefix(err.Error(), "its certificate is not good: ") {
		t.Errorf("a certificate of nobody: %v", err)
	}
	trusting := quick()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	trusting.http.Transport.(*http.Transport).TLSClientConfig.RootCAs = roots
	if _, err := trusting.Send(t.Context(), message(secure.URL)); err != nil {
		t.Errorf("a good certificate: %v", err)
	}
	for err, want := range map[error]string{
		&net.DNSError{Err: "no such host", Name: "lab.example.org", Server: "10.0.0.2:53",
			IsNotFound: true}: "there is no host lab.example.org",
		&net.DNSError{Err: "server misbehaving", Name: "lab.example.org",
			Server: "10.0.0.2:53"}: "the host lab.example.org could not be looked up",
		&net.OpError{Op: "read", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)},
			Err: errors.New("reset by peer")}: "the connection failed: reset by peer",
	} {
		if got := describeError(fmt.Errorf("dial: %w", err)); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := quick().Send(ended, message(closed)); err == nil {
		t.Error("a context that ended sends")
	}
}
