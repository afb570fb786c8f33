package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// cluster is a running deploy/local-cluster.
type cluster struct {
	folder  string
	bases   map[string]string // of nginx and Caddy
	pids    map[string]int
	address map[string]string
	trusted *x509.CertPool
	cmd     *exec.Cmd
}

var (
	clusterFolder  = regexp.MustCompile(`^starting; logs are in (\S+)$`)
	clusterProcess = regexp.MustCompile(`^(\S+) +(127\S+), process (\d+)$`)
	clusterReady   = regexp.MustCompile(`^Aliquot is ready at (\S+)$`)
)

// startCluster starts it behind both proxies.
func startCluster(t *testing.T, s3, nginx, caddy string) *cluster {
	t.Helper()
	program := filepath.Join(t.TempDir(), "local-cluster")
	if out, err := exec.Command("go", "build", "-o", program, "aliquot/deploy/local-cluster").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	c := &cluster{bases: map[string]string{}, pids: map[string]int{}, address: map[string]string{},
		trusted: x509.NewCertPool()}
	c.cmd = exec.Command(program, "-aliquot", aliquot, "-s3", s3, "-nginx", nginx, "-caddy", caddy, "-port", "0")
	var failed bytes.Buffer
	c.cmd.Stderr = &failed
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // if the test did not come to its end
		_ = c.cmd.Process.Signal(os.Interrupt)
		_ = c.cmd.Wait()
	})
	tooLong := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer tooLong.Stop()
	lines := bufio.NewScanner(out)
	for len(c.bases) < 2 && lines.Scan() {
		line := lines.Text()
		if found := clusterFolder.FindStringSubmatch(line); found != nil {
			c.folder = found[1]
		} else if found := clusterProcess.FindStringSubmatch(line); found != nil {
			c.address[found[1]] = found[2]
			c.pids[found[1]], _ = strconv.Atoi(found[3])
		} else if found := clusterReady.FindStringSubmatch(line); found != nil {
			c.bases[[]string{"nginx", "caddy"}[len(c.bases)]] = found[1]
		}
	}
	if len(c.bases) < 2 {
		t.Fatalf("the cluster did not start: %v\n%s", c.cmd.Wait(), failed.String())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // what it reports of processes that end
	raw, err := os.ReadFile(filepath.Join(c.folder, "tls.pem"))
	if err != nil || !c.trusted.AppendCertsFromPEM(raw) {
		t.Fatalf("the certificate cannot be read: %v", err)
	}
	return c
}

// from returns a client of a proxy on an address of this machine, which trusts the certificate of the cluster alone.
func (c *cluster) from(address, base string) client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return client{base: base, by: &http.Client{Timeout: patience, CheckRedirect: web.CheckRedirect,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.trusted}, ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, _, at string) (net.Conn, error) {
				_, port, _ := net.SplitHostPort(at)
				return dialer.DialContext(ctx, "tcp4", "127.0.0.1:"+port)
			}}}}
}

// direct returns the client for a process of the cluster, past the proxies.
func (c *cluster) direct(who client, name string) client {
	who.base, who.by = "http://"+c.address[name], nil
	return who
}

