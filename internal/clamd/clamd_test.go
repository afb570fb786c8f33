package clamd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"aliquot/internal/clamd"
	"aliquot/internal/clamd/clamdtest"
	"aliquot/internal/exchange"
)

func TestNew_TakesAHostAndAPortOrASocket(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"clamd://127.0.0.1:3310", "clamd://scanner.example.org:3310/", "clamd://[::1]:3310",
		"clamd:///run/clamav/clamd.ctl"} {
		if _, err := clamd.New(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"", "127.0.0.1:3310", "tcp://127.0.0.1:3310", "clamd://", "clamd://127.0.0.1",
		"clamd:///", "clamd://u:p@127.0.0.1:3310", "clamd://127.0.0.1:3310/socket", "clamd://127.0.0.1:3310?a=b",
		"clamd:run/clamd.ctl", "clamd://:3310", "clamd://\x00"} {
		if _, err := clamd.New(address); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
}

// TestScan_SendsAllOfTheContent, in chunks that together are the content, whatever its size.
func TestScan_SendsAllOfTheContent(t *testing.T) {
	t.Parallel()
	came := make(chan []byte, 1)
	c, _ := clamdtest.Serve(t, func(conn net.Conn) {
		content, err := clamdtest.Receive(conn)
		if err != nil {
			t.Error(err)
		}
		came <- content
		_, _ = io.WriteString(conn, "stream: OK\x00")
	})
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20} {
		content := bytes.Repeat([]byte("a"), size)
		found, err := c.Scan(t.Context(), iotest.HalfReader(bytes.NewReader(content)))
		if got := <-came; err != nil || found != "" || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: found %q, %v; %d bytes came", size, found, err, len(got))
		}
	}
}

// TestScan_BelievesOnlyAProperReply: no other reply makes content clean, and none has a name that could be anything
// but a name.
func TestScan_BelievesOnlyAProperReply(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]struct {
		found string
		code  exchange.Code
	}{
		"stream: OK\x00":                         {},
		"stream: Win.Test.EICAR_HDB-1 FOUND\x00": {found: "Win.Test.EICAR_HDB-1"},
		"":                                       {code: exchange.Unavailable},
		"\x00":                                   {code: exchange.InvalidAnswer},
		"stream: OK":                             {code: exchange.InvalidAnswer}, // cut off
		"stream: OK\n":                           {code: exchange.InvalidAnswer},
		"stream: OK\x00stream: Virus FOUND\x00":  {code: exchange.InvalidAnswer},
		"stream: OK\x00\x00":                     {code: exchange.InvalidAnswer},
		"stream: OK \x00":                        {code: exchange.InvalidAnswer},
		"stream: ok\x00":                         {code: exchange.InvalidAnswer},
		"OK\x00":                                 {code: exchange.InvalidAnswer},
		"PONG\x00":                               {code: exchange.InvalidAnswer},
		"1: stream: OK\x00":                      {code: exchange.InvalidAnswer},
		"stream: FOUND\x00":                      {code: exchange.InvalidAnswer},
		"stream:  FOUND\x00":                     {code: exchange.InvalidAnswer},
		"stream: a\nstream: OK FOUND\x00":        {code: exchange.InvalidAnswer},
		"stream: <b>\x1b[2J FOUND\x00":           {code: exchange.InvalidAnswer},
		"stream: V\u202eirus FOUND\x00":          {code: exchange.InvalidAnswer},
		"stream: Can't allocate memory ERROR\x00":       {code: exchange.InvalidAnswer},
		"UNKNOWN COMMAND\x00":                           {code: exchange.InvalidAnswer},
		"INSTREAM size limit exceeded. ERROR\x00":       {code: exchange.TooLarge},
		"stream: " + strings.Repeat("a", 5000) + "\x00": {code: exchange.InvalidAnswer},
		strings.Repeat("\n", 1<<20):                     {code: exchange.InvalidAnswer},
	} {
		c, _ := clamdtest.Serve(t, func(conn net.Conn) {
			if _, err := clamdtest.Receive(conn); err == nil {
				_, _ = io.WriteString(conn, reply)
			}
		})
		found, err := c.Scan(t.Context(), strings.NewReader("content"))
		if found != want.found || (err != nil) != (want.code != "") || err != nil && exchange.CodeOf(err) != want.code {
			t.Errorf("%.50q: found %q, %v", reply, found, err)
		}
	}
}

