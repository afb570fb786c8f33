package app

import (
	"time"

	"aliquot/internal/job"

	"github.com/google/uuid"
)

// MailDigest is the job that sends a person their digest, when it is due.
var MailDigest = job.Kind[Digesting]{Name: "mail.digest", Most: mailTries}

// Digesting names whose digest it is.
type Digesting struct {
	User uuid.UUID `json:"user"`
}

// digestAt is the job of the digest of a person at a moment; there is one of them.
func digestAt(user uuid.UUID, at time.Time) job.Queued[Digesting] {
	return job.Queued[Digesting]{Args: Digesting{user}, Order: job.Order{Key: user.String() + " " + at.Format(time.RFC3339), At: at}}
}
