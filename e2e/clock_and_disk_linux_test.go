package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// clock is what the clock of a process is ahead of the true one: seconds in a file that the process has in its memory.
type clock struct {
	path  string
	ahead *int64
}

const clockVariable = "ALIQUOT_TEST_CLOCK"

func newClock(t testing.TB) *clock {
	t.Helper()
	c := &clock{path: filepath.Join(t.TempDir(), "clock")}
	if err := os.WriteFile(c.path, make([]byte, 8), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(c.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	memory, err := syscall.Mmap(int(file.Fd()), 0, 8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	c.ahead = (*int64)(unsafe.Pointer(&memory[0]))
	return c
}

func (c *clock) environ() string { return clockVariable + "=" + c.path }

// jump sets how far the clock is ahead.
func (c *clock) jump(by time.Duration) { *c.ahead = int64(by / time.Second) }

// clockCode is added to the package time of Go, whose Now adds the seconds of the file.
const clockCode = `
var ahead = openClock()

func openClock() *int64 {
	path, _ := syscall.Getenv("` + clockVariable + `")
	file, err := syscall.Open(path, syscall.O_RDONLY, 0)
	if err != nil {
		return new(int64)
	}
	memory, err := syscall.Mmap(file, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*int64)(unsafe.Pointer(&memory[0]))
}
`

// withClock builds the binary with a clock that a test can make jump, as that of a machine does when somebody sets it.
func withClock(t testing.TB) (binary string) {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	code, readErr := os.ReadFile(source)
	if err := errors.Join(err, readErr); err != nil {
		t.Fatal(err)
	}
	const now, imports = "sec, nsec, mono := runtimeNow()\n", "_ \"unsafe\" // for go:linkname"
	changed := strings.Replace(strings.Replace(string(code), now, now+"\tsec += *ahead\n", 1), imports,
		"\"syscall\"\n\t\"unsafe\"", 1) + clockCode
	folder := t.TempDir()
	binary = filepath.Join(folder, "aliquot")
	patched, overlay := filepath.Join(folder, "time.go"), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {source: patched}})
	if err := errors.Join(err, os.WriteFile(patched, []byte(changed), 0o600),
		os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", binary,
		"aliquot/cmd/aliquot").CombinedOutput(); err != nil {
		t.Fatalf("go build with another clock: %v\n%s", err, out)
	}
	return binary
}

// disk is a disk of its own that can fill up.
type disk struct{ folder, ballast string }

// mountDisk mounts a disk in memory, which only root may.
func mountDisk(t testing.TB) *disk {
	t.Helper()
	folder, err := os.MkdirTemp("", "aliquot-disk-")
	if err == nil {
		err = syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=2g,mode=0755")
	}
	if err != nil {
		t.Fatalf("a disk that can fill up needs root: %v", err)
	}
	t.Cleanup(func() { _ = errors.Join(syscall.Unmount(folder, syscall.MNT_DETACH), os.Remove(folder)) })
	return &disk{folder: folder, ballast: filepath.Join(folder, "ballast")}
}

// fill takes all the room that is left.
func (d *disk) fill(t testing.TB) {
	t.Helper()
	file, err := os.Create(d.ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size, end := int64(256<<20), int64(0); size >= 4096; {
		if err := syscall.Fallocate(int(file.Fd()), 0, end, size); err == nil {
			end += size
		} else if errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else {
			t.Fatal(err)
		}
	}
}

// empty makes room again.
func (d *disk) empty(t testing.TB) {
	t.Helper()
	if err := os.Remove(d.ballast); err != nil {
		t.Fatal(err)
	}
}
