// Package mailtest is a real mail server for tests. It keeps what it takes, and answers as a test says.
package mailtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Letter is a message that the server took.
type Letter struct {
	From, To   string // of the envelope
	Header     netmail.Header
	Subject    string // decoded
	Text, HTML string // decoded; HTML is empty where there is none
	Raw        []byte // as it came
}

// Server plays a mail server.
type Server struct {
	URL   string // as the setting mail takes it, with user and password where the server wants them
	Roots *x509.CertPool
	mu    sync.Mutex
	took  []Letter
	rcpt  func(to string) error
	data  func(Letter) error
}

// Option is how a server differs from one that takes everything in clear.
type Option func(*options)

type options struct {
	startTLS, tls  bool
	user, password string
	mechanism      string
}

// StartTLS makes the server offer STARTTLS, with a certificate for mail.example.org and 127.0.0.1 that Server.Roots
// trusts.
func StartTLS() Option { return func(o *options) { o.startTLS = true } }

// TLS makes the server speak TLS from the start.
func TLS() Option { return func(o *options) { o.tls = true } }

// Password makes the server take messages only from who signs in.
func Password(user, password string) Option {
	return func(o *options) { o.user, o.password, o.mechanism = user, password, sasl.Plain }
}

// Login is Password by the mechanism LOGIN alone, as older servers have it.
func Login(user, password string) Option {
	return func(o *options) { o.user, o.password, o.mechanism = user, password, sasl.Login }
}

// Start starts a server on a loopback address that ends with t.
func Start(t testing.TB, list ...Option) *Server {
	t.Helper()
	var o options
	for _, option := range list {
		option(&o)
	}
	s := &Server{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := url.URL{Scheme: "smtp", Host: l.Addr().String()}
	if o.user != "" {
		address.User = url.UserPassword(o.user, o.password)
	}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return &session{Server: s, options: o, conn: c, good: o.user == ""}, nil
	}))
	server.Domain, server.AllowInsecureAuth, server.EnableSMTPUTF8 = "mail.example.org", true, true
	server.ErrorLog = log.New(io.Discard, "", 0)
	if o.startTLS || o.tls {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.certificate(t)}}
	}
	if o.tls {
		address.Scheme = "smtps"
		l = tls.NewListener(l, server.TLSConfig)
	}
	s.URL = address.String()
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// Answer lets decide answer for each address; nil takes every one, as at the start. An error is sent as Reply
// made it; ErrDrop drops the connection. decide may block, for a server that hangs.
func (s *Server) Answer(decide func(to string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rcpt = decide
}

// AnswerMessage lets decide answer for each whole message, which is kept whatever it says.
func (s *Server) AnswerMessage(decide func(Letter) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data = decide
}

// ErrDrop is the answer that drops the connection.
var ErrDrop = errors.New("drop the connection")

// Reply is a refusal, as Reply(550, 5, 1, 1, "no such user").
func Reply(code, class, subject, detail int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{class, subject, detail}, Message: text}
}

// Messages are those that came, in order.
func (s *Server) Messages() []Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Letter(nil), s.took...)
}

// WaitFor waits until at least n messages came, and returns all that did. The test fails when they do
// not within 20 seconds.
func (s *Server) WaitFor(t testing.TB, n int) []Letter {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		took := s.Messages()
		if len(took) >= n {
			return took
		}
		if time.Now().After(end) {
			t.Fatalf("%d messages came, not %d", len(took), n)
		}
	}
}

// certificate makes one, and Roots that trust it.
func (s *Server) certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"mail.example.org"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err == nil {
		c, err = x509.ParseCertificate(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Roots = x509.NewCertPool()
	s.Roots.AddCert(c)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

// session is one connection.
type session struct {
	*Server
	options
	conn     *smtp.Conn
	good     bool // signed in, or need not
	from, to string
}

func (c *session) AuthMechanisms() []string {
	if c.user == "" {
		return nil
	}
	return []string{c.mechanism}
}

func (c *session) Auth(string) (sasl.Server, error) {
	check := func(user, password string) error {
		if c.good = user == c.user && password == c.password; !c.good {
			return smtp.ErrAuthFailed
		}
		return nil
	}
	if c.mechanism == sasl.Login {
		return &login{check: check}, nil
	}
	return sasl.NewPlainServer(func(_, user, password string) error { return check(user, password) }), nil
}

func (c *session) Mail(from string, _ *smtp.MailOptions) error {
	if !c.good {
		return smtp.ErrAuthRequired
	}
	c.from = from
	return nil
}

func (c *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	c.to = to
	c.mu.Lock()
	decide := c.rcpt
	c.mu.Unlock()
	if decide == nil {
		return nil
	}
	return c.answer(decide(to))
}

func (c *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	letter, err := Parse(raw)
	if err != nil {
		return Reply(554, 5, 6, 0, err.Error())
	}
	letter.From, letter.To = c.from, c.to
	c.mu.Lock()
	c.took = append(c.took, letter)
	decide := c.data
	c.mu.Unlock()
	if decide == nil {
		return nil
	}
	return c.answer(decide(letter))
}

func (c *session) answer(err error) error {
	if errors.Is(err, ErrDrop) {
		_ = c.conn.Conn().Close()
	}
	return err
}

func (c *session) Reset()        {}
func (c *session) Logout() error { return nil }

// login is the server's side of the mechanism LOGIN, which go-sasl has for clients alone.
type login struct {
	check func(user, password string) error
	user  *string
}

func (l *login) Next(said []byte) (challenge []byte, done bool, err error) {
	switch {
	case said == nil:
		return []byte("Username:"), false, nil
	case l.user == nil:
		user := string(said)
		l.user = &user
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(*l.user, string(said))
}

// Parse reads a message, such as a file of the setting file:FOLDER.
func Parse(raw []byte) (Letter, error) {
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Letter{}, err
	}
	l := Letter{Header: m.Header, Raw: raw}
	if l.Subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return Letter{}, err
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return Letter{}, err
	}
	if kind != "multipart/alternative" {
		text, err := io.ReadAll(quotedprintable.NewReader(m.Body))
		l.Text = string(text)
		return l, err
	}
	for parts := multipart.NewReader(m.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart() // decodes quoted-printable
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return Letter{}, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return Letter{}, err
		}
		switch part.Header.Get("Content-Type") {
		case "text/plain; charset=utf-8":
			l.Text = string(text)
		case "text/html; charset=utf-8":
			l.HTML = string(text)
		default:
			return Letter{}, errors.New("a part of the type " + part.Header.Get("Content-Type"))
		}
	}
}
