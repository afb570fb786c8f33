package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// server is a mail server that accepts our messages.
type server struct {
	host, port     string
	user, password string // "": without signing in
	tls            bool   // from the start, not by STARTTLS
	wait           phaseTimeouts
	roots          *x509.CertPool // nil: those of the machine
	dial           func(ctx context.Context, network, address string) (net.Conn, error)
}

// phaseTimeouts are the timeouts of the phases.
type phaseTimeouts struct{ connect, command, content, end, quit time.Duration }

// timeouts are shorter than RFC 5321 4.5.3.2 recommends, because a job may take 10 minutes. Most of it is for the end:
// a server that examines a message there may take minutes, and after a timeout the outcome is unknown.
var timeouts = phaseTimeouts{connect: 30 * time.Second, command: time.Minute, content: 3 * time.Minute,
	end: 5 * time.Minute, quit: 2 * time.Second}

// step is one phase of sending. refused is what a permanent answer means there, "": what the answer itself says; lost
// is what no answer means.
type step struct {
	phase         string
	wait          time.Duration
	refused, lost Kind
	do            func() error
}

// send sends one message to the server over a connection of its own. Each phase is a step of its own, so that the
// meaning of a failure follows from when it happened.
func (s *server) send(ctx context.Context, from, to string, letter []byte) error {
	conn, err := s.connect(ctx)
	if err != nil {
		return s.failure(ctx, step{phase: "connecting", lost: Temporary}, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()

	var client *smtp.Client
	var body io.WriteCloser
	for _, step := range []step{
		{"greeting", s.wait.command, Temporary, Temporary,
			func() (err error) { client, err = smtp.NewClient(conn, s.host); return err }},
		{"hello", s.wait.command, Temporary, Temporary, func() error { return client.Hello(ourName(conn)) }},
		{"STARTTLS", s.wait.command, Temporary, Temporary, func() error { return s.startTLS(client) }},
		{"sign in", s.wait.command, Temporary, Temporary, func() error { return s.signIn(client) }},
		{"sender", s.wait.command, Rejected, Temporary, func() error { return mailFrom(client, from, to) }},
		{"recipient", s.wait.command, "", Temporary, func() error { return client.Rcpt("<" + to + ">") }},
		{"data", s.wait.command, "", Temporary, func() (err error) { body, err = client.Data(); return err }},
		{"content", s.wait.content, "", Temporary, func() error { return write(client, body, letter) }},
		{"end of the message", s.wait.end, "", Doubt, func() error { return end(body) }},
	} {
		if err = conn.SetDeadline(time.Now().Add(step.wait)); err == nil {
			err = step.do()
		}
		if err != nil {
			err = s.failure(ctx, step, err)
			break
		}
	}
	// On QUIT some servers process an incomplete message as if it were complete, so it is only sent after an answer.
	if failure, failed := errors.AsType[*Failure](err); client != nil && (!failed || failure.Code != 0) {
		if conn.SetDeadline(time.Now().Add(s.wait.quit)) == nil {
			_ = client.Quit() // the outcome is known, whatever the server answers
		}
	}
	return err
}

// connect connects, with TLS from the start if the server uses it.
func (s *server) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.wait.connect)
	defer cancel()
	dial := s.dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	raw, err := dial(ctx, "tcp", net.JoinHostPort(s.host, s.port))
	if err != nil {
		return nil, err
	}
	conn := &limitedConn{Conn: raw, left: maxAnswers}
	if !s.tls {
		return conn, nil
	}
	secure := tls.Client(conn, s.config())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

// allowsPlaintext reports whether a message may be sent without TLS: there is no password to protect, or it does not
// leave the machine. If it may, a certificate proves nothing, since an attacker who can pose as the server can also
// pose as one without TLS.
func (s *server) allowsPlaintext() bool {
	return !s.tls && (s.user == "" || slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, s.host))
}

func (s *server) config() *tls.Config {
	return &tls.Config{ServerName: s.host, RootCAs: s.roots, InsecureSkipVerify: s.allowsPlaintext()}
}

func (s *server) startTLS(client *smtp.Client) error {
	offered, _ := client.Extension("STARTTLS")
	switch {
	case s.tls, !offered && s.allowsPlaintext():
		return nil
	case !offered:
		return errors.New("the server offers no STARTTLS, and the password of the setting mail does not go in clear; " +
			"try smtps://")
	}
	return client.StartTLS(s.config())
}

