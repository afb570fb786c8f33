// Package mail sends messages to a mail server or to a folder, and parses bounces. It knows nothing of requests and
// people: callers decide who gets which message.
package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aliquot/internal/atomicfile"
)

// Message is one message to one address. Whatever its texts contain, the composed message has only the header fields
// named here.
type Message struct {
	Kind        string    // its name in the log, where its texts and links never appear
	ID          string    // Message-ID without <>
	References  []string  // of the thread, oldest first, without <>; In-Reply-To is the last
	To          string    // address
	ToName      string    // of the reader; may be empty
	Subject     string    // white space becomes one blank
	Text, HTML  string    // the same in two forms; without HTML the message is plain text
	Unsubscribe string    // web address for the one-click POST of RFC 8058; "": none
	At          time.Time // Date
	List        string    // List-Id without <>: the kind of mail, for filters; "": none
}

// Post sends messages; it may be used by many goroutines at once.
type Post struct {
	from  netmail.Address
	carry func(context.Context, Message, []byte) error
}

// Open returns a Post to an address: smtp://user:password@host:port, smtps://user:password@host:port, or file:FOLDER.
// from is "Name <address>" or an address. It connects only when the first message is sent. Its errors name the setting,
// and never the password.
func Open(address, from string, log *slog.Logger) (*Post, error) {
	sender, err := netmail.ParseAddress(from)
	if err != nil || !sendable(sender.Address) || !ascii(sender.Address) {
		return nil, fmt.Errorf("mail-from: %q is not a mail address; use one such as aliquot@example.org or Aliquot "+
			"<aliquot@example.org>", from)
	}
	p := &Post{from: *sender}
	if folder, isFolder := strings.CutPrefix(address, "file:"); isFolder {
		p.carry, err = fileSender(strings.TrimPrefix(folder, "//"), log)
	} else {
		var s *server
		s, err = parse(address)
		p.carry = func(ctx context.Context, m Message, letter []byte) error {
			return s.send(ctx, sender.Address, m.To, letter)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Send sends a message. An error is a *Failure, whose Kind determines what to do with the message and with its address.
func (p *Post) Send(ctx context.Context, m Message) error {
	letter, err := compose(p.from, m)
	if err != nil {
		return err
	}
	return p.carry(ctx, m, letter)
}

// parse parses the address of a mail server. The error does not repeat an invalid address: its password may be anywhere
// in it.
func parse(address string) (*server, error) {
	wrong := errors.New("mail: must be smtp://host, smtp://user:password@host:port, smtps://user:password@host:port " +
		"or file:FOLDER; " +
		"in user and password, characters such as / ? # % are written as %2F %3F %23 %25")
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, wrong
	}
	s := &server{host: u.Hostname(), port: u.Port(), tls: u.Scheme == "smtps", wait: timeouts}
	if u.User != nil {
		s.user = u.User.Username()
		s.password, _ = u.User.Password()
		if s.user == "" || s.password == "" {
			return nil, errors.New("mail: a user needs a password, and a password a user: " +
				"smtp://user:password@host:port")
		}
	}
	if s.port == "" && s.tls {
		s.port = "465"
	} else if s.port == "" {
		s.port = "587"
	}
	return s, nil
}

// fileSender writes each message to a file that mail programs can open, for an installation without a mail server, and
// logs it. The names sort by the time of writing.
func fileSender(folder string, log *slog.Logger) (func(context.Context, Message, []byte) error, error) {
	if folder == "" {
		return nil, errors.New("mail: file: needs a folder, such as file:./outbox")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("mail: the folder cannot be made: %w", err)
	}
	return func(ctx context.Context, m Message, letter []byte) error {
		name := time.Now().UTC().Format("2006-01-02T15-04-05.000000000Z") + "_" + fileName(m.ID) + ".eml"
		if err := atomicfile.Write(filepath.Join(folder, name), letter); err != nil {
			return &Failure{Kind: Temporary, Phase: "folder", Text: err.Error(), cause: err}
		}
		log.InfoContext(ctx, "mail", "to", m.To, "kind", m.Kind)
		return nil
	}, nil
}

// fileName returns the characters of an id that are safe in a file name.
func fileName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-.@", r) {
			return r
		}
		return '_'
	}, id[:min(len(id), 100)])
}
