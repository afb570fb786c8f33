// Package clamdtest has daemons of ClamAV for tests: one that plays a script, and a real one.
package clamdtest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/clamd"
)

// Eicar is the harmless text that every virus scanner reports, in two parts, so that none reports this file.
const Eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR-` + `STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// Found is the name under which both daemons report Eicar.
const Found = "Test.Eicar.UNOFFICIAL"

// Fake is a daemon that reports content with Eicar in it.
type Fake struct {
	*clamd.Client
	Address string      // as clamd.New takes it
	Away    atomic.Bool // it closes every connection at once
}

// Start starts one, which ends with the test.
func Start(t testing.TB) *Fake {
	t.Helper()
	f := &Fake{}
	f.Client, f.Address = Serve(t, func(conn net.Conn) {
		if f.Away.Load() {
			return
		}
		content, err := Receive(conn)
		switch {
		case errors.Is(err, ErrPing):
			_, _ = io.WriteString(conn, "PONG\x00")
		case err != nil:
		case bytes.Contains(content, []byte(Eicar)):
			_, _ = io.WriteString(conn, "stream: "+Found+" FOUND\x00")
		default:
			_, _ = io.WriteString(conn, "stream: OK\x00")
		}
	})
	return f
}

// Clean is for Serve: it calls everything clean.
func Clean(conn net.Conn) {
	if _, err := Receive(conn); err == nil {
		_, _ = io.WriteString(conn, "stream: OK\x00")
	}
}

// Serve answers each connection with do, until the test ends, and returns a client of that and its address.
func Serve(t testing.TB, do func(net.Conn)) (*clamd.Client, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				do(conn)
			}()
		}
	}()
	return client(t, l.Addr().String())
}

func client(t testing.TB, at string) (*clamd.Client, string) {
	t.Helper()
	c, err := clamd.New("clamd://" + at)
	if err != nil {
		t.Fatal(err)
	}
	return c, "clamd://" + at
}

// ErrPing is returned by Receive if the command is PING.
var ErrPing = errors.New("the command is PING")

// Receive reads what a client sends with INSTREAM up to its end.
func Receive(conn io.Reader) ([]byte, error) {
	command := make([]byte, len("zINSTREAM\x00"))
	if _, err := io.ReadFull(conn, command[:len("zPING\x00")]); err != nil {
		return nil, err
	}
	if string(command[:6]) == "zPING\x00" {
		return nil, ErrPing
	}
	if _, err := io.ReadFull(conn, command[6:]); err != nil {
		return nil, err
	}
	if string(command) != "zINSTREAM\x00" {
		return nil, fmt.Errorf("the command %q", command)
	}
	var content bytes.Buffer
	for {
		var n uint32
		if err := binary.Read(conn, binary.BigEndian, &n); err != nil || n == 0 {
			return content.Bytes(), err
		}
		if _, err := io.CopyN(&content, conn, int64(n)); err != nil {
			return nil, err
		}
	}
}

// HasReal reports whether there is a real daemon to test with: ALIQUOT_TEST_CLAMD is the path of clamd, as make test
// sets it.
func HasReal() bool { return os.Getenv("ALIQUOT_TEST_CLAMD") != "" }

// Real is a real daemon in a process of its own, which knows Eicar and no virus.
type Real struct {
	*clamd.Client
	Address string // as clamd.New takes it
	folder  string
	cmd     *exec.Cmd
}

// StreamMaxLength is what a real daemon accepts, in bytes.
const StreamMaxLength = 1 << 20

// StartReal starts a real daemon, which ends with the test. HasReal reports if it can.
func StartReal(t testing.TB) *Real {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().(*net.TCPAddr)
	r := &Real{folder: t.TempDir()}
	r.Client, r.Address = client(t, at.String())
	config := fmt.Sprintf("Foreground yes\nTCPAddr %s\nTCPSocket %d\nLocalSocket %s/clamd.ctl\n"+
		"DatabaseDirectory %[3]s\nTemporaryDirectory %[3]s\nStreamMaxLength %d\n", at.IP, at.Port, r.folder,
		StreamMaxLength)
	signature := "Test.Eicar:0:*:" + hex.EncodeToString([]byte(Eicar)) + "\n"
	if err := errors.Join(l.Close(),
		os.WriteFile(filepath.Join(r.folder, "clamd.conf"), []byte(config), 0o600),
		os.WriteFile(filepath.Join(r.folder, "test.ndb"), []byte(signature), 0o600)); err != nil {
		t.Fatal(err)
	}
	r.Restart(t)
	t.Cleanup(r.Kill)
	return r
}

// Socket returns the address of its socket, as clamd.New takes it.
func (r *Real) Socket() string { return "clamd://" + r.folder + "/clamd.ctl" }

// Restart starts the daemon, again where Kill ended it, and waits until it answers.
func (r *Real) Restart(t testing.TB) {
	t.Helper()
	r.cmd = exec.Command(os.Getenv("ALIQUOT_TEST_CLAMD"), "--config-file", filepath.Join(r.folder, "clamd.conf"))
	var said strings.Builder
	r.cmd.Stdout, r.cmd.Stderr = &said, &said
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(30 * time.Second); r.Ready(t.Context()) != nil; <-time.After(10 * time.Millisecond) {
		if time.Now().After(until) {
			r.Kill()
			t.Fatalf("clamd does not answer:\n%s", said.String())
		}
	}
}

// Kill ends the daemon at once.
func (r *Real) Kill() {
	_ = r.cmd.Process.Kill() // fails when it has ended
	_ = r.cmd.Wait()         // says that it was killed
}
