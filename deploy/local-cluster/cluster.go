//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	startTime = time.Minute      // for a process to answer
	stopTime  = 40 * time.Second // for a process to end by itself; Aliquot drains for 20 s
)

// cluster is the folder in which everything is, and its processes in the order of their start.
type cluster struct {
	folder    string
	out       io.Writer
	processes []*process
	stopping  atomic.Bool
}

// process is a running program.
type process struct {
	name, address string
	ready         string // the address that answers 200 once the process can serve; empty: it is ready when it listens
	cmd           *exec.Cmd
	ended         chan struct{}
}

// path returns the path of a file in the folder of the cluster.
func (c *cluster) path(name string) string { return filepath.Join(c.folder, name) }

// launch starts a process with more variables in its environment, and waits until it is ready.
func (c *cluster) launch(ctx context.Context, p *process, environ []string, program string, args ...string) error {
	log, err := os.Create(c.path(p.name + ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(os.Environ(), environ...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = ownGroup()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	c.processes = append(c.processes, p)
	go func() {
		_ = p.cmd.Wait() // its state says how it ended
		if !c.stopping.Load() {
			fmt.Fprintf(c.out, "%s ended: %s\n", p.name, p.cmd.ProcessState)
		}
		close(p.ended)
	}()
	if err := p.wait(ctx); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s did not start: %w\n%s", p.name, err, said)
	}
	fmt.Fprintf(c.out, "%-10s %s, process %d\n", p.name, p.address, p.cmd.Process.Pid)
	return nil
}

// wait waits until a process is ready.
func (p *process) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := p.check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return errors.New(p.cmd.ProcessState.String())
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *process) check(ctx context.Context) error {
	if p.ready == "" {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.address)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.ready, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// stop ends the processes, the last one first, so that each finishes what it works on.
func (c *cluster) stop() error {
	c.stopping.Store(true)
	var failed []error
	for _, p := range slices.Backward(c.processes) {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails when it has ended
		select {
		case <-p.ended:
		case <-time.After(stopTime):
			failed = append(failed, fmt.Errorf("%s did not end by itself", p.name), p.cmd.Process.Kill())
			<-p.ended
		}
	}
	return errors.Join(failed...)
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
