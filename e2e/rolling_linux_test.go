package e2e

import (
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/deploy"
	"aliquot/internal/store/storetest"
)

var rollingFrom = flag.String("rolling", "", "the binary of the release that TestRolling begins with; empty: it does not run")

// TestRolling replaces the processes of an older release by those of this one, one after the other, behind a proxy that
// asks whether they are ready, while people work. The first new one migrates the database. No call fails.
func TestRolling(t *testing.T) {
	if *rollingFrom == "" {
		return // make rolling runs it
	}
	in := install(t, storetest.PostgreSQL, t.TempDir())
	older := in
	older.binary = *rollingFrom
	flags := func(role, address string) []string {
		return []string{"--role", role, "--addr", address, "--rate-limit", "off", "--stop-delay", "5s"}
	}
	roles := []string{"web", "web", "worker"}
	var addresses []string
	var processes []*process
	for _, role := range roles {
		addresses = append(addresses, freeAddress(t))
		processes = append(processes, older.serve(t, flags(role, addresses[len(addresses)-1])...))
	}
	l := processes[0].lab(t)
	josiah, err := signIn(processes[0].base, josiah)
	if err != nil {
		t.Fatal(err)
	}
	base := startBalancer(t, addresses[:2])
	josiah.base, l.manager.base = base, base
	if err := poll(func() error { return josiah.readiness(http.StatusOK, `"ready"`) }); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var working sync.WaitGroup
	var answered atomic.Int64
	var mu sync.Mutex
	var all []*transfer
	for range 4 {
		working.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				w := &transfer{josiah: josiah, mario: l.manager, lab: l.id, answered: func() { answered.Add(1) }}
				if err := w.write(); err != nil {
					t.Errorf("a call failed: %v", err)
				}
				mu.Lock()
				all = append(all, w)
				mu.Unlock()
			}
		})
	}
	for i, role := range roles {
		before := answered.Load()
		if err := processes[i].stop(); err != nil {
			t.Error(err)
		}
		processes[i] = in.serve(t, flags(role, addresses[i])...)
		time.Sleep(3 * time.Second) // the proxy notices
		t.Logf("%s at %s is replaced; %d calls were answered meanwhile; migrated: %v", role, addresses[i],
			answered.Load()-before, strings.Contains(processes[i].logged(), `"msg":"migrated"`))
	}
	if !strings.Contains(processes[0].logged(), `"msg":"migrated"`) {
		t.Error("there was no migration: choose an older release")
	}
	close(ended)
	working.Wait()
	for _, w := range all {
		if err := w.check(); err != nil {
			t.Errorf("request %s: %v", w.request, err)
		}
	}
	heardOnce(t, josiah, l.manager)
	verified(t, in)
	t.Logf("%d calls answered", answered.Load())
}

// startBalancer starts Caddy with its example before some processes, and returns its address.
func startBalancer(t *testing.T, addresses []string) (base string) {
	t.Helper()
	base = "http://" + freeAddress(t)
	folder := t.TempDir()
	path := filepath.Join(folder, "Caddyfile")
	if err := os.WriteFile(path, []byte("{\n\tadmin off\n}\n"+deploy.Caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv("ALIQUOT_TEST_CADDY"), "run", "--adapter", "caddyfile", "--config", path)
	cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder, "SITE="+base,
		"PROCESSES="+strings.Join(addresses, " "))
	if err := cmd.Start(); err != nil {
		t.Fatalf("Caddy: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return base
}
