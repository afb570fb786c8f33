package deploy_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// run runs a program in a folder with more variables and returns what it wrote.
func run(t *testing.T, folder string, environ []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return string(out)
}

// TestRelease_IsReproducibleAndRuns builds the last commit as a release does, and what is made of the program. It takes
// minutes, so it runs for "make deploy-check" alone, which names the folder of the programs that it needs.
func TestRelease_IsReproducibleAndRuns(t *testing.T) {
	tools := os.Getenv("ALIQUOT_TEST_DEPLOY")
	if tools == "" {
		return
	}
	tool := func(name string) string { return filepath.Join(tools, name) }
	run(t, "..", nil, tool("goreleaser"), "check", "deploy/goreleaser.yaml")
	program := release(t, tool("goreleaser"))
	t.Run("two builds are the same", func(t *testing.T) {
		again := release(t, tool("goreleaser"), "GOCACHE="+t.TempDir())
		if one, two := sum(t, program), sum(t, again); one != two {
			t.Errorf("the same commit made %x and %x", one, two)
		}
	})
	t.Run("its list of components is complete", func(t *testing.T) { listed(t, tool("cyclonedx-gomod"), program) })
	t.Run("the Debian package has a service", func(t *testing.T) { packaged(t, tool("nfpm"), program) })
	t.Run("the image runs", func(t *testing.T) { runsAsImage(t, program) })
}

func sum(t *testing.T, name string) [sha256.Size]byte { return sha256.Sum256([]byte(read(t, name))) }

// release builds a clone of the last commit and returns the program for this machine.
func release(t *testing.T, goreleaser string, environ ...string) string {
	t.Helper()
	clone, program := t.TempDir(), filepath.Join(t.TempDir(), "aliquot")
	run(t, "..", nil, "git", "clone", "--quiet", ".", clone)
	run(t, clone, environ, goreleaser, "build", "-f", "deploy/goreleaser.yaml", "--snapshot", "--single-target",
		"--output", program)
	return program
}

// listed: the list of components has every module that the program was built of.
func listed(t *testing.T, cyclonedx, program string) {
	list := filepath.Join(t.TempDir(), "list.json")
	run(t, "..", nil, cyclonedx, "bin", "-json", "-std", "-noserial", "-notimestamp", "-output", list, program)
	var made struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal([]byte(read(t, list)), &made); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range made.Components {
		names = append(names, c.Name+" "+c.Version)
	}
	modules := 0
	for line := range strings.Lines(run(t, "..", nil, "go", "version", "-m", program)) {
		if f := strings.Fields(line); f[0] == "dep" {
			modules++
			if !slices.Contains(names, f[1]+" "+f[2]) {
				t.Errorf("%s %s is not listed", f[1], f[2])
			}
		}
	}
	if modules < 10 {
		t.Errorf("the program names %d modules", modules)
	}
}

// packaged: the same program makes the same package, and systemd accepts its service.
func packaged(t *testing.T, nfpm, program string) {
	folder := t.TempDir()
	var made []string
	for n := range 2 {
		made = append(made, filepath.Join(folder, fmt.Sprintf("%d.deb", n)))
		run(t, "..", []string{"PROGRAM=" + program, "GOARCH=amd64", "VERSION=1.2.3", "SOURCE_DATE_EPOCH=1767322800"},
			nfpm, "package", "-f", "deploy/nfpm.yaml", "-p", "deb", "-t", made[n])
	}
	if sum(t, made[0]) != sum(t, made[1]) {
		t.Error("the same program made two packages")
	}
	root := filepath.Join(folder, "root")
	run(t, folder, nil, "dpkg-deb", "-x", made[0], root)
	installed := filepath.Join(root, "usr/bin/aliquot")
	if out := run(t, folder, nil, installed, "--version"); !strings.HasPrefix(out, "aliquot ") {
		t.Errorf("its program prints %q", out)
	}
	service := read(t, filepath.Join(root, "usr/lib/systemd/system/aliquot.service"))
	unit := filepath.Join(folder, "aliquot.service")
	if err := os.WriteFile(unit, []byte(strings.ReplaceAll(service, "/usr/bin/aliquot", installed)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, folder, nil, "systemd-analyze", "verify", "--man=no", unit); out != "" {
		t.Errorf("systemd-analyze verify: %s", out)
	}
	// exposure of at most 1.5 of 10
	run(t, folder, nil, "systemd-analyze", "security", "--offline=true", "--threshold=15", unit)
	if out := run(t, folder, nil, "dpkg-deb", "--info", made[0], "conffiles"); out != "/etc/aliquot/aliquot.env\n" {
		t.Errorf("its files of settings are %q", out)
	}
}
