package mail

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/mail/mailtest"
)

// client is a server with a password at a script, and a channel with its connection.
func client(port string) (*server, chan *clock) {
	clocks := make(chan *clock, 1)
	return &server{host: "127.0.0.1", port: port, user: "aliquot", password: "hunter22", wait: timeouts,
		dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			c := &clock{Conn: conn}
			clocks <- c
			return c, nil
		}}, clocks
}

func hand(ctx context.Context, s *server, size int) *Failure {
	letter := []byte("Content-Type: text/plain\r\n\r\n" + strings.Repeat("A line of the message.\r\n", size/24+1))
	err := s.send(ctx, "aliquot@example.org", "ada@example.org", letter)
	failure, _ := errors.AsType[*Failure](err)
	return failure
}

func TestSMTP_FailureDependsOnItsPhase(t *testing.T) {
	t.Parallel()
	const small, large = 8 << 10, 16 << 20
	for _, row := range []struct {
		phase, named                               string
		wait                                       time.Duration
		size                                       int
		hang, drop, later, never, garbage, endless Kind
	}{
		{"greeting", "greeting", timeouts.command, small, Temporary, Temporary, Temporary, Temporary, Temporary,
			Temporary},
		{"EHLO", "hello", timeouts.command, small, Temporary, Temporary, Temporary, Temporary, Temporary, Temporary},
		{"STARTTLS", "STARTTLS", timeouts.command, small, Temporary, Temporary, Temporary, Temporary, Temporary,
			Temporary},
		{"TLS", "STARTTLS", timeouts.command, small, Temporary, Temporary, Temporary, Temporary, Temporary, Temporary},
		{"AUTH", "sign in", timeouts.command, small, Temporary, Temporary, Temporary, Temporary, Temporary, Temporary},
		{"MAIL", "sender", timeouts.command, small, Temporary, Temporary, Temporary, Rejected, Temporary, Temporary},
		{"RCPT", "recipient", timeouts.command, small, Temporary, Temporary, Temporary, Refused, Temporary, Temporary},
		{"DATA", "data", timeouts.command, small, Temporary, Temporary, Temporary, Rejected, Temporary, Temporary},
		{"content", "content", timeouts.content, large, Temporary, Temporary, "", "", "", ""},
		{".", "end of the message", timeouts.end, small, Doubt, Doubt, Temporary, Rejected, Doubt, Doubt},
		{"QUIT", "", timeouts.quit, small, "", "", "", "", "", ""},
	} {
		for wrong, want := range map[string]Kind{
			hang: row.hang, drop: row.drop, "451 4.7.1 later": row.later, "550 no": row.never, "garbage": row.garbage,
			endlessLine: row.endless, endlessLines: row.endless,
		} {
			if want == "" && row.phase == "content" {
				continue // the server has no word before the end
			}
			t.Run(row.phase+"/"+wrong, func(t *testing.T) {
				t.Parallel()
				s := &script{phase: row.phase, wrong: wrong}
				if row.phase == "STARTTLS" || row.phase == "TLS" {
					s.offer = "STARTTLS"
				}
				server, clocks := client("")
				left := make(chan time.Duration, 1)
				s.hung = func() { left <- (<-clocks).pass() }
				server.port = s.play(t)
				failure := hand(t.Context(), server, row.size)
				if want == "" {
					if failure != nil {
						t.Errorf("the message was taken; got %v", failure)
					}
					return
				}
				if failure == nil || failure.Kind != want || failure.Phase != row.named || failure.Text == "" ||
					len(failure.Text) > 4*longestText {
					t.Fatalf("got %v, want %s at %s", failure, want, row.named)
				}
				if wrong == hang {
					// It may hang before the client looks at its clock for the greeting.
					if left := <-left; left > row.wait || left <= 0 && row.phase != "greeting" ||
						failure.Text != fmt.Sprintf("no answer within %v", row.wait) {
						t.Errorf("it waits %v; %s", left, failure.Text)
					}
				}
				if strings.Contains(s.commands(), "QUIT") && failure.Code == 0 {
					t.Errorf("QUIT ends a half message: %s", s.commands())
				}
			})
		}
	}
}

func TestSMTP_CanBeCancelledInEveryPhase(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"greeting", "EHLO", "STARTTLS", "TLS", "AUTH", "MAIL", "RCPT", "DATA", "content",
		"."} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			s := &script{phase: phase, wrong: hang, hung: cancel}
			if phase == "STARTTLS" || phase == "TLS" {
				s.offer = "STARTTLS"
			}
			server, _ := client(s.play(t))
			want, size := Temporary, 8<<10
			switch phase {
			case "content":
				size = 16 << 20
			case ".":
				want = Doubt
			}
			failure := hand(ctx, server, size)
			if failure == nil || failure.Kind != want || !errors.Is(failure, context.Canceled) {
				t.Errorf("got %v", failure)
			}
		})
	}
}

