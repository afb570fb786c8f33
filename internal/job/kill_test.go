package job_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store/storetest"
)

// victim starts this test binary as a worker, in a process of its own.
func (b bench) victim() *exec.Cmd {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), databaseOfWorker+"="+storetest.Where(b.db))
	cmd.Stderr = b.Output()
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "working\n" {
		b.Fatalf("the worker said %q, %v", line, err)
	}
	return cmd
}

// TestKill_EachEffectHappensOnce: two processes work under load, one of which is killed
// (kill -9) at a random moment, twenty times; every job is enqueued twice with one key.
func TestKill_EachEffectHappensOnce(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		const kills, batch = 20, 12
		processes := []*exec.Cmd{b.victim(), b.victim()}
		kill := func(p *exec.Cmd) {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
		b.Cleanup(func() {
			for _, p := range processes {
				kill(p)
			}
		})
		shorts, longs := 0, 0
		for n := range kills {
			for range 2 {
				for i := range batch {
					key := fmt.Sprint(n, "/", i)
					jobtest.Enqueue(b.T, b.db, short, "short "+key, job.EnqueueOptions{Key: key})
					if i%4 == 0 {
						jobtest.Enqueue(b.T, b.db, long, "long "+key, job.EnqueueOptions{Key: key})
					}
				}
			}
			shorts, longs = shorts+batch, longs+batch/4
			time.Sleep(rand.N(40 * time.Millisecond)) // somewhere in the middle of something
			kill(processes[n%2])
			processes[n%2] = b.victim()
		}
		jobtest.Poll(b.T, "all are done", func() bool {
			return b.states("short")[exchange.JobDone] == shorts && b.states("long")[exchange.JobDone] == longs
		})
		effects := b.effects()
		if n := effects[""]; n != 1 { // of the periodic job
			b.Errorf("the periodic job ran %d times", n)
		}
		b.once(shorts + longs*(steps+1) + 1)
	})
}