// signIn authenticates. PLAIN comes first: TLS protects it, and every server that offers it implements it correctly.
func (s *server) signIn(client *smtp.Client) error {
	if s.user == "" {
		return nil
	}
	_, offered := client.Extension("AUTH")
	for _, way := range []struct {
		name string
		auth smtp.Auth
	}{
		{"PLAIN", smtp.PlainAuth("", s.user, s.password, s.host, false)},
		{"LOGIN", smtp.LoginAuth(s.user, s.password, s.host, false)},
		{"SCRAM-SHA-256", smtp.ScramSHA256Auth(s.user, s.password)},
		{"CRAM-MD5", smtp.CRAMMD5Auth(s.user, s.password)},
	} {
		if slices.Contains(strings.Fields(strings.ToUpper(offered)), way.name) {
			return client.Auth(way.auth)
		}
	}
	return fmt.Errorf("the server offers no way to sign in that Aliquot knows, but %q; if it needs none, leave user "+
		"and password out of the setting mail", offered)
}

// errNotASCII refuses an address that this server does not support.
var errNotASCII = errors.New("the mail server takes no addresses with other letters than ASCII")

func mailFrom(client *smtp.Client, from, to string) error {
	if ok, _ := client.Extension("SMTPUTF8"); !ok && !ascii(to) {
		return errNotASCII
	}
	client.SkipSMTPUTF8(ascii(to)) // a server on the way without it would return the message
	return client.Mail("<" + from + ">")
}

// write writes the message up to its final dot, and flushes it.
func write(client *smtp.Client, body io.Writer, letter []byte) error {
	if _, err := body.Write(letter); err != nil {
		return err
	}
	return client.Text.W.Flush()
}

// end sends the final dot, and returns the server's answer as an error unless it accepted the message.
func end(body io.Closer) error {
	err := body.Close()
	if code, _ := answer(err); code/100 == 2 { // go-mail only accepts 250
		return nil
	}
	return err
}

// failure returns the failure that err means in a phase.
func (s *server) failure(ctx context.Context, at step, err error) *Failure {
	code, words := answer(err)
	f := &Failure{Kind: at.lost, Phase: at.phase, Code: code, Status: statusOf(words), cause: err}
	switch text := err.Error(); {
	case errors.Is(err, errNotASCII):
		f.Kind, f.Text = Refused, text
	case code == 0 && ctx.Err() != nil:
		f.cause = context.Cause(ctx)
		f.Text = fmt.Sprintf("stopped: %v", f.cause)
	case code == 0 && errors.Is(err, os.ErrDeadlineExceeded):
		f.Text = fmt.Sprintf("no answer within %v", cmp.Or(at.wait, s.wait.connect))
	case code == 0:
		f.Text = s.redacted(text)
	default:
		f.Text = s.redacted(fmt.Sprintf("%d %s", code, words))
		if code/100 == 4 {
			f.Kind = Temporary
		} else if code/100 == 5 {
			f.Kind = cmp.Or(at.refused, kindOfAnswer(code, f.Status, words, at.phase == "recipient"))
		}
	}
	return f
}

// redacted returns the text of a server as one line without the password: some servers repeat what they did not
// understand.
func (s *server) redacted(words string) string {
	if s.password != "" {
		code := base64.StdEncoding.EncodeToString
		words = strings.NewReplacer(s.password, "…", code([]byte(s.password)), "…",
			code([]byte("\x00"+s.user+"\x00"+s.password)), "…").Replace(words)
	}
	return oneLine(words)
}

// ourName returns the name for EHLO: the name of the machine if it is a full one, otherwise its address, as RFC 5321
// 4.1.3 requires.
func ourName(conn net.Conn) string {
	name, err := os.Hostname()
	if err == nil && strings.Contains(name, ".") &&
		!strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return name
	}
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	switch ip := net.ParseIP(host); {
	case err != nil || ip == nil:
		return "localhost"
	case ip.To4() == nil:
		return "[IPv6:" + host + "]"
	}
	return "[" + host + "]"
}

// maxAnswers limits what a server may send in one connection, in bytes.
const maxAnswers = 256 << 10

// limitedConn is a connection that limits how much the other side may send.
type limitedConn struct {
	net.Conn
	left int
}

func (b *limitedConn) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, fmt.Errorf("the server said more than %d KiB", maxAnswers>>10)
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