func TestSMTP_UnreachableServerIsTemporary(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	closed, _ := client(port)
	silent, _ := client(port)
	silent.wait.connect = time.Millisecond
	silent.dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	silentTLS, _ := client((&script{phase: "greeting", wrong: hang, hung: func() {}}).play(t))
	silentTLS.tls, silentTLS.wait.connect = true, 20*time.Millisecond
	for name, s := range map[string]*server{"closed": closed, "silent": silent, "silent for TLS": silentTLS} {
		if failure := hand(t.Context(), s, 1); failure == nil || failure.Kind != Temporary ||
			failure.Phase != "connecting" || failure.Text == "" {
			t.Errorf("%s: got %v", name, failure)
		}
	}
}

func TestSMTP_CodeDecidesWhetherAFailureIsTemporary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		phase, answer string
		want          Kind // "": taken
		status        string
	}{
		{".", "252 taken in a way", "", ""},
		{".", "354 go on", Doubt, ""},
		{".", "421 4.3.2 going down", Temporary, "4.3.2"},
		{".", "550 5.1.1 no such user after all", Refused, "5.1.1"},
		{".", "550 5.2.1 mailbox disabled", Refused, "5.2.1"},
		{".", "552 5.3.4 too large", Rejected, "5.3.4"},
		{".", "554 5.7.1 spam", Rejected, "5.7.1"},
		{"RCPT", "251 will forward", "", ""},
		{"RCPT", "354 what", Temporary, ""},
		{"RCPT", "452 4.2.2 mailbox full", Temporary, "4.2.2"},
		{"RCPT", "552 5.2.2 mailbox full", Rejected, "5.2.2"},
		{"RCPT", "550 5.1.1 no such user", Refused, "5.1.1"},
		{"RCPT", "550 5.1.10 no such user", Refused, "5.1.10"},
		{"RCPT", "550 5.1.0 address rejected", Refused, "5.1.0"},
		{"RCPT", "550 5.1.0 sender rejected", Rejected, "5.1.0"},
		{"RCPT", "550 5.4.1 recipient address rejected: access denied", Refused, "5.4.1"},
		{"RCPT", "550 5.4.6 mail loop", Rejected, "5.4.6"},
		{"RCPT", "550-no such user\r\n550 here", Refused, ""},
		{"RCPT", "551 user not local", Refused, ""},
		{"RCPT", "553 mailbox name not allowed", Refused, ""},
		{"RCPT", "550 relay not permitted", Rejected, ""},
		{"RCPT", "550 sender verify failed", Rejected, ""},
		{"RCPT", "554 5.7.1 <ada@example.org>: Relay access denied", Rejected, "5.7.1"},
		{"RCPT", "553 5.1.8 sender address rejected: domain not found", Rejected, "5.1.8"},
		{"RCPT", "530 5.7.0 must issue STARTTLS first", Rejected, "5.7.0"},
		{"RCPT", "503 bad sequence", Rejected, ""},
		{"RCPT", "554 transaction failed", Rejected, ""},
		{"MAIL", "550 5.1.1 no such user", Rejected, "5.1.1"},
		{"DATA", "554 5.1.1 no valid recipients", Refused, "5.1.1"},
		{"greeting", "554 5.7.1 you are blocked", Temporary, "5.7.1"},
		{"AUTH", "454 4.7.0 try later", Temporary, "4.7.0"},
		{"AUTH", "535 5.7.8 no", Temporary, "5.7.8"},
	} {
		server, _ := client((&script{phase: c.phase, wrong: c.answer}).play(t))
		failure := hand(t.Context(), server, 8<<10)
		if c.want == "" {
			if failure != nil {
				t.Errorf("%s: %s: got %v", c.phase, c.answer, failure)
			}
		} else if failure == nil || failure.Kind != c.want || failure.Status != c.status ||
			fmt.Sprint(failure.Code) != c.answer[:3] {
			t.Errorf("%s: %s: got %+v, want %s", c.phase, c.answer, failure, c.want)
		}
	}
}

