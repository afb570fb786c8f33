// Package hostile sends the real binary what an attacker can send to a public address: as bytes over TCP, directly and
// through nginx. Each attack has the answers that it must get at each door; the other files have the tables, by
// subject.
package hostile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// patience is how long anything may take that should be a matter of milliseconds, on a machine that does much else.
const patience = 2 * time.Minute

// aliquot is the binary under test.
var aliquot string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "aliquot-hostile-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	aliquot = filepath.Join(folder, "aliquot")
	if out, err := exec.Command("go", "build", "-o", aliquot, "aliquot/cmd/aliquot").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// service is a running server, the proxy in front of it, and the objects that attacks name.
type service struct {
	testing.TB
	cmd      *exec.Cmd
	address  string // host and port
	data     string // the folder of its data
	postgres string // the URL of its database; empty for SQLite
	log      string // the file of its log
	names    *strings.Replacer
}

// start starts a server, and creates what attacks name.
func start(t testing.TB, kind string) *service {
	t.Helper()
	folder := t.TempDir()
	s := &service{TB: t, data: filepath.Join(folder, "data"), log: filepath.Join(folder, "log")}
	if kind == storetest.PostgreSQL {
		s.postgres = storetest.Clone(t, "aliquot_empty", func(string) error { return nil })
	}
	log, err := os.Create(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd = exec.CommandContext(t.Context(), aliquot, "serve", "--addr", "127.0.0.1:0", "--identity", "demo",
		"--access", "members", "--rate-limit", "off", "--trusted-proxies", "127.0.0.1", "--log", "json")
	s.cmd.Env = []string{"ALIQUOT_DATA=" + s.data, "ALIQUOT_DATABASE=" + s.postgres}
	s.cmd.Stderr = log
	stdout, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	base, said := strings.CutPrefix(strings.TrimSpace(line), "Aliquot is ready at ")
	if err != nil || !said {
		t.Fatalf("the server says %q, %v; its log: %s", line, err, s.logged())
	}
	s.address = strings.TrimPrefix(base, "http://")
	s.create()
	return s
}

func (s *service) logged() []byte {
	s.Helper()
	log, err := os.ReadFile(s.log)
	if err != nil {
		s.Fatal(err)
	}
	return log
}

// create signs a person in and creates a lab with a material and a file.
func (s *service) create() {
	s.Helper()
	query := url.Values{"client_id": {"aliquot"}, "response_type": {"code"}, "scope": {"openid"}, "state": {"s"},
		"redirect_uri": {"http://localhost/"}, "login_hint": {"0000-0002-1825-0097"}}
	asked := s.call(http.MethodGet, "/demo/identity/authorize?"+query.Encode(), "", "")
	back, err := url.Parse(asked.header.Get("Location"))
	if err != nil {
		s.Fatal(err)
	}
	var login, lab, material, file map[string]any
	post := func(into *map[string]any, token, path, body string) {
		s.Helper()
		answer := s.call(http.MethodPost, path, token, body)
		if err := json.Unmarshal(answer.body, into); err != nil || answer.status > 299 {
			s.Fatalf("POST %s: %d %s %v", path, answer.status, answer.body, err)
		}
	}
	post(&login, "", "/login", fmt.Sprintf(`{"code": %q, "origin_url": "http://localhost/"}`,
		back.Query().Get("code")))
	token := fmt.Sprint(login["token"])
	post(&lab, token, "/organizations", fmt.Sprintf(
		`{"name": "A lab", "owner": %q, "members": [%[1]q]}`, login["user_id"]))
	post(&material, token, "/materials", fmt.Sprintf(
		`{"title": "A line", "category": "OTHER", "organization_id": %v}`, lab["id"]))
	post(&file, token, "/attachments", `{"filename": "counts.csv"}`)
	if a := s.call("PUT", fmt.Sprint(file["download_url"]), token, strings.Repeat("gene,count\n", 1000)); a.status > 299 {
		s.Fatalf("the content of %v: %d", file, a.status)
	}
	s.names = strings.NewReplacer("{host}", s.address, "{token}", token, "{user}", fmt.Sprint(login["user_id"]),
		"{lab}", fmt.Sprint(lab["id"]), "{material}", fmt.Sprint(material["id"]), "{file}",
		strings.TrimPrefix(fmt.Sprint(file["download_url"]), "http://"+s.address))
}

// answer is the answer to a call that is no attack.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// call makes a call that is no attack.
func (s *service) call(method, target, token, body string) answer {
	s.Helper()
	base := "http://" + s.address
	r, err := http.NewRequestWithContext(s.Context(), method, base+strings.TrimPrefix(target, base),
		bytes.NewReader([]byte(body)))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Token "+token)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, raw}
}

// free is a loopback address that nobody listens on.
func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
