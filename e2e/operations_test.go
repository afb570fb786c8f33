package e2e

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func TestVersion_IsPrintedByCommandAndByFlag(t *testing.T) {
	t.Parallel()
	in := installation{folder: t.TempDir()}
	byCommand, err := in.command("version").Output()
	byFlag, flagErr := in.command("--version").Output()
	if err != nil || flagErr != nil || !bytes.HasPrefix(byCommand, []byte("aliquot ")) || !bytes.Equal(byCommand, byFlag) {
		t.Errorf("got %q, %v and %q, %v", byCommand, err, byFlag, flagErr)
	}
}

var privateAddress = regexp.MustCompile(`"address":"(127[^"]+)"`)

func TestMetrics_AreOnThePrivateAddressAlone(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--demo", "--metrics-addr", "127.0.0.1:0")
		private := privateAddress.FindStringSubmatch(p.logged())
		if private == nil {
			t.Fatalf("the log does not name the address:\n%s", p.logged())
		}
		get := func(address string) (int, string) {
			answer, err := http.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, _ := io.ReadAll(answer.Body)
			return answer.StatusCode, string(body)
		}
		get(p.base + "/materials/1")
		get(p.base + "/catalog")
		for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
			if status, _ := get(p.base + path); status != http.StatusNotFound {
				t.Errorf("public %s: got %d", path, status)
			}
			if status, _ := get("http://" + private[1] + path); status != http.StatusOK {
				t.Errorf("private %s: got %d", path, status)
			}
		}
		for _, path := range []string{"/materials/1", "/readyz"} {
			if status, _ := get("http://" + private[1] + path); status != http.StatusNotFound {
				t.Errorf("private %s: got %d", path, status)
			}
		}
		if err := poll(func() error { // jobs of the sample data
			_, text := get("http://" + private[1] + "/metrics")
			for _, want := range []string{`aliquot_http_requests_total{method="GET",route="/materials/{id}",status="200"} 1`,
				`aliquot_http_requests_total{method="GET",route="/catalog",status="200"} 1`, `aliquot_job_runs_total{kind=`,
				"aliquot_log_entries", "aliquot_state_read_success 1"} {
				if !strings.Contains(text, want) {
					return missing(want + " in\n" + text)
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

type missing string

func (m missing) Error() string { return "there is no " + string(m) }

func TestTraces_OfAPICallsPagesJobsAndStatements(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		var mu sync.Mutex
		names, traces := map[string]*otlp.Span{}, map[string][]string{} // spans by name, and their names by trace
		collects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw, err := io.ReadAll(r.Body)
			var sent collector.ExportTraceServiceRequest
			if err = errors.Join(err, proto.Unmarshal(raw, &sent)); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, of := range sent.GetResourceSpans() {
				for _, scope := range of.GetScopeSpans() {
					for _, span := range scope.GetSpans() {
						names[span.GetName()] = span
						traces[string(span.GetTraceId())] = append(traces[string(span.GetTraceId())], span.GetName())
					}
				}
			}
		}))
		defer collects.Close()
		p := in.serve(t, "--demo", "--otlp-endpoint", collects.URL)
		for _, path := range []string{"/v1/materials/1", "/catalog"} {
			answer, err := http.Get(p.base + path)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
		}
		if err := p.stop(); err != nil { // which sends the last spans
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, name := range []string{"GET /materials/{id}", "GET /catalog", "job tell"} {
			span := names[name]
			if span == nil {
				t.Fatalf("no span %s in %v", name, slices.Sorted(maps.Keys(names)))
			}
			if of := traces[string(span.GetTraceId())]; !slices.Contains(of, "SELECT") {
				t.Errorf("%s has no statement: %v", name, of)
			}
		}
	})
}

func TestServe_TellsSystemdItsState(t *testing.T) {
	t.Parallel()
	in := installation{folder: t.TempDir()}
	path := filepath.Join(in.folder, "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	in.sources = []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=100000"}
	p := in.serve(t)
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		message := make([]byte, 100)
		n, err := socket.Read(message)
		if err != nil {
			t.Fatal(err)
		}
		return string(message[:n])
	}
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		if got := next(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	for got := ""; got != "STOPPING=1"; {
		if got = next(); got != "STOPPING=1" && got != "WATCHDOG=1" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestSupport_HasNoSecretsAndNothingOfPeople(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--demo")
		secrets := map[string]string{"IDENTITY_CLIENT_SECRET": "hush-client", "EUTILS_KEY": "hush-eutils",
			"PROTOCOLS_TOKEN": "hush-protocols", "MAIL": "smtp://post:hush-mail@mail.example.org:25",
			"ADMINS": "0000-0002-1825-0097", "OTLP_ENDPOINT": "http://user:hush-otlp@collector.example.org?key=hush-query",
			"IDENTITY": "https://hush-user@identity.example.org", "IDENTITY_CLIENT_ID": "hush-id"}
		for name, value := range secrets {
			in.sources = append(in.sources, "ALIQUOT_"+name+"="+value)
		}
		journal := filepath.Join(in.folder, "journal")
		if err := os.WriteFile(journal, []byte(p.logged()+"a key in a line: hush-eutils\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(in.folder, "support.zip")
		if out, err := in.command("support", "--journal", journal, file).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		parts := unzipped(t, file)
		for name, wants := range map[string][]string{"version.json": {`"go": "go1`, "modernc.org/sqlite"},
			"settings.json": {`"identity-client-secret": "(set)"`, `"workers": "8"`, `"mail": "(set)"`,
				`"otlp-endpoint": "http://collector.example.org"`, `"eutils-url": null`},
			"system.json":   {`"processors"`},
			"database.json": {`"ready": "yes"`, `"materials": `, `"Waiting"`, `"Entries"`},
			"log.txt":       {`"msg":"request"`, "a key in a line: (removed)"}} {
			for _, want := range wants {
				if !strings.Contains(parts[name], want) {
					t.Errorf("%s has no %s:\n%.3000s", name, want, parts[name])
				}
			}
		}
		unwanted := []string{"hush", "0000-0002-1825-0097", "@example"}
		for _, key := range []string{"secret.key", "record.key", "seal.key"} {
			raw, err := os.ReadFile(filepath.Join(in.folder, "data", key))
			if err != nil {
				t.Fatal(err)
			}
			unwanted = append(unwanted, strings.TrimSpace(string(raw)))
		}
		db, err := in.database()
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, column := range []string{"SELECT last_name FROM users", "SELECT email FROM users", "SELECT username FROM users",
			"SELECT hash FROM tokens", "SELECT title FROM materials"} {
			unwanted = append(unwanted, texts(t, db, column)...)
		}
		for name, text := range parts {
			for _, secret := range unwanted {
				if strings.Contains(text, secret) {
					t.Errorf("%s has %q", name, secret)
				}
			}
		}
		if out, err := in.command("support", file).CombinedOutput(); err == nil {
			t.Errorf("another file of that name is overwritten: %s", out)
		}
	})
}

// unzipped returns the files of a ZIP archive.
func unzipped(t *testing.T, file string) map[string]string {
	t.Helper()
	archive, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	parts := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		parts[f.Name] = string(text)
	}
	return parts
}

// texts returns what a query finds in its one column, unless it is so short that it stands anywhere.
func texts(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if len(text) > 3 {
			list = append(list, text)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}