// TestCluster_WorksBehindEitherProxy runs deploy/local-cluster, and so the examples of nginx and Caddy.
func TestCluster_WorksBehindEitherProxy(t *testing.T) {
	t.Parallel()
	s3, nginx, caddy := os.Getenv("ALIQUOT_TEST_S3"), os.Getenv("ALIQUOT_TEST_NGINX"), os.Getenv("ALIQUOT_TEST_CADDY")
	if _, ok := storetest.Postgres(); !ok || s3 == "" || nginx == "" || caddy == "" {
		return // as in every test of both databases: without the programs, there is nothing to test
	}
	c := startCluster(t, s3, nginx, caddy)
	for i, proxy := range []string{"nginx", "caddy"} {
		base := c.bases[proxy]
		who, err := c.from(fmt.Sprintf("127.1.%d.1", i), base).signIn(josiah)
		if err != nil {
			t.Fatalf("%s: %v", proxy, err)
		}
		c.streams(t, who, proxy)
		large(t, who, proxy)
		c.forwards(t, base, i)
		c.limits(t, base, i)
		c.shares(t, who)
	}
	c.loses(t, "web-2")
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
	for name, pid := range c.pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	if _, err := os.Stat(c.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

// streams: the proxy passes a stream of notifications on as it happens.
func (c *cluster) streams(t *testing.T, who client, proxy string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, who.base+"/users/"+who.id+"/notifications/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+who.token)
	stream, err := who.by.Do(r)
	if err != nil {
		t.Fatalf("%s: the stream: %v", proxy, err)
	}
	defer stream.Body.Close()
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "retry:") {
		t.Errorf("%s: the stream begins with %q, %v", proxy, line, err)
	}
}

// large: a file of the largest size goes in by the proxy and comes out of it.
func large(t *testing.T, who client, proxy string) {
	t.Helper()
	const size = 100 << 20
	sent := sha256.New()
	body, out := io.Pipe()
	form := multipart.NewWriter(out)
	go func() {
		part, err := form.CreateFormFile("file", "reads.bin")
		if err == nil {
			_, err = io.Copy(io.MultiWriter(part, sent), io.LimitReader(rand.NewChaCha8([32]byte{}), size))
		}
		out.CloseWithError(errors.Join(err, form.Close()))
	}()
	made, err := did(who.send("POST", "/attachments/", form.FormDataContentType(), body))
	url, urlErr := made.at("download_url")
	if err := errors.Join(err, urlErr); err != nil {
		t.Fatalf("%s: %v", proxy, err)
	}
	got, err := did(who.call("GET", url, ""))
	if err != nil || len(got.body) != size || sha256.Sum256(got.body) != [32]byte(sent.Sum(nil)) {
		t.Errorf("%s took %d bytes and answered with %d others: %v", proxy, size, len(got.body), err)
	}
}

// shares: the other process has the file that one was given.
func (c *cluster) shares(t *testing.T, who client) {
	t.Helper()
	content := []byte("gene,count\n")
	made, err := did(c.direct(who, "web-1").upload("counts.csv", content))
	url, urlErr := made.at("download_url")
	if err := errors.Join(err, urlErr); err != nil {
		t.Fatal(err)
	}
	if got, err := did(c.direct(who, "web-2").call("GET", url, "")); err != nil || !bytes.Equal(got.body, content) {
		t.Errorf("web-2 has %q: %v", got.body, err)
	}
}

// forwards: the log knows a client by the address that the proxy sees, whatever the client states.
func (c *cluster) forwards(t *testing.T, base string, i int) {
	t.Helper()
	who := c.from(fmt.Sprintf("127.2.%d.1", i), base)
	r, err := http.NewRequest(http.MethodGet, base+"/materials/?limit=1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	r.Header.Set("Forwarded", "for=203.0.113.9")
	answer, err := who.by.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	want := fmt.Sprintf("127.2.%d.0/24", i)
	if err := poll(func() error {
		for _, name := range []string{"web-1", "web-2"} {
			if client := c.loggedClient(t, name, answer.Header.Get("X-Request-Id")); client == want {
				return nil
			} else if client != "" {
				return fmt.Errorf("the log has the client %s, want %s", client, want)
			}
		}
		return errors.New("no log has the request")
	}); err != nil {
		t.Error(err)
	}
}

// loggedClient returns the client of a request in the log of a process, empty if the log does not have the request.
func (c *cluster) loggedClient(t *testing.T, name, request string) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(c.folder, name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(log)) {
		var record struct {
			RequestID string `json:"request_id"`
			Client    string
		}
		if json.Unmarshal([]byte(line), &record) == nil && record.RequestID == request && request != "" {
			return record.Client
		}
	}
	return ""
}

// limits: who calls too often is refused, and nobody else behind the same proxy.
func (c *cluster) limits(t *testing.T, base string, i int) {
	t.Helper()
	busy, other := c.from(fmt.Sprintf("127.4.%d.1", i), base), c.from(fmt.Sprintf("127.4.%d.2", i), base)
	status := func(who client) int {
		a, err := who.call("GET", "/materials/?limit=1", "")
		if err != nil {
			t.Error(err)
		}
		return a.status
	}
	if got := atOnce(120, func(int) int { return status(busy) }); !slices.Contains(got, http.StatusTooManyRequests) {
		t.Errorf("120 calls at once through %s: %v", base, got)
	}
	if got := status(other); got != http.StatusOK {
		t.Errorf("another client of %s: %d", base, got)
	}
}

// loses: everybody is served while one of the processes is gone.
func (c *cluster) loses(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Kill(c.pids[name], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for i, proxy := range []string{"nginx", "caddy"} {
		who := c.from(fmt.Sprintf("127.3.%d.1", i), c.bases[proxy])
		for range 10 {
			if _, err := did(who.call("GET", "/materials/?limit=1", "")); err != nil {
				t.Errorf("%s without %s: %v", proxy, name, err)
			}
		}
	}
}
