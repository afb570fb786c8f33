// Package clamd asks the daemon of ClamAV whether content has a virus, by its command INSTREAM: the content is sent in
// chunks, each behind its length, and one line comes back.
package clamd

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

const (
	chunkSize = 64 << 10
	maxReply  = 1 << 10 // bytes of a reply; the names of signatures have some dozens

	dialTime  = 5 * time.Second
	sendTime  = 30 * time.Second  // for each chunk
	replyTime = 150 * time.Second // after the last chunk: by its defaults clamd gives up after two minutes
	pingTime  = 2 * time.Second
)

// Client asks one daemon. It may be used by several goroutines; each call has a connection of its own.
type Client struct {
	network, address string
}

// New returns the client of a daemon at clamd://HOST:PORT, or, on the same machine, at the socket clamd:///PATH.
func New(address string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "clamd" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errAddress
	}
	if u.Host == "" && path.IsAbs(u.Path) && path.Clean(u.Path) != "/" {
		return &Client{"unix", u.Path}, nil
	}
	if u.Hostname() == "" || u.Port() == "" || u.Path != "" && u.Path != "/" {
		return nil, errAddress
	}
	return &Client{"tcp", u.Host}, nil
}

var errAddress = errors.New("must be the address of clamd, such as clamd://127.0.0.1:3310, or its socket, such as " +
	"clamd:///run/clamav/clamd.ctl")

// Scan sends all of r and returns the name of what was found in it; "" if nothing was. An error of r is returned as it
// is. Other errors: Unavailable if the daemon does not respond, TooLarge if it takes less than r has, InvalidAnswer if
// its reply is none or came before it had all of r.
func (c *Client) Scan(ctx context.Context, r io.Reader) (found string, err error) {
	conn, end, err := c.dial(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	sent, err := send(conn, r)
	if err != nil {
		return "", err
	}
	reply, err := readReply(ctx, conn, replyTime)
	if err != nil {
		return "", errors.Join(err, sent)
	}
	return verdict(reply, sent == nil)
}

// send sends INSTREAM and the content. refused is why the daemon took only a part, which its reply may explain; err is
// of r.
func send(conn net.Conn, r io.Reader) (refused, err error) {
	write := func(b []byte) error {
		if err := conn.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
			return err
		}
		_, err := conn.Write(b)
		return err
	}
	if err := write([]byte("zINSTREAM\x00")); err != nil {
		return err, nil
	}
	chunk := make([]byte, 4+chunkSize)
	for {
		n, err := io.ReadFull(r, chunk[4:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, err // without the end of the stream: what came of it gets no verdict
		}
		binary.BigEndian.PutUint32(chunk, uint32(n))
		if refused := write(chunk[:4+n]); refused != nil || n == 0 { // a chunk without content is the end
			return refused, nil
		}
	}
}

// verdict reads the reply to INSTREAM. What has a virus in its first part has one; it is clean only as a whole.
func verdict(reply string, whole bool) (found string, err error) {
	said, ok := strings.CutPrefix(reply, "stream: ")
	name, infected := strings.CutSuffix(said, " FOUND")
	switch {
	case strings.HasSuffix(reply, "size limit exceeded. ERROR"):
		return "", &exchange.Error{Code: exchange.TooLarge, Message: "The virus scanner does not accept files of " +
			"this size; its operator can raise StreamMaxLength.", Cause: errors.New(reply)}
	case ok && infected && plain(name):
		return name, nil
	case ok && said == "OK" && whole:
		return "", nil
	}
	return "", invalid(reply)
}

// plain reports whether the name of a signature is one: printable ASCII without blanks.
func plain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Ready reports whether the daemon responds. Errors: Unavailable, InvalidAnswer.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	conn, end, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer end()
	if _, err := conn.Write([]byte("zPING\x00")); err != nil {
		return unavailable(ctx, err)
	}
	reply, err := readReply(ctx, conn, pingTime)
	if err == nil && reply != "PONG" {
		err = invalid(reply)
	}
	return err
}

// dial connects to the daemon until end is called; when ctx ends, reading and writing do.
func (c *Client) dial(ctx context.Context) (conn net.Conn, end func(), err error) {
	conn, err = (&net.Dialer{Timeout: dialTime}).DialContext(ctx, c.network, c.address)
	if err != nil {
		return nil, nil, unavailable(ctx, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return conn, func() {
		stop()
		_ = conn.Close()
	}, nil
}

// readReply reads a reply, which ends with a zero byte. Nothing may follow it.
func readReply(ctx context.Context, conn net.Conn, limit time.Duration) (string, error) {
	if err := conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", unavailable(ctx, err)
	}
	all := bufio.NewReader(io.LimitReader(conn, maxReply))
	reply, err := all.ReadString(0)
	if err != nil && (err != io.EOF || reply == "") {
		return "", unavailable(ctx, err)
	}
	line, ended := strings.CutSuffix(reply, "\x00")
	if !ended || all.Buffered() > 0 {
		return "", invalid(reply)
	}
	return line, nil
}

// unavailable returns the error for a daemon that does not respond; the end of ctx stays what it is.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.Join(ctx.Err(), err)
	}
	return &exchange.Error{Code: exchange.Unavailable, Message: "The virus scanner does not respond.", Cause: err}
}

func invalid(reply string) error {
	return &exchange.Error{Code: exchange.InvalidAnswer, Message: "The virus scanner sent an unusable response.",
		Cause: fmt.Errorf("clamd: %.200q", reply)}
}
