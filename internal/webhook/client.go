package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The limits of one message: the time until its answer is read, and the bytes that are read of the answer's head and
// body, and kept of its body.
const (
	patience    = 15 * time.Second
	maxHeaders  = 64 << 10
	maxBody     = 64 << 10
	excerptSize = 1 << 10
)

// Client sends messages. Each message has a connection of its own, so that a receiver cannot affect the next message.
type Client struct {
	http    *http.Client
	private bool
}

// New returns a client. If private is set it also sends to private addresses, and by http.
func New(private bool) *Client {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		// Checked after the name is resolved, so that the address connected to is the one checked.
		if to, err := netip.ParseAddrPort(address); err != nil || !private && !public(to.Addr()) {
			return errPrivate
		}
		return nil
	}}
	return &Client{private: private, http: &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{ // no proxy, which would connect for us
			DialContext: dialer.DialContext, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: maxHeaders,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		},
	}}
}

// Check is CheckURL for the addresses that c may send to.
func (c *Client) Check(address string) error { return CheckURL(address, c.private) }

var errPrivate = errors.New("its host leads to an address that is private or reserved")

// Message is a payload with an id that is the same at every attempt.
type Message struct {
	URL     string
	ID      string   // without full stops, which separate the signed parts
	Secrets []string // each adds a signature
	At      time.Time
	Payload []byte
}

// Answer is the receiver's answer.
type Answer struct {
	Status     int           // 0: none
	Excerpt    string        // the first KiB of the body, as valid UTF-8
	RetryAfter time.Duration // requested by the receiver; 0: none
}

// Send sends a message once, if CheckURL allows its address. An error says, for a person, why the message counts as not
// delivered: any status but 2xx is an error, including a redirect. The status decides: if the body of an answer does
// not end, only what arrived is read.
func (c *Client) Send(ctx context.Context, m Message) (Answer, error) {
	if err := c.Check(m.URL); err != nil {
		return Answer{}, fmt.Errorf("the address %w", err)
	}
	return c.post(ctx, m)
}

func (c *Client) post(ctx context.Context, m Message) (Answer, error) {
	signature, err := Sign(m.Secrets, m.ID, m.At, m.Payload)
	if err != nil {
		return Answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Payload))
	if err != nil {
		return Answer{}, err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Aliquot"},
		"Webhook-Id": {m.ID}, "Webhook-Timestamp": {timestampHeader(m.At)}, "Webhook-Signature": {signature},
	}
	response, err := c.http.Do(r)
	if err != nil {
		return Answer{}, errors.New(excerpt(describeError(err)))
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxBody))
	a := Answer{Status: response.StatusCode, Excerpt: excerpt(string(body)),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"))}
	switch status := strings.TrimSpace(strconv.Itoa(a.Status) + " " + http.StatusText(a.Status)); {
	case a.Status >= 200 && a.Status < 300:
		return a, nil
	case a.Status >= 300 && a.Status < 400:
		return a, fmt.Errorf("it answered %s to %q; redirects are not followed, so set the address that it leads to",
			status, excerpt(response.Header.Get("Location")))
	default:
		return a, fmt.Errorf("it answered %s", status)
	}
}

// excerpt returns the beginning of a receiver's answer, as valid UTF-8 without control characters, which a database or
// a terminal may not accept.
func excerpt(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), excerptSize)], ""))
}

// retryAfter parses the header Retry-After: seconds or a date; 0 if it is absent or invalid.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(time.Until(at), 0), 24*time.Hour)
	}
	return 0
}

// describeError describes an error without the addresses of our own network that it may contain.
func describeError(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok && e.Timeout() {
		return fmt.Sprintf("it did not answer within %s", patience)
	}
	if errors.Is(err, errPrivate) {
		return errPrivate.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		if e.IsNotFound {
			return "there is no host " + e.Name
		}
		return fmt.Sprintf("the host %s could not be looked up", e.Name)
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fmt.Sprintf("its certificate is not good: %v", e.Err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "it refused the connection"
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	} else if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Sprintf("the connection failed: %v", err)
}
