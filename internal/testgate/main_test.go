package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every case is a small module that the real go command tests.
func TestGate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code string // of the test file
		ok   bool
		says []string
		not  []string
	}{
		"passing tests pass": {
			`func TestA(t *testing.T) { t.Log("chatter"); t.Run("sub", func(t *testing.T) {}) }`,
			true, []string{"ok   a ", "s: 2 passed\n", "\n2 passed, 0 failed, 0 skipped\n"}, []string{"chatter"},
		},
		"a failure is shown in full": {
			`func TestA(t *testing.T) { t.Log("first"); t.Error("second") }; func TestB(t *testing.T) { t.Log("chatter") }`,
			false, []string{"first", "second", "--- FAIL: TestA", "FAIL a ", "\n1 passed, 1 failed, 0 skipped\n"},
			[]string{"chatter"},
		},
		"a skip fails and is named with its reason": {
			`func TestA(t *testing.T) {}; func TestB(t *testing.T) { t.Skip("no", "browser") }`,
			false, []string{"SKIPPED a TestB: a_test.go:4: no browser\n", "\n1 passed, 0 failed, 1 skipped\n"}, nil,
		},
		"a panic is shown": {
			`func TestA(t *testing.T) { panic("oh") }; func TestB(t *testing.T) {}`,
			false, []string{"panic: oh", "FAIL a ", "0 passed, 1 failed, 0 skipped\n"}, nil,
		},
		"an exit in the middle is a failure": {
			`func TestA(t *testing.T) { println("last words"); os.Exit(3) }`,
			false, []string{"last words", "FAIL a ", "0 passed, 1 failed, 0 skipped\n"}, nil,
		},
		"a package that does not build fails": {
			`func TestA(t *testing.T) { undefined() }`,
			false, []string{"undefined: undefined", "FAIL a ", "0 passed, 1 failed, 0 skipped\n"}, nil,
		},
		"no test at all fails": {
			`func helper() {}`,
			false, []string{"no test passed", "0 passed, 0 failed, 0 skipped\n"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "go.mod"), "module a\n\ngo 1.26\n")
			write(t, filepath.Join(dir, "a_test.go"), "package a\n\nimport (\"os\"; \"testing\"); var _ = os.Args; "+
				"var _ testing.TB\n"+test.code+"\n")
			cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "./...")
			cmd.Dir = dir
			events, _ := cmd.Output() // the exit code is 1 for most of them
			var out strings.Builder
			ok, err := gate(strings.NewReader(string(events)), &out)
			if err != nil || ok != test.ok {
				t.Errorf("got %t, %v, want %t", ok, err, test.ok)
			}
			for _, want := range test.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("it does not say %q", want)
				}
			}
			for _, bad := range test.not {
				if strings.Contains(out.String(), bad) {
					t.Errorf("it says %q", bad)
				}
			}
			if t.Failed() {
				t.Logf("output:\n%s\nevents:\n%s", &out, events)
			}
		})
	}
}

func TestGate_EmptyAndForeignInput(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                            "no test passed\n0 passed, 0 failed, 0 skipped\n",
		"go: cannot find main module": "go: cannot find main module\nno test passed\n0 passed, 0 failed, 0 skipped\n",
		"{\"not\": \"an event\"}\n":   "{\"not\": \"an event\"}\nno test passed\n0 passed, 0 failed, 0 skipped\n",
		strings.Repeat("x", 1<<20): strings.Repeat("x", 1<<20) +
			"\nno test passed\n0 passed, 0 failed, 0 skipped\n",
		"null\n":                        "null\nno test passed\n0 passed, 0 failed, 0 skipped\n",
		"{\"Action\":\"unheard of\"}\n": "no test passed\n0 passed, 0 failed, 0 skipped\n",
	} {
		var out strings.Builder
		if ok, err := gate(strings.NewReader(input), &out); ok || err != nil || out.String() != want {
			t.Errorf("%.60q: got %t, %v, %q", input, ok, err, out.String())
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
