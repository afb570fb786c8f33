package exchange

import "time"

// The limits of mail that one person causes. Mail beyond them is not lost: it is sent later, as one message.
const (
	MailPerHour    = 10  // messages to one person, each sent at once
	MailContacts   = 500 // people whom one person contacts for the first time within MailDay, each mailed at once
	MailPerAddress = 5   // messages about invitations to one address within MailDay
	MailHour       = time.Hour
	MailDay        = 24 * time.Hour
)

// FirstContact reports whether k is a way to contact people whom one may not know yet.
func (k NotificationKind) FirstContact() bool {
	return k == NotificationKind(RequestMade) || k == NotificationKind(Invited) || k == NotificationKind(JoinAsked)
}
