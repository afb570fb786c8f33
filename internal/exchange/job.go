package exchange

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Job is work done in the background: now or later, once, in whichever process is free.
type Job struct {
	ID   int64
	Kind string     // selects the handler
	Key  *string    // a kind has at most one job with a key; nil: any number
	User *uuid.UUID // who started it; nil: Aliquot itself
	// whose turn the job counts as: jobs of one person alternate with those of others; nil: nobody's
	Turn       *uuid.UUID
	Heavy      bool            // it runs in the lane of long jobs, where each person has one running at a time
	Args       json.RawMessage // arguments of the handler
	State      JobState
	DueAt      *time.Time // READY: when it may run; RUNNING: when its lease ends; nil: it has ended
	Lease      int64      // how often it was leased; a worker with an older lease has lost the job
	Failures   int        // since the last completed step
	Error      string     // why it failed last, for a person; empty after a success
	Progress   Progress
	Checkpoint json.RawMessage // where the next run continues; nil: from the beginning
	Result     json.RawMessage // nil: no result
	CreatedAt  time.Time
	EndedAt    *time.Time
}

// Progress is how far a job is.
type Progress struct {
	Done  int64
	Total int64  // 0: not known yet
	Note  string // the current step, in a few words
}

// JobState is the state of a job.
type JobState string

// The states of a job. READY jobs wait for a worker and RUNNING ones have one; the others have ended.
const (
	JobReady     JobState = "READY"     // it runs when it is due
	JobRunning   JobState = "RUNNING"   // a worker has it, until its lease ends
	JobDone      JobState = "DONE"      // its effects and this state were committed in one transaction
	JobFailed    JobState = "FAILED"    // given up; an admin can retry it
	JobCancelled JobState = "CANCELLED" // the steps it completed are kept
)

// JobStates lists all of them.
var JobStates = []JobState{JobReady, JobRunning, JobDone, JobFailed, JobCancelled}

// Over reports whether a job in this state has ended: no worker will run it.
func (s JobState) Over() bool { return !slices.Contains([]JobState{JobReady, JobRunning}, s) }

// JobFilter narrows a list of jobs.
type JobFilter struct {
	State *JobState `query:"state"`
	Kind  *string   `query:"kind"`
	All   *bool     `query:"all" help:"Not only the caller's jobs, for admins."`
}

// Step returns j after a completed step: with a new lease until a moment, and no failures.
func (j Job) Step(p Progress, checkpoint json.RawMessage, until time.Time) Job {
	j.Progress, j.Checkpoint, j.DueAt, j.Failures, j.Error = p, checkpoint, &until, 0, ""
	return j
}

// Finish returns j as done.
func (j Job) Finish(result json.RawMessage, now time.Time) Job {
	j.Result, j.Failures, j.Error = result, 0, ""
	return j.end(JobDone, now)
}

// Fail returns j after a failure: to be retried at the moment again, or given up if that is nil.
func (j Job) Fail(why string, again *time.Time, now time.Time) Job {
	j.Error, j.Failures = why, j.Failures+1
	if again == nil {
		return j.end(JobFailed, now)
	}
	j.State, j.DueAt = JobReady, again
	return j
}

// Release returns j as released by a worker that stops: another may take it at once.
func (j Job) Release(now time.Time) Job {
	j.State, j.DueAt = JobReady, &now
	return j
}

// Cancel returns j as cancelled; a worker that runs it loses it. Cancelling it again changes nothing.
func (j Job) Cancel(now time.Time) (Job, error) {
	switch {
	case j.State == JobCancelled:
		return j, nil
	case j.State.Over():
		return j, Errorf(Conflict, "This job has ended (%s), so there is nothing to cancel.", j.State)
	}
	return j.end(JobCancelled, now), nil
}

// Retry returns j to be run again from its last step, with as many attempts as a new job.
func (j Job) Retry(now time.Time) (Job, error) {
	if j.State != JobFailed && j.State != JobCancelled {
		return j, Errorf(Conflict, "Only a failed or cancelled job can be retried; this one is %s.",
			j.State)
	}
	j.State, j.DueAt, j.EndedAt, j.Failures = JobReady, &now, nil, 0
	return j, nil
}

func (j Job) end(state JobState, now time.Time) Job {
	j.State, j.DueAt, j.EndedAt = state, nil, &now
	return j
}
