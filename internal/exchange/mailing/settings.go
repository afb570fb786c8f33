// Package mailing holds which mail people want, and when, and what can become of it.
package mailing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Delivery is when a person wants mail about their notifications.
type Delivery string

// The values of Delivery.
const (
	AtOnce Delivery = "AT_ONCE"
	Daily  Delivery = "DAILY"  // one digest a day
	Weekly Delivery = "WEEKLY" // one digest a week
	Never  Delivery = "NEVER"
)

// Deliveries lists all of them.
var Deliveries = []Delivery{AtOnce, Daily, Weekly, Never}

// Settings are a person's settings for mail alone. Which notifications they get depends on the switches of their
// memberships.
type Settings struct {
	User       uuid.UUID
	Delivery   Delivery
	TimeZone   string     // IANA name
	QuietFrom  *TimeOfDay // quiet hours, when no mail is sent; both or neither are set
	QuietUntil *TimeOfDay
	DigestAt   TimeOfDay
	DigestDay  time.Weekday // of a weekly digest
	Muted      []Category   // no mail about these categories
	Refused    *Rejection   // nil: their address was not refused
	UpdatedAt  time.Time
}

// Default returns the initial settings: at once, and digests, if chosen, on Monday at eight.
func Default(user uuid.UUID) Settings {
	return Settings{User: user, Delivery: AtOnce, TimeZone: "UTC", DigestAt: 8 * 60, DigestDay: time.Monday}
}

// Rejection records that a mail server permanently refused an address. No mail is sent to it until the person has
// another one, or states that it works again.
type Rejection struct {
	Address string
	Reason  string
	At      time.Time
}

// TimeOfDay is a time of day, in minutes since midnight.
type TimeOfDay int

