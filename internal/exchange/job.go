package exchange

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Job is work that is done behind the scenes: now or later, once, in whichever process is free.
type Job struct {
	ID   int64
	Kind string     // which handler does it
	Key  *string    // there is at most one job of a kind with a key; nil: any number
	User *uuid.UUID // who asked for it; nil: Aliquot itself
	// on whose account it is: jobs of one person take turns with those of others; nil: nobody's
	Turn       *uuid.UUID
	Heavy      bool            // it is in the lane of long jobs, where each person has one running at a time
	Args       json.RawMessage // what the handler is given
	State      JobState
	DueAt      *time.Time // READY: when it may run; RUNNING: when its lease ends; nil: it is over
	Lease      int64      // how often it was taken; whoever holds an older one holds nothing
	Failures   int        // since the last step that it got done
	Error      string     // why it failed the last time, for a person; empty after a success
	Progress   Progress
	Checkpoint json.RawMessage // where the next run goes on; nil: from the beginning
	Result     json.RawMessage // its result; nil: nothing to tell
	CreatedAt  time.Time
	EndedAt    *time.Time
}

// Progress says how far a job is.
type Progress struct {
	Done  int64
	Total int64  // 0: nobody knows yet
	Note  string // what it is at, in a few words
}

// JobState is where a job stands.
type JobState string

// The states of a job. READY and RUNNING wait for a worker or have one; the others are over.
const (
	JobReady     JobState = "READY"     // it runs when it is due
	JobRunning   JobState = "RUNNING"   // a worker has it, until its lease ends
	JobDone      JobState = "DONE"      // its effects and this word are of one transaction
	JobFailed    JobState = "FAILED"    // given up; an admin may have it tried again
	JobCancelled JobState = "CANCELLED" // what it got done until then stays
)

// JobStates are all of them.
var JobStates = []JobState{JobReady, JobRunning, JobDone, JobFailed, JobCancelled}

// Over says that no worker will touch a job in this state.
func (s JobState) Over() bool { return !slices.Contains([]JobState{JobReady, JobRunning}, s) }

// JobFilter narrows a list of jobs.
type JobFilter struct {
	State *JobState `query:"state"`
	Kind  *string   `query:"kind"`
	All   *bool     `query:"all" help:"Not only the caller's jobs, for admins."`
}

// Step is j after a step that got done: it has a new lease until a moment, and a clean record.
func (j Job) Step(p Progress, checkpoint json.RawMessage, until time.Time) Job {
	j.Progress, j.Checkpoint, j.DueAt, j.Failures, j.Error = p, checkpoint, &until, 0, ""
	return j
}

// Finish is j done.
func (j Job) Finish(result json.RawMessage, now time.Time) Job {
	j.Result, j.Failures, j.Error = result, 0, ""
	return j.end(JobDone, now)
}

// Fail is j after a failure: to be tried again at a moment, or given up where that is nil.
func (j Job) Fail(why string, again *time.Time, now time.Time) Job {
	j.Error, j.Failures = why, j.Failures+1
	if again == nil {
		return j.end(JobFailed, now)
	}
	j.State, j.DueAt = JobReady, again
	return j
}

// Release is j given back by a worker that stops: any other may take it at once.
func (j Job) Release(now time.Time) Job {
	j.State, j.DueAt = JobReady, &now
	return j
}

// Cancel is j cancelled; a worker that has it loses it. The same again changes nothing.
func (j Job) Cancel(now time.Time) (Job, error) {
	switch {
	case j.State == JobCancelled:
		return j, nil
	case j.State.Over():
		return j, Errorf(Conflict, "This job is over (%s), so there is nothing to cancel.", j.State)
	}
	return j.end(JobCancelled, now), nil
}

// Retry is j to be tried again from its last step, as often as a new one.
func (j Job) Retry(now time.Time) (Job, error) {
	if j.State != JobFailed && j.State != JobCancelled {
		return j, Errorf(Conflict, "Only a job that failed or was cancelled can be tried again; this one is %s.",
			j.State)
	}
	j.State, j.DueAt, j.EndedAt, j.Failures = JobReady, &now, nil, 0
	return j, nil
}

func (j Job) end(state JobState, now time.Time) Job {
	j.State, j.DueAt, j.EndedAt = state, nil, &now
	return j
}
