package person

import (
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// ErasureDays is how many days an erasure waits, and can be taken back, as time ErasureGrace; FreshSignIn is how long
// after signing in people can ask for their own.
const (
	ErasureDays  = 14
	ErasureGrace = ErasureDays * 24 * time.Hour
	FreshSignIn  = 15 * time.Minute
)

// ErasureStays says what is not erased, and why.
const ErasureStays = "Both sides need the record of a transfer, to prove what was agreed: what happened when, under " +
	"which account, quantities, parcels and the documents of transfers stay, and of an address institution, town and " +
	"country. The public keys of passkeys stay, without a name, to check what was signed with them. Listings, files " +
	"and texts of a lab belong to the lab. What other people wrote is theirs, even if it names the person. E-mail " +
	"that was sent, and dossiers and backups that others keep, cannot be reached."

// Erasure is that a person's words are to be erased, or were; the zero value is neither.
type Erasure struct {
	AskedAt, DueAt, DoneAt *time.Time
	AskedBy                *uuid.UUID // the person, or an admin
	Reason                 string     // of an admin
}

// Pending reports whether e is asked for and not done.
func (e Erasure) Pending() bool { return e.DueAt != nil }

// ErasureNew is the body of POST /users/:id/erasure.
type ErasureNew struct {
	Reason exchange.Opt[string] `json:"reason"`
}

// Validate implements Body.
func (n ErasureNew) Validate(bool) exchange.FieldErrors {
	_, f := n.reason()
	return f
}

func (n ErasureNew) reason() (reason string, f exchange.FieldErrors) {
	f.Line("reason", n.Reason, exchange.LineLength, &reason)
	return reason, f
}

// Erasure returns the erasure that by asks for at a time; own: of themselves, signed in at another.
func (n ErasureNew) Erasure(by uuid.UUID, own bool, signedIn, now time.Time) (Erasure, error) {
	reason, f := n.reason()
	if !own {
		f.Need("reason", reason)
	}
	if err := f.Err(); err != nil {
		return Erasure{}, err
	}
	if own && now.Sub(signedIn) > FreshSignIn {
		return Erasure{}, exchange.Errorf(exchange.Forbidden, "You signed in more than %d minutes ago. Sign in again, "+
			"then ask for the erasure.", int(FreshSignIn.Minutes()))
	}
	return Erasure{AskedAt: &now, DueAt: new(now.Add(ErasureGrace)), AskedBy: &by, Reason: reason}, nil
}