func TestSMTP_PasswordNeedsTLS(t *testing.T) {
	t.Parallel()
	const password = "hunter22"
	code := base64.StdEncoding.EncodeToString
	echo := &script{phase: "AUTH",
		wrong: fmt.Sprintf("500 what is AUTH PLAIN %s, %s or %s?", code([]byte("\x00aliquot\x00"+password)), password,
			code([]byte(password)))}
	server, _ := client(echo.play(t))
	failure := hand(t.Context(), server, 1)
	if failure == nil || failure.Text != "500 what is AUTH PLAIN …, … or …?" {
		t.Errorf("got %v", failure)
	}
	// Not on this machine, without TLS or with a certificate that proves nothing.
	clear := &script{}
	server, _ = client(clear.play(t))
	port := server.port
	server.host, server.dial = "mail.example.org", local(port)
	if failure := hand(t.Context(), server, 1); failure == nil || failure.Kind != Temporary ||
		failure.Phase != "STARTTLS" || strings.Contains(clear.commands(), "AUTH") {
		t.Errorf("in clear: got %v; %s", failure, clear.commands())
	}
	real := mailtest.Start(t, mailtest.StartTLS(), mailtest.Password("aliquot", password))
	u, err := url.Parse(real.URL)
	if err != nil {
		t.Fatal(err)
	}
	server.dial = local(u.Port())
	if failure := hand(t.Context(), server, 1); failure == nil || failure.Kind != Temporary ||
		failure.Phase != "STARTTLS" || !strings.Contains(failure.Text, "certificate") {
		t.Errorf("unknown certificate: got %v", failure)
	}
	server.roots = real.Roots
	if failure := hand(t.Context(), server, 1); failure != nil {
		t.Errorf("good certificate: got %v", failure)
	}
	server.password = "wrong"
	if failure := hand(t.Context(), server, 1); failure == nil || failure.Kind != Temporary ||
		failure.Phase != "sign in" || failure.Code != 535 {
		t.Errorf("wrong password: got %v", failure)
	}
}

func local(port string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
	}
}

func TestSMTP_ImplicitTLSVerifiesTheCertificate(t *testing.T) {
	t.Parallel()
	real := mailtest.Start(t, mailtest.TLS(), mailtest.Password("aliquot", "hunter22"))
	s, err := parse(real.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, roots := range []*x509.CertPool{nil, real.Roots} {
		s.roots = roots
		failure := hand(t.Context(), s, 1)
		if good := roots != nil; good != (failure == nil) || !good &&
			(failure.Kind != Temporary || failure.Phase != "connecting") {
			t.Errorf("with trust %v: got %v", good, failure)
		}
	}
	if n := len(real.Messages()); n != 1 {
		t.Errorf("%d messages came", n)
	}
}

func TestSMTP_DefaultPortsOfTheSchemes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"smtp://mail.example.org": "587", "smtps://mail.example.org": "465",
		"smtp://mail.example.org:25": "25"} {
		if s, err := parse(address); err != nil || s.port != want {
			t.Errorf("%s: got %+v, %v", address, s, err)
		}
	}
}

func TestSMTP_ServerMustOfferAnAuthentication(t *testing.T) {
	t.Parallel()
	s := &script{phase: "EHLO", wrong: "250-mail.example.org\r\n250 AUTH GSSAPI XOAUTH2"}
	server, _ := client(s.play(t))
	if failure := hand(t.Context(), server, 1); failure == nil || failure.Kind != Temporary ||
		failure.Phase != "sign in" || !strings.Contains(failure.Text, "GSSAPI") {
		t.Errorf("got %v", failure)
	}
}

func TestSMTP_NonASCIIAddressesNeedSMTPUTF8(t *testing.T) {
	t.Parallel()
	old := &script{}
	server, _ := client(old.play(t))
	err := server.send(t.Context(), "aliquot@example.org", "kím@lab.example.net", []byte("\r\n"))
	if failure, ok := errors.AsType[*Failure](err); !ok || failure.Kind != Refused ||
		strings.Contains(old.commands(), "MAIL") {
		t.Errorf("got %v; %s", err, old.commands())
	}
	current := &script{offer: "SMTPUTF8"}
	server, _ = client(current.play(t))
	long := []byte(strings.Repeat("A line.\r\n", 1000))
	for _, to := range []string{"kím@lab.example.net", "kim@lab.example.net"} {
		server, _ := client(server.port)
		if err := server.send(t.Context(), "aliquot@example.org", to, long); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
	if want := []string{"MAIL FROM:<aliquot@example.org> SMTPUTF8",
		"MAIL FROM:<aliquot@example.org>"}; !slices.Equal(slices.DeleteFunc(strings.Split(current.commands(), "\n"),
		func(c string) bool { return !strings.HasPrefix(c, "MAIL") }), want) {
		t.Errorf("got %s", current.commands())
	}
}

func TestSMTP_SendsTheMessageUnchanged(t *testing.T) {
	t.Parallel()
	real := mailtest.Start(t)
	p, err := Open(real.URL, "aliquot@example.org", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	text := ".\r\n..\r\nFrom me\r\n\r\n.\r\nQUIT\r\n" + strings.Repeat("x", 3000) + "\r\n"
	if err := p.Send(t.Context(),
		Message{ID: "a@example.org", To: "ada@example.org", Text: text, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got := real.WaitFor(t, 1)[0]; got.Text != text || got.HTML != "" {
		t.Errorf("got %q", got.Text)
	}
}
