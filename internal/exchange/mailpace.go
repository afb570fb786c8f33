package exchange

import "time"

// The limits of the mail that one person causes. What is beyond them is not lost: it comes later, as one message.
const (
	MailPerHour    = 10  // messages to one person, each sent at once
	MailContacts   = 500 // people whom one person turns to first within MailDay, each mailed at once
	MailPerAddress = 5   // messages about invitations to one address within MailDay
	MailHour       = time.Hour
	MailDay        = 24 * time.Hour
)

// FirstContact reports whether k is how somebody turns to people who may never have heard of them.
func (k NotificationKind) FirstContact() bool {
	return k == NotificationKind(RequestMade) || k == NotificationKind(Invited) || k == NotificationKind(JoinAsked)
}
