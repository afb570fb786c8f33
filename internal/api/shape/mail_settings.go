package shape

import (
	"aliquot/internal/exchange/mailing"
)

// MailSettings are a person's mail preferences.
type MailSettings struct {
	Delivery   mailing.Delivery   `json:"delivery"`
	TimeZone   string             `json:"time_zone"`
	QuietFrom  *string            `json:"quiet_from"`
	QuietUntil *string            `json:"quiet_until"`
	DigestAt   string             `json:"digest_at"`
	DigestDay  string             `json:"digest_day"`
	Muted      []mailing.Category `json:"muted"`
	Refused    *Refusal           `json:"refused"`
}

// Refusal is an address that a mail server refused.
type Refusal struct {
	Address string `json:"address"`
	Reason  string `json:"reason"`
	At      Time   `json:"at"`
}

// ShowMailSettings returns the JSON form of its argument.
func ShowMailSettings(s mailing.Settings) MailSettings {
	out := MailSettings{Delivery: s.Delivery, TimeZone: s.TimeZone, DigestAt: s.DigestAt.String(),
		DigestDay: mailing.Weekdays[s.DigestDay], Muted: s.Muted}
	if s.QuietFrom != nil && s.QuietUntil != nil {
		out.QuietFrom, out.QuietUntil = new(s.QuietFrom.String()), new(s.QuietUntil.String())
	}
	if out.Muted == nil {
		out.Muted = []mailing.Category{}
	}
	if s.Refused != nil {
		out.Refused = &Refusal{s.Refused.Address, s.Refused.Reason, Time(s.Refused.At)}
	}
	return out
}
