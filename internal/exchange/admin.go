package exchange

import "time"

// Overview summarises the health of an installation.
type Overview struct {
	Users, Organizations int64
	Waiting              int64 // jobs that are waiting or running
	Failed               int64 // jobs that were given up
	Stuck                int64 // requests that have waited longer than usual
	Mail                 int64 // mails that were refused or may not have arrived
}

// StuckFilter narrows the list of requests that wait for one side; a nil field filters nothing.
type StuckFilter struct {
	Party     *Side
	Escalated *bool      // whether the owner of the lab was notified
	Before    *time.Time // only turns that began before
}

// FailedMail is a notification whose mail did not arrive, as far as is known.
type FailedMail struct {
	Notification
	To      User
	Refused *MailRejection // why that person's address is refused; nil: it is not refused
}
