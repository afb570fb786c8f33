package lab

import "aliquot/internal/exchange"

// Reply is a text that a lab keeps to use again in messages and decisions about requests.
type Reply struct {
	ID             int64
	OrganizationID int64
	Title          string // what members find it by; requesters never see it
	Text           string
}

// MaxReplies is how many replies a lab keeps.
const MaxReplies = 50

// ReplyForm is what a member enters of a reply.
type ReplyForm struct{ Title, Text string }

// Check returns the tidy title and text, which may not be empty.
func (r ReplyForm) Check() (title, text string, err error) {
	var f exchange.FieldErrors
	f.Line("title", exchange.Some(r.Title), exchange.LineLength, &title)
	f.Long("text", exchange.Some(r.Text), &text)
	f.Need("title", title)
	f.Need("text", text)
	return title, text, f.Err()
}
