package hostile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sentinel is a request that follows each attack on its connection. Its answer shows that the server knows where the
// attack ended; a part of the attack that is taken for the beginning of another request spoils it.
const sentinel = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

// send sends bytes to an address and returns the answers, such as "400 MALFORMED_JSON, ok": the status of each, with
// the code of an error or the target of a redirect. "ok" is the answer to the sentinel; without it, the server closed
// the connection. faults are what is wrong with the answers whatever was sent.
func send(address, attack string) (answers string, faults []string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err.Error(), nil
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.WriteString(conn, attack) }() // the server may close before it has read everything
	in, method := bufio.NewReader(conn), attack[:max(0, strings.IndexByte(attack, ' '))]
	var list []string
	for {
		if _, err := in.Peek(1); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				list = append(list, "no end")
			}
			break
		}
		answer, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			list = append(list, "no HTTP: "+err.Error())
			break
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			faults = append(faults, "the body of the answer: "+err.Error())
		}
		text := describe(answer, body)
		list, method = append(list, text), ""
		faults = append(faults, faultsOf(answer, body)...)
		if text == "ok" {
			break
		}
	}
	if len(list) == 0 {
		list = []string{"closed"}
	}
	return strings.Join(list, ", "), faults
}

// describe returns an answer as send does.
func describe(answer *http.Response, body []byte) string {
	var said struct {
		Code string `json:"error_code"`
	}
	_ = json.Unmarshal(body, &said) // not every answer is JSON
	text := fmt.Sprint(answer.StatusCode)
	switch to := answer.Header.Get("Location"); {
	case answer.StatusCode == http.StatusOK && string(body) == "{\"status\":\"ok\"}\n":
		return "ok"
	case said.Code != "":
		text += " " + said.Code
	case to != "" && answer.StatusCode < 400 && answer.StatusCode >= 300:
		place, _, _ := strings.Cut(to, "?client_id=") // what follows is a new secret each time
		text += " " + place
	}
	return text
}

// elsewhere is an address of the attacker's host.
var elsewhere = regexp.MustCompile(`(//|\\)[^/\s"]*evil\.example`)

// faultsOf are the faults of an answer: a failure of the server, or the attacker's host or
// header in it.
func faultsOf(answer *http.Response, body []byte) (faults []string) {
	if s := answer.StatusCode; s >= 500 && s != http.StatusNotImplemented && s != http.StatusHTTPVersionNotSupported {
		faults = append(faults, fmt.Sprintf("%d: %.300s", s, body))
	}
	if answer.Header.Get("X-Injected") != "" {
		faults = append(faults, "a header of the attacker")
	}
	if elsewhere.MatchString(fmt.Sprint(answer.Header, string(body))) {
		faults = append(faults, fmt.Sprintf("the attacker's host in %v %.300s", answer.Header, body))
	}
	return faults
}

// hasProxy reports whether there is an nginx to test with: ALIQUOT_TEST_NGINX is its path, as make test sets it.
func hasProxy() bool { return os.Getenv("ALIQUOT_TEST_NGINX") != "" }

// proxy starts nginx in front of a server and returns its address. Connections to the server are kept, so that what is
// left of one request there would be the beginning of another's.
func proxy(t testing.TB, upstream string) string {
	t.Helper()
	folder, address := t.TempDir(), free(t)
	conf := filepath.Join(folder, "nginx.conf")
	owner := ""
	if os.Geteuid() == 0 {
		owner = "user root;"
	}
	text := strings.NewReplacer("{owner}", owner, "{upstream}", upstream, "{address}", address, "{folder}",
		folder).Replace(proxyConf)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Getenv("ALIQUOT_TEST_NGINX"), "-p", folder, "-e", "stderr", "-c", conf)
	cmd.Stderr = t.Output()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // ends its workers, too
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return address
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

const proxyConf = `
daemon off; {owner} worker_processes 1; pid {folder}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
	access_log off;
	client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
	uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
	client_header_timeout 5s; client_body_timeout 5s; client_max_body_size 101m;
	upstream aliquot { server {upstream}; keepalive 16; }
	server {
		listen {address};
		location / {
			proxy_pass http://aliquot;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
			proxy_set_header Forwarded "";
		}
	}
}
`
