package web

// For the tests of the words of statuses and of what hides accounts.
var (
	StatusOf = status
	TrackOf  = track
	Masked   = masked
)
