package exchange

import (
	"encoding/json"
	"errors"
	"time"
)

// Date is a day in the contract's form YYYY-MM-DD. Dates compare as text.
type Date string

// UnmarshalJSON accepts only days that exist.
func (d *Date) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errNoDate
	}
	parsed, err := ParseDate(s)
	if err == nil {
		*d = parsed
	}
	return err
}

var errNoDate = errors.New("must be a date as YYYY-MM-DD, such as 2026-03-12")

// ParseDate returns the day that a text is, from 1900 on; otherwise the error says what it must be.
func ParseDate(text string) (Date, error) {
	if t, err := time.Parse(time.DateOnly, text); err != nil || t.Year() < 1900 {
		return "", errNoDate
	}
	return Date(text), nil
}

// Begin returns when a day begins, in UTC; ok is false if there is no date.
func (d *Date) Begin() (t time.Time, ok bool) {
	if d == nil {
		return t, false
	}
	t, err := time.Parse(time.DateOnly, string(*d))
	return t, err == nil
}

// Instant is a moment in JSON. An input may have the form of RFC 3339, or the contract's form with +0000.
type Instant time.Time

// TimeLayout is the contract's form of a timestamp, always UTC.
const TimeLayout = "2006-01-02T15:04:05-0700"

// MarshalText writes the contract's form.
func (i Instant) MarshalText() ([]byte, error) {
	return time.Time(i).UTC().AppendFormat(nil, TimeLayout), nil
}

// UnmarshalJSON accepts both forms and keeps whole seconds, which is what a response shows: sending a response back is
// no change.
func (i *Instant) UnmarshalJSON(b []byte) error {
	var s string
	wrong := errors.New("must be a timestamp, such as 2026-03-12T09:40:00+0000")
	if err := json.Unmarshal(b, &s); err != nil {
		return wrong
	}
	for _, layout := range []string{TimeLayout, time.RFC3339Nano} {
		t, err := time.Parse(layout, s)
		if t = t.UTC().Truncate(time.Second); err == nil && t.Year() >= 1900 && t.Year() < 10000 {
			*i = Instant(t)
			return nil
		}
	}
	return wrong
}

// Until is a moment in a JSON body; a date means the beginning of that day in UTC.
type Until time.Time

// UnmarshalJSON accepts a date, and every form of an Instant.
func (u *Until) UnmarshalJSON(b []byte) error {
	var d Date
	if json.Unmarshal(b, &d) == nil {
		at, err := time.Parse(time.DateOnly, string(d))
		*u = Until(at)
		return err
	}
	var i Instant
	if json.Unmarshal(b, &i) != nil {
		return errors.New("must be a date or a timestamp, such as 2026-03-12 or 2026-03-12T09:40:00+0000")
	}
	*u = Until(i)
	return nil
}

// DayOf returns the day of a time in UTC.
func DayOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }
