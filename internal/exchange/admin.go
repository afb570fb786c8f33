package exchange

// Overview summarises the health of an installation.
type Overview struct {
	Users, Organizations int64
	Waiting              int64 // jobs that are waiting or running
	Failed               int64 // jobs that were given up
	Stuck                int64 // requests that have waited longer than usual
	Mail                 int64 // mails that were refused or may not have arrived
}
