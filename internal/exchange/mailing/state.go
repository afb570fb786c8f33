package mailing

// State is the state of the mail about a notification.
type State string

// The states of mail. A process that dies while sending leaves SENDING: whether that mail arrived is unknown, so it is
// never sent again.
const (
	NotProcessed  State = "NEW"            // not processed yet
	Waiting       State = "WAITING"        // it is sent when its job is due
	Sending       State = "SENDING"        // it is on its way to the mail server
	Sent          State = "SENT"           // the mail server accepted it
	InDoubt       State = "IN_DOUBT"       // it may have been sent
	Refused       State = "REFUSED"        // the mail server refused the address
	ForDigest     State = "DIGEST"         // it waits for the next digest
	SendingDigest State = "SENDING_DIGEST" // the digest is on its way
	// one person causes a lot of mail: it is held to be sent in one message with more
	Held      State = "HELD"
	NotWanted State = "NOT_WANTED" // the person does not want it, or may no longer see what it is about
	NoAddress State = "NO_ADDRESS" // the person has no working address
)

// States lists all of them.
var States = []State{NotProcessed, Waiting, Sending, Sent, InDoubt, Refused, ForDigest,
	SendingDigest, Held, NotWanted, NoAddress}
