package person

import "time"

// SignIn is a sign-in at an identity provider other than the main one, which its user linked to their account.
type SignIn struct {
	ID        int64
	Issuer    string
	Subject   string // who the user is there
	CreatedAt time.Time
	UsedAt    time.Time
}

// MaxSignIns is how many sign-ins a user links to their account.
const MaxSignIns = 20
