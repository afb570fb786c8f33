package mailing

import "time"

// The limits of mail that one person causes. Mail beyond them is not lost: it is sent later, as one message.
const (
	PerHour    = 10  // messages to one person, each sent at once
	Contacts   = 500 // people whom one person contacts for the first time within Day, each mailed at once
	PerAddress = 5   // messages about invitations to one address within Day
	Hour       = time.Hour
	Day        = 24 * time.Hour
)
