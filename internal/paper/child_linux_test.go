package paper

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// A child that outlives a killed server would read on, and write into a folder that nobody expects to change.
func TestRead_TheChildEndsWithAParentThatIsKilled(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "child")
	parent := exec.CommandContext(t.Context(), program)
	parent.Env = []string{childVariable + "=parent", pidVariable + "=" + file}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	until(t, "a child", func() bool {
		b, _ := os.ReadFile(file)
		n, _ := fmt.Sscanf(string(b), "%d\n", &child)
		return n == 1
	})
	if !alive(child) {
		t.Fatal("the child ended by itself")
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	until(t, "the end of the child", func() bool { return !alive(child) })
}

// alive reports whether a process runs; one that nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not in time:", what)
		}
	}
}
