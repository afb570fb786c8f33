package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

const (
	mib = 1 << 20

	startBar  = 300 * time.Millisecond
	demoBar   = 2 * time.Second // with the sample data
	idleBar   = 40 * mib
	idleDemo  = 48 * mib // with the sample data
	growthBar = 32 * mib
)

// BenchmarkStart measures the time from exec to ready on an empty folder, and the memory of an idle process.
func BenchmarkStart(b *testing.B) { start(b, startBar, idleBar) }

// BenchmarkStartDemo is the same with the sample data.
func BenchmarkStartDemo(b *testing.B) { start(b, demoBar, idleDemo, "--demo") }

func start(b *testing.B, bar time.Duration, memory int64, flags ...string) {
	binary := build(b)
	var took []time.Duration
	var idle int64
	for range b.N {
		for n := range 10 {
			p := run(b, binary, b.TempDir(), flags...)
			took = append(took, p.took)
			if n == 0 { // start-up returns its memory when its jobs have run, 10 s later
				time.Sleep(15 * time.Second)
				idle = p.memory("VmRSS")
			}
			p.stop()
		}
	}
	slices.Sort(took)
	median := took[len(took)/2]
	b.ReportMetric(float64(took[0].Milliseconds()), "best-ms")
	b.ReportMetric(float64(median.Milliseconds()), "median-ms")
	b.ReportMetric(float64(idle)/mib, "idle-MiB")
	b.ReportMetric(0, "ns/op")
	if median >= bar {
		b.Errorf("ready after %s, not %s", median, bar)
	}
	if idle >= memory {
		b.Errorf("idle memory is %d MiB, not %d", idle/mib, memory/mib)
	}
}

// BenchmarkContent sends 1 GiB in and out again.
func BenchmarkContent(b *testing.B) {
	const size = 1 << 30
	const path = "/v1/uploaded-file/attachment_1/reads.fasta"
	data := b.TempDir()
	token := signIn(b, data)
	p := run(b, build(b), data, "--upload-limit", "2GiB")
	defer p.stop()
	call := func(b *testing.B, method, path string, length int64, body io.Reader) int64 {
		r, err := http.NewRequestWithContext(b.Context(), method, p.url+path, body)
		if err != nil {
			b.Fatal(err)
		}
		r.ContentLength = length
		r.Header.Set("Authorization", "Token "+token)
		n, err := send(http.DefaultClient, r, io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	record := `{"filename": "reads.fasta"}`
	call(b, "POST", "/v1/attachments", int64(len(record)), strings.NewReader(record))
	b.Run("upload", func(b *testing.B) {
		p.grow(b, size, func() {
			call(b, "PUT", path, size,
				&endless{line: []byte("ACGTACGTTTGACCAGTTTACGCATTAGGCAC\n")})
		})
	})
	b.Run("download", func(b *testing.B) {
		p.grow(b, size, func() {
			if n := call(b, "GET", path, 0, http.NoBody); n != size {
				b.Fatalf("%d bytes came back", n)
			}
		})
	})
}

// grow transfers so many bytes, and reports by how much the memory of the process grew meanwhile.
func (p *process) grow(b *testing.B, size int64, transfer func()) {
	p.resetPeak()
	before := p.memory("VmRSS")
	for b.Loop() {
		transfer()
	}
	growth := p.memory("VmHWM") - before
	b.SetBytes(size)
	b.ReportMetric(float64(growth)/mib, "growth-MiB")
	b.ReportMetric(0, "ns/op")
	if growth >= growthBar {
		b.Errorf("memory grew by %d MiB, not %d", growth/mib, growthBar/mib)
	}
}

// endless is a reader that repeats a line.
type endless struct {
	line []byte
	at   int
}

func (e *endless) Read(p []byte) (n int, _ error) {
	for n < len(p) {
		k := copy(p[n:], e.line[e.at:])
		n, e.at = n+k, (e.at+k)%len(e.line)
	}
	return n, nil
}

// signIn returns a token for an installation that is not running.
func signIn(b *testing.B, data string) string {
	db, err := store.Open(b.Context(), filepath.Join(data, "aliquot.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Migrate(b.Context(), false); err != nil {
		b.Fatal(err)
	}
	a := app.New(app.Config{DB: db, Registration: []string{"open"}, TokenLifetime: time.Hour})
	s, err := a.Accounts.SignIn(b.Context(), identity.Person{RegistryID: "bench", GivenName: "B", FamilyName: "Test"},
		person.Registration{})
	if err != nil {
		b.Fatal(err)
	}
	return s.Token
}

// build builds the program.
func build(b *testing.B) (binary string) {
	binary = filepath.Join(b.TempDir(), "aliquot")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", binary,
		"aliquot/cmd/aliquot").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	return binary
}

// process is a running "aliquot serve".
type process struct {
	b    *testing.B
	cmd  *exec.Cmd
	log  bytes.Buffer
	url  string
	took time.Duration // until it was ready
}

func run(b *testing.B, binary, data string, flags ...string) *process {
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data}, flags...)
	p := &process{b: b, cmd: exec.CommandContext(b.Context(), binary, args...)}
	p.cmd.Stderr = &p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var ok bool
	if p.url, ok = strings.CutPrefix(strings.TrimSpace(line), "Aliquot is ready at "); !ok {
		p.stop()
		b.Fatalf("%q\n%s", line, &p.log)
	}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, p.url+"/readyz", http.NoBody)
	if err == nil {
		_, err = send(http.DefaultClient, r, io.Discard)
	}
	p.took = time.Since(began)
	if err != nil {
		p.stop()
		b.Fatal(err)
	}
	return p
}

