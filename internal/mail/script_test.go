package mail

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is a mail server that does everything right but in one phase, where it says something else,
// hangs or drops the connection.
type script struct {
	phase string // greeting, EHLO, STARTTLS, TLS, AUTH, MAIL, RCPT, DATA, content, "." or QUIT
	wrong string // what it says there; or one of the words below
	offer string // extension, in addition to AUTH
	hung  func() // called where it hangs
	end   chan struct{}

	mu   sync.Mutex
	said []string // by the client, one entry a command
}

const (
	hang         = "hang"
	drop         = "drop"
	endlessLine  = "endless line"
	endlessLines = "endless lines"
)

// play starts it and returns its port.
func (s *script) play(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.end = make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serve(conn)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { close(s.end); _ = l.Close(); <-done })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func (s *script) serve(conn net.Conn) {
	r := bufio.NewReader(conn)
	if !s.say(conn, "greeting", "220 mail.example.org") {
		return
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		s.said = append(s.said, strings.TrimSpace(line))
		s.mu.Unlock()
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		right := "250 2.0.0 OK"
		switch verb {
		case "EHLO", "HELO":
			verb, right = "EHLO", "250-mail.example.org\r\n250-AUTH PLAIN\r\n250 "+s.offer
		case "STARTTLS":
			right = "220 go on"
		case "AUTH":
			right = "235 2.7.0 welcome"
		case "DATA":
			right = "354 go on"
		case "QUIT":
			right = "221 bye"
		}
		if !s.say(conn, verb, right) {
			return
		}
		switch verb {
		case "STARTTLS":
			_ = s.say(conn, "TLS", "this is no TLS")
			return
		case "DATA":
			if s.phase == "DATA" {
				continue
			}
			if _, err := io.ReadFull(r, make([]byte, 4<<10)); err != nil || s.phase == "content" &&
				!s.say(conn, "content", "") {
				return
			}
			for line := ""; line != ".\r\n"; {
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
			}
			if !s.say(conn, ".", "250 2.0.0 taken") {
				return
			}
		}
	}
}

// say says what is right, or in the script's phase what is wrong; false ends the connection.
func (s *script) say(conn net.Conn, phase, right string) bool {
	if phase != s.phase {
		_, err := io.WriteString(conn, right+"\r\n")
		return err == nil
	}
	switch s.wrong {
	case drop:
		return false
	case hang:
		s.hung()
		<-s.end
		return false
	case endlessLine, endlessLines:
		piece := "250-and so on"
		if s.wrong == endlessLines {
			piece += "\r\n"
		}
		for {
			if _, err := io.WriteString(conn, strings.Repeat(piece, 1000)); err != nil {
				return false
			}
		}
	}
	_, err := io.WriteString(conn, s.wrong+"\r\n")
	return err == nil
}

// commands are what the client said, but for its content.
func (s *script) commands() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.said, "\n")
}

// clock is a connection whose deadline a test can let pass at once.
type clock struct {
	net.Conn
	mu       sync.Mutex
	deadline time.Time
	over     bool
}

func (c *clock) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	if c.over {
		t = time.Unix(1, 0)
	}
	return c.Conn.SetDeadline(t)
}

// pass lets it pass, and returns how long that would have been.
func (c *clock) pass() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	_ = c.Conn.SetDeadline(time.Unix(1, 0))
	return time.Until(c.deadline)
}
