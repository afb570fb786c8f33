package e2e

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestManuals_CommandsWorkAsWritten pastes the blocks "sh walk" of a manual into a shell, one
// after the other; its last lines must be those of the block "text result".
func TestManuals_CommandsWorkAsWritten(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the commands in docs need %s: %v", tool, err)
		}
	}
	for _, name := range []string{"docs/walk.md", "docs/api.md"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manual, err := os.ReadFile("../" + name)
			if err != nil {
				t.Fatal(err)
			}
			walk, want := fenced(string(manual), "sh walk"), fenced(string(manual), "text result")
			if walk == "" || want == "" {
				t.Fatalf("there is no block %q or no block %q", "sh walk", "text result")
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
					t.Errorf("the commands do not end with\n%s\nbut their output is\n%s", want, out)
				}
				if left, err := os.ReadDir(shell.Dir); err != nil || len(left) > 0 {
					t.Errorf("the commands leave %v, %v", left, err)
				}
			})
		})
	}
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