// TestScan_OfAPartIsNeverClean: a daemon that answers before it has everything may have found something, and nothing
// else.
func TestScan_OfAPartIsNeverClean(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]struct {
		found string
		code  exchange.Code
	}{
		"stream: OK\x00":                          {code: exchange.InvalidAnswer},
		"stream: Virus FOUND\x00":                 {found: "Virus"},
		"INSTREAM size limit exceeded. ERROR\x00": {code: exchange.TooLarge},
	} {
		c, _ := clamdtest.Serve(t, func(conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, 100))
			_, _ = io.WriteString(conn, reply)
		})
		// more than the buffers of the system hold, so that the client learns that nobody reads
		found, err := c.Scan(t.Context(), io.LimitReader(endless{}, 64<<20))
		lost := exchange.CodeOf(err) == exchange.Unavailable // the system may drop the reply with the connection
		if err == nil && want.code != "" || found != "" && found != want.found ||
			err != nil && exchange.CodeOf(err) != want.code && !lost {
			t.Errorf("%q: found %q, %v", reply, found, err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestScan_OfContentThatCannotBeReadHasNoVerdict(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	ends := make(chan error, 1)
	c, _ := clamdtest.Serve(t, func(conn net.Conn) {
		_, err := clamdtest.Receive(conn)
		ends <- err
		_, _ = io.WriteString(conn, "stream: OK\x00")
	})
	_, err := c.Scan(t.Context(), io.MultiReader(strings.NewReader("a part"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if <-ends == nil {
		t.Error("the daemon took the part for the whole")
	}
}

func TestScan_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	c, _ := clamdtest.Serve(t, func(conn net.Conn) {
		_, _ = clamdtest.Receive(conn)
		close(asked)
		_, _ = io.ReadAll(conn) // and says nothing
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := c.Scan(ctx, strings.NewReader("content")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestReady_NeedsADaemonThatAnswers(t *testing.T) {
	t.Parallel()
	f := clamdtest.Start(t)
	if err := f.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	f.Away.Store(true)
	if err := f.Ready(t.Context()); exchange.CodeOf(err) != exchange.Unavailable {
		t.Errorf("of one that closes connections: %v", err)
	}
	other, _ := clamdtest.Serve(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "220 mail.example.org ESMTP\r\n") })
	if err := other.Ready(t.Context()); err == nil {
		t.Error("another service is taken for clamd")
	}
	nobody, err := clamd.New("clamd://" + t.TempDir() + "/clamd.ctl")
	if err != nil {
		t.Fatal(err)
	}
	if err := nobody.Ready(t.Context()); exchange.CodeOf(err) != exchange.Unavailable {
		t.Errorf("of none: %v", err)
	}
}

// TestReal_FindsWhatItsSignaturesDescribe, over both kinds of address, and after it was killed.
func TestReal_FindsWhatItsSignaturesDescribe(t *testing.T) {
	t.Parallel()
	if !clamdtest.HasReal() {
		return
	}
	r := clamdtest.StartReal(t)
	socket, err := clamd.New(r.Socket())
	if err != nil {
		t.Fatal(err)
	}
	pdf := "%PDF-1.4\n" + clamdtest.Eicar + "\n%%EOF\n"
	for _, c := range []*clamd.Client{r.Client, socket} {
		for content, want := range map[string]string{"harmless": "", "": "", clamdtest.Eicar: clamdtest.Found,
			pdf: clamdtest.Found, strings.Repeat("a", 900_000) + clamdtest.Eicar: clamdtest.Found} {
			if found, err := c.Scan(t.Context(), strings.NewReader(content)); found != want || err != nil {
				t.Errorf("%.20q: found %q, %v", content, found, err)
			}
		}
		large := io.LimitReader(endless{}, 8*clamdtest.StreamMaxLength)
		if _, err := c.Scan(t.Context(), large); exchange.CodeOf(err) != exchange.TooLarge &&
			exchange.CodeOf(err) != exchange.Unavailable { // if the reply is lost with the connection
			t.Errorf("too much: %v", err)
		}
	}
	r.Kill()
	if _, err := r.Scan(t.Context(), strings.NewReader("harmless")); exchange.CodeOf(err) != exchange.Unavailable {
		t.Errorf("of a killed one: %v", err)
	}
	r.Restart(t)
	if found, err := r.Scan(t.Context(), strings.NewReader(clamdtest.Eicar)); found != clamdtest.Found || err != nil {
		t.Errorf("after its restart: found %q, %v", found, err)
	}
}
