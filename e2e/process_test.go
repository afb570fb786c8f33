package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take that should be a matter of milliseconds, on a machine that does much else.
const patience = 2 * time.Minute

// process is a running "aliquot serve".
type process struct {
	base  string // its address, such as http://127.0.0.1:40123
	cmd   *exec.Cmd
	log   string // the file of its stderr
	ended chan struct{}
}

// launch starts a server on a free port and waits until it is ready.
func (in installation) launch(args ...string) (*process, error) {
	p, err := in.start(args...)
	if err != nil {
		return nil, err
	}
	return p, p.ready()
}

// start starts a server on a free port and waits until it listens.
func (in installation) start(args ...string) (*process, error) {
	log, err := os.CreateTemp(in.folder, "serve-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{log: log.Name(), ended: make(chan struct{})}
	p.cmd = in.command(append([]string{"serve", "--addr", "127.0.0.1:0", "--identity", "demo"}, args...)...)
	p.cmd.Stderr = log
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	tooLong := time.AfterFunc(patience, p.kill)
	defer tooLong.Stop()
	line, readErr := bufio.NewReader(stdout).ReadString('\n')
	go func() {
		_ = p.cmd.Wait() // who asks reads it from ProcessState
		close(p.ended)
	}()
	address, said := strings.CutPrefix(line, "Aliquot is ready at ")
	if readErr != nil || !said {
		p.kill()
		<-p.ended
		return nil, fmt.Errorf("the server did not get ready (%s), its last word was %q, its log:\n%s",
			p.cmd.ProcessState, line, p.logged())
	}
	p.base = strings.TrimSpace(address)
	return p, nil
}

// ready polls /readyz until it answers 200.
func (p *process) ready() error {
	return poll(func() error {
		response, err := http.Get(p.base + "/readyz")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	})
}

// serve is launch for a test; the process goes when t ends.
func (in installation) serve(t testing.TB, args ...string) *process {
	t.Helper()
	p, err := in.launch(args...)
	if err != nil {
		t.Fatal(err)
	}
	p.endWith(t)
	return p
}

// endWith ends the process with a test, which shows its log if it failed.
func (p *process) endWith(t testing.TB) {
	t.Cleanup(func() {
		p.kill()
		<-p.ended
		if t.Failed() {
			t.Logf("the log of %s:\n%s", p.base, p.logged())
		}
	})
}

// kill ends the process at once, as a crash does.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// stop asks the process to end and says how it failed to.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.kill()
		return errors.New("the server was asked to stop and went on")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the server was asked to stop and ended with %d, its log:\n%s", code, p.logged())
	}
	return nil
}

func (p *process) logged() string {
	log, _ := os.ReadFile(p.log)
	return string(log)
}

// poll tries until it works, ever more seldom, and returns the last error when that takes too long.
func poll(try func() error) error {
	deadline, pause := time.Now().Add(patience), 2*time.Millisecond
	for {
		err := try()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
		pause = min(pause*5/4, 100*time.Millisecond)
	}
}
