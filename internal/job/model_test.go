package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/store"

	"pgregory.net/rapid"
)

// TestQueue_EqualsItsModel takes random jobs through random acts of many workers, of which some
// go on with a job that they lost, and compares each with a model of a few lines.
func TestQueue_EqualsItsModel(t *testing.T) {
	t.Parallel()
	each(t, func(b bench) {
		rapid.Check(b.T, func(r *rapid.T) {
			err := b.db.Tx(b.Context(), func(ctx context.Context, tx store.Conn) error { // forgotten afterwards
				play(r, &model{ctx: ctx, conn: tx, jobs: map[int64]*modelled{}})
				return errForget
			})
			if !errors.Is(err, errForget) {
				r.Fatalf("transaction: %v", err)
			}
		})
	})
}

var errForget = errors.New("forget it")

func play(r *rapid.T, m *model) {
	r.Repeat(map[string]func(*rapid.T){
		"enqueue": m.enqueue,
		"restart": m.restart,
		"claim":   m.claim,
		"step": m.act(func(j exchange.Job, now time.Time) exchange.Job {
			return j.Step(exchange.Progress{Done: j.Progress.Done + 1}, []byte("1"), now.Add(lease))
		}, func(s *modelled) { s.steps++; s.failures = 0 }),
		"finish": m.act(func(j exchange.Job, now time.Time) exchange.Job { return j.Finish([]byte("2"), now) },
			func(s *modelled) { s.state, s.finished, s.failures = exchange.JobDone, s.finished+1, 0 }),
		"fail": m.act(func(j exchange.Job, now time.Time) exchange.Job { return j.Fail("no", &now, now) },
			func(s *modelled) { s.state = exchange.JobReady; s.failures++ }),
		"give up": m.act(func(j exchange.Job, now time.Time) exchange.Job { return j.Fail("no", nil, now) },
			func(s *modelled) { s.state = exchange.JobFailed; s.failures++ }),
		"release": m.act(func(j exchange.Job, now time.Time) exchange.Job { return j.Release(now) },
			func(s *modelled) { s.state = exchange.JobReady }),
		"cancel": m.change(exchange.Job.Cancel,
			[]exchange.JobState{exchange.JobReady, exchange.JobRunning, exchange.JobCancelled},
			func(s *modelled) { s.state = exchange.JobCancelled }),
		"retry": m.change(exchange.Job.Retry, []exchange.JobState{exchange.JobFailed, exchange.JobCancelled},
			func(s *modelled) { s.state, s.failures = exchange.JobReady, 0 }),
		"leases end": func(*rapid.T) {
			m.conn = m.conn.At(m.conn.Now.Add(2 * lease))
			for _, s := range m.jobs {
				s.expired = s.state == exchange.JobRunning
			}
		},
		"": m.check,
	})
}

const lease = time.Minute

// modelled is what a job should be.
type modelled struct {
	state    exchange.JobState
	lease    int64
	expired  bool // its lease ended
	steps    int64
	finished int
	failures int
}

type model struct {
	ctx  context.Context
	conn store.Conn
	ids  []int64
	jobs map[int64]*modelled
	held []exchange.Job // as workers have them that may have lost them
}

// must returns what the store returned without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (m *model) enqueue(r *rapid.T) {
	key := rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "key")
	id := must(short.Enqueue(m.ctx, m.conn, "", job.EnqueueOptions{Key: key}))
	if m.jobs[id] == nil {
		m.ids, m.jobs[id] = append(m.ids, id), &modelled{state: exchange.JobReady}
	}
}

func (m *model) restart(r *rapid.T) {
	id := must(short.Restart(m.ctx, m.conn, "",
		job.EnqueueOptions{Key: rapid.SampledFrom([]string{"a", "b"}).Draw(r, "key")}))
	s := &modelled{state: exchange.JobReady}
	if was := m.jobs[id]; was == nil {
		m.ids = append(m.ids, id)
	} else {
		s.lease = was.lease + 1 // whoever held it holds nothing
	}
	m.jobs[id] = s
}

func (m *model) claim(r *rapid.T) {
	limit := rapid.IntRange(1, 3).Draw(r, "limit")
	free := 0
	for _, s := range m.jobs {
		if s.state == exchange.JobReady || s.expired {
			free++
		}
	}
	list := must(m.conn.Jobs.Claim(m.ctx, false, 0, []string{short.Name}, m.conn.Now.Add(lease), limit))
	if len(list) != min(free, limit) {
		r.Fatalf("%d jobs were taken of %d that are free, at most %d", len(list), free, limit)
	}
	for _, j := range list {
		s := m.jobs[j.ID]
		if s.state != exchange.JobReady && !s.expired {
			r.Fatalf("job %d was taken, which is %s", j.ID, s.state)
		}
		if s.expired {
			s.failures++
		}
		s.state, s.expired, s.lease = exchange.JobRunning, false, s.lease+1
	}
	m.held = append(m.held, list...)
}

// act lets a worker do something with a job that it took at some time, with an effect.
func (m *model) act(to func(j exchange.Job, now time.Time) exchange.Job, do func(*modelled)) func(*rapid.T) {
	return func(r *rapid.T) {
		if len(m.held) == 0 {
			r.Skip("nobody took a job")
		}
		i := rapid.IntRange(0, len(m.held)-1).Draw(r, "held")
		s := m.jobs[m.held[i].ID]
		next := to(m.held[i], m.conn.Now)
		saved := must(m.conn.Jobs.Save(m.ctx, exchange.JobRunning, next))
		if mine := s.state == exchange.JobRunning && s.lease == m.held[i].Lease; saved != mine {
			r.Fatalf("saved: %t, but it is that worker's: %t", saved, mine)
		}
		if saved {
			m.held[i] = next
			do(s)
			s.expired = false
		}
	}
}

// change cancels or retries some job.
func (m *model) change(to func(exchange.Job, time.Time) (exchange.Job, error), from []exchange.JobState,
	do func(*modelled)) func(*rapid.T) {
	return func(r *rapid.T) {
		if len(m.ids) == 0 {
			r.Skip("there is no job")
		}
		id := rapid.SampledFrom(m.ids).Draw(r, "id")
		s, allowed := m.jobs[id], false
		for _, state := range from {
			allowed = allowed || m.jobs[id].state == state
		}
		was := must(m.conn.Jobs.ForUpdate(m.ctx, id))
		next, err := to(was, m.conn.Now)
		if (err == nil) != allowed {
			r.Fatalf("a job that is %s: %v", s.state, err)
		}
		if allowed {
			must(m.conn.Jobs.Save(m.ctx, was.State, next))
			do(s)
			s.expired = false
		}
	}
}

// check compares every job with its model.
func (m *model) check(r *rapid.T) {
	for id, s := range m.jobs {
		j := must(m.conn.Jobs.Get(m.ctx, id))
		if j.State != s.state || j.Lease != s.lease || j.Failures != s.failures || j.Progress.Done != s.steps ||
			s.finished > 1 {
			r.Fatalf("job %d is %+v, want %+v", id, j, *s)
		}
		if over := j.State.Over(); over != (j.DueAt == nil) || over != (j.EndedAt != nil) {
			r.Fatalf("job %d is %s, due %v, ended %v", id, j.State, j.DueAt, j.EndedAt)
		}
	}
}
