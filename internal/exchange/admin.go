package exchange

import "time"

// Overview says how an installation does.
type Overview struct {
	Users, Organizations int64
	Waiting              int64 // jobs that wait or run
	Failed               int64 // jobs that were given up
	Stuck                int64 // requests that wait for longer than usual
	Mail                 int64 // mails that were refused or are in doubt
}

// StuckFilter narrows the requests in which it is somebody's turn; a nil field filters nothing.
type StuckFilter struct {
	Party     *Side
	Escalated *bool      // the owner of the lab was told
	Before    *time.Time // those whose turn began before
}

// FailedMail is a notification whose mail did not get through, as far as is known.
type FailedMail struct {
	Notification
	To      User
	Refused *MailRejection // why an address of that person is refused; nil: it is not
}
