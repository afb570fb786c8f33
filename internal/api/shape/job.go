package shape

import (
	"encoding/json"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Job is a job that runs in the background.
type Job struct {
	ID        int64             `json:"id"`
	Kind      string            `json:"kind"`
	State     exchange.JobState `json:"state"`
	User      *uuid.UUID        `json:"user"` // null: started by Aliquot itself
	Progress  Progress          `json:"progress"`
	Result    json.RawMessage   `json:"result"` // null: none, or not yet
	Error     *string           `json:"error"`  // why the last attempt failed
	Failures  int               `json:"failures"`
	CreatedAt Time              `json:"created_at"`
	DueAt     *Time             `json:"due_at"` // when a READY job is next attempted
	EndedAt   *Time             `json:"ended_at"`
}

// Progress is how far a job is; a total of 0 means not known yet.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Note  string `json:"note"`
}

// ShowJob returns the JSON form of its argument.
func ShowJob(j exchange.Job) Job {
	out := Job{ID: j.ID, Kind: j.Kind, State: j.State, User: j.User, Progress: Progress(j.Progress), Result: j.Result,
		Failures: j.Failures, CreatedAt: Time(j.CreatedAt), EndedAt: timeOf(j.EndedAt)}
	if j.Error != "" {
		out.Error = &j.Error
	}
	if j.State == exchange.JobReady {
		out.DueAt = timeOf(j.DueAt)
	}
	return out
}