// String formats the time as 08:30.
func (m TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", m/60, m%60) }

// parseTimeOfDay parses a time such as 08:30; it returns false for anything else.
func parseTimeOfDay(s string) (TimeOfDay, bool) {
	hour, minute, _ := strings.Cut(s, ":")
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	at := TimeOfDay(h*60 + m)
	return at, err == nil && err2 == nil && h >= 0 && h < 24 && m >= 0 && m < 60 && at.String() == s
}

// Patch is the body of PUT and PATCH /users/:id/mail-settings.
type Patch struct {
	Delivery   exchange.Opt[string]     `json:"delivery"`
	TimeZone   exchange.Opt[string]     `json:"time_zone"`
	QuietFrom  exchange.Null[string]    `json:"quiet_from"`
	QuietUntil exchange.Null[string]    `json:"quiet_until"`
	DigestAt   exchange.Opt[string]     `json:"digest_at"`
	DigestDay  exchange.Opt[string]     `json:"digest_day"`
	Muted      exchange.Opt[[]Category] `json:"muted"`
}

// Patch applies p to s.
func (p Patch) Patch(s Settings) (Settings, error) {
	var f exchange.FieldErrors
	f.Rule("delivery", exchange.Rule{Words: exchange.Strings(Deliveries), Name: "MailDelivery"})
	if p.Delivery.Set {
		if s.Delivery = Delivery(p.Delivery.Value); !slices.Contains(Deliveries, s.Delivery) {
			f.Add("delivery", "must be one of %v", Deliveries)
		}
	}
	f.Rule("time_zone", exchange.Rule{Pattern: zonePattern, Examples: []string{"Europe/Amsterdam"}})
	if p.TimeZone.Set {
		if _, err := time.LoadLocation(p.TimeZone.Value); err != nil || p.TimeZone.Value == "" ||
			p.TimeZone.Value == "Local" {
			f.Add("time_zone", "must be a name of the IANA time zone database, such as Europe/Amsterdam")
		}
		s.TimeZone = p.TimeZone.Value
	}
	s.QuietFrom, s.QuietUntil = setMinute(&f, "quiet_from", p.QuietFrom, s.QuietFrom),
		setMinute(&f, "quiet_until", p.QuietUntil, s.QuietUntil)
	switch {
	case (s.QuietFrom == nil) != (s.QuietUntil == nil):
		f.Add("quiet_until", "must be set together with quiet_from; set both to null for no quiet hours")
	case s.QuietFrom != nil && *s.QuietFrom == *s.QuietUntil:
		f.Add("quiet_until", "must differ from quiet_from; to receive no mail at all, set delivery to NEVER")
	}
	f.Rule("digest_at", exchange.Rule{Pattern: minutePattern, Examples: []string{"08:30"}})
	if p.DigestAt.Set {
		s.DigestAt = *setMinute(&f, "digest_at", exchange.NullOf(p.DigestAt.Value), &s.DigestAt)
	}
	f.Rule("digest_day", exchange.Rule{Words: Weekdays, Name: "Weekday"})
	if p.DigestDay.Set {
		if i := slices.Index(Weekdays, p.DigestDay.Value); i >= 0 {
			s.DigestDay = time.Weekday(i)
		} else {
			f.Add("digest_day", "must be one of %v", Weekdays)
		}
	}
	if p.Muted.Set {
		s.Muted = slices.Compact(slices.Sorted(slices.Values(p.Muted.Value)))
		for _, c := range s.Muted {
			if !slices.Contains(AllCategories, c) {
				f.Add("muted", "must be a list of some of %v", AllCategories)
				break
			}
		}
	}
	return s, f.Err()
}

// Validate implements Body.
func (p Patch) Validate(bool) exchange.FieldErrors {
	_, err := p.Patch(Default(uuid.Nil))
	return exchange.FieldsOf(err)
}

// Weekdays are the days of a week, in the order of time.Weekday.
var Weekdays = []string{"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"}

func setMinute(f *exchange.FieldErrors, field string, o exchange.Null[string], old *TimeOfDay) *TimeOfDay {
	f.Rule(field, exchange.Rule{Pattern: minutePattern, Examples: []string{"08:30"}})
	if !o.Set {
		return old
	}
	if o.Value == nil {
		return nil
	}
	m, ok := parseTimeOfDay(*o.Value)
	if !ok {
		f.Add(field, "must be a time of day, such as 08:30")
		return old
	}
	return &m
}

// Subscribe turns mail about a category on or off; the category "" means digests, and so everything.
func (s Settings) Subscribe(c Category, on bool) Settings {
	s.Muted = slices.DeleteFunc(slices.Clone(s.Muted), func(m Category) bool { return m == c })
	switch {
	case c == "" && on && s.Delivery == Never:
		s.Delivery = Daily
	case c == "" && !on:
		s.Delivery = Never
	case c != "" && !on:
		s.Muted = append(s.Muted, c)
		slices.Sort(s.Muted)
	}
	return s
}

// MailFor returns what to do with mail about a category to a person with an address: Waiting, ForDigest, or a
// state in which none is sent. Mail about memberships does not wait for a digest: it asks for an answer.
func (s Settings) MailFor(c Category, address string) State {
	switch {
	case s.Delivery == Never || slices.Contains(s.Muted, c):
		return NotWanted
	case address == "" || s.Refused != nil && s.Refused.Address == address:
		return NoAddress
	case s.Delivery == AtOnce || c == MembershipNotif || c == WebhookNotif:
		return Waiting
	default:
		return ForDigest
	}
}

// Location returns the person's time zone.
func (s Settings) Location() *time.Location {
	if l, err := time.LoadLocation(s.TimeZone); err == nil { // it existed when it was set
		return l
	}
	return time.UTC
}

// Quiet returns the end of the person's quiet hours if now is within them, else now.
func (s Settings) Quiet(now time.Time) time.Time {
	if s.QuietFrom == nil {
		return now
	}
	local := now.In(s.Location())
	for _, days := range []int{-1, 0} { // quiet hours that began yesterday, and today
		from, until := at(local, days, *s.QuietFrom), at(local, days, *s.QuietUntil)
		if *s.QuietUntil < *s.QuietFrom {
			until = at(local, days+1, *s.QuietUntil)
		}
		if !local.Before(from) && local.Before(until) {
			return until.UTC()
		}
	}
	return now
}

// Digest returns when the digest is due that includes what happened at a moment.
func (s Settings) Digest(happened time.Time) time.Time {
	local := happened.In(s.Location())
	for day := 0; ; day++ {
		next := at(local, day, s.DigestAt)
		if next.After(local) && (s.Delivery != Weekly || next.Weekday() == s.DigestDay) {
			return next.UTC()
		}
	}
}

// DigestDue returns when to send what has waited for a digest since a moment: at once if the person no longer has a
// digest, or if it was due before now.
func (s Settings) DigestDue(since, now time.Time) time.Time {
	if due := s.Digest(since); (s.Delivery == Daily || s.Delivery == Weekly) && due.After(now) {
		return due
	}
	return now
}

// at returns a time of day, days after the day of t, in the time zone of t. A time that the clocks skip is adjusted as
// time.Date does.
func at(t time.Time, days int, m TimeOfDay) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day()+days, int(m)/60, int(m)%60, 0, 0, t.Location())
}

const (
	minutePattern = `^([01][0-9]|2[0-3]):[0-5][0-9]$`
	zonePattern   = `^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
)
