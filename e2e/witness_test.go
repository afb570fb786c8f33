package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// witness runs "aliquot witness" for a log, and returns how the setting witnesses names it, and its public key.
func (in installation) witness(t *testing.T, logKey string) (setting, key string) {
	t.Helper()
	cmd := in.command("witness", "--addr", "127.0.0.1:0", "--state", filepath.Join(in.folder, "state.json"), "--key",
		filepath.Join(in.folder, "witness.key"), "--name", "witness.example.org", "--log-key", logKey)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	tooLong := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer tooLong.Stop()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	words := strings.Fields(line)
	if err != nil || len(words) != 6 {
		t.Fatalf("the witness says %q, %v", line, err)
	}
	return words[1] + "@" + words[5], words[1]
}

// text reads what anybody may read.
func (p *process) text(path string) (string, error) {
	response, err := http.Get(p.base + path)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s, %s", path, response.Status, raw)
	}
	return string(raw), err
}

func TestCheckpoint_IsThereFromTheStart(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--role", "web"}, {"--role", "web", "--demo"}} { // no job runs
		p := install(t, storetest.SQLite, t.TempDir()).serve(t, flags...)
		if text, err := p.text("/log/checkpoint"); err != nil || !strings.Contains(text, "/log/") {
			t.Errorf("%s: %s, %v", flags, text, err)
		}
	}
}

// TestRecord_IsCheckedWithoutTheServer: by a witness, by a checkpoint that was kept, and by the program in a dossier.
func TestRecord_IsCheckedWithoutTheServer(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		p := in.serve(t)
		keys, err := p.text("/log/keys")
		if err != nil {
			t.Fatal(err)
		}
		logKey := strings.TrimSpace(keys)
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		setting, key := in.witness(t, logKey)
		p = in.serve(t, "--witnesses", setting)
		l := p.lab(t)
		made, err := did(l.manager.call("POST", "/material-requests/", `{"material": `+l.material+`}`))
		if err != nil {
			t.Fatal(err)
		}
		request, err := made.at("id")
		if err != nil {
			t.Fatal(err)
		}
		proof := func() {
			t.Helper()
			if _, err := did(l.manager.call("GET", "/material-requests/"+request+"/events/1/proof", "")); err != nil {
				t.Fatal(err)
			}
		}
		proof() // which has the log signed
		kept := ""
		if err := poll(func() error {
			if kept, err = p.text("/log/checkpoint"); err == nil && !strings.Contains(kept, "\n— witness.example.org ") {
				err = fmt.Errorf("no witness cosigned %s", kept)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := did(l.manager.call("POST", "/material-requests/"+request+"/messages",
			`{"text": "It is on its way."}`)); err != nil {
			t.Fatal(err)
		}

		since, dossier := filepath.Join(in.folder, "kept"), filepath.Join(in.folder, "record.zip")
		if err := os.WriteFile(since, []byte(kept), 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(want string, cmd *exec.Cmd) {
			t.Helper()
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %s, %v, want %q", cmd, out, err, want)
			}
		}
		run(": 0 faults", in.command("verify", "--since", since))
		run("record.zip has ", in.command("dossier", request, dossier))
		run("VALID", in.command("verify", "--log-key", logKey, "--log-key", key, dossier))
		program := filepath.Join(in.folder, "verify.py")
		out, err := exec.CommandContext(t.Context(), "python3", "-m", "zipfile", "-e", dossier, in.folder).CombinedOutput()
		if err != nil {
			t.Fatalf("%s, %v", out, err)
		}
		run("VALID", exec.CommandContext(t.Context(), "python3", "-I", program, dossier, logKey))
		wrong := exec.CommandContext(t.Context(), "python3", "-I", program, dossier, key)
		if out, err := wrong.CombinedOutput(); err == nil || !strings.Contains(string(out), "NOT VALID") {
			t.Errorf("with another key verify.py says %s, %v", out, err)
		}
	})
}
