package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// The bars of BenchmarkBackup.
const (
	backupRatio  = 2        // of the 99th percentile of others' calls while a backup is taken to that without
	backupMemory = 64 * mib // of "aliquot backup"
	restoreBar   = 2 * time.Minute
)

// backupSize is BACKUP_SIZE, by default that of the bars: how many materials and as many requests, with so many files of
// 16 MiB for each 100,000 of them that they have 1 GiB.
func backupSize(b *testing.B) (materials, files int) {
	materials = 100_000
	if text := os.Getenv("BACKUP_SIZE"); text != "" {
		var err error
		if materials, err = strconv.Atoi(text); err != nil || materials < 1000 {
			b.Fatalf("BACKUP_SIZE: %q is no number from 1000 on", text)
		}
	}
	return materials, max(1, 64*materials/100_000)
}

// BenchmarkBackup takes a backup of the built program while others work with it, restores it, and verifies what came of
// it.
func BenchmarkBackup(b *testing.B) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) {
			for range b.N { // once: it takes longer than -benchtime
				backUp(b, kind)
			}
		})
	}
}

func backUp(b *testing.B, kind string) {
	materials, files := backupSize(b)
	t := newTown(b, kind, materials, materials)
	for i := range t.others {
		t.settle(i)
	}
	const fileSize = 16 * mib
	for n := range files {
		t.store(n, fileSize)
	}
	alone := t.live(b.Context(), 20*time.Second)
	archive := filepath.Join(b.TempDir(), "backup.alq")
	taking := exec.CommandContext(b.Context(), t.binary, append([]string{"backup", archive}, t.settings...)...) //nolint:gosec // our own binary
	var most int64
	var took time.Duration
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		began := time.Now()
		most = peak(b, taking)
		took = time.Since(began)
	}()
	beside, over := &felt{}, false
	for !over {
		beside.add(t.live(b.Context(), time.Second))
		select {
		case <-taken:
			over = true
		default:
		}
	}
	t.p.stop()
	before, now := slices.Concat(alone.reads, alone.writes, alone.searches), slices.Concat(beside.reads, beside.writes,
		beside.searches)
	ratio := float64(percentile(now, 99)) / float64(percentile(before, 99))
	b.Logf("backup: %v, %v of processor time, %d MiB of memory; p50 %v, p99 %v alone (%d calls), p50 %v, p99 %v beside (%d)",
		took.Round(time.Millisecond), spent(taking), most/mib, percentile(before, 50), percentile(before, 99), len(before),
		percentile(now, 50), percentile(now, 99), len(now))
	b.ReportMetric(ratio, "p99-ratio")
	b.ReportMetric(float64(most)/mib, "MiB")
	if ratio > backupRatio {
		b.Errorf("the 99th percentile is %.1f of alone, not %d", ratio, backupRatio)
	}
	if most >= backupMemory {
		b.Errorf("%d MiB, not %d", most/mib, backupMemory/mib)
	}

	settings := []string{"--data", b.TempDir()}
	if kind == storetest.PostgreSQL {
		settings = append(settings, "--database", storetest.Clone(b, "aliquot_bench", func(string) error { return nil }))
	}
	restored, _ := t.runs(append([]string{"restore", archive}, settings...)) // which verifies all that "verify" does
	settings = append(settings, "--secret-key", filepath.Join(t.settings[1], "secret.key"))
	verified, said := t.runs(append([]string{"verify", "--files"}, settings...))
	lines := strings.Split(strings.TrimSpace(said), "\n")
	b.Logf("restore %v, verify %v; %s", restored, verified, lines[len(lines)-1])
	b.ReportMetric(restored.Seconds(), "restore-s")
	b.ReportMetric(verified.Seconds(), "verify-s")
	b.ReportMetric(0, "ns/op")
	if restored >= restoreBar && kind == storetest.SQLite {
		b.Errorf("restored and verified in %v, not %v", restored, restoreBar)
	}
}

// store uploads a file of a size, as the heavy user.
func (t *town) store(n, size int) {
	name := fmt.Sprintf("reads%d.fasta", n)
	id := t.make(&t.heavy, "/v1/attachments", fmt.Sprintf(`{"filename": %q}`, name))
	line := fmt.Appendf(nil, "ACGTACGTTTGACCAGTTTACGCATTAGGCAC%d\n", n)
	content := bytes.Repeat(line, size/len(line)+1)[:size]
	if _, err := t.call(t.b.Context(), http.DefaultClient, "PUT", fmt.Sprintf("/v1/uploaded-file/attachment_%d/%s", id,
		name), t.heavy.token, "text/plain", bytes.NewReader(content)); err != nil {
		t.b.Fatal(err)
	}
}

// runs runs a command of the program, and returns how long it took and what it printed.
func (t *town) runs(args []string) (time.Duration, string) {
	c := exec.CommandContext(t.b.Context(), t.binary, args...) //nolint:gosec // our own binary
	began := time.Now()
	out, err := c.CombinedOutput()
	if err != nil {
		t.b.Fatalf("%s: %v\n%s", args[0], err, out)
	}
	took := time.Since(began).Round(time.Millisecond)
	t.b.Logf("%s: %v, %v of processor time", args[0], took, spent(c))
	return took, string(out)
}

// spent is the processor time that a command took which is over.
func spent(c *exec.Cmd) time.Duration {
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Round(time.Millisecond)
}