func (p *process) stop() {
	http.DefaultClient.CloseIdleConnections()
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if err = errors.Join(err, p.cmd.Wait()); err != nil {
		p.b.Errorf("%v\n%s", err, &p.log)
	}
}

// memory returns VmRSS, the memory that the process holds, or VmHWM, its peak, in bytes.
func (p *process) memory(what string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), what+":")
	kib, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, err := strconv.ParseInt(kib, 10, 64)
	if err != nil {
		p.b.Fatal(err)
	}
	return n << 10
}

// resetPeak makes VmHWM start again from VmRSS.
func (p *process) resetPeak() {
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		p.b.Fatal(err)
	}
}

// installation makes an installation in a folder that is not running, and returns the settings that name it, a person
// who signed in, and their token.
func installation(b *testing.B, kind, folder string) (settings []string, who exchange.Actor, token string) {
	settings = []string{"--data", folder}
	db, err := store.Open(b.Context(), filepath.Join(folder, "aliquot.db"))
	if kind == storetest.PostgreSQL {
		db, err = storetest.Open(b, kind), nil
		settings = append(settings, "--database", storetest.Where(db))
	} else if err == nil {
		defer db.Close()
		_, err = db.Migrate(b.Context(), false)
	}
	if err != nil {
		b.Fatal(err)
	}
	a := app.New(app.Config{DB: db, Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: time.Hour})
	signed, err := a.Accounts.SignIn(b.Context(), identity.Person{RegistryID: "member", GivenName: "Ada"},
		person.Registration{})
	if err != nil {
		b.Fatal(err)
	}
	if who, err = a.Accounts.Actor(b.Context(), signed.Token); err != nil {
		b.Fatal(err)
	}
	return settings, who, signed.Token
}

// writerMemoryBars are the peaks of the process while writers change materials.
var writerMemoryBars = map[string]int64{storetest.SQLite: 80 * mib, storetest.PostgreSQL: 64 * mib}

// BenchmarkWriterMemory has as many clients as BenchmarkWriters change a material each, for ten seconds.
func BenchmarkWriterMemory(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			folder := b.TempDir()
			settings, who, token := installation(b, kind, folder)
			p := run(b, build(b), folder, append(settings, "--rate-limit", "off")...)
			defer p.stop()
			call := func(method, path, body string) error {
				r, err := http.NewRequestWithContext(b.Context(), method, p.url+path, strings.NewReader(body))
				if err != nil {
					return err
				}
				r.Header.Set("Authorization", "Token "+token)
				r.Header.Set("Content-Type", "application/json")
				_, err = send(http.DefaultClient, r, io.Discard)
				return err
			}
			for n := range writers {
				if err := call("POST", "/v1/materials", fmt.Sprintf(
					`{"category": "CELL_LINE", "title": "Line %d", "organization": %d}`, n, who.Organizations[0])); err != nil {
					b.Fatal(err)
				}
			}
			for range b.N { // once: it takes longer than -benchtime
				p.resetPeak()
				var group sync.WaitGroup
				errs := make([]error, writers)
				changes := make([]int, writers)
				for client := range writers {
					group.Go(func() {
						for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && errs[client] == nil; changes[client]++ {
							errs[client] = call("PATCH", fmt.Sprintf("/v1/materials/%d", client+1),
								fmt.Sprintf(`{"additional_info": "Grows in McCoy's 5A with %d %% serum."}`, changes[client]))
						}
					})
				}
				group.Wait()
				if err := errors.Join(errs...); err != nil {
					b.Fatal(err)
				}
				most, total := p.memory("VmHWM"), 0
				for _, n := range changes {
					total += n
				}
				b.ReportMetric(float64(most)/mib, "MiB")
				b.ReportMetric(float64(total), "changes")
				b.ReportMetric(0, "ns/op")
				if most >= writerMemoryBars[kind] {
					b.Errorf("%d MiB, not %d", most/mib, writerMemoryBars[kind]/mib)
				}
			}
		})
	}
}

// bulkMemoryBar is the peak of the whole process.
const bulkMemoryBar = 64 * mib

// BenchmarkBulkMemory lists 100,000 materials with "aliquot import".
func BenchmarkBulkMemory(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			folder := b.TempDir()
			settings, who, _ := installation(b, kind, folder)
			file, err := os.Create(filepath.Join(folder, "stock.csv"))
			if err == nil {
				_, err = io.Copy(file, inventory(bulkRows))
			}
			if err = errors.Join(err, file.Close()); err != nil {
				b.Fatal(err)
			}
			settings = append([]string{"import", file.Name(), "--organization",
				strconv.FormatInt(who.Organizations[0], 10)}, settings...)
			binary := build(b)
			for range b.N { // once: it takes longer than -benchtime
				importing := exec.CommandContext(b.Context(), binary, settings...) //nolint:gosec // our own binary
				most := peak(b, importing)
				b.ReportMetric(float64(most)/mib, "MiB")
				b.ReportMetric(0, "ns/op")
				if most >= bulkMemoryBar {
					b.Errorf("%d MiB, not %d", most/mib, bulkMemoryBar/mib)
				}
			}
		})
	}
}

// peak runs a command and returns its peak of memory. What the kernel reports afterwards would count this process too,
// of which it was a copy for a moment.
func peak(b *testing.B, command *exec.Cmd) (most int64) {
	p := &process{b: b, cmd: command}
	command.Stdout, command.Stderr = &p.log, &p.log
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%s: %v", p.log.String(), err)
			}
			return most
		case <-time.After(20 * time.Millisecond):
			if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", command.Process.Pid)); err == nil &&
				bytes.Contains(status, []byte("VmHWM")) {
				most = max(most, p.memory("VmHWM"))
			}
		}
	}
}
