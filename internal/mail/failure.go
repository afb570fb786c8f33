package mail

import (
	"errors"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"
)

// Kind is what a failure means for the message and for its address.
type Kind string

// The kinds of failures.
const (
	Temporary Kind = "temporary" // try again later: no answer, a 4xx, trouble with TLS
	Refused   Kind = "refused"   // this address accepts no mail, now or later
	Rejected  Kind = "rejected"  // not this message, or not from us; the address may be valid
	Doubt     Kind = "doubt"     // the server may have accepted it: never send it again
)

// Failure is why a message was not sent, or why it is unknown whether it was.
type Failure struct {
	Kind   Kind
	Phase  string // the step that failed, such as "recipient" or "sign in"
	Code   int    // of the server's answer, such as 550; 0: there was none
	Status string // enhanced status of the answer (RFC 3463), such as 5.1.1; "": there was none
	Text   string // what the server said, or what happened; one line without secrets, at most 500 characters
	cause  error
}

// Error returns kind, phase and text.
func (f *Failure) Error() string { return fmt.Sprintf("mail: %s at %s: %s", f.Kind, f.Phase, f.Text) }

// Unwrap returns the cause, such as that of a context.
func (f *Failure) Unwrap() error { return f.cause }

// longestText is how much of a server's answer is kept, in characters.
const longestText = 500

// oneLine returns foreign text as one line of at most longestText characters.
func oneLine(text string) string {
	runes := []rune(plain(text))
	if len(runes) > longestText {
		return string(runes[:longestText-1]) + "…"
	}
	return string(runes)
}

// answer returns the code of a server's answer, 0 if err is none, and its text.
func answer(err error) (code int, words string) {
	var reply *textproto.Error
	if errors.As(err, &reply) {
		return reply.Code, reply.Msg
	}
	return 0, ""
}

var enhanced = regexp.MustCompile(`^\s*([245]\.\d{1,3}\.\d{1,3})\b`)

// statusOf returns the enhanced status at the beginning of an answer's text.
func statusOf(words string) string {
	if m := enhanced.FindStringSubmatch(words); m != nil {
		return m[1]
	}
	return ""
}

// senderRefusal matches phrases with which servers refuse the sender rather than the address. They count only if the
// status is not specific.
var senderRefusal = regexp.MustCompile(`(?i)\b(relay(ing)?|sender|spam|spf|dkim|dmarc|block(ed|list)?|blacklist(ed)?` +
	`|polic(y|ies)|reputation|banned|limit|quota|denied|virus|content|filter(ed)?|protocol|r?dns|ptr|ip)\b`)

// kindOfAnswer returns what a permanent answer refers to: Refused for the address, Rejected for the message, its sender
// or the way it came. atRecipient: it is the answer to RCPT, so that it refers to the address unless it says otherwise.
// In doubt the address is not blamed: one more message to a dead address does no harm, but never writing to a valid
// address again does.
func kindOfAnswer(code int, status, words string, atRecipient bool) Kind {
	_, detail, _ := strings.Cut(status, ".") // "1.1" of "5.1.1"
	subject, _, _ := strings.Cut(detail, ".")
	switch {
	case detail == "1.7", detail == "1.8": // the sender's address
		return Rejected
	case subject == "1" && detail != "1.0", detail == "2.1": // there is no such address; it is closed
		return Refused
	case !atRecipient:
		return Rejected
	case detail == "2.2", detail == "2.3": // the mailbox is full; the message is too long for it
		return Rejected
	case subject == "3", subject == "5", subject == "6", subject == "7": // system, protocol, content, policy
		return Rejected
	// the network, except for domains that do not exist
	case subject == "4" && detail != "4.1" && detail != "4.4" && detail != "4.310":
		return Rejected
	case code != 550 && code != 551 && code != 553: // not the codes of a mailbox
		return Rejected
	case (subject == "" || strings.HasSuffix(detail, ".0")) && senderRefusal.MatchString(words):
		return Rejected
	}
	return Refused
}
