package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestREADMEWalkWorksAsItStands pastes the blocks "sh walk" of README.md into a shell, one after
// the other; its last lines must be those of the block "text result".
func TestREADMEWalkWorksAsItStands(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the walk in README.md needs %s: %v", tool, err)
		}
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	walk, want := fenced(string(readme), "sh walk"), fenced(string(readme), "text result")
	if walk == "" || want == "" {
		t.Fatalf("README.md has no block %q or no block %q", "sh walk", "text result")
	}
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t, "--demo")
		shell := exec.Command("bash", "-euo", "pipefail", "-c", walk)
		shell.Dir = t.TempDir()
		shell.Env = append(os.Environ(), "ALIQUOT="+p.base)
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.HasSuffix("\n"+string(out), "\n"+want) {
			t.Errorf("the walk does not end with\n%s\nbut its output is\n%s", want, out)
		}
		if left, err := os.ReadDir(shell.Dir); err != nil || len(left) > 0 {
			t.Errorf("the walk leaves %v, %v", left, err)
		}
	})
}

// fenced joins the blocks of a Markdown text that are marked so.
func fenced(markdown, mark string) string {
	var text strings.Builder
	block := regexp.MustCompile("(?ms)^```" + regexp.QuoteMeta(mark) + "\n(.*?)^```$")
	for _, found := range block.FindAllStringSubmatch(markdown, -1) {
		text.WriteString(found[1])
	}
	return text.String()
}
